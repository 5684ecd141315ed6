import { DAY, HOUR, MINUTE } from '../../src/platform/time.ts'
import type { DexcomRecord, DexcomUser } from '../../src/wearables/providers/dexcom_v3/stand-in/data.ts'
import type { openDexcomStandIn } from '../../src/wearables/providers/dexcom_v3/stand-in/server.ts'
import type { GoogleUser } from '../../src/wearables/providers/google_health/stand-in/data.ts'
import type { openGoogleStandIn } from '../../src/wearables/providers/google_health/stand-in/server.ts'
import type { OuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import type { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import type { WhoopRecord, WhoopUser } from '../../src/wearables/providers/whoop/stand-in/data.ts'
import type { openWhoopStandIn } from '../../src/wearables/providers/whoop/stand-in/server.ts'
import type { WithingsUser } from '../../src/wearables/providers/withings/stand-in/data.ts'
import type { openWithingsStandIn } from '../../src/wearables/providers/withings/stand-in/server.ts'

type StandIn<T extends (...args: never[]) => Promise<unknown>> = Awaited<ReturnType<T>>

/** What the storm changes in a cloud: objects of one kind, and one of their values. */
export type Subject = {
  /** The resource in events and reads, and the field with the value. */
  resource: string
  field: string
  /** The IDs of objects that the storm changes. Those that do not exist yet are new. */
  ids(account: string): string[]
  /** The key of an object in events and reads: its day or its start. */
  keyOf(account: string, id: string): string
  /** The value of the nth change of an object, as Assay shows it. No two are equal. */
  valueOf(n: number): number
  put(account: string, id: string, n: number): void
  remove?(account: string, id: string): void
  /** Everything that the cloud holds of the resource. */
  held(account: string): [key: string, value: number][]
}

const instant = (time: string | number) => String(new Date(time).getTime())
const iso = (at: number) => new Date(at).toISOString()

/** Hours of yesterday and today in which the storm adds objects. Each is in the past. */
const hoursAgo = (now: number, hours: number) => Math.floor(now / HOUR) * HOUR - hours * HOUR

type OuraHeld = { day: string } & Record<'bedtime_start' | 'start_datetime', string> & Record<'steps' | 'average_hrv' | 'calories', number>

export function ouraSubjects({ users, put, remove }: StandIn<typeof openOuraStandIn>, now: number): Subject[] {
  const objects = (account: string, name: string) =>
    ((users.get(account) as OuraUser).objects.get(name) ?? new Map()) as unknown as Map<string, OuraHeld>
  const workoutAt = (id: string) => hoursAgo(now, 4 + Number(id.at(-1)) * 3) + 17 * MINUTE
  return [
    {
      ...{ resource: 'activity', field: 'steps' },
      ids: (account) => [...objects(account, 'daily_activity').keys()],
      keyOf: (account, id) => objects(account, 'daily_activity').get(id)?.day ?? '',
      valueOf: (n) => 20_000 + n,
      put: (account, id, n) => put(account, 'daily_activity', { id, steps: 20_000 + n }),
      held: (account) => [...objects(account, 'daily_activity').values()].map(({ day, steps }) => [day, steps]),
    },
    {
      ...{ resource: 'sleep', field: 'average_hrv' },
      ids: (account) => [...objects(account, 'sleep').keys()],
      keyOf: (account, id) => instant(objects(account, 'sleep').get(id)?.bedtime_start ?? 0),
      valueOf: (n) => 100 + n,
      put: (account, id, n) => put(account, 'sleep', { id, average_hrv: 100 + n }),
      held: (account) => [...objects(account, 'sleep').values()].map((sleep) => [instant(sleep.bedtime_start), sleep.average_hrv]),
    },
    {
      ...{ resource: 'workouts', field: 'calories' },
      ids: (account) => [0, 1].map((i) => `storm-${account}-${i}`),
      keyOf: (_, id) => instant(workoutAt(id)),
      valueOf: (n) => 100 + n,
      put: (account, id, n) => {
        const [start, end] = [workoutAt(id), workoutAt(id) + HOUR]
        const fields = { activity: 'running', calories: 100 + n, distance: 5000, intensity: 'easy', label: null, source: 'manual' }
        put(account, 'workout', { id, day: iso(start).slice(0, 10), start_datetime: iso(start), end_datetime: iso(end), ...fields })
      },
      remove: (account, id) => remove(account, 'workout', id),
      held: (account) => [...objects(account, 'workout').values()].map((one) => [instant(one.start_datetime), one.calories]),
    },
  ]
}

export function whoopSubjects({ users, put, remove }: StandIn<typeof openWhoopStandIn>, now: number): Subject[] {
  const user = (account: string) => users.get(account) as WhoopUser
  const workoutId = (account: string, i: number) => `${account.padStart(8, '0')}-0000-4000-8000-00000000000${i}`
  const workoutAt = (id: string) => hoursAgo(now, 4 + Number(id.at(-1)) * 3) + 17 * MINUTE
  const zone = (account: string) => ({ timezone_offset: ([...user(account).sleeps.values()][0] as WhoopRecord).timezone_offset })
  const hrvOf = (account: string, id: unknown) => Number(user(account).recoveries.get(String(id))?.score?.['hrv_rmssd_milli'])
  return [
    {
      ...{ resource: 'sleep', field: 'average_hrv' },
      ids: (account) => [...user(account).sleeps.keys()],
      keyOf: (account, id) => instant(user(account).sleeps.get(id)?.start ?? 0),
      valueOf: (n) => 100 + n,
      put: (account, id, n) => {
        const before = user(account).recoveries.get(id)
        put(account, 'recoveries', { ...before, id, score: { ...before?.score, hrv_rmssd_milli: 100 + n } })
      },
      held: (account) => [...user(account).sleeps.values()].map(({ id, start }) => [instant(start), hrvOf(account, id)]),
    },
    {
      ...{ resource: 'workouts', field: 'distance' },
      ids: (account) => [0, 1].map((i) => workoutId(account, i)),
      keyOf: (_, id) => instant(workoutAt(id)),
      valueOf: (n) => 1000 + n,
      put: (account, id, n) => {
        const [start, end] = [iso(workoutAt(id)), iso(workoutAt(id) + HOUR)]
        const score = { average_heart_rate: 120, max_heart_rate: 150, kilojoule: 900, distance_meter: 1000 + n }
        put(account, 'workouts', { id, start, end, sport_name: 'running', score_state: 'SCORED', created_at: end, ...zone(account), score })
      },
      remove: (account, id) => remove(account, 'workouts', id),
      held: (account) =>
        [...user(account).workouts.values()].map(({ start, score }) => [instant(start), Number(score?.['distance_meter'])]),
    },
  ]
}

const WEIGHT = 1

export function withingsSubjects({ users, put }: StandIn<typeof openWithingsStandIn>, now: number): Subject[] {
  const user = (account: string) => users.get(account) as WithingsUser
  const find = <T extends { id: number }>(rows: T[], id: string) => rows.find((row) => String(row.id) === id)
  const ids = (rows: { id: number }[]) => rows.map(({ id }) => String(id))
  const isNew = (id: string) => Number(id) > 9_000_000
  const weighedAt = (id: string) => Math.floor(hoursAgo(now, 3 + (Number(id) % 10)) / 1000) + 60
  const groups = (account: string) =>
    user(account).groups.filter(({ attrib, measures }) => attrib === 0 && measures.some(({ type }) => type === WEIGHT))
  return [
    {
      ...{ resource: 'weight', field: 'value' },
      ids: (account) => [...new Set([...ids(groups(account)), '9000001', '9000002'])],
      keyOf: (account, id) => instant(1000 * (isNew(id) ? weighedAt(id) : (find(groups(account), id)?.date ?? 0))),
      valueOf: (n) => (60_000 + n) / 1000,
      put: (account, id, n) => {
        const before = find(groups(account), id)
        const others = before?.measures.filter(({ type }) => type !== WEIGHT) ?? []
        const measures = [{ type: WEIGHT, value: 60_000 + n, unit: -3 }, ...others]
        put(account, 'groups', { timezone: 'Africa/Lagos', date: weighedAt(id), attrib: 0, ...before, id, measures })
      },
      held: (account) =>
        groups(account).map(({ date, measures }) => [
          instant(date * 1000),
          (measures.find(({ type }) => type === WEIGHT)?.value ?? 0) / 1000,
        ]),
    },
    {
      ...{ resource: 'activity', field: 'steps' },
      ids: (account) => ids(user(account).activities),
      keyOf: (account, id) => find(user(account).activities, id)?.date ?? '',
      valueOf: (n) => 20_000 + n,
      put: (account, id, n) => put(account, 'activities', { id, steps: 20_000 + n }),
      held: (account) => user(account).activities.map(({ date, steps }) => [date, Number(steps)]),
    },
    {
      ...{ resource: 'sleep', field: 'score' },
      ids: (account) => ids(user(account).nights),
      keyOf: (account, id) => instant(1000 * (find(user(account).nights, id)?.startdate ?? 0)),
      valueOf: (n) => n,
      put: (account, id, n) => put(account, 'nights', { id, data: { ...find(user(account).nights, id)?.data, sleep_score: n } }),
      held: (account) => user(account).nights.map(({ startdate, data }) => [instant(startdate * 1000), data['sleep_score'] as number]),
    },
  ]
}

export function googleSubjects({ users, putPoint, remove }: StandIn<typeof openGoogleStandIn>, now: number): Subject[] {
  const points = (account: string, type: string) => [...((users.get(account) as GoogleUser).points.get(type)?.values() ?? [])]
  const timeOf = (id: string) => hoursAgo(now, 3 + Number(id.at(-1))) + 13 * MINUTE
  const ids = () => ['storm-0', 'storm-1']
  const keyOf = (_: string, id: string) => instant(timeOf(id))
  return [
    {
      ...{ resource: 'steps', field: 'value', ids, keyOf },
      valueOf: (n) => 5000 + n,
      put: (account, id, n) => {
        const at = timeOf(id)
        putPoint(account, 'steps', { id, at, end: at + 15 * MINUTE }, { count: String(5000 + n) })
      },
      remove: (account, id) => remove(account, 'steps', id),
      held: (account) =>
        points(account, 'steps')
          .filter(({ family }) => family === 'wearables')
          .map(({ at, value }) => [instant(at), Number(value['count'])]),
    },
    {
      ...{ resource: 'weight', field: 'value', ids, keyOf },
      valueOf: (n) => (60_000 + n) / 1000,
      put: (account, id, n) => putPoint(account, 'weight', { id, at: timeOf(id), family: 'sources' }, { weightGrams: 60_000 + n }),
      remove: (account, id) => remove(account, 'weight', id),
      held: (account) => points(account, 'weight').map(({ at, value }) => [instant(at), Number(value['weightGrams']) / 1000]),
    },
    {
      ...{ resource: 'workouts', field: 'calories', ids, keyOf },
      valueOf: (n) => 100 + n,
      put: (account, id, n) => {
        const at = timeOf(id)
        const fields = { exerciseType: 'RUNNING', activeDuration: '1200s', metricsSummary: { caloriesKcal: 100 + n } }
        putPoint(account, 'exercise', { id, at, end: at + 30 * MINUTE }, fields)
      },
      remove: (account, id) => remove(account, 'exercise', id),
      held: (account) =>
        points(account, 'exercise').map(({ at, value }) => [
          instant(at),
          (value['metricsSummary'] as { caloriesKcal: number }).caloriesKcal,
        ]),
    },
  ]
}

const MG_PER_MMOL = 18.0182

export function dexcomSubjects({ users, put, remove, shown }: StandIn<typeof openDexcomStandIn>, now: number): Subject[] {
  const user = (account: string) => users.get(account) as DexcomUser
  const timeOf = (id: string) => hoursAgo(now, 3 + Number(id.at(-1))) + 7 * MINUTE
  const keyOf = (_: string, id: string) => instant(timeOf(id))
  const ids = () => ['storm-0', 'storm-1', 'storm-2']
  const isCarbs = ({ fields }: DexcomRecord) => fields['eventType'] === 'carbs' && fields['eventStatus'] !== 'deleted'
  return [
    {
      ...{ resource: 'glucose', field: 'value', ids, keyOf },
      valueOf: (n) => (150 + n) / MG_PER_MMOL,
      put: (account, id, n) => put(account, 'egvs', { id, at: iso(timeOf(id)), value: 150 + n }),
      held: (account) => [
        ...shown(user(account).egvs).map(({ at, fields }): [string, number] => [instant(at), Number(fields['value']) / MG_PER_MMOL]),
        ...shown(user(account).events)
          .filter(({ fields }) => fields['eventType'] === 'bloodGlucose')
          .map(({ at, fields }): [string, number] => [instant(at), Number(fields['value']) / MG_PER_MMOL]),
      ],
    },
    {
      ...{ resource: 'carbohydrates', field: 'value', ids, keyOf },
      valueOf: (n) => 10 + n,
      put: (account, id, n) =>
        put(account, 'events', { id, at: iso(timeOf(id)), eventType: 'carbs', value: String(10 + n), unit: 'grams' }),
      remove: (account, id) => remove(account, 'events', id),
      held: (account) =>
        shown(user(account).events)
          .filter(isCarbs)
          .map(({ at, fields }) => [instant(at), Number(fields['value'])]),
    },
  ]
}

/** The data of accounts begins after this, so that the first read of every feed has all of it. */
export const HISTORY_DAYS = 1
export const oldestRead = (now: number) => iso(now - 4 * DAY).slice(0, 10)

import { DAY, HOUR, SECOND } from '../../../platform/time.ts'
import { type Call, type Cloud, type Feed, isCloudError, type PullContext, type Reception, type Window } from '../cloud.ts'
import { mapped } from '../reading/records.ts'
import { isSession } from '../rules-clock.ts'
import * as api from './api.ts'
import * as map from './map.ts'

const METRICS = 'user.metrics'
const ACTIVITY = 'user.activity'
const INFO = 'user.info'

/** Notifications name a period, which is read again. Polling finds those that were lost. */
const notified = { windowDays: 30, pollMs: 6 * HOUR, trailingDays: 2 }

const rangeOf = (window: Window, { changedSince }: PullContext) => ({ window, changedSince })

/** Scales, cuffs, thermometers and oximeters. */
const measures: Feed = {
  resources: ['body', 'weight', 'fat', 'lean_body_mass', 'blood_pressure', 'blood_oxygen', 'body_temperature', 'vo2_max', 'profile'],
  scopes: [METRICS],
  ...notified,
  async *pull(call, window, context) {
    for await (const { records, timezone } of api.listMeasures(call, rangeOf(window, context))) {
      const groups = records.filter(map.isTaken)
      const each = <T>(of: (group: api.MeasureGroup, zone: typeof timezone) => T[]) =>
        mapped(call, 'measure', groups, (group) => of(group, timezone)).flat()
      yield {
        summaries: [
          { resource: 'body', items: each(map.bodyOf) },
          { resource: 'profile', items: each(map.profileOf) },
        ],
        samples: [
          { name: 'blood_pressure', items: each(map.bloodPressureOf) },
          { name: 'heartrate', items: each(map.pulseOf) },
          { name: 'blood_oxygen', items: each(map.oxygenOf) },
          { name: 'body_temperature', items: each(map.temperatureOf) },
          { name: 'vo2_max', items: each(map.vo2MaxOf) },
        ],
      }
    }
  },
}

const activity: Feed = {
  resources: ['activity'],
  scopes: [ACTIVITY],
  ...notified,
  async *pull(call, window, context) {
    for await (const { records } of api.listActivities(call, rangeOf(window, context)))
      yield { summaries: [{ resource: 'activity', items: mapped(call, 'activity', map.withoutDoubles(records), map.activityOf) }] }
  },
}

/** Each day is a request, and the application has 120 requests per minute for all users. */
const INTRADAY_DAYS = 14

const intraday: Feed = {
  resources: ['steps', 'distance', 'calories_active', 'floors_climbed', 'heartrate', 'hrv', 'respiratory_rate'],
  scopes: [ACTIVITY],
  ...notified,
  windowDays: 1,
  maxDays: INTRADAY_DAYS,
  async *pull(call, window) {
    const found = await intradayOf(call, window)
    const fields = Object.keys(map.intradaySeries) as (keyof typeof map.intradaySeries)[]
    const itemsOf = (field: (typeof fields)[number]) => mapped(call, 'intraday', found, (one) => map.intradayOf(one, field)).flat()
    yield { samples: fields.map((field) => ({ name: map.intradaySeries[field], items: itemsOf(field) })) }
  },
}

/** Withings allows some applications only the totals of a day. */
const intradayOf = (call: Call, window: Window) =>
  api.getIntraday(call, window).catch((error) => {
    if (isCloudError(error) && error.fault === 'forbidden') return []
    throw error
  })

const workouts: Feed = {
  resources: ['workouts'],
  scopes: [ACTIVITY],
  ...notified,
  async *pull(call, window, context) {
    for await (const { records } of api.listWorkouts(call, rangeOf(window, context)))
      yield { summaries: [{ resource: 'workouts', items: mapped(call, 'workout', records, map.workoutOf) }] }
  },
}

const sleep: Feed = {
  resources: ['sleep', 'sleep_cycle'],
  scopes: [ACTIVITY],
  ...notified,
  async *pull(call, window, context) {
    for await (const { records } of api.listNights(call, rangeOf(window, context))) {
      const items: ReturnType<typeof map.sleepOf>[] = []
      for (const night of records) {
        const phases = isSession(night.startdate * SECOND, night.enddate * SECOND) ? await api.getPhases(call, night) : []
        items.push(...mapped(call, 'sleep', [night], (night) => map.sleepOf(night, phases)))
      }
      yield { summaries: [{ resource: 'sleep', items }], sessionSeries: { resource: 'sleep', series: ['hypnogram'] } }
    }
  },
}

/** What each kind of notification is about: the feeds to read, and the scope that it needs. */
const kinds: Record<number, { feeds: string[]; scope: string }> = {
  1: { feeds: ['measures'], scope: METRICS },
  2: { feeds: ['measures'], scope: METRICS },
  4: { feeds: ['measures'], scope: METRICS },
  16: { feeds: ['activity', 'intraday', 'workouts'], scope: ACTIVITY },
  44: { feeds: ['sleep'], scope: ACTIVITY },
  46: { feeds: [], scope: INFO },
}

const CALLBACK_PATH = '/providers/withings/webhook/'

/** A user has one subscription for each kind. One with an earlier URL of Assay is replaced. */
const enroll: NonNullable<Cloud['enroll']> = async (call, { callback_url, granted }) => {
  const existing = await api.listSubscriptions(call)
  const ours = existing.filter(({ callbackurl }) => callbackurl === callback_url)
  for (const one of existing) if (!ours.includes(one) && one.callbackurl.includes(CALLBACK_PATH)) await api.unsubscribe(call, one)
  for (const [appli, { scope }] of Object.entries(kinds))
    if (granted(scope) && !ours.some((one) => String(one.appli) === appli))
      await api.subscribe(call, { callbackurl: callback_url, appli: Number(appli) })
}

/** Notifications have no signature. The secret in the callback URL shows that they come from Withings. */
const receive: NonNullable<Cloud['receive']> = ({ method, body }) => {
  if (method === 'GET' || method === 'HEAD') return { changes: [] }
  const form = Object.fromEntries(new URLSearchParams(body.toString()))
  const { userid: account, appli, action } = form
  const kind = appli && kinds[Number(appli)]
  if (!account || !kind) return { changes: [] }
  if (action === 'unlink' || action === 'delete') return { changes: [], ended: [account] }
  const window = windowIn(form)
  if (!window) return { changes: [] }
  const change = { kind: `appli ${Number(appli)}`, object_id: window.from, deleted: false, at: window.to, window }
  return { changes: kind.feeds.map((feed) => ({ account, feed, ...change })) }
}

/** The period of a notification: two seconds since 1970, or a day. */
function windowIn({ startdate, enddate, date }: Record<string, string>): Reception['changes'][number]['window'] {
  const [from, to] = date ? [Date.parse(date), Date.parse(date) + DAY] : [Number(startdate) * 1000, Number(enddate) * 1000]
  if (!(from > 0 && to >= from && to < MAX_TIME)) return undefined
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

const MAX_TIME = Date.parse('2200-01-01')

export const withings: Cloud = {
  api_url: 'https://wbsapi.withings.net',
  tokens: {
    exchangeFields: { action: 'requesttoken' },
    renewalFields: { action: 'requesttoken' },
    open(response) {
      const fault = api.faultOfStatus(api.statusIn(response) ?? -1)
      if (fault === undefined) return { state: 'tokens', tokens: (response as { body: unknown }).body }
      return fault === 'unavailable' || fault === 'rate_limited' ? { state: 'unavailable' } : { state: 'refused', reason: 'grant' }
    },
  },
  enroll,
  receive,
  faultIn(response) {
    const status = api.statusIn(response)
    const fault = status === undefined ? undefined : api.faultOfStatus(status)
    return fault && { fault, detail: `status ${status}` }
  },
  feeds: { measures, activity, intraday, workouts, sleep },
  async disconnect(call, { account, client, now }) {
    if (account) await api.revoke(call, client, account, now)
  },
}

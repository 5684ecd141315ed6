import { beforeAll, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { civilText, newGoogleUser, type StoredPoint, sleepOf } from '../../src/wearables/providers/google_health/stand-in/data.ts'
import { openGoogleStandIn } from '../../src/wearables/providers/google_health/stand-in/server.ts'
import { cloudWorld } from '../support/clouds.ts'
import { query } from '../support/query.ts'
import { userEvents } from '../support/wearables.ts'
import { errorOf, type Tenant } from '../support/world.ts'

const g = await cloudWorld({
  slug: 'google_health',
  accounts: ['ada', 'ben', 'cora', 'eve'],
  newUser: newGoogleUser,
  open: openGoogleStandIn,
})
const { samplesOf, typesSince, statusOf, pullsOf } = g

const scope = (name: string) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`
const everyScope = ['activity_and_fitness', 'sleep', 'health_metrics_and_measurements', 'ecg'].map(scope)

type Family = StoredPoint['family']

/** The points that the cloud holds in the window of the tests, oldest first. */
const held = (user: string, type: string, families: Family[] = ['wearables', 'sources']) =>
  [...(g.cloud.users.get(user)?.points.get(type)?.values() ?? [])]
    .filter(({ at, family }) => families.includes(family) && at >= Date.parse(g.window.start_date))
    .sort((a, b) => a.at - b.at)

const isoOf = (at: number) => new Date(at).toISOString()

const list = (user_id: string) => ({ params: { user_id }, query: { ...g.window, provider: 'google_health' } })

/** The value of a field, which may be text. */
const number =
  (field: string, divisor = 1) =>
  ({ value }: StoredPoint) =>
    Number(value[field]) / divisor

const series: [resource: string, type: string, families: Family[], measured: (point: StoredPoint) => number][] = [
  ['steps', 'steps', ['wearables'], number('count')],
  ['distance', 'distance', ['wearables'], number('millimeters', 1000)],
  ['calories_active', 'active-energy-burned', ['wearables'], number('kcal')],
  ['floors_climbed', 'floors', ['wearables'], number('count')],
  ['heartrate', 'heart-rate', ['wearables'], number('beatsPerMinute')],
  ['hrv', 'heart-rate-variability', ['wearables'], number('rootMeanSquareOfSuccessiveDifferencesMilliseconds')],
  ['blood_oxygen', 'oxygen-saturation', ['wearables'], number('percentage')],
  [
    'respiratory_rate',
    'respiratory-rate-sleep-summary',
    ['wearables'],
    ({ value }) => (value['fullSleepStats'] as { breathsPerMinute: number }).breathsPerMinute,
  ],
  ['body_weight', 'weight', ['sources'], number('weightGrams', 1000)],
  ['body_fat', 'body-fat', ['sources'], number('percentage')],
  ['body_temperature', 'core-body-temperature', ['sources'], number('temperatureCelsius')],
  ['glucose', 'blood-glucose', ['sources'], number('bloodGlucoseMilligramsPerDeciliter', 18.0182)],
]

/** Compares a series with what the cloud holds, sample by sample. */
async function expectSeries(t: Tenant, user_id: string, user: string, [resource, type, families, measured]: (typeof series)[number]) {
  const round = (value: number) => Math.round(value * 1e6) / 1e6
  const stored = (await samplesOf(t, user_id, resource)).map(({ timestamp, value }) => [timestamp, round(value)])
  expect(stored, resource).toEqual(held(user, type, families).map((point) => [isoOf(point.at), round(measured(point))]))
}

describe('the story of a Google account', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await g.w.tenant()
    const requirements = { google_health: { user_must_grant: [], user_may_grant: everyScope } }
    await t.admin.putScopeRequirements({ params: { org_id: t.org_id, team_id: t.team_id }, body: requirements })
    user_id = await g.connect(t, 'ada')
    await g.w.runJobs()
  })

  test('connects with the account of the cloud, and reads ninety days of every series', async () => {
    expect(await statusOf(t, user_id)).toMatchObject({ slug: 'google_health', status: 'connected', external_user_id: 'ada' })
    for (const row of series) await expectSeries(t, user_id, 'ada', row)
    const [voltage] = await samplesOf(t, user_id, 'electrocardiogram_voltage')
    const reading = held('ada', 'electrocardiogram')[0] as StoredPoint
    expect(voltage).toMatchObject({
      ...{ timestamp: isoOf(reading.at), type: 'lead_i' },
      value: Number((reading.value['waveformSamples'] as number[])[0]) / 1000,
    })
    const capacities = (await samplesOf(t, user_id, 'vo2_max')).map(({ value }) => value)
    expect(capacities).toHaveLength(held('ada', 'daily-vo2-max').length + held('ada', 'run-vo2-max').length)
    expect(capacities).toContain(44.25)
  })

  test('reads sleeps, days, workouts, the body, the profile and electrocardiograms', async () => {
    const nights = (await t.api.listSleep(list(user_id))).sleep
    const sleeps = held('ada', 'sleep').filter(({ end }) => end >= Date.parse(g.window.start_date))
    expect(nights.map(({ bedtime_start }) => Date.parse(bedtime_start))).toEqual(sleeps.map(({ at }) => at))
    expect(nights.at(-1)).toMatchObject({
      ...{ total: 25_200, awake: 3600, light: 10_800, deep: 7200, rem: 7200, latency: 540, type: 'long_sleep', state: 'confirmed' },
      ...{ temperature_delta: 0.2, respiratory_rate: 14.2, average_hrv: 52.5, timezone_offset: -18_000 },
    })
    const days = Map.groupBy(held('ada', 'steps', ['wearables']), ({ at }) => civilText(at).slice(0, 10))
    const activity = (await t.api.listActivity(list(user_id))).activity.filter(({ calendar_date }) => days.has(calendar_date))
    const sums = [...days]
      .filter(([day]) => day >= g.window.start_date)
      .map(([day, points]) => [day, points.reduce((sum, point) => sum + number('count')(point), 0)])
    expect(activity.map(({ calendar_date, steps }) => [calendar_date, steps])).toEqual(sums)
    const energy = held('ada', 'active-energy-burned').filter(({ at }) => civilText(at).startsWith(activity[5]?.calendar_date as string))
    const active = energy.reduce((sum, point) => sum + number('kcal')(point), 0)
    expect(activity[5]).toMatchObject({ calories_active: active, calories_total: active + 1600, low: 180, medium: 30, high: 10 })
    expect(activity[5]?.heart_rate).toMatchObject({ resting_bpm: expect.any(Number), avg_bpm: expect.any(Number) })
    const workouts = (await t.api.listWorkouts(list(user_id))).workouts
    expect(workouts.map(({ time_start }) => Date.parse(time_start))).toEqual(held('ada', 'exercise').map(({ at }) => at))
    expect(workouts[0]).toMatchObject({
      ...{ calories: 420, distance: 9500, average_hr: 142, moving_time: 3300, steps: 9000, total_elevation_gain: 85 },
      hr_zones: [0, 300, 1200, 1500, 300, 0],
    })
    const [beat] = held('ada', 'heart-rate').filter(({ at }) => at >= Date.parse(workouts[0]?.time_start as string))
    expect(await t.api.getWorkoutStream({ params: { workout_id: workouts[0]?.id as string } })).toMatchObject({
      ...{ time: [(beat?.at as number) / SECOND], heartrate: [Number(beat?.value['beatsPerMinute'])], lat: [] },
    })
    const body = (await t.api.listBody(list(user_id))).body
    expect(body.map(({ weight }) => weight)).toEqual(held('ada', 'weight').map(number('weightGrams', 1000)))
    expect(await t.api.getProfile({ params: { user_id }, query: { provider: 'google_health' } })).toMatchObject({ height: 172 })
    const readings = (await t.api.listElectrocardiograms(list(user_id))).electrocardiogram
    expect(readings).toHaveLength(held('ada', 'electrocardiogram').length)
    expect(readings[0]).toMatchObject({ classification: 'sinus_rhythm', voltage_sample_count: 250, heart_rate_mean: 64 })
  })

  test('announces the end of the history of each resource once, and reports success', async () => {
    const types = await typesSince(t, user_id)
    for (const resource of [
      'sleep',
      'activity',
      'steps',
      'workouts',
      'workout_stream',
      'heartrate',
      'weight',
      'glucose',
      'electrocardiogram',
    ])
      expect(
        types.filter((type) => type === `historical.data.${resource}.created`),
        resource,
      ).toHaveLength(1)
    const pulled = await pullsOf(t, user_id)
    expect(new Set(Object.values(pulled).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('registers a subscriber, and reads what a signed notification names, in both envelopes', async () => {
    expect(g.cloud.subscribers.size).toBe(1)
    const before = (await typesSince(t, user_id)).length
    const at = Date.parse(g.w.app.wall()) - 10 * DAY + 90 * MINUTE
    g.cloud.putPoint('ada', 'weight', { at, family: 'sources' }, { weightGrams: 71_500 })
    g.cloud.putPoint('ada', 'steps', { at, end: at + 15 * MINUTE }, { count: '321' })
    expect(await g.cloud.deliver()).toEqual([204, 204])
    await g.w.runJobs()
    for (const row of series.slice(0, 9)) await expectSeries(t, user_id, 'ada', row)
    expect((await typesSince(t, user_id, before)).sort()).toEqual([
      'daily.data.activity.updated',
      'daily.data.body.updated',
      'daily.data.steps.created',
      'daily.data.weight.created',
    ])
  })

  test('applies corrections', async () => {
    const before = (await typesSince(t, user_id)).length
    const night = held('ada', 'sleep').at(-12) as StoredPoint
    const changed = sleepOf(night.at, night.end)
    const summary = { ...changed.summary, minutesAsleep: '400', minutesAwake: '80' }
    g.cloud.putPoint('ada', 'sleep', { id: night.id, at: night.at, end: night.end }, { ...changed, summary })
    const [, beat] = held('ada', 'heart-rate').slice(-200)
    g.cloud.putPoint('ada', 'heart-rate', { at: beat?.at as number }, { beatsPerMinute: '191' })
    expect(await g.cloud.deliver()).toEqual([204, 204])
    await g.w.runJobs()
    const nights = (await t.api.listSleep(list(user_id))).sleep
    expect(nights.find(({ bedtime_start }) => Date.parse(bedtime_start) === night.at)).toMatchObject({ total: 24_000, awake: 4800 })
    await expectSeries(t, user_id, 'ada', series[4] as (typeof series)[number])
    expect((await typesSince(t, user_id, before)).sort()).toEqual(['daily.data.heartrate.updated', 'daily.data.sleep.updated'])
  })

  test('deletes what the cloud deleted', async () => {
    const before = (await typesSince(t, user_id)).length
    const [night, workout, steps] = ['sleep', 'exercise', 'steps'].map((type) => held('ada', type, ['wearables']).at(-7) as StoredPoint)
    for (const [type, point] of Object.entries({ sleep: night, exercise: workout, steps })) g.cloud.remove('ada', type, point?.id as string)
    expect(await g.cloud.deliver()).toEqual([204, 204, 204])
    await g.w.runJobs()
    expect((await t.api.listSleep(list(user_id))).sleep).toHaveLength(held('ada', 'sleep').length)
    expect((await t.api.listWorkouts(list(user_id))).workouts).toHaveLength(held('ada', 'exercise').length)
    await expectSeries(t, user_id, 'ada', series[0] as (typeof series)[number])
    const events = (await userEvents(g.w.app, t.team_id, user_id)).slice(before)
    expect(events.map(({ event_type }) => event_type).sort()).toEqual([
      ...['daily.data.activity.updated', 'daily.data.body_temperature_delta.deleted', 'daily.data.sleep.deleted'],
      ...['daily.data.sleep_cycle.deleted', 'daily.data.steps.deleted', 'daily.data.workouts.deleted'],
    ])
    const gone = events.find(({ event_type }) => event_type === 'daily.data.workouts.deleted')
    expect(Object.keys(gone?.data ?? {}).sort()).toEqual(['ids', 'provider', 'user_id'])
    // A list that the cloud served from a cache still has the session.
    g.cloud.users
      .get('ada')
      ?.points.get('exercise')
      ?.set(workout?.id as string, workout as StoredPoint)
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
    g.cloud.users
      .get('ada')
      ?.points.get('exercise')
      ?.delete(workout?.id as string)
    expect((await t.api.listWorkouts(list(user_id))).workouts).toHaveLength(held('ada', 'exercise').length)
  })

  test('accepts a session again that the cloud has after its deletion', async () => {
    const workout = held('ada', 'exercise').at(-6) as StoredPoint
    const count = (await t.api.listWorkouts(list(user_id))).workouts.length
    g.cloud.remove('ada', 'exercise', workout.id)
    await g.cloud.deliver()
    await g.w.runJobs()
    expect((await t.api.listWorkouts(list(user_id))).workouts).toHaveLength(count - 1)
    g.cloud.putPoint('ada', 'exercise', { id: workout.id, at: workout.at, end: workout.end }, workout.value)
    await g.cloud.deliver()
    await g.w.runJobs()
    expect((await t.api.listWorkouts(list(user_id))).workouts).toHaveLength(count)
  })

  test('deletes measurements of the body with their day, and those that only polls find', async () => {
    const [weight, other] = held('ada', 'weight').slice(-2) as [StoredPoint, StoredPoint]
    const evening = { at: other.at + 12 * HOUR, family: 'sources' as const }
    g.cloud.putPoint('ada', 'weight', evening, { weightGrams: 90_000 })
    await g.cloud.deliver()
    await g.w.runJobs()
    const weights = async () => (await t.api.listBody(list(user_id))).body.map((day) => day.weight)
    const before = await weights()
    expect(before.at(-1)).toBe(90)
    const reading = held('ada', 'electrocardiogram').at(-1) as StoredPoint
    const capacity = held('ada', 'daily-vo2-max').at(-1) as StoredPoint
    const counts = async () => [
      (await t.api.listElectrocardiograms(list(user_id))).electrocardiogram.length,
      (await samplesOf(t, user_id, 'vo2_max')).length,
      (await samplesOf(t, user_id, 'electrocardiogram_voltage')).length,
    ]
    const [readings = 0, capacities = 0, voltages = 0] = await counts()
    const removed = { weight: [weight.id, `weight-${evening.at}-sources`], 'body-fat': [weight.id.replace('weight', 'body-fat')] }
    for (const [type, ids] of Object.entries(removed)) for (const id of ids) g.cloud.remove('ada', type, id)
    g.cloud.remove('ada', 'electrocardiogram', reading.id)
    g.cloud.remove('ada', 'daily-vo2-max', capacity.id)
    await g.cloud.deliver()
    g.w.advanceTime(HOUR)
    await g.w.runJobs()
    expect(await weights()).toEqual([...before.slice(0, -2), Number(other.value['weightGrams']) / 1000])
    expect(await counts()).toEqual([readings - 1, capacities - 1, voltages - 250])
  })

  test('refuses a notification without the secret or without the signature of a current key', async () => {
    const [subscriber] = [...g.cloud.subscribers.values()]
    const { pathname } = new URL(subscriber?.endpointUri as string)
    const authorization = subscriber?.endpointAuthorization.secret as string
    const interval = { physicalTimeInterval: { startTime: g.w.app.wall(), endTime: g.w.app.wall() } }
    const data = { healthUserId: 'ada', operation: 'UPSERT', dataType: 'steps', intervals: [interval] }
    const body = JSON.stringify({ data })
    const signed = g.cloud.signatureOf(body)
    const post = (headers: Record<string, string>, text = body) =>
      fetch(`${g.w.base}${pathname}`, { method: 'POST', body: text, headers }).then(({ status }) => status)
    const header = 'google-health-api-signature'
    expect(await post({ [header]: signed })).toBe(401)
    expect(await post({ [header]: signed, authorization: `${authorization}x` })).toBe(401)
    expect(await post({ authorization })).toBe(401)
    expect(await post({ authorization, [header]: 'AAAA' })).toBe(401)
    expect(await post({ authorization, [header]: g.cloud.signatureOf(`${body} `) })).toBe(401)
    const otherKey = Buffer.from(signed, 'base64')
    otherKey.writeUInt32BE(7, 1)
    expect(await post({ authorization, [header]: otherKey.toString('base64') })).toBe(401)
    expect(await post({ authorization }, '{"type":"verification"}')).toBe(201)
    expect(await post({}, '{"type":"verification"}')).toBe(401)
    expect(await query(g.w.url, 'select 1 from cloud_changes where team_id = $1', [t.team_id])).toEqual([])
    const before = (await typesSince(t, user_id)).length
    expect(await post({ authorization, [header]: signed })).toBe(204)
    expect(await post({ authorization, [header]: signed })).toBe(204)
    await g.w.runJobs()
    expect(await typesSince(t, user_id, before)).toEqual([])
    g.cloud.rotateKeys()
    g.w.advanceTime(2 * MINUTE)
    expect(await post({ authorization, [header]: g.cloud.signatureOf(body) })).toBe(204)
    g.cloud.rotateKeys()
    g.w.advanceTime(2 * HOUR)
    expect(await post({ authorization, [header]: signed })).toBe(401)
  })

  test('renews tokens that expired with the same refresh token', async () => {
    g.cloud.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true, refreshed_sources: ['google_health'] })
    g.w.advanceTime(25 * HOUR)
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
  })

  test('disconnecting ends the access at the cloud, and the notifications after the last connection', async () => {
    await t.api.endConnection({ params: { user_id, provider: 'google_health' } })
    await g.w.runJobs()
    expect(g.cloud.tokens.isConnected('ada')).toBe(false)
    g.w.advanceTime(DAY)
    await g.w.runJobs()
    expect(await query(g.w.url, 'select 1 from pull_jobs where user_id = $1', [user_id])).toEqual([])
    expect(g.cloud.subscribers.size).toBe(0)
  })
})

/** Few feeds, so that the tests are short. */
const onlySleep = { without: [scope('activity_and_fitness'), scope('health_metrics_and_measurements')] }

describe('trouble with the cloud', () => {
  test('reads only what the user granted, and asks for electrocardiograms only if the team does', async () => {
    const t = await g.shortTenant()
    const user_id = await g.connect(t, 'ben', { without: [scope('health_metrics_and_measurements')] })
    await g.w.runJobs()
    // The first connection after the last one ended subscribes again.
    expect(g.cloud.subscribers.size).toBe(1)
    expect((await statusOf(t, user_id))?.resource_availability).toMatchObject({
      ...{ heartrate: { status: 'unavailable' }, body_temperature_delta: { status: 'unavailable' } },
      ...{ sleep: { status: 'available' }, electrocardiogram: { status: 'unavailable' } },
    })
    const [night] = (await t.api.listSleep({ params: { user_id }, query: { start_date: g.daysAgo(5) } })).sleep
    expect(night).toMatchObject({ total: 25_200, temperature_delta: null })
    expect(Object.keys(await pullsOf(t, user_id))).not.toContain('heartrate')
  })

  test('waits a minute after the limit of the cloud, without losing a window', async () => {
    const t = await g.shortTenant()
    g.cloud.behavior.remaining = 1
    const user_id = await g.connect(t, 'ben', onlySleep)
    await g.w.runJobs()
    const calls = g.cloud.requests.length
    await g.w.runJobs()
    expect(g.cloud.requests).toHaveLength(calls)
    g.cloud.behavior.remaining = undefined
    g.w.advanceTime(60 * SECOND)
    await g.w.runJobs()
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('retries through an outage of an hour', async () => {
    const t = await g.shortTenant()
    const user_id = await g.connect(t, 'cora', onlySleep)
    g.cloud.behavior.down = true
    for (const wait of [0, 10 * SECOND, MINUTE, 10 * MINUTE, 40 * MINUTE]) {
      g.w.advanceTime(wait)
      await g.w.runJobs()
    }
    expect((await pullsOf(t, user_id))['sleep']).toMatchObject({ status: 'retrying', error_details: 'provider_unavailable' })
    g.cloud.behavior.down = false
    g.w.advanceTime(HOUR)
    await g.w.runJobs()
    expect((await pullsOf(t, user_id))['sleep']).toMatchObject({ status: 'success', error_details: null })
  })

  test('breaks the connection if the user revoked the access', async () => {
    const t = await g.shortTenant()
    const user_id = await g.connect(t, 'eve', onlySleep)
    await g.w.runJobs()
    g.cloud.tokens.revokeUser('eve')
    expect(await errorOf(t.api.refreshUser({ params: { user_id } }))).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    await g.connect(t, 'eve', { ...onlySleep, user_id })
    await g.w.runJobs()
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected', error_details: null })
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import type { SourceSlug } from '../../src/contract/tenants/sources.ts'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'
import { summaries } from '../../src/contract/wearables/summaries.ts'
import { DAY } from '../../src/platform/time.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { holdBackfills, push, userEvents } from '../support/wearables.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
  w.setTimeToNoon()
})

const today = () => w.app.wall().slice(0, 10)
const daysAgo = (days: number) => new Date(Date.parse(today()) - days * DAY).toISOString().slice(0, 10)

const connect = (user_id: string, provider: SourceSlug = 'fitbit', change: object = {}) =>
  w.api.connectDemo({ body: { user_id, provider, ...change } })

const resources = [...Object.keys(summaries), ...seriesNames.flatMap((name) => series[name].event ?? []), 'workout_stream']

/** Counts the events of a user by type. */
async function typesOf(user_id: string, since = 0) {
  const events = (await userEvents(w.app, w.team_id, user_id)).slice(since)
  return Object.fromEntries([...Map.groupBy(events, ({ event_type }) => event_type)].map(([type, group]) => [type, group.length]))
}

const read = (user_id: string, resource: string, query: object = {}) =>
  w.api.listSamples({ params: { user_id, resource }, query: { start_date: daysAgo(40), end_date: daysAgo(0), ...query } })

const valuesOf = async (user_id: string, resource: string, query: object) =>
  Object.values((await read(user_id, resource, query)).groups).flatMap((group) =>
    group.flatMap(({ data }) => data.map(({ value }) => value as number)),
  )

/** Continues a pull that waited too long for another write. */
async function finishPulls() {
  await query(w.url, 'update connections set pull_due_at = $1 where pull_due_at is not null', [w.app.wall()])
  await w.runJobs()
}

const list = (user_id: string, start_date = daysAgo(40), end_date = daysAgo(0)) => ({
  params: { user_id },
  query: { start_date, end_date },
})

describe('a demo connection', () => {
  let user_id: string
  beforeAll(async () => {
    user_id = await aUser(w.api)
    const startedAt = performance.now()
    expect(await connect(user_id)).toEqual({ success: true, detail: 'Fitbit is connected as a demo.' })
    console.log(`demo connection took ${Math.round(performance.now() - startedAt)} ms`)
  })

  test('appears in the connections and devices of the user', async () => {
    const { providers } = await w.api.listConnections({ params: { user_id } })
    expect(providers).toMatchObject([{ slug: 'fitbit', status: 'connected' }])
    expect(await w.api.listDevices({ params: { user_id } })).toMatchObject([{ provider: 'fitbit', source_type: 'watch' }])
  })

  test('emits one historical event without samples per resource, and daily events with samples', async () => {
    const types = await typesOf(user_id)
    expect(Object.keys(types).sort()).toEqual(
      [
        'provider.connection.created',
        'provider.device.created',
        ...resources.flatMap((resource) => [`historical.data.${resource}.created`, `daily.data.${resource}.created`]),
      ].sort(),
    )
    const past = Object.entries(types).filter(([type]) => type.startsWith('historical.'))
    expect(past.filter(([, count]) => count !== 1)).toEqual([])
    expect(types).toMatchObject({
      'provider.connection.created': 1,
      'daily.data.activity.created': 2,
      'daily.data.sleep.created': 2,
      'daily.data.workouts.created': 1,
      'daily.data.workout_stream.created': 1,
      'daily.data.profile.created': 1,
      'daily.data.heartrate.created': 1,
    })
    const events = await userEvents(w.app, w.team_id, user_id)
    const { data } = events.find(({ event_type }) => event_type === 'historical.data.heartrate.created') ?? {}
    expect(data).toEqual({
      user_id,
      provider: 'fitbit',
      start_date: `${daysAgo(31)}T00:00:00.000Z`,
      end_date: `${daysAgo(1)}T00:00:00.000Z`,
      is_final: true,
    })
    const live = events.find(({ event_type }) => event_type === 'daily.data.heartrate.created')?.data.data ?? []
    expect(live[0]).toMatchObject({ timestamp: `${daysAgo(1)}T00:00:00.000Z`, timezone_offset: 0 })
    expect(live).toHaveLength(288 + 145)
  })

  test.each(seriesNames)('has samples of %s', async (name) => {
    const { groups } = await read(user_id, name)
    expect(groups['fitbit']?.flatMap(({ data }) => data).length).toBeGreaterThan(0)
  })

  test('has summaries of every kind for the whole period', async () => {
    const { activity } = await w.api.listActivity(list(user_id))
    expect(activity.map(({ calendar_date }) => calendar_date)).toEqual(Array.from({ length: 32 }, (_, i) => daysAgo(31 - i)))
    expect((await w.api.listSleep(list(user_id))).sleep).toHaveLength(32)
    expect((await w.api.listSleepCycles(list(user_id))).sleep_cycle).toHaveLength(32)
    expect((await w.api.listWorkouts(list(user_id))).workouts).toHaveLength(31)
    expect((await w.api.listBody(list(user_id))).body).toHaveLength(32)
    expect((await w.api.listElectrocardiograms(list(user_id))).electrocardiogram).toHaveLength(31)
    expect((await w.api.listMeals(list(user_id))).meals.length).toBeGreaterThan(31 * 3)
    expect((await w.api.listMenstrualCycles(list(user_id, daysAgo(62)))).menstrual_cycle.length).toBeGreaterThan(1)
    expect(await w.api.getProfile({ params: { user_id }, query: {} })).toMatchObject({ sex: 'female' })
  })

  test('has streams for workouts and sleep', async () => {
    const { workouts } = await w.api.listWorkouts(list(user_id))
    for (const { id, time_start } of workouts.slice(-3) as { id: string; time_start: string }[]) {
      const stream = await w.api.getWorkoutStream({ params: { workout_id: id } })
      expect(stream.time[0]).toBe(Date.parse(time_start) / 1000)
      expect(stream.heartrate).toHaveLength(stream.time.length)
    }
    const { sleep } = await w.api.listSleep(list(user_id))
    const stream = await w.api.getSleepStream({ params: { sleep_id: sleep.at(-1)?.id as string } })
    expect(Object.values(stream).every((samples) => Array.isArray(samples) && samples.length > 0)).toBe(true)
  })

  test.each([1, 0, 17])('has an activity summary %i days ago that equals the sum of its samples', async (days) => {
    const day = { start_date: daysAgo(days), end_date: daysAgo(days) }
    const { activity } = await w.api.listActivity({ params: { user_id }, query: day })
    const total = async (resource: string) => (await valuesOf(user_id, resource, day)).reduce((sum, value) => sum + value, 0)
    expect(activity[0]?.steps).toBe(await total('steps'))
    expect(activity[0]?.distance).toBeCloseTo(await total('distance'), 1)
    expect(activity[0]?.calories_active).toBeCloseTo(await total('calories_active'), 1)
  })

  test('writes nothing and emits no events when connected again', async () => {
    const before = await userEvents(w.app, w.team_id, user_id)
    const rows = () => query(w.url, `select sum(revision) as revisions, count(*) as days from sample_days where user_id = '${user_id}'`)
    const written = await rows()
    expect(await connect(user_id)).toEqual({ success: true, detail: 'Fitbit is already connected as a demo.' })
    expect(await rows()).toEqual(written)
    expect(await userEvents(w.app, w.team_id, user_id)).toHaveLength(before.length)
  })

  test('coexists with a real connection to another source', async () => {
    await push(w.api, user_id, 'steps', [{ value: 4, start_date: `${daysAgo(1)}T09:00:00Z` }], { provider: 'manual' })
    expect(Object.keys((await read(user_id, 'steps')).groups).sort()).toEqual(['fitbit', 'manual'])
  })
})

describe('POST /v2/link/connect/demo', () => {
  test('follows the time zone and ingestion_start of the user', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'Pacific/Auckland', ingestion_start: daysAgo(3) })
    await connect(user_id, 'apple_health_kit')
    const { activity } = await w.api.listActivity(list(user_id, daysAgo(40), daysAgo(-1)))
    expect(activity[0]?.calendar_date).toBe(daysAgo(3))
    expect(activity.at(-1)).toMatchObject({ calendar_date: daysAgo(-1), time_zone: 'Pacific/Auckland' })
    const first = Object.values((await read(user_id, 'heartrate')).groups)[0]?.[0]?.data[0]
    expect(first?.timestamp).toBe(`${daysAgo(3)}T00:00:00.000Z`)
    expect([43_200, 46_800]).toContain(first?.timezone_offset)
  })

  test('rejects a source to which the user has a real connection', async () => {
    const user_id = await aUser(w.api)
    await w.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    expect(await errorOf(connect(user_id, 'apple_health_kit'))).toEqual({
      status: 400,
      detail: { error_type: 'CONNECTION_IS_NO_DEMO', error_message: expect.stringContaining('DELETE /v2/user/{user_id}/apple_health_kit') },
    })
    expect(await typesOf(user_id)).toEqual({ 'provider.connection.created': 1 })
  })

  test('rejects a user of another team, an unknown source and a day out of range', async () => {
    const user_id = await aUser(w.api)
    const other = await w.tenant()
    expect(await errorOf(other.api.connectDemo({ body: { user_id, provider: 'fitbit' } }))).toMatchObject({ status: 404 })
    expect(await errorOf(connect(user_id, 'nothing' as SourceSlug))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'provider'] }] })
    for (const day of [daysAgo(-1), '0001-01-01', '1900-12-31'])
      expect(await errorOf(connect(user_id, 'fitbit', { day }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'day'] }] })
    expect(await typesOf(user_id)).toEqual({})
  })

  test('returns 404 in production', async () => {
    const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
    const user_id = await aUser(production.api)
    expect(await errorOf(production.api.connectDemo({ body: { user_id, provider: 'fitbit' } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'UNKNOWN_PATH' },
    })
  })
})

test('concurrent demo connections with a past day create data and events once', async () => {
  const user_id = await aUser(w.api)
  const connectPastDay = () => connect(user_id, 'freestyle_libre', { day: daysAgo(100) })
  await Promise.all([connectPastDay(), connectPastDay()])
  await finishPulls()
  const types = await typesOf(user_id)
  expect(types).toMatchObject({ 'provider.connection.created': 1, 'historical.data.glucose.created': 2, 'daily.data.profile.created': 1 })
  const day = { start_date: daysAgo(100), end_date: daysAgo(100) }
  const glucose = await valuesOf(user_id, 'glucose', day)
  expect(glucose).toHaveLength(288)
  await connectPastDay()
  expect(await valuesOf(user_id, 'glucose', day)).toEqual(glucose)
  expect(await typesOf(user_id)).toEqual(types)
})

test('a demo connection with a past day waits for a long write of the same data', async () => {
  const user_id = await aUser(w.api)
  await connect(user_id, 'freestyle_libre')
  const release = await holdBackfills(w.app, w.team_id, user_id)
  const connecting = connect(user_id, 'freestyle_libre', { day: daysAgo(100) })
  const waitsLong = async () => expect((await lockWaits(w.url)).filter(({ seconds }) => seconds > 1)).toHaveLength(1)
  await Promise.race([connecting, waitFor(waitsLong)]).finally(release)
  expect(await connecting).toMatchObject({ success: true })
})

test('a demo connection accepts a day before 1970', async () => {
  const user_id = await aUser(w.api, { fallback_time_zone: 'Pacific/Apia' })
  await connect(user_id, 'freestyle_libre', { day: '1969-07-20' })
  expect(await valuesOf(user_id, 'glucose', { start_date: '1969-07-19', end_date: '1969-07-22' })).toHaveLength(288)
})

test('a demo connection follows the pull preferences of the team for each resource', async () => {
  const t = await w.tenant()
  const days = (historical_days_to_pull: number) => ({ historical_days_to_pull })
  const fitbit = { default: days(2), resource_overrides: { sleep: days(5), workouts: days(0) } }
  await t.admin.putPullPreferences({
    params: { org_id: t.org_id, env: 'sandbox', region: 'us' },
    body: { team_ids: [t.team_id], providers: { fitbit } },
  })
  const user_id = await aUser(t.api)
  await t.api.connectDemo({ body: { user_id, provider: 'fitbit' } })
  // Pull preferences limit historical data only; yesterday and today are live data.
  const { activity } = await t.api.listActivity(list(user_id))
  expect(activity.map(({ calendar_date }) => calendar_date)).toEqual([3, 2, 1, 0].map(daysAgo))
  const { sleep } = await t.api.listSleep(list(user_id))
  expect(sleep.map(({ calendar_date }) => calendar_date)).toEqual([6, 5, 4, 3, 2, 1, 0].map(daysAgo))
  expect((await t.api.listWorkouts(list(user_id))).workouts.map(({ calendar_date }) => calendar_date)).toEqual([daysAgo(1)])
})

test('a refresh adds the days since the last one as live data', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await t.api.connectDemo({ body: { user_id, provider: 'oura' } })
  const before = (await userEvents(w.app, t.team_id, user_id)).length
  await t.api.moveClock({ body: { advance_seconds: 3 * 86_400 } })
  // Waits as long as the API allows, because a busy machine needs more than the usual ten seconds.
  expect(await t.api.refreshUser({ params: { user_id }, query: { timeout: 60 } })).toMatchObject({
    success: true,
    refreshed_sources: ['oura'],
  })
  const { activity } = await t.api.listActivity({ params: { user_id }, query: { start_date: daysAgo(1), end_date: daysAgo(-3) } })
  expect(activity.map(({ calendar_date }) => calendar_date)).toEqual([1, 0, -1, -2, -3].map(daysAgo))
  const types = (await userEvents(w.app, t.team_id, user_id)).slice(before).map(({ event_type }) => event_type)
  const count = (type: string) => types.filter((emitted) => emitted === type).length
  expect(types.filter((type) => !type.startsWith('daily.data.'))).toEqual([])
  expect(
    ['activity.created', 'activity.updated', 'workouts.created', 'profile.created'].map((type) => count(`daily.data.${type}`)),
  ).toEqual([3, 1, 3, 0])
})

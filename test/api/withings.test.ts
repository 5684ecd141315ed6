import { beforeAll, describe, expect, test } from 'vitest'
import { DAY, HOUR, SECOND } from '../../src/platform/time.ts'
import { newWithingsUser, type WithingsUser } from '../../src/wearables/providers/withings/stand-in/data.ts'
import { openWithingsStandIn } from '../../src/wearables/providers/withings/stand-in/server.ts'
import { cloudWorld } from '../support/clouds.ts'
import { errorOf, type Tenant } from '../support/world.ts'

const o = await cloudWorld({
  slug: 'withings',
  accounts: ['1001', '1002', '1003', '1004'],
  newUser: newWithingsUser,
  open: openWithingsStandIn,
  // Withings accepts only https URLs of a domain.
  env: { PUBLIC_URL: 'https://assay.example' },
})
const { samplesOf, typesSince, statusOf, pullsOf, window } = o

const held = (account: string) => o.cloud.users.get(account) as WithingsUser
const iso = (second: number) => new Date(second * 1000).toISOString()
const isRecent = (second: number) => iso(second) >= window.start_date

/** The values of a type of measure that the cloud holds, without those of an unknown user. */
const measured = (account: string, wanted: number) =>
  held(account)
    .groups.filter(({ attrib, date }) => attrib === 0 && isRecent(date))
    .flatMap(({ date, measures }) => {
      const found = measures.find(({ type }) => type === wanted)
      return found ? [{ timestamp: iso(date), value: found.value / 10 ** -found.unit }] : []
    })

const valuesOf = async (t: Tenant, user_id: string, resource: string) =>
  (await samplesOf(t, user_id, resource)).map(({ timestamp, value }) => ({ timestamp, value }))

const sleepsOf = async (t: Tenant, user_id: string) =>
  (await t.api.listSleep({ params: { user_id }, query: { ...window, provider: 'withings' } })).sleep

describe('the story of a Withings account', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await o.w.tenant()
    user_id = await o.connect(t, '1001')
    // The service had another address before.
    o.cloud.addSubscription({ userid: '1001', appli: 1, callbackurl: 'https://old.example/providers/withings/webhook/x', comment: '' })
    await o.w.runJobs()
  })

  test('connects with the account in the token envelope, and reads scales, cuffs and oximeters sample by sample', async () => {
    expect(await statusOf(t, user_id)).toMatchObject({ slug: 'withings', status: 'connected', external_user_id: '1001' })
    expect(await valuesOf(t, user_id, 'weight')).toEqual(measured('1001', 1))
    expect(await valuesOf(t, user_id, 'fat')).toEqual(measured('1001', 6))
    expect(await valuesOf(t, user_id, 'body_temperature')).toEqual(measured('1001', 71))
    expect(await valuesOf(t, user_id, 'vo2_max')).toEqual(measured('1001', 123))
    const pressures = await samplesOf(t, user_id, 'blood_pressure')
    expect(pressures.map(({ timestamp, systolic }) => ({ timestamp, value: systolic }))).toEqual(measured('1001', 10))
    expect(pressures[0]).toMatchObject({ diastolic: 76, pulse: 61, type: 'cuff', timezone_offset: 3600 })
    const body = (await t.api.listBody({ params: { user_id }, query: window })).body
    expect(body).toHaveLength(measured('1001', 1).length)
    const { weight = 0 } = body[0] ?? {}
    expect(body[0]).toMatchObject({ fat: 24.1, lean_body_mass_kilogram: 51.8, visceral_fat_index: 4.2 })
    expect(body[0]?.muscle_mass_percentage).toBeCloseTo(3412.5 / (weight as number))
    expect(await t.api.getProfile({ params: { user_id }, query: { provider: 'withings' } })).toMatchObject({ height: 172 })
  })

  test('reads days, workouts and nights with their stages and measurements', async () => {
    const days = held('1001').activities.filter(({ date }) => date >= window.start_date)
    const activity = (await t.api.listActivity({ params: { user_id }, query: window })).activity
    expect(activity.map(({ calendar_date, steps }) => [calendar_date, steps])).toEqual(days.map((day) => [day.date, day['steps']]))
    expect(activity[0]).toMatchObject({
      ...{ calories_active: 400, calories_total: 2100, distance: 5400.5, floors_climbed: 6, low: 180, medium: 30, high: 10 },
      heart_rate: { avg_bpm: 74, min_bpm: 48, max_bpm: 151 },
    })
    const nights = held('1001').nights.filter(({ date }) => date >= window.start_date)
    const sleeps = await sleepsOf(t, user_id)
    expect(sleeps.map(({ bedtime_start, total, deep, score }) => [Date.parse(bedtime_start as string) / 1000, total, deep, score])).toEqual(
      nights.map(({ startdate, data }) => [startdate, data['total_sleep_time'], data['deepsleepduration'], data['sleep_score']]),
    )
    expect(sleeps[0]).toMatchObject({ state: 'confirmed', efficiency: 91.7, hr_lowest: 47, timezone_offset: 3600 })
    const phases = held('1001').phases.flatMap(({ rmssd }) => Object.entries(rmssd))
    const variability = phases.map(([second, value]) => ({ timestamp: iso(Number(second)), value }))
    expect(await valuesOf(t, user_id, 'hrv')).toEqual(variability.filter(({ timestamp }) => timestamp >= window.start_date))
    const stages = await t.api.getSleepStream({ params: { sleep_id: sleeps[0]?.id as string } })
    // Awake, deep, light and REM sleep.
    expect(stages.hypnogram?.slice(0, 4).map(({ value }) => value)).toEqual([4, 1, 2, 3])
    const workouts = (await t.api.listWorkouts({ params: { user_id }, query: window })).workouts
    expect(workouts).toHaveLength(held('1001').workouts.filter(({ date }) => date >= window.start_date).length)
    expect(workouts[0]).toMatchObject({ sport: { slug: 'running' }, calories: 320, distance: 6100, average_hr: 131, moving_time: 3300 })
  })

  test('reads the intervals of two weeks, and announces the end of the history once', async () => {
    const since = new Date(Date.parse(o.w.app.wall()) - 14 * DAY).toISOString()
    const intervals = Object.entries(held('1001').intraday).filter(([second]) => iso(Number(second)) >= since)
    expect(await valuesOf(t, user_id, 'steps')).toEqual(
      intervals.map(([second, { steps }]) => ({ timestamp: iso(Number(second)), value: steps })),
    )
    const types = await typesSince(t, user_id)
    for (const resource of ['sleep', 'activity', 'workouts', 'weight', 'blood_pressure', 'steps', 'heartrate'])
      expect(
        types.filter((type) => type === `historical.data.${resource}.created`),
        resource,
      ).toHaveLength(1)
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('subscribes each user to notifications, and reads the period that one names', async () => {
    const subscriptions = o.cloud.subscriptionsOf('1001')
    expect(subscriptions.map(({ appli }) => appli).sort((a, b) => a - b)).toEqual([1, 2, 4, 16, 44, 46])
    expect(subscriptions.every(({ callbackurl }) => callbackurl.startsWith('https://assay.example/providers/withings/webhook/'))).toBe(true)
    const before = (await typesSince(t, user_id)).length
    const seconds = Math.floor(Date.parse(o.w.app.wall()) / 1000)
    const measures = [{ type: 1, value: 70_125, unit: -3 }]
    o.cloud.put('1001', 'groups', { id: 7, date: seconds - 60, attrib: 0, timezone: 'Africa/Lagos', measures })
    expect(await o.cloud.deliver()).toEqual([200])
    await o.w.runJobs()
    expect((await valuesOf(t, user_id, 'weight')).at(-1)).toEqual({ timestamp: iso(seconds - 60), value: 70.125 })
    expect((await typesSince(t, user_id, before)).sort()).toEqual(['daily.data.body.updated', 'daily.data.weight.created'])
  })

  test('a correction of an old night replaces it, and a repeated notification changes nothing', async () => {
    const night = held('1001').nights.at(-40)
    const data = { ...night?.data, deepsleepduration: 60 }
    o.cloud.put('1001', 'nights', { ...night, id: night?.id, data } as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    const changed = (await sleepsOf(t, user_id)).find(
      ({ bedtime_start }) => Date.parse(bedtime_start as string) / 1000 === night?.startdate,
    )
    expect(changed).toMatchObject({ deep: 60 })
    const before = (await typesSince(t, user_id)).length
    const [{ callbackurl = '' } = {}] = o.cloud.subscriptionsOf('1001')
    const url = `${o.w.base}${new URL(callbackurl).pathname}`
    const body = new URLSearchParams({ userid: '1001', appli: '44', startdate: `${night?.startdate}`, enddate: `${night?.enddate}` })
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
    expect((await fetch(url, { method: 'POST', body: 'userid=1001&appli=44&startdate=x' })).status).toBe(200)
    expect((await fetch(`${url}x`, { method: 'POST', body })).status).toBe(404)
    expect((await fetch(`${url}x`, { method: 'HEAD' })).status).toBe(404)
    await o.w.runJobs()
    expect(await typesSince(t, user_id, before)).toEqual([])
  })

  test('polling finds a correction of an old day whose notification was lost', async () => {
    const day = held('1001').activities.at(-30)
    Object.assign(day as object, { steps: 4, modified: Math.floor(Date.parse(o.w.app.wall()) / 1000) })
    o.w.advanceTime(6 * HOUR)
    await o.w.runJobs()
    const { activity } = await t.api.listActivity({
      params: { user_id },
      query: { start_date: day?.date as string, end_date: day?.date as string },
    })
    expect(activity).toMatchObject([{ steps: 4 }])
  })

  test('renews tokens that expired, and disconnecting revokes them with a signed request', async () => {
    o.cloud.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['withings'] })
    o.w.advanceTime(4 * HOUR)
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['withings'] })
    await t.api.endConnection({ params: { user_id, provider: 'withings' } })
    await o.w.runJobs()
    expect(o.cloud.tokens.isConnected('1001')).toBe(false)
    expect(o.cloud.subscriptionsOf('1001')).toEqual([])
  })
})

describe('trouble with Withings', () => {
  test('waits after status 601, and loses no window', async () => {
    const t = await o.shortTenant()
    o.cloud.behavior.remaining = 5
    const user_id = await o.connect(t, '1002')
    await o.w.runJobs()
    const calls = o.cloud.requests.length
    await o.w.runJobs()
    expect(o.cloud.requests).toHaveLength(calls)
    o.cloud.behavior.remaining = undefined
    o.w.advanceTime(60 * SECOND)
    await o.w.runJobs()
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
  })

  test('retries through an outage of an hour, and contains malformed responses', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '1003')
    await o.surviveOutage(t, user_id)
    const hostile = [
      '<html>',
      '{"status":0,"body":{"measuregrps":[{"grpid":"x"}]}}',
      '{"status":0,"body":{"series":[],"activities":[],"measuregrps":[],"more":1,"offset":5}}',
    ]
    for (const body of hostile) {
      o.cloud.behavior.respondWith = { status: 200, body }
      expect(await errorOf(t.api.refreshUser({ params: { user_id } })), body).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
      expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
    }
    o.cloud.behavior.respondWith = undefined
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['withings'] })
  })

  test('breaks the connection once if the user unlinks the application, revokes the tokens, or lacks permission', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '1002')
    await o.w.runJobs()
    const broken = async () => (await statusOf(t, user_id))?.error_details?.error_type
    o.cloud.unlink('1002')
    expect(await o.cloud.deliver()).toEqual([200])
    expect(await broken()).toBe('deregistered_per_provider')
    await o.connect(t, '1002', { user_id })
    await o.w.runJobs()
    o.cloud.tokens.revokeUser('1002')
    expect(await errorOf(t.api.refreshUser({ params: { user_id } }))).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
    expect(await broken()).toBe('token_refresh_failed')
    await o.connect(t, '1002', { user_id })
    o.cloud.behavior.lapsed = true
    await o.w.runJobs()
    o.cloud.behavior.lapsed = false
    expect(await broken()).toBe('deregistered_per_provider')
    expect((await typesSince(t, user_id)).filter((type) => type === 'provider.connection.error')).toHaveLength(3)
  })

  test('reads only what the user granted', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '1004', { without: ['user.activity'] })
    await o.w.runJobs()
    expect((await statusOf(t, user_id))?.resource_availability).toMatchObject({
      sleep: { status: 'unavailable' },
      body: { status: 'available' },
    })
    expect(Object.keys(await pullsOf(t, user_id))).not.toContain('sleep')
    expect((await samplesOf(t, user_id, 'weight')).length).toBeGreaterThan(3)
    expect(o.cloud.subscriptionsOf('1004').map(({ appli }) => appli)).not.toContain(44)
  })
})

import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { newWhoopUser, type WhoopUser } from '../../src/wearables/providers/whoop/stand-in/data.ts'
import { openWhoopStandIn } from '../../src/wearables/providers/whoop/stand-in/server.ts'
import { cloudWorld } from '../support/clouds.ts'
import { query } from '../support/query.ts'
import { userEvents } from '../support/wearables.ts'
import { errorOf, type Tenant } from '../support/world.ts'

const o = await cloudWorld({ slug: 'whoop_v2', accounts: ['2001', '2002', '2003'], newUser: newWhoopUser, open: openWhoopStandIn })
const { samplesOf, typesSince, statusOf, pullsOf, window } = o

const held = (account: string) => o.cloud.users.get(account) as WhoopUser
const sleepsOf = async (t: Tenant, user_id: string) =>
  (await t.api.listSleep({ params: { user_id }, query: { ...window, provider: 'whoop_v2' } })).sleep

/** The nights that the cloud holds, oldest first, with their recovery. */
const nightsOf = (account: string) =>
  [...held(account).sleeps.values()]
    .filter(({ end = '' }) => end >= window.start_date)
    .map((sleep) => ({ ...sleep, recovery: held(account).recoveries.get(String(sleep.id))?.score as Record<string, number> | undefined }))

/** A team whose own application has the webhook URL in the dashboard. */
async function aTeamWithWebhooks(t: Tenant) {
  const deployment = { org_id: t.org_id, env: 'sandbox', region: 'us' } as const
  const body = { team_id: t.team_id, provider: 'whoop_v2' as const }
  const { preparation_steps } = await t.admin.prepareTeamCredential({ params: deployment, body })
  expect(preparation_steps.map(({ type }) => type)).toEqual(['redirect_uri', 'webhook_uri'])
  const { client_id, client_secret } = o.cloud.setting
  await t.admin.putTeamCredential({ params: deployment, body: { ...body, client_id, client_secret } })
  o.cloud.behavior.webhook_url = preparation_steps[1]?.value
}

describe('the story of a WHOOP account', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await o.w.tenant()
    await aTeamWithWebhooks(t)
    user_id = await o.connect(t, '2001')
    await o.w.runJobs()
  })

  test('connects with the account of the profile, and reads nights with their recovery, sample by sample', async () => {
    expect(await statusOf(t, user_id)).toMatchObject({ slug: 'whoop_v2', status: 'connected', external_user_id: '2001' })
    const nights = nightsOf('2001')
    const sleeps = await sleepsOf(t, user_id)
    const stages = (night: (typeof nights)[number]) => (night.score as { stage_summary: Record<string, number> }).stage_summary
    expect(
      sleeps.map(({ bedtime_start, deep, recovery_readiness_score, average_hrv }) => [
        bedtime_start,
        deep,
        recovery_readiness_score,
        average_hrv,
      ]),
    ).toEqual(
      nights.map((night) => [
        night.start,
        (stages(night)['total_slow_wave_sleep_time_milli'] as number) / 1000,
        night.recovery?.['recovery_score'],
        night.recovery?.['hrv_rmssd_milli'],
      ]),
    )
    expect(sleeps[0]).toMatchObject({
      type: 'long_sleep',
      state: 'confirmed',
      light: 14_400,
      rem: 6000,
      awake: 1800,
      timezone_offset: -18_000,
    })
    for (const [resource, field] of Object.entries({
      hrv: 'hrv_rmssd_milli',
      blood_oxygen: 'spo2_percentage',
      heartrate: 'resting_heart_rate',
    }))
      expect(
        (await samplesOf(t, user_id, resource)).map(({ timestamp, value }) => [timestamp, value]),
        resource,
      ).toEqual(nights.map((night) => [night.end, night.recovery?.[field]]))
  })

  test('reads cycles, workouts and the body', async () => {
    const localDay = (start: string) => new Date(Date.parse(start) - 5 * HOUR).toISOString().slice(0, 10)
    const wakeUpOf = ({ id }: { id: unknown }) => [...held('2001').sleeps.values()].find(({ cycle_id }) => cycle_id === id)?.end as string
    const cycles = held('2001').cycles.filter((cycle) => localDay(wakeUpOf(cycle)) >= window.start_date)
    const { activity } = await t.api.listActivity({ params: { user_id }, query: window })
    expect(activity.map(({ calendar_date }) => calendar_date)).toEqual(cycles.map((cycle) => localDay(wakeUpOf(cycle))))
    expect(activity[0]?.calories_total).toBeCloseTo((cycles[0]?.score?.['kilojoule'] as number) / 4.184)
    expect(activity[0]).toMatchObject({ calories_active: null, steps: null, heart_rate: { avg_bpm: 68, max_bpm: 171 } })
    const { workouts } = await t.api.listWorkouts({ params: { user_id }, query: window })
    expect(workouts).toHaveLength([...held('2001').workouts.values()].filter(({ start }) => localDay(start) >= window.start_date).length)
    expect(workouts[0]).toMatchObject({
      average_hr: 128,
      distance: 8200,
      hr_zones: [60, 120, 180, 240, 300, 360],
      sport: { slug: 'running' },
    })
    expect(await t.api.getProfile({ params: { user_id }, query: { provider: 'whoop_v2' } })).toMatchObject({ height: 172 })
    expect((await samplesOf(t, user_id, 'weight')).map(({ value }) => value)).toEqual([68.5])
    const types = await typesSince(t, user_id)
    for (const resource of ['sleep', 'hrv', 'activity', 'workouts'])
      expect(
        types.filter((type) => type === `historical.data.${resource}.created`),
        resource,
      ).toHaveLength(1)
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('a new night is tentative until a second notification has its score', async () => {
    const [start, end] = [
      new Date(Date.parse(o.w.app.wall()) - 2 * HOUR).toISOString(),
      new Date(Date.parse(o.w.app.wall()) - HOUR).toISOString(),
    ]
    const nap = { id: 'b1b1b1b1-0000-4000-8000-000000000001', start, end, nap: true, timezone_offset: '-05:00' }
    o.cloud.put('2001', 'sleeps', { ...nap, score_state: 'PENDING_SCORE', created_at: end })
    expect(await o.cloud.deliver()).toEqual([200])
    await o.w.runJobs()
    expect((await sleepsOf(t, user_id)).at(-1)).toMatchObject({ type: 'acknowledged_nap', state: 'tentative', score: null })
    const score = { ...(nightsOf('2001')[0]?.score as object), sleep_performance_percentage: 44 }
    o.w.advanceTime(SECOND)
    o.cloud.put('2001', 'sleeps', { id: nap.id, score_state: 'SCORED', score })
    o.cloud.put('2001', 'recoveries', { id: nap.id, sleep_id: nap.id, cycle_id: 1, score_state: 'SCORED', score: { hrv_rmssd_milli: 71 } })
    expect(await o.cloud.deliver()).toEqual([200, 200])
    await o.w.runJobs()
    expect((await sleepsOf(t, user_id)).at(-1)).toMatchObject({ state: 'confirmed', score: 44, average_hrv: 71 })
    expect((await samplesOf(t, user_id, 'hrv')).at(-1)).toMatchObject({ timestamp: end, value: 71 })
  })

  test('a deleted recovery leaves its sleep, and a deleted sleep ends with its samples', async () => {
    const night = nightsOf('2001').at(-20)
    const id = String(night?.id)
    const counts = async () => [(await sleepsOf(t, user_id)).length, (await samplesOf(t, user_id, 'hrv')).length]
    const [sleeps = 0, samples = 0] = await counts()
    o.w.advanceTime(SECOND)
    o.cloud.remove('2001', 'recoveries', id)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await counts()).toEqual([sleeps, samples - 1])
    expect((await sleepsOf(t, user_id)).find(({ bedtime_start }) => bedtime_start === night?.start)).toMatchObject({ average_hrv: null })
    const before = (await typesSince(t, user_id)).length
    o.cloud.remove('2001', 'sleeps', id)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await counts()).toEqual([sleeps - 1, samples - 1])
    const events = (await userEvents(o.w.app, t.team_id, user_id)).slice(before)
    expect(events.map(({ event_type }) => event_type).sort()).toEqual(['daily.data.respiratory_rate.deleted', 'daily.data.sleep.deleted'])
    const workout = [...held('2001').workouts.keys()].at(-3) as string
    o.cloud.remove('2001', 'workouts', workout)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await typesSince(t, user_id, before + 2)).toEqual(['daily.data.workouts.deleted'])
  })

  test('refuses a forged or outdated notification, and a repeated one changes nothing', async () => {
    const before = (await typesSince(t, user_id)).length
    const url = `${o.w.base}${new URL(o.cloud.behavior.webhook_url as string).pathname}`
    const night = nightsOf('2001').at(-5)
    const body = JSON.stringify({ user_id: 2001, id: night?.id, type: 'sleep.deleted', trace_id: 'x' })
    const post = (timestamp: string, secret: string) => {
      const signature = createHmac('sha256', secret)
        .update(timestamp + body)
        .digest('base64')
      return fetch(url, { method: 'POST', body, headers: { 'x-whoop-signature': signature, 'x-whoop-signature-timestamp': timestamp } })
    }
    const now = Date.parse(o.w.app.wall())
    expect((await post(String(now), 'another secret')).status).toBe(401)
    for (const skew of [-25 * HOUR, 25 * HOUR]) expect((await post(String(now + skew), o.cloud.setting.client_secret)).status).toBe(401)
    expect((await fetch(url)).status).toBe(401)
    expect(await query(o.w.url, 'select 1 from cloud_changes where team_id = $1', [t.team_id])).toEqual([])
    o.cloud.put('2001', 'sleeps', { id: String(night?.id) })
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await typesSince(t, user_id, before)).toEqual([])
  })

  test('accepts and ignores a signed notification that cannot be stored', async () => {
    const url = `${o.w.base}${new URL(o.cloud.behavior.webhook_url as string).pathname}`
    const post = async (id: string, type: string, skew = 0) => {
      const body = JSON.stringify({ user_id: 2001, id, type })
      const timestamp = String(Date.parse(o.w.app.wall()) + skew)
      const signature = createHmac('sha256', o.cloud.setting.client_secret)
        .update(timestamp + body)
        .digest('base64')
      const headers = { 'x-whoop-signature': signature, 'x-whoop-signature-timestamp': timestamp }
      return (await fetch(url, { method: 'POST', body, headers })).status
    }
    const long = Array.from({ length: 2000 }, (_, i) => i.toString(36)).join('')
    expect([await post('a\0b', 'sleep.updated'), await post(long, 'sleep.updated'), await post('a', 'constructor.updated')]).toEqual([
      200, 200, 200,
    ])
    // The clock of the cloud can be off, and it repeats a notification for hours.
    for (const skew of [-23 * HOUR, 23 * HOUR]) expect(await post('a', 'constructor.updated', skew)).toBe(200)
    expect(await query(o.w.url, 'select 1 from cloud_changes where team_id = $1', [t.team_id])).toEqual([])
  })

  test('disconnecting renews an expired token to end the access', async () => {
    o.cloud.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['whoop_v2'] })
    o.cloud.tokens.expireAccess()
    await t.api.endConnection({ params: { user_id, provider: 'whoop_v2' } })
    await o.w.runJobs()
    expect(o.cloud.tokens.isConnected('2001')).toBe(false)
  })

  test('a disconnection that the cloud delays keeps the renewed token for the next attempt', async () => {
    const other = await o.connect(t, '2003')
    await o.w.runJobs()
    await t.api.endConnection({ params: { user_id: other, provider: 'whoop_v2' } })
    o.cloud.tokens.expireAccess()
    // The expired token is renewed, and then the limit is reached.
    o.cloud.behavior.remaining = 1
    await o.w.runJobs()
    o.cloud.behavior.remaining = undefined
    expect(o.cloud.tokens.isConnected('2003')).toBe(true)
    o.w.advanceTime(5 * MINUTE)
    await o.w.runJobs()
    expect(o.cloud.tokens.isConnected('2003')).toBe(false)
  })
})

describe('trouble with WHOOP', () => {
  test('waits the seconds that the limit says, and loses no window', async () => {
    const t = await o.shortTenant()
    o.cloud.behavior.remaining = 2
    o.cloud.behavior.retryAfterSeconds = 30
    const user_id = await o.connect(t, '2002')
    await o.w.runJobs()
    const calls = o.cloud.requests.length
    o.w.advanceTime(29 * SECOND)
    await o.w.runJobs()
    expect(o.cloud.requests).toHaveLength(calls)
    o.cloud.behavior.remaining = undefined
    o.w.advanceTime(SECOND)
    await o.w.runJobs()
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
    const [night] = await sleepsOf(t, user_id)
    expect(night).toMatchObject({ timezone_offset: 0 })
  })

  test('retries through an outage of an hour, and contains malformed responses', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '2003')
    await o.surviveOutage(t, user_id)
    for (const body of ['<html>', '{"records":7}', '{"records":[],"next_token":"again"}']) {
      o.cloud.behavior.respondWith = { status: 200, body }
      expect(await errorOf(t.api.refreshUser({ params: { user_id } })), body).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
      expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
    }
    o.cloud.behavior.respondWith = undefined
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['whoop_v2'] })
  })

  test('breaks the connection once if the user revoked the access', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '2002')
    await o.w.runJobs()
    o.cloud.tokens.revokeUser('2002')
    expect(await errorOf(t.api.refreshUser({ params: { user_id } }))).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    expect((await typesSince(t, user_id)).filter((type) => type === 'provider.connection.error')).toHaveLength(1)
  })

  test('reads nights without their recovery if the user granted only sleep', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, '2002', { without: ['read:recovery', 'read:cycles'] })
    await o.w.runJobs()
    expect((await statusOf(t, user_id))?.resource_availability).toMatchObject({
      hrv: { status: 'unavailable' },
      sleep: { status: 'available' },
    })
    expect((await sleepsOf(t, user_id)).at(-1)).toMatchObject({ average_hrv: null, score: expect.any(Number) })
    expect(Object.keys(await pullsOf(t, user_id))).not.toContain('activity')
  })
})

test('an assumed day of a cycle ends once its sleep shows another, and the other days stay', async () => {
  const t = await o.shortTenant()
  const user_id = await o.connect(t, '2002')
  await o.w.runJobs()
  const [before, today, tomorrow] = [o.daysAgo(10), o.daysAgo(-2), o.daysAgo(-3)]
  const daysRead = async () => {
    await t.api.refreshUser({ params: { user_id } })
    const { activity } = await t.api.listActivity({ params: { user_id }, query: { start_date: before, end_date: tomorrow } })
    return activity.map(({ calendar_date }) => calendar_date)
  }
  const at = (time: string) => `${today}T${time}:00.000Z`
  const [start, end] = [at('18:00'), at('21:00')]
  const record = { start, timezone_offset: 'Z', score_state: 'SCORED', created_at: start, updated_at: start }
  const earlier = await daysRead()

  o.w.advanceTime(Date.parse(at('19:00')) - Date.parse(o.w.app.wall()))
  held('2002').cycles.push({ id: 77, ...record, score: { kilojoule: 4184 } })
  expect(await daysRead()).toEqual([...earlier, tomorrow])
  held('2002').sleeps.set('evening', { id: 'evening', cycle_id: 77, ...record, end, nap: false })
  o.w.advanceTime(6 * HOUR)
  expect(await daysRead()).toEqual([...earlier, today])
  expect(await typesSince(t, user_id)).toContain('daily.data.activity.deleted')
})

import { beforeAll, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { pullDueFeeds } from '../../src/wearables/ingestion/lanes.ts'
import { newOuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import { cloudWorld, HISTORY_DAYS } from '../support/clouds.ts'
import { localUrl } from '../support/connections.ts'
import { query } from '../support/query.ts'
import { userEvents } from '../support/wearables.ts'
import { errorOf, type Tenant } from '../support/world.ts'

/** The fields of the cloud's objects that the tests compare. */
type Held = { id: string; day: string; bedtime_start: string; hrv: { items: (number | null)[]; timestamp: string } } & Record<
  'total_sleep_duration' | 'deep_sleep_duration' | 'efficiency' | 'average_hrv' | 'score' | 'steps',
  number
>
type Night = { id: string; bedtime_start: string } & Record<'total' | 'deep' | 'efficiency' | 'score' | 'average_hrv', number>

const o = await cloudWorld({
  slug: 'oura',
  accounts: ['ada', 'ben', 'cora', 'eve'],
  newUser: newOuraUser,
  open: openOuraStandIn,
})
const { samplesOf, typesSince, statusOf, pullsOf } = o

const objects = (user: string, name: string) =>
  [...(o.cloud.users.get(user)?.objects.get(name)?.values() ?? [])].filter(({ day }) => day >= o.window.start_date) as unknown as Held[]

const sleepsOf = async (t: Tenant, user_id: string) =>
  (await t.api.listSleep({ params: { user_id }, query: { ...o.window, provider: 'oura' } })).sleep as unknown as Night[]

describe('the story of an Oura account', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await o.w.tenant()
    // The service had another address before.
    const outdated = {
      callback_url: 'https://old.example/providers/oura/webhook/x',
      verification_token: 'x',
      expiration_time: o.w.app.wall(),
    }
    o.cloud.subscriptions.set('old', { id: 'old', event_type: 'create', data_type: 'sleep', ...outdated })
    user_id = await o.connect(t, 'ada')
    await o.w.runJobs()
  })

  test('connects with the account of the cloud, and reads new data and ninety days of history', async () => {
    expect(await statusOf(t, user_id)).toMatchObject({ slug: 'oura', status: 'connected', external_user_id: 'ada' })
    const nights = await sleepsOf(t, user_id)
    const held = objects('ada', 'sleep')
    expect(nights.map(({ bedtime_start }) => Date.parse(bedtime_start))).toEqual(held.map(({ bedtime_start }) => Date.parse(bedtime_start)))
    const scores = new Map(objects('ada', 'daily_sleep').map(({ day, score }) => [day, score]))
    expect(nights.map(({ total, deep, efficiency, score, average_hrv }) => [total, deep, efficiency, score, average_hrv])).toEqual(
      held.map((night) => [
        night.total_sleep_duration,
        night.deep_sleep_duration,
        night.efficiency,
        scores.get(night.day),
        night.average_hrv,
      ]),
    )
    const measured = held.flatMap(({ hrv }) =>
      hrv.items.map((value, i) => ({ timestamp: new Date(Date.parse(hrv.timestamp) + i * 300_000).toISOString(), value })),
    )
    const expected = measured.filter(({ timestamp, value }) => value !== null && timestamp >= o.window.start_date)
    expect((await samplesOf(t, user_id, 'hrv')).map(({ timestamp, value }) => ({ timestamp, value }))).toEqual(expected)
    const workouts = (await t.api.listWorkouts({ params: { user_id }, query: o.window })).workouts
    expect(workouts).toHaveLength(objects('ada', 'workout').length)
    expect(workouts[0]).toMatchObject({ calories: 320.5, average_hr: expect.any(Number) })
    const activity = (await t.api.listActivity({ params: { user_id }, query: o.window })).activity
    expect(activity.map(({ steps }) => steps)).toEqual(objects('ada', 'daily_activity').map(({ steps }) => steps))
    expect(activity[0]).toMatchObject({ calories_active: 400, calories_total: 2100, low: 180, medium: 30, high: 10, timezone_offset: 3600 })
    const beats = [...(o.cloud.users.get('ada')?.heartrate ?? [])].filter(({ timestamp }) => timestamp >= o.window.start_date)
    const heartRates = new Map((await samplesOf(t, user_id, 'heartrate')).map(({ timestamp, value }) => [timestamp, value]))
    const earliest = new Date(Date.parse(o.w.app.wall()) - HISTORY_DAYS * DAY).toISOString()
    for (const { timestamp, bpm } of beats.filter(({ timestamp }) => timestamp >= earliest)) expect(heartRates.get(timestamp)).toBe(bpm)
    expect(await t.api.getProfile({ params: { user_id }, query: { provider: 'oura' } })).toMatchObject({ height: 172, sex: 'female' })
  })

  test('announces the end of the history of each resource once, and reports success', async () => {
    const types = await typesSince(t, user_id)
    for (const resource of ['sleep', 'hrv', 'activity', 'workouts', 'heartrate', 'blood_oxygen', 'vo2_max'])
      expect(types.filter((type) => type === `historical.data.${resource}.created`)).toHaveLength(1)
    expect(types).toContain('daily.data.sleep.created')
    const pulled = await pullsOf(t, user_id)
    expect(new Set(Object.values(pulled).map(({ status }) => status))).toEqual(new Set(['success']))
    expect(pulled['activity']?.days_with_data).toBeGreaterThan(80)
  })

  test('subscribes to notifications and stores what changed before it responds', async () => {
    expect(o.cloud.subscriptions.size).toBe(18)
    expect(o.cloud.subscriptions.has('old')).toBe(false)
    const before = (await typesSince(t, user_id)).length
    const [night] = objects('ada', 'sleep').slice(-10)
    // The user edits the bed time of a night ten days ago.
    o.cloud.put('ada', 'sleep', { ...(night as Held), average_hrv: 99, sleep_phase_5_min: '4'.repeat(48) + '1'.repeat(48) } as never)
    expect(await o.cloud.deliver()).toEqual([200])
    await o.w.runJobs()
    const changed = (await sleepsOf(t, user_id)).find(
      ({ bedtime_start }) => Date.parse(bedtime_start) === Date.parse(night?.bedtime_start ?? ''),
    )
    expect(changed).toMatchObject({ average_hrv: 99 })
    const stages = await t.api.getSleepStream({ params: { sleep_id: changed?.id as string } })
    expect(stages.hypnogram).toMatchObject([{ value: 4 }, { value: 1 }])
    expect((await typesSince(t, user_id, before)).filter((type) => type.startsWith('daily.data.sleep'))).toEqual([
      'daily.data.sleep.updated',
      'daily.data.sleep_cycle.updated',
    ])
  })

  test('a repeated notification changes nothing, and a forged one is refused', async () => {
    const before = (await typesSince(t, user_id)).length
    const night = objects('ada', 'sleep').at(-10) as never as { id: string; day: string }
    const [subscription] = [...o.cloud.subscriptions.values()]
    const url = localUrl(o.w.base, subscription?.callback_url as string)
    const body = JSON.stringify({
      event_type: 'update',
      data_type: 'sleep',
      object_id: night.id,
      user_id: 'ada',
      event_time: o.w.app.wall(),
    })
    const post = (headers: Record<string, string>, to = url) => fetch(to, { method: 'POST', body, headers })
    expect((await post({ 'x-oura-timestamp': '1', 'x-oura-signature': 'A'.repeat(64) })).status).toBe(401)
    expect((await post({})).status).toBe(401)
    expect((await post({}, `${url}x`)).status).toBe(404)
    expect((await fetch(`${url}?verification_token=wrong&challenge=x`)).status).toBe(401)
    expect(await query(o.w.url, 'select 1 from cloud_changes where team_id = $1', [t.team_id])).toEqual([])
    o.cloud.put('ada', 'sleep', { id: night.id, day: night.day } as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await typesSince(t, user_id, before)).toEqual([])
  })

  test('deletes days and samples whose notification does not name the day', async () => {
    const [day, oxygen] = [objects('ada', 'daily_activity').at(-30), objects('ada', 'daily_spo2').at(-40)]
    const daysOf = async () => (await t.api.listActivity({ params: { user_id }, query: o.window })).activity.map((one) => one.calendar_date)
    const [days, oxygens] = [await daysOf(), await samplesOf(t, user_id, 'blood_oxygen')]
    const before = (await typesSince(t, user_id)).length
    o.cloud.remove('ada', 'daily_activity', day?.id as string)
    o.cloud.remove('ada', 'daily_spo2', oxygen?.id as string)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await daysOf()).toEqual(days.filter((one) => one !== day?.day))
    expect(await samplesOf(t, user_id, 'blood_oxygen')).toHaveLength(oxygens.length - 1)
    expect((await typesSince(t, user_id, before)).sort()).toEqual(['daily.data.activity.deleted', 'daily.data.blood_oxygen.deleted'])
    o.cloud.put('ada', 'daily_activity', day as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await daysOf()).toEqual(days)
  })

  test('deletes what the cloud deleted, and an earlier page does not restore it', async () => {
    const [deleted] = objects('ada', 'sleep').slice(-20)
    const { id, day } = deleted as never as { id: string; day: string }
    const count = (await sleepsOf(t, user_id)).length
    const beats = (await samplesOf(t, user_id, 'hrv')).length
    const before = (await typesSince(t, user_id)).length
    o.cloud.remove('ada', 'sleep', id)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await sleepsOf(t, user_id)).toHaveLength(count - 1)
    expect(await samplesOf(t, user_id, 'hrv')).toHaveLength(beats - 91)
    const events = (await userEvents(o.w.app, t.team_id, user_id)).slice(before)
    expect(events.map(({ event_type }) => event_type).sort()).toEqual([
      ...['daily.data.body_temperature_delta.deleted', 'daily.data.hrv.deleted', 'daily.data.respiratory_rate.deleted'],
      ...['daily.data.sleep.deleted', 'daily.data.sleep_cycle.deleted'],
    ])
    expect(Object.keys(events.find(({ event_type }) => event_type === 'daily.data.sleep.deleted')?.data ?? {}).sort()).toEqual([
      'ids',
      'provider',
      'user_id',
    ])
    // A list that the cloud served from a cache still has the object.
    o.cloud.users
      .get('ada')
      ?.objects.get('sleep')
      ?.set(id, deleted as never)
    o.cloud.put('ada', 'daily_sleep', { id: `daily_sleep-ada-${day}`, day } as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    o.cloud.users.get('ada')?.objects.get('sleep')?.delete(id)
    expect(await sleepsOf(t, user_id)).toHaveLength(count - 1)
    expect(await samplesOf(t, user_id, 'hrv')).toHaveLength(beats - 91)
  })

  test('a late notification about a deletion leaves an object that exists again', async () => {
    const workout = objects('ada', 'workout').at(-3) as Held
    const count = async () => (await t.api.listWorkouts({ params: { user_id }, query: o.window })).workouts.length
    const before = await count()
    o.cloud.remove('ada', 'workout', workout.id)
    const [deleted] = o.cloud.take()
    o.w.advanceTime(SECOND)
    o.cloud.put('ada', 'workout', workout as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    const { url = '', headers = {}, body = '' } = deleted ?? {}
    expect((await fetch(localUrl(o.w.base, url), { method: 'POST', headers, body })).status).toBe(200)
    await o.w.runJobs()
    expect(await count()).toBe(before)
    o.cloud.remove('ada', 'workout', workout.id)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await count()).toBe(before - 1)
    // The user undoes the deletion while it is being read.
    o.cloud.put('ada', 'workout', workout as never)
    await o.cloud.deliver()
    await o.w.runJobs()
    expect(await count()).toBe(before)
  })

  test('renews tokens that expired, each refresh token once', async () => {
    o.cloud.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true, refreshed_sources: ['oura'] })
    o.w.advanceTime(25 * HOUR)
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true, refreshed_sources: ['oura'] })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
  })

  test('disconnecting ends the access at the cloud', async () => {
    expect(o.cloud.tokens.isConnected('ada')).toBe(true)
    await t.api.endConnection({ params: { user_id, provider: 'oura' } })
    await o.w.runJobs()
    expect(o.cloud.tokens.isConnected('ada')).toBe(false)
    const before = (await typesSince(t, user_id)).length
    o.cloud.put('ada', 'daily_activity', { id: `daily_activity-ada-${o.daysAgo(3)}`, day: o.daysAgo(3), steps: 1 } as never)
    await o.cloud.deliver()
    o.w.advanceTime(DAY)
    await o.w.runJobs()
    expect(await typesSince(t, user_id, before)).toEqual([])
    expect(await query(o.w.url, 'select 1 from pull_jobs where user_id = $1', [user_id])).toEqual([])
  })
})

describe('trouble with the cloud', () => {
  test('reads only what the user granted', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'ben', { without: ['heartrate', 'personal', 'workout'] })
    await o.w.runJobs()
    expect((await statusOf(t, user_id))?.resource_availability).toMatchObject({
      heartrate: { status: 'unavailable' },
      sleep: { status: 'available' },
    })
    expect(Object.keys(await pullsOf(t, user_id))).not.toContain('workouts')
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
  })

  test('waits as long as the limit of the cloud says, without losing a window', async () => {
    const t = await o.shortTenant()
    o.cloud.behavior.remaining = 5
    const user_id = await o.connect(t, 'ben')
    await o.w.runJobs()
    const calls = o.cloud.requests.length
    await o.w.runJobs()
    expect(o.cloud.requests).toHaveLength(calls)
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
    o.cloud.behavior.remaining = undefined
    o.w.advanceTime(60 * SECOND)
    await o.w.runJobs()
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
  })

  test('retries through an outage of an hour, and reports it', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'cora')
    await o.surviveOutage(t, user_id)
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
  })

  test('another process continues when the one that reads dies', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'cora')
    // A process claimed every feed and was killed.
    const dead =
      "lease = connection_id, leased_until = $2::timestamptz + interval '2 minutes', due_at = $2::timestamptz + interval '2 minutes'"
    await query(o.w.url, `update pull_jobs set ${dead} where user_id = $1`, [user_id, o.w.app.wall()])
    await o.w.runJobs()
    expect(await sleepsOf(t, user_id)).toEqual([])
    o.w.advanceTime(2 * MINUTE)
    await o.w.runJobs()
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
    expect((await typesSince(t, user_id)).filter((type) => type === 'historical.data.sleep.created')).toHaveLength(1)
  })

  test('a process that stops ends its reads at the next page, and others continue at once', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'cora')
    const calls = o.cloud.requests.length
    const pages = () => o.cloud.requests.length - calls
    // The stop arrives with the second response.
    const signal = {
      get aborted() {
        return pages() > 1
      },
    } as AbortSignal
    await pullDueFeeds({ ...o.w.app, signal })
    const read = pages()
    await o.w.runJobs()
    expect(read).toBeLessThan(pages() / 2)
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
    expect((await sleepsOf(t, user_id)).length).toBeGreaterThan(4)
  })

  test('breaks the connection once if the user revoked the access, or their membership lapsed', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'eve')
    await o.w.runJobs()
    o.cloud.tokens.revokeUser('eve')
    expect(await errorOf(t.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'REFRESH_FAILED' },
    })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    await o.connect(t, 'eve', { user_id })
    o.cloud.behavior.lapsed = true
    await o.w.runJobs()
    o.cloud.behavior.lapsed = false
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'deregistered_per_provider' } })
    const errors = (await typesSince(t, user_id)).filter((type) => type === 'provider.connection.error')
    expect(errors).toHaveLength(2)
    await o.connect(t, 'eve', { user_id })
    await o.w.runJobs()
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected', error_details: null })
  })
})

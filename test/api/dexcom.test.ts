import { beforeAll, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { type DexcomRecord, newDexcomUser } from '../../src/wearables/providers/dexcom_v3/stand-in/data.ts'
import { openDexcomStandIn } from '../../src/wearables/providers/dexcom_v3/stand-in/server.ts'
import { atEnd } from '../support/at-end.ts'
import { cloudWorld } from '../support/clouds.ts'
import { query } from '../support/query.ts'
import { userEvents } from '../support/wearables.ts'
import { errorOf, type Tenant } from '../support/world.ts'

/** The clouds of the United States, Europe and Japan. Each has its own accounts, and shows data an hour late. */
const d = await cloudWorld({
  slug: 'dexcom_v3',
  accounts: ['ada', 'ben', 'cora', 'eve'],
  newUser: newDexcomUser,
  async open(options) {
    const [us, eu, jp] = await Promise.all([
      openDexcomStandIn({ ...options, delayMs: HOUR }),
      openDexcomStandIn({ ...options, users: options.users.slice(1, 2), delayMs: 3 * HOUR }),
      openDexcomStandIn({ ...options, users: [] }),
    ])
    for (const { close } of [eu, jp]) atEnd(close)
    const regions = {
      us: { name: 'United States', ...us.servers },
      eu: { name: 'Outside the United States', ...eu.servers },
      jp: { name: 'Japan', ...jp.servers },
    }
    return { ...us, eu, jp, setting: { ...us.setting, regions } }
  },
})
const { samplesOf, typesSince, statusOf, pullsOf } = d

/** The records that the cloud shows in the window of the tests, oldest first. */
const held = (records: Map<string, DexcomRecord> | undefined, delayMs = HOUR) =>
  [...(records?.values() ?? [])]
    .filter(({ at, uploaded_at }) => at >= Date.parse(d.window.start_date) && uploaded_at + delayMs <= Date.parse(d.w.app.wall()))
    .sort((a, b) => a.at - b.at)

const egvsOf = (user: string) => held(d.cloud.users.get(user)?.egvs)
const eventsOf = (user: string, type: string) =>
  held(d.cloud.users.get(user)?.events).filter(({ fields }) => fields['eventType'] === type && fields['eventStatus'] !== 'deleted')

const isoOf = (at: number) => new Date(at).toISOString()
const round = (value: number) => Math.round(value * 1e6) / 1e6

/** Compares everything with what the cloud holds, sample by sample. */
async function expectAll(t: Tenant, user_id: string, user: string) {
  const glucose = await samplesOf(t, user_id, 'glucose')
  const of = (type: string) => glucose.filter((sample) => sample['type'] === type).map(({ timestamp, value }) => [timestamp, round(value)])
  // The sensor does not measure below 40.
  const mmol = (value: unknown) => round((Number(value) < 40 ? 39 : Number(value)) / 18.0182)
  expect(of('automatic')).toEqual(egvsOf(user).map(({ at, fields }) => [isoOf(at), mmol(fields['value'])]))
  expect(of('fingerprick')).toEqual(eventsOf(user, 'bloodGlucose').map(({ at, fields }) => [isoOf(at), mmol(fields['value'])]))
  for (const [resource, type] of Object.entries({ carbohydrates: 'carbs', insulin_injection: 'insulin', workout_duration: 'exercise' })) {
    const stored = (await samplesOf(t, user_id, resource)).map(({ timestamp, value }) => [timestamp, value])
    expect(stored, resource).toEqual(eventsOf(user, type).map(({ at, fields }) => [isoOf(at), Number(fields['value'])]))
  }
  expect((await samplesOf(t, user_id, 'note')).map(({ value }) => value)).toEqual(
    eventsOf(user, 'notes').map(({ fields }) => fields['value']),
  )
}

describe('the story of a Dexcom account', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await d.w.tenant()
    user_id = await d.connect(t, 'ada')
    await d.w.runJobs()
  })

  test('connects with the account of the cloud, and reads ninety days', async () => {
    expect(await statusOf(t, user_id)).toMatchObject({ slug: 'dexcom_v3', status: 'connected', external_user_id: 'ada' })
    await expectAll(t, user_id, 'ada')
    expect((await samplesOf(t, user_id, 'glucose'))[0]).toMatchObject({ timezone_offset: -25_200, unit: 'mmol/L' })
    const types = await typesSince(t, user_id)
    for (const resource of ['glucose', 'carbohydrates', 'insulin_injection', 'note', 'workout_duration'])
      expect(types.filter((type) => type === `historical.data.${resource}.created`)).toHaveLength(1)
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('polls every hour, and finds what appeared since, late as it is', async () => {
    const before = (await typesSince(t, user_id)).length
    const now = Date.parse(d.w.app.wall())
    d.cloud.put('ada', 'egvs', { id: '', at: isoOf(now), value: 250 })
    const calls = d.cloud.requests.length
    d.w.advanceTime(30 * MINUTE)
    await d.w.runJobs()
    expect(d.cloud.requests).toHaveLength(calls)
    d.w.advanceTime(31 * MINUTE)
    await d.w.runJobs()
    await expectAll(t, user_id, 'ada')
    expect(await typesSince(t, user_id, before)).toEqual(['daily.data.glucose.created'])
    expect((await samplesOf(t, user_id, 'glucose')).map(({ timestamp }) => timestamp)).toContain(isoOf(now))
  })

  test('finds the values of a receiver that was uploaded three weeks later', async () => {
    const before = (await typesSince(t, user_id)).length
    const at = Math.floor((Date.parse(d.w.app.wall()) - 21 * DAY) / DAY) * DAY + 7 * MINUTE
    for (let i = 0; i < 5; i++) d.cloud.put('ada', 'egvs', { id: '', at: isoOf(at + i * MINUTE), value: 35, status: 'low' })
    d.w.advanceTime(2 * HOUR)
    await d.w.runJobs()
    const found = (await samplesOf(t, user_id, 'glucose')).filter(({ timestamp }) => timestamp.startsWith(isoOf(at).slice(0, 14)))
    expect(found.filter(({ value }) => round(value) === round(39 / 18.0182))).toHaveLength(5)
    expect(new Set(await typesSince(t, user_id, before))).toEqual(new Set(['daily.data.glucose.created']))
    await expectAll(t, user_id, 'ada')
  })

  test('applies corrections and deletions of events', async () => {
    const before = (await typesSince(t, user_id)).length
    const [carbs, other] = eventsOf('ada', 'carbs').slice(-4)
    const [insulin] = eventsOf('ada', 'insulin').slice(-4)
    const [prick] = eventsOf('ada', 'bloodGlucose').slice(-3)
    d.cloud.put('ada', 'events', { id: carbs?.recordId as string, value: '60' })
    // The user moves a meal by an hour.
    d.cloud.put('ada', 'events', { id: other?.recordId as string, at: isoOf((other?.at as number) + HOUR) })
    d.cloud.remove('ada', 'events', insulin?.recordId as string)
    d.cloud.remove('ada', 'events', prick?.recordId as string)
    d.w.advanceTime(2 * HOUR)
    await d.w.runJobs()
    await expectAll(t, user_id, 'ada')
    const events = (await userEvents(d.w.app, t.team_id, user_id)).slice(before)
    expect(events.map(({ event_type }) => event_type).sort()).toEqual([
      ...['daily.data.carbohydrates.created', 'daily.data.carbohydrates.deleted', 'daily.data.carbohydrates.updated'],
      ...['daily.data.glucose.deleted', 'daily.data.insulin_injection.deleted'],
    ])
    expect(events.find(({ event_type }) => event_type === 'daily.data.glucose.deleted')?.data).toMatchObject({
      data: [{ timestamp: isoOf(prick?.at as number), type: 'fingerprick' }],
    })
  })

  test('renews tokens that expired, each refresh token once', async () => {
    d.cloud.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true, refreshed_sources: ['dexcom_v3'] })
    d.w.advanceTime(3 * HOUR)
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'connected' })
  })

  test('disconnecting deletes the tokens, because the cloud cannot revoke them', async () => {
    await t.api.endConnection({ params: { user_id, provider: 'dexcom_v3' } })
    await d.w.runJobs()
    const calls = d.cloud.requests.length
    d.w.advanceTime(DAY)
    await d.w.runJobs()
    expect(d.cloud.requests).toHaveLength(calls)
    expect(await query(d.w.url, 'select 1 from pull_jobs where user_id = $1', [user_id])).toEqual([])
  })
})

describe('regions', () => {
  test('the region of a connection decides where everything happens', async () => {
    const t = await d.shortTenant()
    const calls = d.cloud.requests.length
    const user_id = await d.connect(t, 'ben', { region: 'eu' })
    await d.w.runJobs()
    d.cloud.eu.tokens.expireAccess()
    expect(await t.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['dexcom_v3'] })
    expect(d.cloud.requests).toHaveLength(calls)
    expect(d.cloud.eu.requests.map(({ path }) => path)).toEqual(expect.arrayContaining(['/v2/oauth2/token', '/v3/users/self/egvs']))
    expect((await samplesOf(t, user_id, 'glucose')).length).toBeGreaterThan(300)
  })

  test('an unknown region is refused', async () => {
    const t = await d.shortTenant()
    expect(await errorOf(d.connect(t, 'ben', { region: 'moon' }))).toMatchObject({ status: 422 })
  })
})

describe('trouble with the cloud', () => {
  test('waits a minute after the limit of the cloud, without losing a window', async () => {
    const t = await d.shortTenant()
    d.cloud.behavior.remaining = 3
    const user_id = await d.connect(t, 'ben')
    await d.w.runJobs()
    const calls = d.cloud.requests.length
    await d.w.runJobs()
    expect(d.cloud.requests).toHaveLength(calls)
    d.cloud.behavior.remaining = undefined
    d.w.advanceTime(60 * SECOND)
    await d.w.runJobs()
    expect(new Set(Object.values(await pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('retries through an outage of an hour', async () => {
    const t = await d.shortTenant()
    const user_id = await d.connect(t, 'cora')
    d.cloud.behavior.down = true
    for (const wait of [0, 10 * SECOND, MINUTE, 10 * MINUTE, 40 * MINUTE]) {
      d.w.advanceTime(wait)
      await d.w.runJobs()
    }
    expect((await pullsOf(t, user_id))['glucose']).toMatchObject({ status: 'retrying', error_details: 'provider_unavailable' })
    d.cloud.behavior.down = false
    d.w.advanceTime(HOUR)
    await d.w.runJobs()
    expect((await pullsOf(t, user_id))['glucose']).toMatchObject({ status: 'success', error_details: null })
  })

  test('breaks the connection if the user revoked the access, or has not consented', async () => {
    const t = await d.shortTenant()
    const user_id = await d.connect(t, 'eve')
    await d.w.runJobs()
    d.cloud.tokens.revokeUser('eve')
    expect(await errorOf(t.api.refreshUser({ params: { user_id } }))).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    await d.connect(t, 'eve', { user_id })
    d.cloud.behavior.lapsed = true
    await d.w.runJobs()
    d.cloud.behavior.lapsed = false
    expect(await statusOf(t, user_id)).toMatchObject({ status: 'error', error_details: { error_type: 'deregistered_per_provider' } })
  })
})

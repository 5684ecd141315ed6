import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { pullDueFeeds } from '../../src/wearables/ingestion/lanes.ts'
import { newOuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import { newWhoopUser } from '../../src/wearables/providers/whoop/stand-in/data.ts'
import { openWhoopStandIn } from '../../src/wearables/providers/whoop/stand-in/server.ts'
import { atEnd } from '../support/at-end.ts'
import { cloudWorld } from '../support/clouds.ts'
import { localUrl } from '../support/connections.ts'
import { readMetrics } from '../support/metrics.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, type Tenant } from '../support/world.ts'

/** A cloud that accepts requests and holds its responses until the test releases them. */
async function openSilentCloud() {
  const waiting = new Set<ServerResponse>()
  let isSilent = true
  const server = createServer((_, response) => {
    if (isSilent) waiting.add(response)
    else response.writeHead(503).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const respond = () => {
    isSilent = false
    for (const response of waiting) response.writeHead(503).end()
  }
  atEnd(() => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, waiting, respond }
}

const silent = await openSilentCloud()
const env: Record<string, string> = {}
const whoopClient = { client_id: 'harbor-whoop', client_secret: 'whoop secret' }
let whoop = undefined as unknown as Awaited<ReturnType<typeof openWhoopStandIn>>

/** Oura has an application of the deployment, and WHOOP needs one of the team. */
const o = await cloudWorld({
  slug: 'oura',
  accounts: ['ada', 'ben', 'cora', 'eve'],
  newUser: newOuraUser,
  env,
  async open(options) {
    const oura = await openOuraStandIn(options)
    whoop = await openWhoopStandIn({ ...options, client: whoopClient, users: [newWhoopUser('501', later(options.now?.() ?? '', DAY), 10)] })
    atEnd(whoop.close)
    const { client_id: _, client_secret: __, ...urls } = whoop.setting
    const quiet = { ...oura.setting, authorize_url: silent.origin, token_url: silent.origin, api_url: silent.origin }
    env['OAUTH_SOURCES'] = JSON.stringify({ oura: oura.setting, whoop_v2: urls, withings: quiet })
    return oura
  },
})
const { w, cloud } = o

const sourceOf = async (t: Tenant, slug = 'oura') => (await t.api.getSourceStatus()).sources.find((source) => source.slug === slug)
const noConnections = { connected: 0, pending: 0, failing: 0, expired: 0, paused: 0, at_least: false }

const importAccount = async (t: Tenant, provider: 'whoop_v2' | 'withings', account: string, tokens: Record<string, string>) => {
  const user_id = await aUser(t.api)
  const connection = { user_id, access_token: 'a', refresh_token: 'r', ...tokens, provider_id: account, expires_at: 0, oauth_scopes: null }
  const imported = await t.api.bulkImport({ body: { provider, connections: [connection], wait_for_completion: true } })
  expect(imported.user_ids_imported).toEqual([user_id])
  return user_id
}

/** Imports the tokens of an account at WHOOP. */
async function connectWhoop(t: Tenant) {
  const grant = { user: '501', scopes: ['read:sleep', 'read:recovery', 'read:cycles', 'read:workout', 'read:body_measurement', 'offline'] }
  const redirect_uri = 'https://harbor.example/back'
  const code = whoop.tokens.newCode({ redirect_uri }, grant)
  const issued = whoop.tokens.token({ grant_type: 'authorization_code', ...whoopClient, code, redirect_uri })
  if (typeof issued === 'string') throw new Error(issued)
  return importAccount(t, 'whoop_v2', '501', { access_token: issued.access_token, refresh_token: issued.refresh_token })
}

describe('the status of sources', () => {
  test('counts each connection once by state, with a remedy for each error', async () => {
    const t = await o.shortTenant()
    expect(await sourceOf(t)).toMatchObject({
      ...{ name: 'Oura', application: 'deployment', notifications: 'pending', connections: noConnections },
      ...{ lag_seconds: 0, last_read_at: null, quota: null, blocked_until: null, errors: [] },
    })
    const ben = await o.connect(t, 'ben')
    const eve = await o.connect(t, 'eve')
    expect((await sourceOf(t))?.connections).toEqual({ ...noConnections, pending: 2 })
    await w.runJobs()
    expect(await sourceOf(t)).toMatchObject({
      ...{ connections: { ...noConnections, connected: 2 }, last_read_at: w.app.wall(), notifications: 'active', errors: [] },
    })
    cloud.tokens.revokeUser('eve')
    w.advanceTime(13 * HOUR)
    expect((await sourceOf(t))?.lag_seconds).toBeGreaterThanOrEqual(HOUR / SECOND)
    await w.runJobs()
    expect(await sourceOf(t)).toMatchObject({
      ...{ connections: { ...noConnections, connected: 1, expired: 1 }, lag_seconds: 0 },
      errors: [
        {
          ...{ error: 'token_refresh_failed', connections: 1, user_ids: [eve], since: w.app.wall(), next_attempt_at: null },
          remedy: expect.stringContaining('new link'),
        },
      ],
    })
    const sleepOf = async (user_id: string) => (await t.api.getUserResources({ query: { user_id } })).data[0]?.provider['oura']?.['sleep']
    const before = await sleepOf(ben)
    expect(before).toMatchObject({ last_attempt: { timestamp: w.app.wall(), status: 'success' }, newest_data: expect.any(String) })
    cloud.behavior.down = true
    w.advanceTime(13 * HOUR)
    await w.runJobs()
    cloud.behavior.down = false
    expect(await sleepOf(ben)).toEqual({ ...before, last_attempt: { timestamp: w.app.wall(), status: 'failure' } })
    expect(await sourceOf(t)).toMatchObject({
      connections: { ...noConnections, failing: 1, expired: 1 },
      errors: expect.arrayContaining([
        {
          ...{ error: 'unavailable', connections: 1, user_ids: [ben], since: null, next_attempt_at: later(w.app.wall(), 10 * SECOND) },
          remedy: expect.stringContaining('tries again'),
        },
      ]),
    })
    const { entries } = await t.admin.listAudit({ params: { org_id: t.org_id }, query: { action: 'getSourceStatus' } })
    expect(entries[0]?.subject?.split(' ').sort()).toEqual([`user_id:${ben}`, `user_id:${eve}`].sort())
    await t.api.bulkPause({ body: { provider: 'oura', user_ids: [ben] } })
    expect((await sourceOf(t))?.connections).toEqual({ ...noConnections, paused: 1, expired: 1 })
    expect((await sourceOf(await w.tenant()))?.connections).toEqual(noConnections)
  })

  test('shows until when the source limits requests, however far its clock is off', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'cora')
    Object.assign(cloud.behavior, { remaining: 0, retryAfterSeconds: (400 * DAY) / SECOND })
    await w.runJobs()
    const retrying = { status: 'retrying', error_details: 'provider_rate_limit_exceeded' }
    expect(Object.values(await o.pullsOf(t, user_id))).toContainEqual(expect.objectContaining(retrying))
    expect(await sourceOf(t)).toMatchObject({
      blocked_until: later(w.app.wall(), DAY),
      errors: [{ error: 'rate_limited', remedy: expect.stringContaining('limit') }],
    })
    Object.assign(cloud.behavior, { remaining: undefined, retryAfterSeconds: 60 })
    w.advanceTime(DAY)
    await w.runJobs()
    expect(await sourceOf(t)).toMatchObject({ blocked_until: null, errors: [], connections: { connected: 1 } })
    expect(new Set(Object.values(await o.pullsOf(t, user_id)).map(({ status }) => status))).toEqual(new Set(['success']))
  })

  test('a team connects, reads and is notified through an application of its own', async () => {
    const t = await w.tenant()
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ application: 'none', notifications: 'manual' })
    const params = { org_id: t.org_id, env: 'sandbox', region: 'us' } as const
    const own = { team_id: t.team_id, provider: 'whoop_v2' as const }
    await t.admin.putTeamCredential({ params, body: { ...own, ...whoopClient } })
    const { preparation_steps } = await t.admin.prepareTeamCredential({ params, body: own })
    whoop.behavior.webhook_url = preparation_steps.find(({ type }) => type === 'webhook_uri')?.value
    const user_id = await connectWhoop(t)
    await w.runJobs()
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({
      ...{ application: 'team', connections: { connected: 1 }, quota: { limit: 100, remaining: 99 }, errors: [] },
    })
    const [night] = [...(whoop.users.get('501')?.sleeps.keys() ?? [])].slice(-3)
    const before = (await o.typesSince(t, user_id)).length
    whoop.remove('501', 'sleeps', night as string)
    expect(await whoop.deliver()).toEqual([200])
    await w.runJobs()
    expect(await o.typesSince(t, user_id, before)).toContain('daily.data.sleep.deleted')
    // The callback URL of a team works for nobody else.
    const foreign = await fetch(localUrl(w.base, whoop.behavior.webhook_url as string).replace('whoop_v2', 'oura'), { method: 'POST' })
    expect(foreign.status).toBe(404)
    expect(await sourceOf(await w.tenant(), 'whoop_v2')).toMatchObject({ application: 'none', connections: noConnections, quota: null })
    // Notifications that prove nothing are limited, and good ones of the same network are not.
    const forge = () => fetch(localUrl(w.base, whoop.behavior.webhook_url as string), { method: 'POST', body: '{}' })
    const statuses: number[] = []
    for (let i = 0; i < 100; i++) statuses.push((await forge()).status)
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect((await forge()).headers.get('retry-after')).toMatch(/^\d+$/)
    whoop.put('501', 'sleeps', { id: [...(whoop.users.get('501')?.sleeps.keys() ?? [])].at(-1) as string })
    expect(await whoop.deliver()).toEqual([200])
    w.advanceTime(15 * MINUTE)
    expect((await forge()).status).toBe(401)
  })

  test('changed credentials of a team are used at once, for feeds that wait too', async () => {
    const t = await w.tenant()
    const params = { org_id: t.org_id, env: 'sandbox', region: 'us' } as const
    const put = (client: typeof whoopClient) =>
      t.admin.putTeamCredential({ params, body: { team_id: t.team_id, provider: 'whoop_v2', ...client } })
    await put({ ...whoopClient, client_secret: 'expired secret' })
    await connectWhoop(t)
    whoop.tokens.expireAccess()
    await w.runJobs()
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ connections: { failing: 1 }, errors: [{ error: 'unavailable' }] })
    const { id } = await put(whoopClient)
    await w.runJobs()
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ connections: { connected: 1, failing: 0 }, errors: [] })
    // The limit of one application is not that of another.
    const blocked_until = later(w.app.wall(), HOUR)
    await query(w.url, 'update cloud_clients set blocked_until = $2 where team_id = $1', [t.team_id, blocked_until])
    await put(whoopClient)
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ blocked_until })
    await put({ ...whoopClient, client_id: 'harbor-whoop-2' })
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ blocked_until: null })
    // Without any application nothing is read, until there is one again.
    await t.admin.deleteTeamCredentials({ params, query: { credential_id: [id] } })
    w.advanceTime(12 * HOUR)
    await w.runJobs()
    const calls = whoop.requests.length
    await put(whoopClient)
    await w.runJobs()
    expect(whoop.requests.length).toBeGreaterThan(calls)
    expect(await sourceOf(t, 'whoop_v2')).toMatchObject({ connections: { connected: 1, failing: 0 } })
  })

  test('metrics have calls, failures, lag and quota by provider, and name no team', async () => {
    const read = await readMetrics(w.base)
    expect(read('assay_cloud_calls_total{provider="oura",status="200"}')).toBeGreaterThan(0)
    expect(read('assay_cloud_failures_total{provider="oura",fault="unavailable"}')).toBeGreaterThan(0)
    expect(read('assay_cloud_lag_seconds{provider="oura"}')).toBeGreaterThanOrEqual(0)
    expect(read('assay_cloud_quota_remaining{provider="whoop_v2"}')).toBe(99)
    const lines = (await (await fetch(`${w.base}/metrics`)).text()).split('\n').filter((line) => line.startsWith('assay_cloud_'))
    const labels = new Set(lines.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label]) => label)))
    expect([...labels].sort()).toEqual(['fault', 'provider', 'status'])
  })
})

describe('reading a period again', () => {
  test('finds what changed without a notification, for one resource or for all', async () => {
    const t = await o.shortTenant()
    const user_id = await o.connect(t, 'ada')
    await w.runJobs()
    const nights = cloud.users.get('ada')?.objects.get('sleep')
    const [id, night] = [...(nights ?? [])].at(-4) ?? []
    nights?.set(id as string, { ...(night as object), average_hrv: 88, meta: { updated_at: w.app.wall(), version: 9 } } as never)
    const pull = (body: { start_date: string; end_date?: string; resource?: string }, provider: 'oura' | 'withings' = 'oura') =>
      t.api.pullWindow({ params: { user_id, provider }, body })
    const before = (await o.typesSince(t, user_id)).length
    const { resources } = await pull({ start_date: o.daysAgo(9), end_date: o.daysAgo(1), resource: 'sleep' })
    expect(resources).toContain('sleep')
    expect(resources).not.toContain('workouts')
    await w.runJobs()
    const sleeps = (await t.api.listSleep({ params: { user_id }, query: o.window })).sleep
    expect(sleeps.filter(({ average_hrv }) => average_hrv === 88)).toHaveLength(1)
    // The period reaches further back than the history of this team.
    expect(sleeps.length).toBeGreaterThan(7)
    expect(await o.typesSince(t, user_id, before)).toContain('daily.data.sleep.updated')

    const counted = await t.api.getDataDays({ query: { user_id } })
    expect([counted.start_date, counted.end_date]).toEqual([o.daysAgo(29), o.daysAgo(0)])
    const daysOf = (resource: string) => counted.resources.find((row) => row.resource === resource && row.provider === 'oura')?.days ?? []
    expect(daysOf('sleep').map(({ date }) => date)).toEqual([...new Set(sleeps.map(({ calendar_date }) => calendar_date))].sort())
    const total = daysOf('heartrate').reduce((sum, { count }) => sum + count, 0)
    expect(total).toBe((await o.samplesOf(t, user_id, 'heartrate')).length)
    expect((await t.api.getDataDays({ query: { user_id, provider: 'withings' } })).resources).toEqual([])

    const everything = await pull({ start_date: o.daysAgo(3) })
    expect(everything.resources).toEqual(expect.arrayContaining(['activity', 'heartrate', 'sleep', 'workouts']))
    const [calls, events] = [cloud.requests.length, (await o.typesSince(t, user_id)).length]
    await w.runJobs()
    expect(cloud.requests.length).toBeGreaterThan(calls)
    expect(await o.typesSince(t, user_id, events)).toEqual([])

    const { entries } = await t.admin.listAudit({ params: { org_id: t.org_id }, query: { action: 'pullWindow' } })
    expect(entries).toHaveLength(2)
    expect(entries[0]).toMatchObject({ status: 200, subject: expect.stringContaining(user_id) })
    expect(await errorOf(pull({ start_date: o.daysAgo(3), resource: 'glucose' }))).toMatchObject({ status: 422 })
    expect(await errorOf(pull({ start_date: o.daysAgo(-3) }))).toMatchObject({ status: 422 })
    expect(await errorOf(pull({ start_date: o.daysAgo(92) }))).toMatchObject({ status: 422 })
    expect(await errorOf(pull({ start_date: o.daysAgo(3) }, 'withings'))).toMatchObject({ status: 404 })
    const other = await w.tenant()
    expect(
      await errorOf(other.api.pullWindow({ params: { user_id, provider: 'oura' }, body: { start_date: o.daysAgo(3) } })),
    ).toMatchObject({ status: 404 })
    expect(await errorOf(other.api.getDataDays({ query: { user_id } }))).toMatchObject({ status: 404 })
    for (let i = 0; i < 6; i++) await pull({ start_date: o.daysAgo(3) })
    expect(await errorOf(pull({ start_date: o.daysAgo(3) }))).toMatchObject({ status: 429, detail: { error_type: 'TOO_MANY_REFRESHES' } })
  })

  test('is refused for a connection that Assay does not read', async () => {
    const t = await w.tenant()
    const user_id = await aUser(t.api)
    await t.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    const refused = await errorOf(
      t.api.pullWindow({ params: { user_id, provider: 'apple_health_kit' }, body: { start_date: o.daysAgo(3) } }),
    )
    expect(refused).toMatchObject({ status: 400, detail: { error_type: 'CONNECTION_NOT_READABLE' } })
  })
})

describe('several teams and clouds', () => {
  test('teams that share an application share its limit, however many feeds one of them waits for', async () => {
    await w.runJobs()
    const [large, small] = [await o.shortTenant(), await o.shortTenant()]
    for (const account of ['ada', 'ben', 'cora', 'eve']) await o.connect(large, account)
    w.advanceTime(MINUTE)
    await o.connect(small, 'ada')
    cloud.behavior.remaining = 16
    await w.runJobs()
    const readsOf = async ({ team_id }: Tenant) =>
      (await query(w.url, 'select 1 from pull_jobs where team_id = $1 and last_success_at is not null', [team_id])).length
    const [many, few] = [await readsOf(large), await readsOf(small)]
    cloud.behavior.remaining = undefined
    // In order of time, the small team would have to wait for all feeds of the large one. Feeds need different numbers of requests.
    expect(few).toBeGreaterThan(1)
    expect(few).toBeGreaterThan(many / 4)
    w.advanceTime(MINUTE)
    await w.runJobs()
    expect((await sourceOf(large))?.connections).toEqual({ ...noConnections, connected: 4 })
    expect((await sourceOf(small))?.connections).toEqual({ ...noConnections, connected: 1 })
  })

  test('a cloud that does not respond never delays another', async () => {
    const t = await o.shortTenant()
    for (const account of ['7', '8', '9']) await importAccount(t, 'withings', account, {})
    const pulling = pullDueFeeds(w.app)
    await waitFor(() => expect(silent.waiting.size).toBeGreaterThan(1))
    // The lanes of the silent cloud are busy, and the others have nothing to do.
    const user_id = await o.connect(t, 'ben')
    await waitFor(async () => expect((await o.pullsOf(t, user_id))['sleep']).toMatchObject({ status: 'success' }))
    expect(await sourceOf(t, 'withings')).toMatchObject({ connections: { pending: 3 }, last_read_at: null })
    silent.respond()
    await pulling
    expect(await sourceOf(t, 'withings')).toMatchObject({ connections: { failing: 3 }, errors: [{ error: 'unavailable', connections: 3 }] })
  })
})

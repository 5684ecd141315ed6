import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../src/app.ts'
import { accessTo } from '../../src/connections/access.ts'
import { type Connection, connectionFor } from '../../src/connections/actions.ts'
import { refreshUser } from '../../src/connections/refresh.ts'
import { endpoints } from '../../src/contract/index.ts'
import { type Authorization, openAuthorizationServer } from '../support/authorization-server.ts'
import { query } from '../support/cluster.ts'
import { aLink, at, aUser, toldOfConnections } from '../support/connections.ts'
import { soon } from '../support/webhooks.ts'
import { newDatabase, refusal, type Tenant, world } from '../support/world.ts'

let source: Authorization
let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  source = await openAuthorizationServer()
  const { id: client_id, secret: client_secret } = source.client
  const OAUTH_SOURCES = JSON.stringify({
    fitbit: source.setting({ client_id, client_secret }),
    oura: source.setting({ client_auth: 'body' }),
    ultrahuman: { client_id, client_secret },
  })
  w = await world({ env: { OAUTH_SOURCES } })
})

const fitbit = { oauth_provider: 'fitbit' as const }
const back = 'https://shop.example/back?order=1'
const linkOf = (t: Tenant, wanted: Parameters<typeof aLink>[2] = {}) => aLink(w.base, t.api, { redirect_url: back, ...wanted })

/** What the source's page does: the browser comes back to us, and goes where we send it. */
async function comeBack(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(at(w.base, url), { redirect: 'manual', headers })
  const location = answer.headers.get('location')
  return {
    status: answer.status,
    text: await answer.text(),
    went: location ? Object.fromEntries(new URL(location).searchParams) : undefined,
    location,
  }
}

async function connect(t: Tenant, wanted: Parameters<typeof aLink>[2] = {}) {
  const { link, user_id } = await linkOf(t, wanted)
  const { oauth_url } = await link.startOAuth({ params: fitbit })
  return { user_id, ...(await comeBack(source.visit(oauth_url as string))) }
}

const connectionOf = async (t: Tenant, user_id: string) =>
  (await connectionFor(w.app, { team_id: t.team_id, user_id }, 'fitbit')) as Connection

describe('a source by OAuth', () => {
  test('is connected with PKCE, and the browser goes back', async () => {
    const t = await w.tenant()
    const { link, user_id } = await linkOf(t)
    const started = await link.startOAuth({ params: fitbit })
    expect(started).toMatchObject({ slug: 'fitbit', auth_type: 'oauth', is_active: true })
    const sent = new URL(started.oauth_url as string).searchParams
    expect(Object.fromEntries(sent)).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', client_id: 'harbour-app' })
    expect(sent.get('redirect_uri')).toBe('http://127.0.0.1:8080/v2/link/oauth/callback')

    const answer = await comeBack(source.visit(started.oauth_url as string))
    expect([answer.status, answer.location]).toEqual([307, `${back}&state=success`])

    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ slug: 'fitbit', status: 'connected', external_user_id: 'account-1' })
    expect(await toldOfConnections(w.app, t.team_id)).toMatchObject([
      { event_type: 'provider.connection.created', data: { external_user_id: 'account-1', provider: { slug: 'fitbit' } } },
    ])
    const rows = JSON.stringify(await query(w.url, 'select * from connections where user_id = $1', [user_id]))
    expect(rows).not.toContain('account-1')
    const audited = await query(w.url, "select actor_kind, status from audit_log where action = 'finishOAuth' and team_id = $1", [
      t.team_id,
    ])
    expect(audited).toEqual([{ actor_kind: 'link_token', status: 200 }])
  })

  test('is not connected twice with one way back, nor with one token', async () => {
    const t = await w.tenant()
    const { link } = await linkOf(t)
    const [one, two] = [await link.startOAuth({ params: fitbit }), await link.startOAuth({ params: fitbit })]
    const way = source.visit(one.oauth_url as string)
    expect((await comeBack(way)).went).toMatchObject({ state: 'success' })
    expect(await comeBack(way)).toMatchObject({ status: 400, location: null })
    const again = await comeBack(source.visit(two.oauth_url as string))
    expect(again.text).toContain('used already')
    expect(await refusal(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_CONSUMED' } })
    expect(await toldOfConnections(w.app, t.team_id)).toHaveLength(1)
  })

  test('cannot be finished with a state that nobody gave, or with that of another way', async () => {
    const { link } = await linkOf(w)
    const { oauth_url } = await link.startOAuth({ params: fitbit })
    const way = new URL(source.visit(oauth_url as string))
    for (const state of ['', 'x', randomUUID(), `${way.searchParams.get('state')}x`]) {
      way.searchParams.set('state', state)
      expect(await comeBack(way.href)).toMatchObject({ status: 400, location: null })
    }
    expect(await comeBack(`${w.base}/v2/link/oauth/callback`)).toMatchObject({ status: 400, location: null })
  })

  test("cannot be finished with somebody else's code: the verifier is that of another way", async () => {
    const t = await w.tenant()
    const [mine, theirs] = [await linkOf(t), await linkOf(t)]
    const { oauth_url } = await mine.link.startOAuth({ params: fitbit })
    const other = await theirs.link.startOAuth({ params: fitbit })
    const injected = new URL(source.visit(oauth_url as string))
    injected.searchParams.set('code', new URL(source.visit(other.oauth_url as string)).searchParams.get('code') as string)
    expect((await comeBack(injected.href)).went).toMatchObject({ state: 'error', error_type: 'provider_api_error' })
    expect(await t.api.listConnections({ params: mine })).toEqual({ providers: [] })
  })

  test('that the user does not allow leads back with user_cancelled, and the token stays good', async () => {
    const t = await w.tenant()
    const { link } = await linkOf(t)
    source.mood.deny = true
    const denied = await comeBack(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    source.mood.deny = false
    expect(denied.went).toMatchObject({ order: '1', state: 'error', error_type: 'user_cancelled', error: expect.any(String) })
    const allowed = await comeBack(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    expect(allowed.went).toMatchObject({ state: 'success' })
  })

  test.each([
    ['whose code has expired', { codeExpires: true }, 'provider_api_error'],
    ['that is down', { down: true }, 'provider_api_error'],
  ])('%s leads back with %s', async (_, mood, error_type) => {
    const t = await w.tenant()
    const before = { ...source.mood }
    Object.assign(source.mood, mood)
    const { went, user_id } = await connect(t)
    Object.assign(source.mood, before)
    expect(went).toMatchObject({ state: 'error', error_type })
    expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
    expect(await toldOfConnections(w.app, t.team_id)).toEqual([])
  })

  test('may be allowed within ten minutes', async () => {
    const late = await world({
      env: { OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbour-app', client_secret: 'x' }) }) },
    })
    const { link } = await aLink(late.base, late.api, { redirect_url: back })
    const way = source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)
    late.passes(10 * MINUTE)
    const answer = await fetch(at(late.base, way), { redirect: 'manual' })
    expect(answer.status).toBe(400)
    await late.runJobs()
    expect(await query(late.url, 'select 1 from oauth_flows where team_id = $1', [late.team_id])).toEqual([])
  })

  test('shows a page where there is nowhere to go back to', async () => {
    const t = await w.tenant()
    const { link } = await aLink(w.base, t.api)
    const answer = await comeBack(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    expect(answer).toMatchObject({ status: 200, location: null })
    expect(answer.text).toContain('Fitbit is connected')
  })

  test('refuses an account that another user has, where the team wants that, and gives the access back', async () => {
    const t = await w.tenant()
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    expect((await connect(t)).went).toMatchObject({ state: 'success' })
    const before = source.revoked.length
    expect((await connect(t)).went).toMatchObject({ state: 'error', error_type: 'duplicate_connection' })
    expect(source.revoked).toHaveLength(before + 1)
  })

  test('can be begun twenty times with one token, not more', async () => {
    const { link } = await linkOf(await w.tenant())
    for (let i = 0; i < 20; i++) await link.startOAuth({ params: fitbit })
    expect(await refusal(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 429, detail: { error_type: 'TOO_MANY_LINKS' } })
  })

  test('that nobody set up is refused, whether addresses or an account are missing', async () => {
    const { link } = await linkOf(await w.tenant())
    for (const oauth_provider of ['oura', 'ultrahuman', 'strava'] as const)
      expect(await refusal(link.startOAuth({ params: { oauth_provider } }))).toMatchObject({
        status: 400,
        detail: { error_type: 'SOURCE_NOT_CONFIGURED', error_message: expect.stringMatching(/team_custom_credentials.*OAUTH_SOURCES/) },
      })
    expect(await refusal(link.startOAuth({ params: { oauth_provider: 'peloton' as never } }))).toMatchObject({ status: 422 })
  })

  test('at a private address is not asked in production', async () => {
    const env = {
      ENVIRONMENT: 'production',
      OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbour-app', client_secret: 's' }) }),
    }
    const production = await world({ env, database: await newDatabase() })
    const { link } = await aLink(production.base, production.api, { redirect_url: back })
    const asked = source.asked.length
    const answer = await fetch(at(production.base, source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)), {
      redirect: 'manual',
    })
    expect(new URL(answer.headers.get('location') as string).searchParams.get('error_type')).toBe('provider_api_error')
    expect(source.asked).toHaveLength(asked)
  })
})

describe('what a user allows', () => {
  const requirements = (t: Tenant, fitbit: { user_must_grant: string[]; user_may_grant: string[] } | null) =>
    t.admin.putScopeRequirements({ params: t, body: { fitbit } })

  test('is asked for as the team requires, and shows in what can be read', async () => {
    const t = await w.tenant()
    const required = { user_must_grant: ['activity'], user_may_grant: ['sleep', 'heartrate'] }
    expect(await requirements(t, required)).toEqual({ requirements: [{ team_id: t.team_id, provider: 'fitbit', ...required }] })
    source.mood.withholds = ['sleep']
    const { user_id, went } = await connect(t)
    source.mood.withholds = []
    expect(went).toMatchObject({ state: 'success' })
    const { resource_availability } = (await t.api.listConnections({ params: { user_id } })).providers[0] as never as {
      resource_availability: Record<string, unknown>
    }
    const none = { required: [], optional: [] }
    expect(resource_availability).toMatchObject({
      steps: { status: 'available', scope_requirements: { user_granted: { required: ['activity'], optional: [] }, user_denied: none } },
      sleep: { status: 'unavailable', scope_requirements: { user_granted: none, user_denied: { required: ['sleep'], optional: [] } } },
    })
  })

  test('must hold what the team requires, or nothing is connected and the access is given back', async () => {
    const t = await w.tenant()
    await requirements(t, { user_must_grant: ['activity', 'sleep'], user_may_grant: [] })
    source.mood.withholds = ['sleep']
    const before = source.revoked.length
    const { user_id, went } = await connect(t)
    source.mood.withholds = []
    expect(went).toMatchObject({ state: 'error', error_type: 'required_scopes_not_granted' })
    expect(source.revoked).toHaveLength(before + 1)
    expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
  })

  test('is set by source and lifted with null', async () => {
    const t = await w.tenant()
    await requirements(t, { user_must_grant: ['sleep'], user_may_grant: [] })
    await t.admin.putScopeRequirements({ params: t, body: { strava: { user_must_grant: [], user_may_grant: ['activity:read_all'] } } })
    expect((await t.admin.listScopeRequirements({ params: t })).requirements.map(({ provider }) => provider)).toEqual(['fitbit', 'strava'])
    expect((await t.admin.listScopeRequirements({ params: t, query: { provider: 'strava' } })).requirements).toHaveLength(1)
    await requirements(t, null)
    expect((await t.admin.listScopeRequirements({ params: t })).requirements.map(({ provider }) => provider)).toEqual(['strava'])
  })

  test('is known to the source', async () => {
    const t = await w.tenant()
    expect(await refusal(requirements(t, { user_must_grant: ['mind_reading'], user_may_grant: [] }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'fitbit', 'user_must_grant'] }],
    })
  })
})

describe("a team's own credentials", () => {
  const here = (t: Tenant) => ({ org_id: t.org_id, env: 'sandbox' as const, region: 'us' as const })
  const put = (t: Tenant, more: object = {}) =>
    t.admin.putTeamCredential({
      params: here(t),
      body: { team_id: t.team_id, provider: 'oura', client_id: source.client.id, client_secret: source.client.secret, ...more },
    })

  test('connect a source that the deployment has no account at, and are never shown', async () => {
    const t = await w.tenant()
    const details = { oura: { webhook_secret: 'hush', is_hr_enabled: true, verify_token: 'hush too' } }
    const made = await put(t, { details })
    expect(made).toMatchObject({ source: 'oura', team_id: t.team_id, client_id: 'harbour-app', app_url: null, redirect_url_override: null })
    expect(made.client_secret_hash).toMatch(/^[0-9a-f]{16}$/)
    expect(made.details).toEqual({ oura: { webhook_secret: '…', is_hr_enabled: true, verify_token: '…' } })
    const listed = await t.admin.listTeamCredentials({ params: here(t) })
    expect(listed).toEqual({ credentials: [made], next_cursor: null })
    expect(JSON.stringify([listed, await query(w.url, 'select * from team_credentials')])).not.toMatch(/hush|with \/ signs/)

    const { link } = await linkOf(t)
    expect((await link.listLinkSources()).map(({ slug }) => slug)).toContain('oura')
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect((await comeBack(source.visit(oauth_url as string))).went).toMatchObject({ state: 'success' })
    expect(source.asked.at(-1)).toMatchObject({ authorization: undefined, form: { client_id: 'harbour-app' } })
  })

  test('that are wrong are named as such', async () => {
    const t = await w.tenant()
    await put(t, { client_secret: 'not the secret' })
    const { link } = await linkOf(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect((await comeBack(source.visit(oauth_url as string))).went).toMatchObject({
      state: 'error',
      error_type: 'provider_credential_error',
    })
  })

  test('that were deleted while the user was away connect nothing', async () => {
    const t = await w.tenant()
    const { id } = await put(t)
    const { link } = await linkOf(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    await t.admin.deleteTeamCredentials({ params: here(t), query: { credential_id: [id] } })
    expect((await comeBack(source.visit(oauth_url as string))).went).toMatchObject({
      state: 'error',
      error_type: 'provider_credential_error',
    })
  })

  test('are changed in part, and keep their id', async () => {
    const t = await w.tenant()
    const first = await put(t)
    const override = 'https://harbour.example/callback'
    const body = { team_id: t.team_id, provider: 'oura' as const, redirect_url_override: override }
    const second = await t.admin.putTeamCredential({ params: here(t), body })
    expect(second).toMatchObject({
      id: first.id,
      client_id: first.client_id,
      client_secret_hash: first.client_secret_hash,
      redirect_url_override: override,
    })
    const { link } = await linkOf(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect(new URL(oauth_url as string).searchParams.get('redirect_uri')).toBe(override)
  })

  test.each([
    ['an id without a secret', { client_secret: undefined }, 400],
    ['a source without OAuth', { provider: 'peloton' }, 422],
    ['an address that is no https', { redirect_url_override: 'http://harbour.example/callback' }, 422],
  ])('are not made with %s', async (_, change, status) => {
    const answer = await refusal(put(await w.tenant(), change))
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.detail['error_type']).toBe('CREDENTIALS_INCOMPLETE')
  })

  test('are listed by team and source, and deleted by id', async () => {
    const t = await w.tenant()
    const { id } = await put(t)
    const stranger = await w.tenant()
    const list = async (of: Tenant, query: object = {}) =>
      (await of.admin.listTeamCredentials({ params: here(of), query })).credentials.length
    expect([await list(t), await list(t, { team_id: [t.team_id] }), await list(t, { team_id: [randomUUID()] })]).toEqual([1, 1, 0])
    expect([await list(t, { provider: 'fitbit' }), await list(stranger)]).toEqual([0, 0])
    const remove = (of: Tenant) => of.admin.deleteTeamCredentials({ params: here(of), query: { credential_id: [id] } })
    expect(await remove(stranger)).toEqual({ success: [], failure: [], not_found: [id] })
    expect(await remove(t)).toEqual({ success: [id], failure: [], not_found: [] })
    expect(await list(t)).toBe(0)
  })

  test('need a redirect URI at the source, and somebody says which', async () => {
    const t = await w.tenant()
    const body = { team_id: t.team_id, provider: 'oura' as const }
    expect(await t.admin.prepareTeamCredential({ params: here(t), body })).toEqual({
      status: 'preparations_required',
      preparation_steps: [
        { type: 'redirect_uri', key: null, value: 'http://127.0.0.1:8080/v2/link/oauth/callback', description: expect.any(String) },
      ],
    })
  })
})

describe('access', () => {
  test('is renewed when it ends, with a refresh token that rotates', async () => {
    const t = await w.tenant()
    const late = await world({ env: { OAUTH_SOURCES: w.app.config.OAUTH_SOURCES ? JSON.stringify(w.app.config.OAUTH_SOURCES) : '{}' } })
    const { user_id } = await connect(t)
    const connection = await connectionOf(t, user_id)
    const first = await accessTo(w.app, connection)
    expect(await accessTo(w.app, connection)).toEqual(first)
    late.passes(HOUR)
    const second = await accessTo(late.app, connection)
    expect(second).toMatchObject({ state: 'ready' })
    expect(second).not.toEqual(first)
    late.passes(HOUR)
    const third = await accessTo(late.app, connection)
    expect(third).toMatchObject({ state: 'ready' })
    expect(third).not.toEqual(second)
  })

  test('is renewed by one of many who need it at once, and they all get the same', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    const connection = await connectionOf(t, user_id)
    const asked = source.asked.length
    let goOn = () => {}
    source.mood.waitsFor = new Promise<void>((done) => {
      goOn = done
    })
    const calls = Array.from({ length: 8 }, () => accessTo(w.app, connection))
    // Everybody has looked while the source still thinks.
    await soon(() => expect(source.asked.length).toBeGreaterThan(asked))
    await Promise.all(Array.from({ length: 8 }, () => connectionOf(t, user_id)))
    goOn()
    source.mood.waitsFor = undefined
    const all = await Promise.all(calls)
    expect(source.asked).toHaveLength(asked + 1)
    expect(all).toEqual(Array(8).fill({ state: 'ready', access_token: expect.any(String) }))
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1)
  })

  test('that a source no longer gives breaks the connection, and the customer is told', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.mood.forgets = true
    const answer = await refusal(t.api.refreshUser({ params: { user_id } }))
    source.mood.forgets = false
    expect(answer).toMatchObject({ status: 400, detail: { error_type: 'REFRESH_FAILED' } })
    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    expect((await toldOfConnections(w.app, t.team_id)).at(-1)).toMatchObject({
      event_type: 'provider.connection.error',
      data: { provider: 'fitbit', error_type: 'token_refresh_failed' },
    })
    expect((await connect(t, { user_id })).went).toMatchObject({ state: 'success' })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ status: 'connected', error_details: null })
  })

  test('outlives a source that is down for a while', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.mood.down = true
    const connection = await connectionOf(t, user_id)
    expect(await accessTo(w.app, connection)).toEqual({ state: 'unavailable' })
    source.mood.down = false
    expect(await accessTo(w.app, connection)).toMatchObject({ state: 'ready' })
  })

  test('keeps its refresh token where the source gives no new one', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    source.mood.keepsRefreshToken = true
    for (let i = 0; i < 2; i++) {
      await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
      expect(await accessTo(w.app, await connectionOf(t, user_id))).toMatchObject({ state: 'ready' })
    }
    source.mood.keepsRefreshToken = false
  })

  test('is given back when the user disconnects, once the source can be reached', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.endConnection({ params: { user_id, provider: 'fitbit' } })
    const before = source.revoked.length
    source.mood.down = true
    await w.runJobs()
    source.mood.down = false
    expect(await query(w.url, 'select farewells from connections where user_id = $1', [user_id])).toEqual([{ farewells: 1 }])
    await query(w.url, "update connections set farewell_at = now() - interval '1 second' where user_id = $1", [user_id])
    await w.runJobs()
    expect(source.revoked).toHaveLength(before + 1)
    expect(await query(w.url, 'select 1 from connections where user_id = $1', [user_id])).toEqual([])
  })
})

describe('asking for news', () => {
  test('says which sources were asked; those that push are not', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    expect(await t.api.refreshUser({ params: { user_id } })).toEqual({
      ...{ success: true, user_id, refreshed_sources: ['fitbit'], in_progress_sources: [], failed_sources: [] },
    })
  })

  test('answers 202 while a source takes longer', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    let goOn = () => {}
    source.mood.waitsFor = new Promise<void>((done) => {
      goOn = done
    })
    const caller = { team_id: t.team_id } as Parameters<typeof refreshUser>[1]
    const answer = await refreshUser(w.app, caller, user_id, 0.05)
    goOn()
    source.mood.waitsFor = undefined
    expect(answer).toMatchObject({ success: true, refreshed_sources: [], in_progress_sources: ['fitbit'], failed_sources: [] })
    expect([endpoints.refreshUser.goesOn(answer), endpoints.refreshUser.goesOn({ in_progress_sources: [] })]).toEqual([true, false])
  })

  test('is possible eight times an hour for each user', async () => {
    const late = await world()
    const [user_id, other] = [await aUser(late.api), await aUser(late.api)]
    for (let i = 0; i < 8; i++) await late.api.refreshUser({ params: { user_id } })
    expect(await refusal(late.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 429,
      detail: { error_type: 'TOO_MANY_REFRESHES' },
    })
    expect(await late.api.refreshUser({ params: { user_id: other } })).toMatchObject({ success: true })
    late.passes(HOUR)
    expect(await late.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
  })

  test.each([4, 61, 'soon'])('does not wait for %s seconds', async (timeout) => {
    const user_id = await aUser(w.api)
    expect(await refusal(w.api.refreshUser({ params: { user_id }, query: { timeout: timeout as number } }))).toMatchObject({ status: 422 })
  })

  test('is not possible for a stranger', async () => {
    const user_id = await aUser((await w.tenant()).api)
    expect(await refusal(w.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'USER_NOT_FOUND' },
    })
  })
})

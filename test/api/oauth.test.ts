import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aLink, connectionEvents, localUrl } from '../support/connections.ts'
import { fitbit, oauthWorld, redirectUrl } from '../support/oauth.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const { w, source, createLink, followCallback, connect } = await oauthWorld()

describe('a source by OAuth', () => {
  test('is connected with PKCE, and the browser goes back', async () => {
    const t = await w.tenant()
    const { link, user_id } = await createLink(t)
    const started = await link.startOAuth({ params: fitbit })
    expect(started).toMatchObject({ slug: 'fitbit', auth_type: 'oauth', is_active: true })
    const sent = new URL(started.oauth_url as string).searchParams
    expect(Object.fromEntries(sent)).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', client_id: 'harbour-app' })
    expect(sent.get('redirect_uri')).toBe('http://127.0.0.1:8080/v2/link/oauth/callback')

    const answer = await followCallback(source.visit(started.oauth_url as string))
    expect([answer.status, answer.location]).toEqual([307, `${redirectUrl}&state=success`])

    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ slug: 'fitbit', status: 'connected', external_user_id: 'account-1' })
    expect(await connectionEvents(w.app, t.team_id)).toMatchObject([
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
    const { link } = await createLink(t)
    const [one, two] = [await link.startOAuth({ params: fitbit }), await link.startOAuth({ params: fitbit })]
    const way = source.visit(one.oauth_url as string)
    expect((await followCallback(way)).redirectParams).toMatchObject({ state: 'success' })
    expect(await followCallback(way)).toMatchObject({ status: 400, location: null })
    const again = await followCallback(source.visit(two.oauth_url as string))
    expect(again.text).toContain('already used')
    expect(await errorOf(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_CONSUMED' } })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
  })

  test('cannot be finished with a state that nobody gave, or with that of another way', async () => {
    const { link } = await createLink(w)
    const { oauth_url } = await link.startOAuth({ params: fitbit })
    const way = new URL(source.visit(oauth_url as string))
    for (const state of ['', 'x', newUuid(), `${way.searchParams.get('state')}x`]) {
      way.searchParams.set('state', state)
      expect(await followCallback(way.href)).toMatchObject({ status: 400, location: null })
    }
    expect(await followCallback(`${w.base}/v2/link/oauth/callback`)).toMatchObject({ status: 400, location: null })
  })

  test("cannot be finished with somebody else's code: the verifier is that of another way", async () => {
    const t = await w.tenant()
    const [mine, theirs] = [await createLink(t), await createLink(t)]
    const { oauth_url } = await mine.link.startOAuth({ params: fitbit })
    const other = await theirs.link.startOAuth({ params: fitbit })
    const injected = new URL(source.visit(oauth_url as string))
    injected.searchParams.set('code', new URL(source.visit(other.oauth_url as string)).searchParams.get('code') as string)
    expect((await followCallback(injected.href)).redirectParams).toMatchObject({ state: 'error', error_type: 'provider_api_error' })
    expect(await t.api.listConnections({ params: mine })).toEqual({ providers: [] })
  })

  test('that the user does not allow leads back with user_cancelled, and the token stays good', async () => {
    const t = await w.tenant()
    const { link } = await createLink(t)
    source.behavior.deny = true
    const denied = await followCallback(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    source.behavior.deny = false
    expect(denied.redirectParams).toMatchObject({ order: '1', state: 'error', error_type: 'user_cancelled', error: expect.any(String) })
    const allowed = await followCallback(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    expect(allowed.redirectParams).toMatchObject({ state: 'success' })
  })

  test.each([
    ['whose code has expired', { codeExpires: true }, 'provider_api_error'],
    ['that is down', { down: true }, 'provider_api_error'],
  ])('%s leads back with %s', async (_, mood, error_type) => {
    const t = await w.tenant()
    const before = { ...source.behavior }
    Object.assign(source.behavior, mood)
    const { redirectParams, user_id } = await connect(t)
    Object.assign(source.behavior, before)
    expect(redirectParams).toMatchObject({ state: 'error', error_type })
    expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
    expect(await connectionEvents(w.app, t.team_id)).toEqual([])
  })

  test('may be allowed within ten minutes', async () => {
    const late = await world({
      env: { OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbour-app', client_secret: 'x' }) }) },
    })
    const { link } = await aLink(late.base, late.api, { redirect_url: redirectUrl })
    const way = source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)
    late.advanceTime(10 * MINUTE)
    const answer = await fetch(localUrl(late.base, way), { redirect: 'manual' })
    expect(answer.status).toBe(400)
    await late.runJobs()
    expect(await query(late.url, 'select 1 from oauth_flows where team_id = $1', [late.team_id])).toEqual([])
  })

  test('shows a page where there is nowhere to go back to', async () => {
    const t = await w.tenant()
    const { link } = await aLink(w.base, t.api)
    const answer = await followCallback(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    expect(answer).toMatchObject({ status: 200, location: null })
    expect(answer.text).toContain('Fitbit is connected')
  })

  test('refuses an account that another user has, where the team wants that, and gives the access back', async () => {
    const t = await w.tenant()
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    expect((await connect(t)).redirectParams).toMatchObject({ state: 'success' })
    const before = source.revoked.length
    expect((await connect(t)).redirectParams).toMatchObject({ state: 'error', error_type: 'duplicate_connection' })
    expect(source.revoked).toHaveLength(before + 1)
  })

  test('can be begun twenty times with one token, not more', async () => {
    const t = await w.tenant()
    const { link } = await createLink(t)
    for (let i = 0; i < 20; i++) await link.startOAuth({ params: fitbit })
    expect(await errorOf(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 429, detail: { error_type: 'TOO_MANY_LINKS' } })
    await query(w.url, "update oauth_flows set expires_at = now() - interval '1 second' where team_id = $1", [t.team_id])
    expect(await link.startOAuth({ params: fitbit })).toMatchObject({ slug: 'fitbit' })
  })

  test('that nobody set up is refused, whether addresses or an account are missing', async () => {
    const { link } = await createLink(await w.tenant())
    for (const oauth_provider of ['oura', 'ultrahuman', 'strava'] as const)
      expect(await errorOf(link.startOAuth({ params: { oauth_provider } }))).toMatchObject({
        status: 400,
        detail: { error_type: 'SOURCE_NOT_CONFIGURED', error_message: expect.stringMatching(/team_custom_credentials.*OAUTH_SOURCES/) },
      })
    expect(await errorOf(link.startOAuth({ params: { oauth_provider: 'peloton' as never } }))).toMatchObject({ status: 422 })
  })

  test('at a private address is not asked in production', async () => {
    const env = {
      ENVIRONMENT: 'production',
      OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbour-app', client_secret: 's' }) }),
    }
    const production = await world({ env, database: await newDatabase() })
    const { link } = await aLink(production.base, production.api, { redirect_url: redirectUrl })
    const asked = source.requests.length
    const answer = await fetch(localUrl(production.base, source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)), {
      redirect: 'manual',
    })
    expect(new URL(answer.headers.get('location') as string).searchParams.get('error_type')).toBe('provider_api_error')
    expect(source.requests).toHaveLength(asked)
  })
})

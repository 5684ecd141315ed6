import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { aLink, connectionEvents, localUrl } from '../support/connections.ts'
import { fitbit, oauthWorld, redirectUrl } from '../support/oauth.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const { w, source, createLink, followCallback, connect } = await oauthWorld()

describe('OAuth connections', () => {
  test('connects a source with PKCE and redirects the browser back', async () => {
    const t = await w.tenant()
    const { link, user_id } = await createLink(t)
    const started = await link.startOAuth({ params: fitbit })
    expect(started).toMatchObject({ slug: 'fitbit', auth_type: 'oauth', is_active: true })
    const authorizationQuery = new URL(started.oauth_url as string).searchParams
    expect(Object.fromEntries(authorizationQuery)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      client_id: 'harbor-app',
    })
    expect(authorizationQuery.get('redirect_uri')).toBe('http://127.0.0.1:8080/v2/link/oauth/callback')

    const response = await followCallback(source.visit(started.oauth_url as string))
    expect([response.status, response.location]).toEqual([307, `${redirectUrl}&state=success`])

    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ slug: 'fitbit', status: 'connected', external_user_id: 'account-1' })
    expect(await connectionEvents(w.app, t.team_id)).toMatchObject([
      { event_type: 'provider.connection.created', data: { external_user_id: 'account-1', provider: { slug: 'fitbit' } } },
    ])
    const rows = JSON.stringify(await query(w.url, 'select * from connections where user_id = $1', [user_id]))
    expect(rows).not.toContain('account-1')
    const audited = await query(w.url, `select actor_kind, status from ${auditRows} where action = 'finishOAuth' and team_id = $1`, [
      t.team_id,
    ])
    expect(audited).toEqual([{ actor_kind: 'link_token', status: 200 }])
  })

  test('rejects a callback or a link token that was already used', async () => {
    const t = await w.tenant()
    const { link } = await createLink(t)
    const [first, second] = [await link.startOAuth({ params: fitbit }), await link.startOAuth({ params: fitbit })]
    const callbackUrl = source.visit(first.oauth_url as string)
    expect((await followCallback(callbackUrl)).redirectParams).toMatchObject({ state: 'success' })
    expect(await followCallback(callbackUrl)).toMatchObject({ status: 400, location: null })
    const repeated = await followCallback(source.visit(second.oauth_url as string))
    expect(repeated.text).toContain('already used')
    expect(await errorOf(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_CONSUMED' } })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
  })

  test('rejects a callback with an unknown or missing state', async () => {
    const { link } = await createLink(w)
    const { oauth_url } = await link.startOAuth({ params: fitbit })
    const callbackUrl = new URL(source.visit(oauth_url as string))
    for (const state of ['', 'x', newUuid(), `${callbackUrl.searchParams.get('state')}x`]) {
      callbackUrl.searchParams.set('state', state)
      expect(await followCallback(callbackUrl.href)).toMatchObject({ status: 400, location: null })
    }
    expect(await followCallback(`${w.base}/v2/link/oauth/callback`)).toMatchObject({ status: 400, location: null })
  })

  test('rejects the code of another flow because its PKCE verifier differs', async () => {
    const t = await w.tenant()
    const [mine, theirs] = [await createLink(t), await createLink(t)]
    const { oauth_url } = await mine.link.startOAuth({ params: fitbit })
    const other = await theirs.link.startOAuth({ params: fitbit })
    const injected = new URL(source.visit(oauth_url as string))
    injected.searchParams.set('code', new URL(source.visit(other.oauth_url as string)).searchParams.get('code') as string)
    expect((await followCallback(injected.href)).redirectParams).toMatchObject({ state: 'error', error_type: 'provider_api_error' })
    expect(await t.api.listConnections({ params: mine })).toEqual({ providers: [] })
  })

  test('redirects with user_cancelled after a denial and keeps the link token valid', async () => {
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
    ['has an expired code', { expireCodes: true }, 'provider_api_error'],
    ['is down', { down: true }, 'provider_api_error'],
  ])('redirects with an error when the source %s', async (_, behavior, error_type) => {
    const t = await w.tenant()
    const before = { ...source.behavior }
    Object.assign(source.behavior, behavior)
    const { redirectParams, user_id } = await connect(t)
    Object.assign(source.behavior, before)
    expect(redirectParams).toMatchObject({ state: 'error', error_type })
    expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
    expect(await connectionEvents(w.app, t.team_id)).toEqual([])
  })

  test('rejects a callback after ten minutes', async () => {
    const advanced = await world({
      env: { OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbor-app', client_secret: 'x' }) }) },
    })
    const { link } = await aLink(advanced.base, advanced.api, { redirect_url: redirectUrl })
    const callbackUrl = source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)
    advanced.advanceTime(10 * MINUTE)
    const response = await fetch(localUrl(advanced.base, callbackUrl), { redirect: 'manual' })
    expect(response.status).toBe(400)
    await advanced.runJobs()
    expect(await query(advanced.url, 'select 1 from oauth_flows where team_id = $1', [advanced.team_id])).toEqual([])
  })

  test('shows a page when the link has no redirect URL', async () => {
    const t = await w.tenant()
    const { link } = await aLink(w.base, t.api)
    const response = await followCallback(source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string))
    expect(response).toMatchObject({ status: 200, location: null })
    expect(response.text).toContain('Fitbit is connected')
  })

  test('rejects a duplicate account if the team requires it and revokes its access', async () => {
    const t = await w.tenant()
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    expect((await connect(t)).redirectParams).toMatchObject({ state: 'success' })
    const before = source.revoked.length
    expect((await connect(t)).redirectParams).toMatchObject({ state: 'error', error_type: 'duplicate_connection' })
    expect(source.revoked).toHaveLength(before + 1)
  })

  test('limits a link token to twenty open flows', async () => {
    const t = await w.tenant()
    const { link } = await createLink(t)
    for (let i = 0; i < 20; i++) await link.startOAuth({ params: fitbit })
    expect(await errorOf(link.startOAuth({ params: fitbit }))).toMatchObject({ status: 429, detail: { error_type: 'TOO_MANY_LINKS' } })
    await query(w.url, "update oauth_flows set expires_at = now() - interval '1 second' where team_id = $1", [t.team_id])
    expect(await link.startOAuth({ params: fitbit })).toMatchObject({ slug: 'fitbit' })
  })

  test('rejects a source that is not configured', async () => {
    const { link } = await createLink(await w.tenant())
    for (const oauth_provider of ['oura', 'ultrahuman', 'whoop_v2'] as const)
      expect(await errorOf(link.startOAuth({ params: { oauth_provider } }))).toMatchObject({
        status: 400,
        detail: { error_type: 'SOURCE_NOT_CONFIGURED', error_message: expect.stringMatching(/team_custom_credentials.*OAUTH_SOURCES/) },
      })
    expect(await errorOf(link.startOAuth({ params: { oauth_provider: 'peloton' as never } }))).toMatchObject({ status: 422 })
  })

  test('does not contact a private address in production', async () => {
    const env = {
      ENVIRONMENT: 'production',
      OAUTH_SOURCES: JSON.stringify({ fitbit: source.setting({ client_id: 'harbor-app', client_secret: 's' }) }),
    }
    const production = await world({ env, database: await newDatabase() })
    const { link } = await aLink(production.base, production.api, { redirect_url: redirectUrl })
    const requestCount = source.requests.length
    const response = await fetch(localUrl(production.base, source.visit((await link.startOAuth({ params: fitbit })).oauth_url as string)), {
      redirect: 'manual',
    })
    expect(new URL(response.headers.get('location') as string).searchParams.get('error_type')).toBe('provider_api_error')
    expect(source.requests).toHaveLength(requestCount)
  })
})

import { describe, expect, test } from 'vitest'
import { oauthWorld } from '../support/oauth.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Tenant } from '../support/world.ts'

const { w, source, createLink, followCallback, connect } = await oauthWorld()

describe('scope requirements', () => {
  const requirements = (t: Tenant, fitbit: { user_must_grant: string[]; user_may_grant: string[] } | null) =>
    t.admin.putScopeRequirements({ params: t, body: { fitbit } })

  test('requests the scopes of the team and reports resource availability', async () => {
    const t = await w.tenant()
    const required = { user_must_grant: ['activity'], user_may_grant: ['sleep', 'heartrate'] }
    expect(await requirements(t, required)).toEqual({ requirements: [{ team_id: t.team_id, provider: 'fitbit', ...required }] })
    source.behavior.deniedScopes = ['sleep']
    const { user_id, redirectParams } = await connect(t)
    source.behavior.deniedScopes = []
    expect(redirectParams).toMatchObject({ state: 'success' })
    const { resource_availability } = (await t.api.listConnections({ params: { user_id } })).providers[0] as never as {
      resource_availability: Record<string, unknown>
    }
    const none = { required: [], optional: [] }
    expect(resource_availability).toMatchObject({
      steps: { status: 'available', scope_requirements: { user_granted: { required: ['activity'], optional: [] }, user_denied: none } },
      sleep: { status: 'unavailable', scope_requirements: { user_granted: none, user_denied: { required: ['sleep'], optional: [] } } },
    })
  })

  test('rejects a connection without a required scope and revokes its access', async () => {
    const t = await w.tenant()
    await requirements(t, { user_must_grant: ['activity', 'sleep'], user_may_grant: [] })
    source.behavior.deniedScopes = ['sleep']
    const before = source.revoked.length
    const { user_id, redirectParams } = await connect(t)
    source.behavior.deniedScopes = []
    expect(redirectParams).toMatchObject({ state: 'error', error_type: 'required_scopes_not_granted' })
    expect(source.revoked).toHaveLength(before + 1)
    expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
  })

  test('sets requirements per source and removes them with null', async () => {
    const t = await w.tenant()
    await requirements(t, { user_must_grant: ['sleep'], user_may_grant: [] })
    await t.admin.putScopeRequirements({ params: t, body: { strava: { user_must_grant: [], user_may_grant: ['activity:read_all'] } } })
    expect((await t.admin.listScopeRequirements({ params: t })).requirements.map(({ provider }) => provider)).toEqual(['fitbit', 'strava'])
    expect((await t.admin.listScopeRequirements({ params: t, query: { provider: 'strava' } })).requirements).toHaveLength(1)
    await requirements(t, null)
    expect((await t.admin.listScopeRequirements({ params: t })).requirements.map(({ provider }) => provider)).toEqual(['strava'])
  })

  test('rejects a scope that the source does not have', async () => {
    const t = await w.tenant()
    expect(await errorOf(requirements(t, { user_must_grant: ['mind_reading'], user_may_grant: [] }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'fitbit', 'user_must_grant'] }],
    })
  })
})

describe('team credentials', () => {
  const deploymentOf = (t: Tenant) => ({ org_id: t.org_id, env: 'sandbox' as const, region: 'us' as const })
  const put = (t: Tenant, more: object = {}) =>
    t.admin.putTeamCredential({
      params: deploymentOf(t),
      body: { team_id: t.team_id, provider: 'oura', client_id: source.client.id, client_secret: source.client.secret, ...more },
    })

  test('connects a source with team credentials and never returns their secrets', async () => {
    const t = await w.tenant()
    const details = { oura: { webhook_secret: 'hush-of-the-harbor', is_hr_enabled: true, verify_token: 'hush-of-the-harbor-too' } }
    const created = await put(t, { details })
    expect(created).toMatchObject({
      source: 'oura',
      team_id: t.team_id,
      client_id: 'harbor-app',
      app_url: null,
      redirect_url_override: null,
    })
    expect(created.client_secret_hash).toMatch(/^[0-9a-f]{16}$/)
    expect(created.details).toEqual({ oura: { webhook_secret: '…', is_hr_enabled: true, verify_token: '…' } })
    const listed = await t.admin.listTeamCredentials({ params: deploymentOf(t) })
    expect(listed).toEqual({ credentials: [created], next_cursor: null })
    expect(JSON.stringify([listed, await query(w.url, 'select * from team_credentials')])).not.toMatch(/hush-of-the-harbor|with \/ signs/)

    const { link } = await createLink(t)
    expect((await link.listLinkSources()).map(({ slug }) => slug)).toContain('oura')
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect((await followCallback(source.visit(oauth_url as string))).redirectParams).toMatchObject({ state: 'success' })
    expect(source.requests.at(-1)).toMatchObject({ authorization: undefined, form: { client_id: 'harbor-app' } })
  })

  test('reports wrong credentials as provider_credential_error', async () => {
    const t = await w.tenant()
    await put(t, { client_secret: 'not the secret' })
    const { link } = await createLink(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect((await followCallback(source.visit(oauth_url as string))).redirectParams).toMatchObject({
      state: 'error',
      error_type: 'provider_credential_error',
    })
  })

  test('reports credentials deleted during the flow as provider_credential_error', async () => {
    const t = await w.tenant()
    const { id } = await put(t)
    const { link } = await createLink(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    await t.admin.deleteTeamCredentials({ params: deploymentOf(t), query: { credential_id: [id] } })
    expect((await followCallback(source.visit(oauth_url as string))).redirectParams).toMatchObject({
      state: 'error',
      error_type: 'provider_credential_error',
    })
  })

  test('updates a credential partially and keeps its ID', async () => {
    const t = await w.tenant()
    const first = await put(t)
    const override = 'https://harbor.example/callback'
    const body = { team_id: t.team_id, provider: 'oura' as const, redirect_url_override: override }
    const second = await t.admin.putTeamCredential({ params: deploymentOf(t), body })
    expect(second).toMatchObject({
      id: first.id,
      client_id: first.client_id,
      client_secret_hash: first.client_secret_hash,
      redirect_url_override: override,
    })
    const { link } = await createLink(t)
    const { oauth_url } = await link.startOAuth({ params: { oauth_provider: 'oura' } })
    expect(new URL(oauth_url as string).searchParams.get('redirect_uri')).toBe(override)
  })

  test.each([
    ['a client ID without a secret', { client_secret: undefined }, 400],
    ['a source without OAuth', { provider: 'peloton' }, 422],
    ['a redirect URL without HTTPS', { redirect_url_override: 'http://harbor.example/callback' }, 422],
  ])('rejects %s', async (_, change, status) => {
    const response = await errorOf(put(await w.tenant(), change))
    expect(response.status).toBe(status)
    if (status === 400) expect(response.detail['error_type']).toBe('CREDENTIALS_INCOMPLETE')
  })

  test('lists credentials by team and source and deletes them by ID', async () => {
    const t = await w.tenant()
    const { id } = await put(t)
    const otherTeam = await w.tenant()
    const list = async (tenant: Tenant, query: object = {}) =>
      (await tenant.admin.listTeamCredentials({ params: deploymentOf(tenant), query })).credentials.length
    expect([await list(t), await list(t, { team_id: [t.team_id] }), await list(t, { team_id: [newUuid()] })]).toEqual([1, 1, 0])
    expect([await list(t, { provider: 'fitbit' }), await list(otherTeam)]).toEqual([0, 0])
    const remove = (tenant: Tenant) => tenant.admin.deleteTeamCredentials({ params: deploymentOf(tenant), query: { credential_id: [id] } })
    expect(await remove(otherTeam)).toEqual({ success: [], failure: [], not_found: [id] })
    expect(await remove(t)).toEqual({ success: [id], failure: [], not_found: [] })
    expect(await list(t)).toBe(0)
  })

  test('returns the redirect URI to register at the source', async () => {
    const t = await w.tenant()
    const body = { team_id: t.team_id, provider: 'oura' as const }
    expect(await t.admin.prepareTeamCredential({ params: deploymentOf(t), body })).toEqual({
      status: 'preparations_required',
      preparation_steps: [
        { type: 'redirect_uri', key: null, value: 'http://127.0.0.1:8080/v2/link/oauth/callback', description: expect.any(String) },
      ],
    })
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { linkConnection } from '../../src/wearables/connections/actions.ts'
import { auditRows } from '../support/audit.ts'
import { aLink, connectionEvents } from '../support/connections.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newDatabase, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const linkOf = (t: Tenant, options: Parameters<typeof aLink>[2] = {}) => aLink(w.base, t.api, options)
const peloton = { provider: 'peloton' as const }
const signIn = (password = 'open sesame', username = 'rider') => ({ username, password })

describe('a link token', () => {
  test('is created for a user with the URL of the link page', async () => {
    const { link_token, link_web_url } = await linkOf(w)
    expect(link_token).toMatch(/^lt_\w{68}$/)
    expect(link_web_url).toBe(`http://127.0.0.1:8080/link?token=${link_token}`)
  })

  test('returns 404 for a user of another team or an unknown user', async () => {
    const theirs = await aUser((await w.tenant()).api)
    for (const user_id of [theirs, newUuid()])
      expect(await errorOf(w.api.createLinkToken({ body: { user_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'USER_NOT_FOUND' },
      })
  })

  test.each([
    'http://shop.example/back',
    'javascript:alert(1)',
    'https://user:word@shop.example/',
    '//shop.example',
    'https://',
    'tidemark://back',
    `https://shop.example/${'x'.repeat(2100)}`,
    'https://shop.example/\nback',
  ])('rejects the redirect_url %s', async (redirect_url) => {
    expect(await errorOf(linkOf(w, { redirect_url }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'redirect_url'] }] })
  })

  test.each(['https://shop.example/back?order=1', 'http://localhost:3000/back', 'http://127.0.0.1:3000/'])(
    'accepts the redirect_url %s',
    async (redirect_url) => {
      expect(await linkOf(w, { redirect_url })).toMatchObject({ link_token: expect.any(String) })
    },
  )

  test('accepts no localhost redirect_url and offers no simulated source in production', async () => {
    const env = { ENVIRONMENT: 'production' }
    const production = await world({ env, database: await newDatabase() })
    const user_id = await aUser(production.api)
    const body = { user_id, redirect_url: 'http://localhost:3000/back' }
    expect(await errorOf(production.api.createLinkToken({ body }))).toMatchObject({ status: 422 })
    const { link } = await aLink(production.base, production.api)
    expect(await link.listLinkSources()).toEqual([])
    expect(await errorOf(link.connectByPassword({ params: peloton, body: signIn() }))).toMatchObject({
      status: 400,
      detail: { error_type: 'SOURCE_NOT_CONFIGURED' },
    })
  })

  test('refuses an account of a retired source, and connects its demo data', async () => {
    const { link, user_id } = await linkOf(w)
    expect(await errorOf(link.startOAuth({ params: { oauth_provider: 'fitbit' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'SOURCE_RETIRED', error_message: expect.stringContaining('Connect google_health instead.') },
    })
    await w.api.connectDemo({ body: { user_id, provider: 'fitbit' } })
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'fitbit', status: 'connected' }])
  })

  test('a connection from before the retirement breaks, and names the successor', async () => {
    const user_id = await aUser(w.api)
    const account = { external_user_id: 'a', tokens: { access_token: 'a', refresh_token: 'r' } }
    const user = await requireUser(w.app, w.team_id, user_id)
    await linkConnection(w.app, user, 'fitbit', { kind: 'oauth', account, expires_at: '2026-01-01T00:00:00Z' })
    expect(await errorOf(w.api.refreshUser({ params: { user_id } }))).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
    const error_details = { error_message: expect.stringContaining('Connect google_health instead.') }
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ status: 'error', error_details }])
  })

  test('works only for link endpoints, which accept no API key', async () => {
    const { link_token } = await linkOf(w)
    const calls = [
      createClient(w.base, { 'x-service-api-key': link_token }).listUsers(),
      createClient(w.base, { authorization: `Bearer ${link_token}` }).listUsers(),
      createClient(w.base, { 'x-service-api-key': w.team_api_key }).listLinkSources(),
      createClient(w.base, { 'x-vital-link-token': w.team_api_key }).listLinkSources(),
      createClient(w.base, { 'x-vital-link-token': 'x'.repeat(5000) }).listLinkSources(),
    ]
    const errors = await Promise.all(calls.map(errorOf))
    expect(errors.map(({ status, detail }) => [status, detail['error_type']])).toEqual([
      [401, 'INVALID_API_KEY'],
      [401, 'INVALID_ACCESS_TOKEN'],
      [401, 'MISSING_LINK_TOKEN'],
      [401, 'INVALID_LINK_TOKEN'],
      [401, 'INVALID_LINK_TOKEN'],
    ])
  })

  test('is also accepted in x-service-link-token', async () => {
    const { link_token } = await linkOf(w)
    expect(await createClient(w.base, { 'x-service-link-token': link_token }).listLinkSources()).not.toEqual([])
  })

  test('offers only its own sources that can be connected', async () => {
    const { link } = await linkOf(w, { filter_on_providers: ['zwift', 'apple_health_kit', 'freestyle_libre', 'fitbit'] })
    const [zwift, libre, ...others] = await link.listLinkSources()
    expect(zwift).toEqual({
      ...{ id: 20, name: 'Zwift', slug: 'zwift', description: 'Indoor rides and runs with Zwift.', oauth_url: null, auth_type: 'password' },
      ...{ logo: expect.stringMatching(/zwift\.svg$/), form_components: { username: true, password: true } },
    })
    // Fitbit is not configured in this deployment, and Apple HealthKit is connected from the phone.
    expect([libre?.slug, others]).toEqual(['freestyle_libre', []])
    expect(await errorOf(link.connectByPassword({ params: peloton, body: signIn() }))).toMatchObject({
      status: 400,
      detail: { error_type: 'SOURCE_NOT_OFFERED' },
    })
  })

  test('offers only the provider it names', async () => {
    const { link } = await linkOf(w, { provider: 'peloton' })
    expect((await link.listLinkSources()).map(({ slug }) => slug)).toEqual(['peloton'])
  })

  test.each([[{ filter_on_providers: [] }], [{ filter_on_providers: ['pedometer'] }], [{ provider: 'pedometer' }], [{ on_error: 'stay' }]])(
    'is rejected with %j',
    async (options) => {
      expect(await errorOf(linkOf(w, options as never))).toMatchObject({ status: 422 })
    },
  )

  test('expires after an hour', async () => {
    const instance = await world()
    const { link, link_token } = await aLink(instance.base, instance.api)
    expect(await instance.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: true })
    instance.advanceTime(HOUR - MINUTE)
    expect(await link.listLinkSources()).not.toEqual([])
    instance.advanceTime(MINUTE)
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_EXPIRED' } })
    expect(await instance.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: false })
    instance.advanceTime(25 * HOUR)
    await instance.runJobs()
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })

  test('is invalid after its user is deleted', async () => {
    const { link, user_id } = await linkOf(w)
    await w.api.deleteUser({ params: { user_id } })
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })

  test('is invalid for another team', async () => {
    const { link_token } = await linkOf(await w.tenant())
    expect(await w.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: false })
  })

  test('is not stored in plaintext', async () => {
    const { link_token, user_id } = await linkOf(w)
    expect(JSON.stringify(await query(w.url, 'select * from link_tokens where user_id = $1', [user_id]))).not.toContain(link_token)
  })
})

describe('a source with a password', () => {
  test('connects once per token, emits an event and stores no credentials', async () => {
    const t = await w.tenant()
    const { link, user_id } = await linkOf(t, { redirect_url: 'https://shop.example/back?order=1' })
    const response = await link.connectByPassword({ params: peloton, body: signIn('a password of mine', 'zephyrine.q') })
    expect(response).toEqual({
      ...{ state: 'success', redirect_url: 'https://shop.example/back?order=1&state=success', error_type: null, error: null },
      ...{ provider_mfa: null, provider: 'peloton', connected: true, provider_id: expect.stringMatching(/^simulated-/) },
    })
    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ slug: 'peloton', status: 'connected', external_user_id: response.provider_id })
    expect((await connectionEvents(w.app, t.team_id)).map(({ event_type }) => event_type)).toEqual(['provider.connection.created'])
    const rows = JSON.stringify(await query(w.url, 'select * from connections where user_id = $1', [user_id]))
    expect(rows).not.toMatch(/a password of mine|zephyrine/)

    const again = link.connectByPassword({ params: peloton, body: signIn() })
    expect(await errorOf(again)).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_CONSUMED' } })
  })

  test.each([
    ['wrong', 'provider_credential_error'],
    ['expired', 'provider_password_expired'],
    ['unavailable', 'provider_api_error'],
    ['elsewhere', 'unsupported_region'],
  ])('responds to the password %s with %s and keeps the token valid', async (password, error_type) => {
    const { link, user_id } = await linkOf(w, { redirect_url: 'https://shop.example/back' })
    const response = await link.connectByPassword({ params: peloton, body: signIn(password) })
    expect(response).toMatchObject({
      state: 'error',
      error_type,
      error: expect.stringMatching(/\.$/),
      connected: false,
      redirect_url: null,
    })
    expect(await w.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
    expect(await link.connectByPassword({ params: peloton, body: signIn() })).toMatchObject({ state: 'success' })
  })

  test('redirects after an error when on_error is redirect', async () => {
    const { link } = await linkOf(w, { redirect_url: 'https://shop.example/back', on_error: 'redirect' })
    const { redirect_url } = await link.connectByPassword({ params: peloton, body: signIn('wrong') })
    const back = new URL(redirect_url as string)
    expect([back.origin + back.pathname, back.searchParams.get('state'), back.searchParams.get('error_type')]).toEqual([
      'https://shop.example/back',
      'error',
      'provider_credential_error',
    ])
  })

  test('supports a multi-factor code', async () => {
    const { link, user_id } = await linkOf(w)
    const pending = await link.connectByPassword({ params: peloton, body: signIn('mfa') })
    expect(pending).toMatchObject({
      state: 'pending_provider_mfa',
      provider_mfa: { method: 'sms', hint: expect.any(String) },
      connected: false,
    })
    const wrong = await link.completeMfa({ params: peloton, body: { mfa_code: '000000' } })
    expect(wrong).toMatchObject({ state: 'error', error_type: 'incorrect_mfa_code' })
    expect(await link.completeMfa({ params: peloton, body: { mfa_code: '123456' } })).toMatchObject({ state: 'success', connected: true })
    expect((await w.api.listConnections({ params: { user_id } })).providers).toHaveLength(1)
  })

  test('discards the sign-in after five wrong codes', async () => {
    const { link } = await linkOf(w)
    await link.connectByPassword({ params: peloton, body: signIn('mfa') })
    for (let i = 0; i < 5; i++) await link.completeMfa({ params: peloton, body: { mfa_code: '000000' } })
    expect(await errorOf(link.completeMfa({ params: peloton, body: { mfa_code: '123456' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'NO_SIGN_IN_WAITING' },
    })
  })

  test('rejects a code for another source', async () => {
    const { link } = await linkOf(w)
    await link.connectByPassword({ params: peloton, body: signIn('mfa') })
    const elsewhere = link.completeMfa({ params: { provider: 'zwift' }, body: { mfa_code: '123456' } })
    expect(await errorOf(elsewhere)).toMatchObject({ status: 400, detail: { error_type: 'NO_SIGN_IN_WAITING' } })
  })

  test('connects once for concurrent requests', async () => {
    const t = await w.tenant()
    const { link } = await linkOf(t)
    const calls = Array.from({ length: 5 }, () => link.connectByPassword({ params: peloton, body: signIn() }))
    const responses = await Promise.allSettled(calls)
    const states = responses.map((result) => (result.status === 'fulfilled' ? result.value.state : result.reason.status))
    expect(states.filter((state) => state === 'success')).toHaveLength(1)
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
  })

  test('rejects an account of another user when the team rejects duplicate connections', async () => {
    const t = await w.tenant()
    const first = await linkOf(t)
    await first.link.connectByPassword({ params: peloton, body: signIn() })
    const second = await linkOf(t)
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    const response = await second.link.connectByPassword({ params: peloton, body: signIn() })
    expect(response).toMatchObject({ state: 'error', error_type: 'duplicate_connection' })
    expect(await second.link.connectByPassword({ params: peloton, body: signIn('x', 'another rider') })).toMatchObject({ state: 'success' })
    const again = await linkOf(t, { user_id: first.user_id })
    expect(await again.link.connectByPassword({ params: peloton, body: signIn() })).toMatchObject({ state: 'success' })
  })

  test('emits no event for a repeated connection, and a new event after an error', async () => {
    const t = await w.tenant()
    const { user_id, link } = await linkOf(t)
    await link.connectByPassword({ params: peloton, body: signIn() })
    const second = await linkOf(t, { user_id })
    await second.link.connectByPassword({ params: peloton, body: signIn() })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
    await query(w.url, "update connections set status = 'error' where user_id = $1", [user_id])
    const third = await linkOf(t, { user_id })
    await third.link.connectByPassword({ params: peloton, body: signIn() })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(2)
  })
})

describe('a source with an email address', () => {
  const libre = { provider: 'freestyle_libre' as const }

  test('connects', async () => {
    const { link, user_id } = await linkOf(w)
    expect(await link.connectByEmail({ params: libre, body: { email: 'reader@example.org', region: 'us' } })).toMatchObject({
      state: 'success',
    })
    expect((await w.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ slug: 'freestyle_libre' })
  })

  test('simulates an error named in the local part of the address', async () => {
    const { link } = await linkOf(w)
    const response = await link.connectByEmail({ params: libre, body: { email: 'wrong@example.org', region: 'us' } })
    expect(response).toMatchObject({ state: 'error', error_type: 'provider_credential_error' })
  })

  test('rejects a sign-in with a password', async () => {
    const { link } = await linkOf(w)
    expect(await errorOf(link.connectByPassword({ params: libre as never, body: signIn() }))).toMatchObject({ status: 422 })
  })
})

describe('deprecated link endpoints', () => {
  test('start a link, connect a source and describe a token, with a Deprecation header', async () => {
    const t = await w.tenant()
    const body = { team_id: t.team_id, provider: 'oura' as const, client_id: 'app', client_secret: 'secret' }
    await t.admin.putTeamCredential({ params: { org_id: t.org_id, env: 'sandbox', region: 'us' }, body })
    const { link, link_token } = await linkOf(t, { redirect_url: 'https://shop.example/' })
    expect(await t.api.startLink({ body: { link_token, provider: 'oura' } })).toMatchObject({
      slug: 'oura',
      oauth_url: expect.stringContaining('state='),
    })
    expect(await t.api.startLink({ body: { link_token, provider: 'peloton' } })).toMatchObject({ slug: 'peloton', oauth_url: null })
    expect(await link.getLinkState()).toMatchObject({ provider: null, filter_on_providers: null, redirect_url: 'https://shop.example/' })
    const wrong = await link.authByPassword({ body: { ...signIn('wrong'), provider: 'peloton', auth_type: 'password' } })
    expect(wrong).toMatchObject({ state: 'error', error_type: 'provider_credential_error' })
    const email = { email: 'reader@example.org', provider: 'freestyle_libre' as const, auth_type: 'email' }
    expect(await link.authByEmail({ body: email })).toMatchObject({ state: 'success' })
    const response = await fetch(`${w.base}/v2/link/state`, { headers: { 'x-vital-link-token': (await linkOf(t)).link_token } })
    expect(response.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  test('reject a token of another team', async () => {
    const { link_token } = await linkOf(await w.tenant())
    const start = w.api.startLink({ body: { link_token, provider: 'peloton' } })
    expect(await errorOf(start)).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })
})

test('link token requests are recorded in the audit log', async () => {
  const t = await w.tenant()
  const { link, user_id } = await linkOf(t)
  await link.connectByPassword({ params: peloton, body: signIn() })
  const rows = await query(w.url, `select actor_kind, status from ${auditRows} where team_id = $1 and action = 'connectByPassword'`, [
    t.team_id,
  ])
  expect(rows).toEqual([{ actor_kind: 'link_token', status: 200 }])
  const [token] = await query<{ id: string }>(w.url, 'select id from link_tokens where user_id = $1', [user_id])
  expect(await query(w.url, `select 1 from ${auditRows} where actor_id = $1`, [token?.id])).toHaveLength(1)
})

describe('a user sign-in token', () => {
  const bearer = (token: string) => createClient(w.base, { authorization: `Bearer ${token}` })

  test('connects the phone of its own user and grants no other access', async () => {
    const t = await w.tenant()
    const [user_id, other] = [await aUser(t.api), await aUser(t.api)]
    const { sign_in_token } = await t.api.createUserToken({ params: { user_id } })
    const phone = bearer(sign_in_token)
    const params = { provider: 'apple_health_kit' as const }
    expect(await phone.connectPushSource({ params, body: { user_id } })).toEqual({ success: true })
    expect(await phone.connectPushSource({ params, body: { user_id: user_id.toUpperCase() } })).toEqual({ success: true })
    for (const otherUser of [other, newUuid()])
      expect(await errorOf(phone.connectPushSource({ params, body: { user_id: otherUser } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'USER_NOT_FOUND' },
      })
    expect(await errorOf(phone.getUser({ params: { user_id } }))).toMatchObject({
      status: 403,
      detail: { error_type: 'USER_TOKEN_NOT_ALLOWED' },
    })
  })

  test('expires after an hour or when the key that created it is revoked', async () => {
    const instance = await world()
    const user_id = await aUser(instance.api)
    const phone = async () =>
      createClient(instance.base, {
        authorization: `Bearer ${(await instance.api.createUserToken({ params: { user_id } })).sign_in_token}`,
      })
    const connect = async (client: Awaited<ReturnType<typeof phone>>) =>
      client.connectPushSource({ params: { provider: 'manual' }, body: { user_id } })
    const first = await phone()
    instance.advanceTime(HOUR)
    expect(await errorOf(connect(first))).toMatchObject({ status: 401, detail: { error_type: 'INVALID_USER_TOKEN' } })
    const second = await phone()
    await query(instance.url, 'update team_api_keys set revoked_at = now() where team_id = $1', [instance.team_id])
    expect(await errorOf(connect(second))).toMatchObject({ status: 401, detail: { error_type: 'INVALID_USER_TOKEN' } })
  })
})

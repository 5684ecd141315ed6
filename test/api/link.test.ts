import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aLink, aUser, connectionEvents } from '../support/connections.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const linkOf = (t: Tenant, wanted: Parameters<typeof aLink>[2] = {}) => aLink(w.base, t.api, wanted)
const peloton = { provider: 'peloton' as const }
const signIn = (password = 'open sesame', username = 'rider') => ({ username, password })

describe('a link token', () => {
  test('is made for a user, with the address of the page', async () => {
    const { link_token, link_web_url } = await linkOf(w)
    expect(link_token).toMatch(/^lt_\w{46}$/)
    expect(link_web_url).toBe(`http://127.0.0.1:8080/link?token=${link_token}`)
  })

  test('is not made for a stranger', async () => {
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
  ])('leads back to no such place as %s', async (redirect_url) => {
    expect(await errorOf(linkOf(w, { redirect_url }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'redirect_url'] }] })
  })

  test.each(['https://shop.example/back?order=1', 'http://localhost:3000/back', 'http://127.0.0.1:3000/'])(
    'may lead back to %s',
    async (redirect_url) => {
      expect(await linkOf(w, { redirect_url })).toMatchObject({ link_token: expect.any(String) })
    },
  )

  test('leads back to this machine in the sandbox only', async () => {
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

  test('opens nothing but the routes of linking, and no key opens those', async () => {
    const { link_token } = await linkOf(w)
    const wrongly = [
      createClient(w.base, { 'x-service-api-key': link_token }).listUsers(),
      createClient(w.base, { authorization: `Bearer ${link_token}` }).listUsers(),
      createClient(w.base, { 'x-service-api-key': w.team_api_key }).listLinkSources(),
      createClient(w.base, { 'x-vital-link-token': w.team_api_key }).listLinkSources(),
      createClient(w.base, { 'x-vital-link-token': 'x'.repeat(5000) }).listLinkSources(),
    ]
    const errors = await Promise.all(wrongly.map(errorOf))
    expect(errors.map(({ status, detail }) => [status, detail['error_type']])).toEqual([
      [401, 'INVALID_API_KEY'],
      [401, 'INVALID_ACCESS_TOKEN'],
      [401, 'MISSING_LINK_TOKEN'],
      [401, 'INVALID_LINK_TOKEN'],
      [401, 'INVALID_LINK_TOKEN'],
    ])
  })

  test('is taken in either header', async () => {
    const { link_token } = await linkOf(w)
    expect(await createClient(w.base, { 'x-service-link-token': link_token }).listLinkSources()).not.toEqual([])
  })

  test('offers the sources that it is for', async () => {
    const { link } = await linkOf(w, { filter_on_providers: ['zwift', 'apple_health_kit', 'freestyle_libre', 'fitbit'] })
    const [zwift, libre, ...others] = await link.listLinkSources()
    expect(zwift).toEqual({
      ...{ id: 20, name: 'Zwift', slug: 'zwift', description: 'Indoor rides and runs with Zwift.', oauth_url: null, auth_type: 'password' },
      ...{ logo: expect.stringMatching(/zwift\.svg$/), form_components: { username: true, password: true } },
    })
    // Fitbit is not set up here, and a phone is connected from the phone.
    expect([libre?.slug, others]).toEqual(['freestyle_libre', []])
    expect(await errorOf(link.connectByPassword({ params: peloton, body: signIn() }))).toMatchObject({
      status: 400,
      detail: { error_type: 'SOURCE_NOT_OFFERED' },
    })
  })

  test('is for one source where it names one', async () => {
    const { link } = await linkOf(w, { provider: 'peloton' })
    expect((await link.listLinkSources()).map(({ slug }) => slug)).toEqual(['peloton'])
  })

  test.each([[{ filter_on_providers: [] }], [{ filter_on_providers: ['pedometer'] }], [{ provider: 'pedometer' }], [{ on_error: 'stay' }]])(
    'is not made with %j',
    async (wanted) => {
      expect(await errorOf(linkOf(w, wanted as never))).toMatchObject({ status: 422 })
    },
  )

  test('ends after an hour', async () => {
    const late = await world()
    const { link, link_token } = await aLink(late.base, late.api)
    expect(await late.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: true })
    late.advanceTime(HOUR - MINUTE)
    expect(await link.listLinkSources()).not.toEqual([])
    late.advanceTime(MINUTE)
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'LINK_TOKEN_EXPIRED' } })
    expect(await late.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: false })
    late.advanceTime(25 * HOUR)
    await late.runJobs()
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })

  test('ends with its user', async () => {
    const { link, user_id } = await linkOf(w)
    await w.api.deleteUser({ params: { user_id } })
    expect(await errorOf(link.listLinkSources())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })

  test('of another team is not valid', async () => {
    const { link_token } = await linkOf(await w.tenant())
    expect(await w.api.checkLinkToken({ body: { token: link_token } })).toEqual({ valid: false })
  })

  test('is kept as a hash', async () => {
    const { link_token, user_id } = await linkOf(w)
    expect(JSON.stringify(await query(w.url, 'select * from link_tokens where user_id = $1', [user_id]))).not.toContain(link_token)
  })
})

describe('a source with a password', () => {
  test('is connected once with a token, told, and nothing of the sign-in is kept', async () => {
    const t = await w.tenant()
    const { link, user_id } = await linkOf(t, { redirect_url: 'https://shop.example/back?order=1' })
    const answer = await link.connectByPassword({ params: peloton, body: signIn('a password of mine', 'zephyrine.q') })
    expect(answer).toEqual({
      ...{ state: 'success', redirect_url: 'https://shop.example/back?order=1&state=success', error_type: null, error: null },
      ...{ provider_mfa: null, provider: 'peloton', connected: true, provider_id: expect.stringMatching(/^simulated-/) },
    })
    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ slug: 'peloton', status: 'connected', external_user_id: answer.provider_id })
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
  ])('answers the password %s with %s, and the token stays good', async (password, error_type) => {
    const { link, user_id } = await linkOf(w, { redirect_url: 'https://shop.example/back' })
    const answer = await link.connectByPassword({ params: peloton, body: signIn(password) })
    expect(answer).toMatchObject({ state: 'error', error_type, error: expect.stringMatching(/\.$/), connected: false, redirect_url: null })
    expect(await w.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
    expect(await link.connectByPassword({ params: peloton, body: signIn() })).toMatchObject({ state: 'success' })
  })

  test('leads back after an error where the token says so', async () => {
    const { link } = await linkOf(w, { redirect_url: 'https://shop.example/back', on_error: 'redirect' })
    const { redirect_url } = await link.connectByPassword({ params: peloton, body: signIn('wrong') })
    const back = new URL(redirect_url as string)
    expect([back.origin + back.pathname, back.searchParams.get('state'), back.searchParams.get('error_type')]).toEqual([
      'https://shop.example/back',
      'error',
      'provider_credential_error',
    ])
  })

  test('may ask for a code first', async () => {
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

  test('takes five wrong codes, then the sign-in begins anew', async () => {
    const { link } = await linkOf(w)
    await link.connectByPassword({ params: peloton, body: signIn('mfa') })
    for (let i = 0; i < 5; i++) await link.completeMfa({ params: peloton, body: { mfa_code: '000000' } })
    expect(await errorOf(link.completeMfa({ params: peloton, body: { mfa_code: '123456' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'NO_SIGN_IN_WAITING' },
    })
  })

  test('takes a code only for the sign-in that waits for one', async () => {
    const { link } = await linkOf(w)
    await link.connectByPassword({ params: peloton, body: signIn('mfa') })
    const elsewhere = link.completeMfa({ params: { provider: 'zwift' }, body: { mfa_code: '123456' } })
    expect(await errorOf(elsewhere)).toMatchObject({ status: 400, detail: { error_type: 'NO_SIGN_IN_WAITING' } })
  })

  test('is connected once however many ask at once', async () => {
    const t = await w.tenant()
    const { link } = await linkOf(t)
    const calls = Array.from({ length: 5 }, () => link.connectByPassword({ params: peloton, body: signIn() }))
    const answers = await Promise.allSettled(calls)
    const states = answers.map((one) => (one.status === 'fulfilled' ? one.value.state : one.reason.status))
    expect(states.filter((state) => state === 'success')).toHaveLength(1)
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
  })

  test('refuses an account that another user has, where the team wants that', async () => {
    const t = await w.tenant()
    const first = await linkOf(t)
    await first.link.connectByPassword({ params: peloton, body: signIn() })
    const second = await linkOf(t)
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    const answer = await second.link.connectByPassword({ params: peloton, body: signIn() })
    expect(answer).toMatchObject({ state: 'error', error_type: 'duplicate_connection' })
    expect(await second.link.connectByPassword({ params: peloton, body: signIn('x', 'another rider') })).toMatchObject({ state: 'success' })
    const again = await linkOf(t, { user_id: first.user_id })
    expect(await again.link.connectByPassword({ params: peloton, body: signIn() })).toMatchObject({ state: 'success' })
  })

  test('tells nothing again when a connected account is connected again, and tells again after it broke', async () => {
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

  test('is connected', async () => {
    const { link, user_id } = await linkOf(w)
    expect(await link.connectByEmail({ params: libre, body: { email: 'reader@example.org', region: 'us' } })).toMatchObject({
      state: 'success',
    })
    expect((await w.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ slug: 'freestyle_libre' })
  })

  test('answers by what stands before the @', async () => {
    const { link } = await linkOf(w)
    const answer = await link.connectByEmail({ params: libre, body: { email: 'wrong@example.org', region: 'us' } })
    expect(answer).toMatchObject({ state: 'error', error_type: 'provider_credential_error' })
  })

  test('is no source with a password', async () => {
    const { link } = await linkOf(w)
    expect(await errorOf(link.connectByPassword({ params: libre as never, body: signIn() }))).toMatchObject({ status: 422 })
  })
})

describe('older spellings', () => {
  test('begin, connect and tell what a token is for, and say that they are older', async () => {
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
    const answer = await fetch(`${w.base}/v2/link/state`, { headers: { 'x-vital-link-token': (await linkOf(t)).link_token } })
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  test('do not begin with a token of another team', async () => {
    const { link_token } = await linkOf(await w.tenant())
    const begin = w.api.startLink({ body: { link_token, provider: 'peloton' } })
    expect(await errorOf(begin)).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LINK_TOKEN' } })
  })
})

test('what is done with a link token is in the audit log', async () => {
  const t = await w.tenant()
  const { link, user_id } = await linkOf(t)
  await link.connectByPassword({ params: peloton, body: signIn() })
  const rows = await query(w.url, "select actor_kind, status from audit_log where team_id = $1 and action = 'connectByPassword'", [
    t.team_id,
  ])
  expect(rows).toEqual([{ actor_kind: 'link_token', status: 200 }])
  const [token] = await query<{ id: string }>(w.url, 'select id from link_tokens where user_id = $1', [user_id])
  expect(await query(w.url, 'select 1 from audit_log where actor_id = $1', [token?.id])).toHaveLength(1)
})

describe('a sign-in token of a user', () => {
  const bearer = (token: string) => createClient(w.base, { authorization: `Bearer ${token}` })

  test('connects the phone of this user, and nothing of another', async () => {
    const t = await w.tenant()
    const [user_id, other] = [await aUser(t.api), await aUser(t.api)]
    const { sign_in_token } = await t.api.createUserToken({ params: { user_id } })
    const phone = bearer(sign_in_token)
    const params = { provider: 'apple_health_kit' as const }
    expect(await phone.connectPushSource({ params, body: { user_id } })).toEqual({ success: true })
    expect(await phone.connectPushSource({ params, body: { user_id: user_id.toUpperCase() } })).toEqual({ success: true })
    for (const stranger of [other, newUuid()])
      expect(await errorOf(phone.connectPushSource({ params, body: { user_id: stranger } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'USER_NOT_FOUND' },
      })
    expect(await errorOf(phone.getUser({ params: { user_id } }))).toMatchObject({
      status: 403,
      detail: { error_type: 'USER_TOKEN_NOT_ALLOWED' },
    })
  })

  test('ends after an hour, and with the key that made it', async () => {
    const late = await world()
    const user_id = await aUser(late.api)
    const phone = async () =>
      createClient(late.base, { authorization: `Bearer ${(await late.api.createUserToken({ params: { user_id } })).sign_in_token}` })
    const connect = async (one: Awaited<ReturnType<typeof phone>>) =>
      one.connectPushSource({ params: { provider: 'manual' }, body: { user_id } })
    const first = await phone()
    late.advanceTime(HOUR)
    expect(await errorOf(connect(first))).toMatchObject({ status: 401, detail: { error_type: 'INVALID_USER_TOKEN' } })
    const second = await phone()
    await query(late.url, 'update team_api_keys set revoked_at = now() where team_id = $1', [late.team_id])
    expect(await errorOf(connect(second))).toMatchObject({ status: 401, detail: { error_type: 'INVALID_USER_TOKEN' } })
  })
})

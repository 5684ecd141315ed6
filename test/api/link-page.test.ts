import { beforeAll, describe, expect, test } from 'vitest'
import { HOUR } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { type Authorization, openAuthorizationServer } from '../support/authorization-server.ts'
import { aLink, localUrl } from '../support/connections.ts'
import { query } from '../support/query.ts'
import { errorOf, newDatabase, type Tenant, world } from '../support/world.ts'

let source: Authorization
let eu: Authorization
let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  source = await openAuthorizationServer()
  eu = await openAuthorizationServer()
  const { id: client_id, secret: client_secret } = source.client
  const serversOf = ({ origin }: Authorization) => ({ authorize_url: `${origin}/authorize`, token_url: `${origin}/token`, api_url: origin })
  const regions = { us: { name: 'United States', ...serversOf(source) }, eu: { name: 'Europe', ...serversOf(eu) } }
  const OAUTH_SOURCES = JSON.stringify({
    fitbit: source.setting({ client_id, client_secret }),
    polar: source.setting({ client_id, client_secret, regions }),
  })
  w = await world({ env: { OAUTH_SOURCES } })
})

const redirect_url = 'https://shop.example/back'
const linkOf = (t: Tenant, options: Parameters<typeof aLink>[2] = {}) => aLink(w.base, t.api, options)

async function open(path: string, options: RequestInit = {}) {
  const response = await fetch(w.base + path, { redirect: 'manual', ...options })
  const { status, headers } = response
  return { status, headers, text: await response.text(), to: headers.get('location') }
}

const submit = (path: string, fields: Record<string, string>) =>
  open(path, { method: 'POST', body: new URLSearchParams(fields), headers: { 'content-type': 'application/x-www-form-urlencoded' } })

describe('the link page', () => {
  test('loads nothing external and cannot be cached or framed', async () => {
    const { link_token } = await linkOf(w)
    const { status, headers, text } = await open(`/link?token=${link_token}`)
    expect([status, headers.get('content-type'), headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'no-store', 'no-referrer'],
    ])
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
    expect(text).not.toMatch(/https?:\/\//)
    expect(text).toContain('Peloton')
    expect(text).toContain('Fitbit')
    for (const file of ['link.css', 'link.js']) expect((await open(`/link/assets/${file}`)).status).toBe(200)
  })

  test.each([
    ['a missing token', ''],
    ['an unknown token', '?token=lt_unknown'],
    ['two tokens', '?token=a&token=b'],
  ])('reports an invalid link for %s', async (_, search) => {
    const { status, text } = await open(`/link${search}`)
    expect([status, text.includes('This link is not valid')]).toEqual([401, true])
  })

  test('reports an expired link', async () => {
    const instance = await world()
    const { link_token } = await aLink(instance.base, instance.api)
    instance.advanceTime(HOUR)
    const response = await fetch(`${instance.base}/link?token=${link_token}`)
    expect([response.status, (await response.text()).includes('has expired')]).toEqual([401, true])
  })

  test('escapes HTML in names and search terms', async () => {
    const t = await w.tenant({ team: `<script>alert('1')</script>` })
    const { link_token } = await linkOf(t)
    const { text } = await open(`/link?token=${link_token}&q=${encodeURIComponent('"><img src=x>')}`)
    expect(text).not.toMatch(/<script>alert|"><img/)
    expect(text).toContain('&lt;script&gt;')
  })

  test('filters the list without JavaScript', async () => {
    const { link_token } = await linkOf(w)
    const { text } = await open(`/link?token=${link_token}&q=ZW`)
    expect([text.includes('Zwift'), text.includes('Peloton'), text.includes('1 source')]).toEqual([true, false, true])
  })

  test('opens the source that the token names', async () => {
    const { link_token } = await linkOf(w, { provider: 'peloton' })
    expect((await open(`/link?token=${link_token}`)).text).toContain('Connect Peloton')
  })

  test('rejects a source that the token does not offer', async () => {
    const { link_token } = await linkOf(w, { filter_on_providers: ['zwift'] })
    for (const slug of ['peloton', 'nothing', 'apple_health_kit'])
      expect((await open(`/link/source/${slug}?token=${link_token}`)).status).toBe(404)
    expect((await submit('/link/password/peloton', { token: link_token, username: 'rider', password: 'x' })).status).toBe(400)
  })

  test.each([
    ['/link/password/peloton', { username: 'rider' }, 422],
    ['/link/email/peloton', { email: 'rider@example.org' }, 200],
    ['/link/password/freestyle_libre', { username: 'a', password: 'b' }, 200],
    ['/link/password/nothing', { username: 'a', password: 'b' }, 404],
    ['/link/code/peloton', { mfa_code: '123456' }, 400],
    ['/link/strange/peloton', { username: 'a', password: 'b' }, 200],
  ])('does not connect through %s with %j', async (path, fields, status) => {
    const { link_token, user_id } = await linkOf(w)
    expect((await submit(path, { token: link_token, ...(fields as Record<string, string>) })).status).toBe(status)
    expect(await w.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
  })

  test('offers unconfigured sources with demo data and labels them', async () => {
    const { link_token, user_id, link } = await linkOf(w, { redirect_url })
    const { text } = await open(`/link?token=${link_token}`)
    const isLabeled = (name: string) => new RegExp(`<strong>${name}</strong> <span class="badge">Demo data</span>`).test(text)
    expect(['Oura', 'Apple HealthKit', 'Fitbit', 'Peloton'].map(isLabeled)).toEqual([true, true, false, false])
    expect((await link.listLinkSources()).map(({ slug }) => slug)).not.toContain('oura')

    const page = await open(`/link/source/oura?token=${link_token}`)
    expect(page.text).toMatch(/demo data instead: Harbor will see a month of generated data and none of yours.*Connect with demo data/s)
    const done = await submit('/link/demo/oura', { token: link_token })
    expect([done.status, done.text.includes('Oura is connected with demo data.')]).toEqual([200, true])
    expect(done.text).toContain(`0;url=${redirect_url}?state=success`)
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'oura', status: 'connected' }])
    const { activity } = await w.api.listActivity({ params: { user_id }, query: { start_date: '2000-01-01' } })
    expect(activity).toHaveLength(32)
    expect((await submit('/link/demo/oura', { token: link_token })).text).toContain('was already used')
    expect(await query(w.url, `select status from ${auditRows} where action = 'connectOnPage' and subject = 'user_id:${user_id}'`)).toEqual(
      [{ status: 200 }],
    )
  })

  test('creates no demo data for a configured or connected source', async () => {
    const { link_token, user_id } = await linkOf(w)
    expect((await submit('/link/demo/fitbit', { token: link_token })).text).toContain('Continue to Fitbit')
    expect((await submit('/link/demo/nothing', { token: link_token })).status).toBe(404)
    await w.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    const connected = await submit('/link/demo/apple_health_kit', { token: link_token })
    expect([connected.status, connected.text.includes('is already connected with your own data')]).toEqual([400, true])
    expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ slug: 'apple_health_kit' }])
    expect((await open(`/link?token=${link_token}`)).status).toBe(200)
  })

  test('creates no demo data in production', async () => {
    const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
    const { link_token } = await aLink(production.base, production.api)
    const page = async (path: string, options = {}) => (await fetch(`${production.base}${path}`, options)).text()
    expect(await page(`/link?token=${link_token}`)).toContain('No sources are available yet')
    const form = { method: 'POST', body: new URLSearchParams({ token: link_token }) }
    expect(await page('/link/demo/oura', form)).toContain('cannot be connected with this link')
  })

  test('rejects an oversized form', async () => {
    const { link_token } = await linkOf(w)
    expect((await submit('/link/password/peloton', { token: link_token, username: 'x'.repeat(20_000), password: 'x' })).status).toBe(413)
  })

  test('rejects a JSON body', async () => {
    const { link_token } = await linkOf(w)
    const body = JSON.stringify({ token: link_token, username: { of: 'rider' }, password: ['x'] })
    const headers = { 'content-type': 'application/json' }
    expect((await fetch(`${w.base}/link/password/peloton`, { method: 'POST', headers, body })).status).toBe(415)
  })

  test('connects and redirects only to the redirect_url of the token', async () => {
    const { link_token, user_id } = await linkOf(w, { redirect_url })
    const { status, text } = await submit('/link/password/peloton', {
      ...{ token: link_token, username: 'rider', password: 'x', redirect_url: 'https://evil.example' },
    })
    expect([status, text.includes('content="0;url=https://shop.example/back?state=success"')]).toEqual([200, true])
    expect(text).not.toContain('evil.example')
    const rows = await query(w.url, `select actor_kind, subject from ${auditRows} where action = 'connectOnPage' and team_id = $1`, [
      w.team_id,
    ])
    expect(rows).toContainEqual({ actor_kind: 'link_token', subject: `user_id:${user_id}` })
    expect((await open(`/link?token=${link_token}`)).text).toContain('already used')
  })

  test('redirects on close only when on_close is redirect', async () => {
    const plain = await linkOf(w, { redirect_url })
    expect(await open(`/link/close?token=${plain.link_token}`)).toMatchObject({ status: 200, to: null })
    const redirecting = await linkOf(w, { redirect_url, on_close: 'redirect' })
    const { to } = await open(`/link/close?token=${redirecting.link_token}`)
    expect(new URL(to as string).searchParams.get('error_type')).toBe('user_cancelled')
  })

  test('reports a source that cannot be connected', async () => {
    const { link_token } = await linkOf(w)
    const { status, text } = await open(`/link/oauth/oura?token=${link_token}`)
    expect([status, text.includes('cannot be connected with this link')]).toEqual([400, true])
    expect((await open(`/link/oauth/nothing?token=${link_token}`)).status).toBe(400)
  })
})

describe('the OAuth redirect', () => {
  async function startOAuth(options: Parameters<typeof aLink>[2] = {}) {
    const link = await linkOf(w, { redirect_url, ...options })
    const { to, headers } = await open(`/link/oauth/fitbit?token=${link.link_token}`)
    const cookie = headers.get('set-cookie') as string
    return {
      ...link,
      cookie,
      cookies: { cookie: cookie.split(';')[0] as string },
      callbackUrl: localUrl(w.base, source.visit(to as string)),
    }
  }
  const openCallback = (url: string, headers: Record<string, string> = {}) => fetch(url, { redirect: 'manual', headers })

  test('sets an HttpOnly cookie limited to its path', async () => {
    expect((await startOAuth()).cookie).toMatch(
      /^assay_link=[\w-]{43}\.lt_\w+; Path=\/v2\/link\/oauth; HttpOnly; SameSite=Lax; Max-Age=900$/,
    )
  })

  test('connects nothing without the cookie of the same browser', async () => {
    const mine = await startOAuth()
    const theirs = await startOAuth()
    const stolen = await openCallback(mine.callbackUrl, theirs.cookies)
    expect([stolen.status, stolen.headers.get('location')]).toEqual([400, null])
    expect(await w.api.listConnections({ params: mine })).toEqual({ providers: [] })
    expect((await openCallback(theirs.callbackUrl)).status).toBe(400)
    expect(await w.api.listConnections({ params: theirs })).toEqual({ providers: [] })
  })

  test('connects and renews an account in its region', async () => {
    const { link_token, link, user_id } = await linkOf(w, { redirect_url })
    expect((await open(`/link/source/polar?token=${link_token}`)).text).toMatch(/region=us">United States.*region=eu">Europe/s)
    expect((await open(`/link/oauth/polar?token=${link_token}&region=mars`)).status).toBe(400)
    expect(await errorOf(link.startOAuth({ params: { oauth_provider: 'polar' }, query: { region: 'mars' } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'region'], msg: 'Must be one of us, eu.' }],
    })
    const { to, headers } = await open(`/link/oauth/polar?token=${link_token}&region=eu`)
    const callbackUrl = localUrl(w.base, eu.visit(to as string))
    const cookie = headers.get('set-cookie')?.split(';')[0] as string
    expect((await openCallback(callbackUrl, { cookie })).headers.get('location')).toBe(`${redirect_url}?state=success`)
    const count = source.requests.length
    w.advanceTime(HOUR)
    expect(await w.api.refreshUser({ params: { user_id } })).toMatchObject({ refreshed_sources: ['polar'] })
    expect(eu.requests.map(({ form }) => form['grant_type'])).toEqual(['authorization_code', 'refresh_token'])
    expect(source.requests).toHaveLength(count)
  })

  test('connects the source and continues to the redirect_url', async () => {
    const { callbackUrl, cookies } = await startOAuth()
    const response = await openCallback(callbackUrl, cookies)
    expect([response.status, response.headers.get('location')]).toEqual([307, `${redirect_url}?state=success`])
  })

  test('shows a denial with a retry link, or redirects when on_error is redirect', async () => {
    source.behavior.deny = true
    const [plain, redirecting] = [await startOAuth(), await startOAuth({ on_error: 'redirect' })]
    source.behavior.deny = false
    const page = await openCallback(plain.callbackUrl, plain.cookies)
    const text = await page.text()
    expect(page.status).toBe(422)
    expect(text).toContain(`href="/link/source/fitbit?token=${plain.link_token}"`)
    expect(text).toContain('error_type=user_cancelled')
    const redirect = await openCallback(redirecting.callbackUrl, redirecting.cookies)
    expect(new URL(redirect.headers.get('location') as string).searchParams.get('error_type')).toBe('user_cancelled')
  })
})

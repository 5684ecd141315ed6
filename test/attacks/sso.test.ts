import { beforeEach, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { MAX_ATTEMPTS } from '../../src/tenants/people/sessions/attempt-limiter.ts'
import { auditRows } from '../support/audit.ts'
import { browser, fastPasswords, joinOrganization } from '../support/console.ts'
import { cookieBrowser } from '../support/cookie-browser.ts'
import { forgingProvider } from '../support/forging-provider.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { type Replica, replica, type Tenant } from '../support/world.ts'

const PUBLIC_URL = 'http://127.0.0.1:1'
const provider = await forgingProvider('assay')

const envFor = (OIDC_ORG_ID: string) => ({
  ...{ ...fastPasswords, PUBLIC_URL, OIDC_ORG_ID, TRUST_PROXY: '127.0.0.1' },
  ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: 'assay', OIDC_ROLES: 'admins=org_admin' },
})
const shared = await replica({ env: envFor(newUuid()) })

let w: Replica & Tenant
beforeEach(async () => {
  provider.forge({})
  w = { ...shared, ...(await shared.tenant()) }
  shared.app.config.OIDC_ORG_ID = w.org_id
})

/** For a test that moves the clock, or that depends on what the service knows of the provider. */
async function useOwnService() {
  w = { ...w, ...(await replica({ env: envFor(w.org_id) })) }
}

let networks = 0
const newAddress = () => `198.51.100.${++networks}`

/** The address is that of the network whose failures are counted. */
const newBrowser = (address = newAddress()) => cookieBrowser((url) => url.replace(PUBLIC_URL, w.base), { 'x-forwarded-for': address })
const isCallback = (url: string) => url.startsWith(`${PUBLIC_URL}/console/sso/callback`)

/** A browser that came back from the provider, and the callback that it has not visited yet. */
async function backFromProvider(address?: string) {
  const visitor = newBrowser(address)
  return { visitor, callback: await visitor.follow(`${w.base}/console/sso/start`, isCallback) }
}

/** Visits the callback and returns where it leads. A failure must open no session. */
async function finish({ visitor, callback }: Awaited<ReturnType<typeof backFromProvider>>) {
  const { location } = await visitor.visit(callback)
  const session = await browser(w.base, visitor.cookiesOf(w.base)).send(endpoints.getSession)
  return [new URL(location as string).search.slice('?sso='.length), session.status]
}

const FAILED = ['SSO_FAILED', 401]

test('an honest provider signs a person in', async () => {
  expect(await finish(await backFromProvider())).toEqual(['done', 200])
  expect((await w.admin.listMembers({ params: w })).members).toMatchObject([{ email: 'forged@harbor.example', role: 'org_admin' }])
})

describe('a forged ID token opens no session', () => {
  const now = () => Math.floor(Date.now() / 1000)
  test.each([
    ['signed with a key that the provider does not publish', { withOtherKey: true }],
    ['without a signature', { unsigned: true }],
    ['with an unexpected algorithm', { header: { alg: 'HS256' } }],
    ['of another issuer', { claims: { iss: 'https://login.example.org' } }],
    ['for another client', { claims: { aud: 'another' } }],
    ['for several clients, made for another one', { claims: { aud: ['assay', 'another'], azp: 'another' } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that has expired', { claims: { iat: now() - 7200, exp: now() - 3600 } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['issued in the future', { claims: { iat: now() + 3600, exp: now() + 7200 } }],
  ])('%s', async (_, forgery) => {
    provider.forge(forgery)
    expect(await finish(await backFromProvider())).toEqual(FAILED)
    expect((await w.admin.listMembers({ params: w })).members).toEqual([])
  })
})

describe('a callback works only in the browser that started', () => {
  test('not in a browser without the cookie, to which an attacker sends their own callback', async () => {
    const { callback } = await backFromProvider()
    expect(await finish({ visitor: newBrowser(), callback })).toEqual(FAILED)
  })

  test('not in a browser that started another sign-in', async () => {
    const [attacker, victim] = [await backFromProvider(), await backFromProvider()]
    expect(await finish({ visitor: victim.visitor, callback: attacker.callback })).toEqual(FAILED)
  })

  test('not a second time', async () => {
    const back = await backFromProvider()
    await back.visitor.visit(back.callback)
    const again = await back.visitor.visit(back.callback)
    expect(again.location).toContain('SSO_FAILED')
  })

  test('not after ten minutes, and not with an altered or missing state', async () => {
    await useOwnService()
    const back = await backFromProvider()
    w.advanceTime(10 * MINUTE)
    expect(await finish(back)).toEqual(FAILED)
    for (const change of [/state=[^&]+/, /&?state=[^&]+/]) {
      const { visitor, callback } = await backFromProvider()
      expect(await finish({ visitor, callback: callback.replace(change, change.source.startsWith('&') ? '' : 'state=other') })).toEqual(
        FAILED,
      )
    }
  })

  test('the cookie is not readable by scripts and is sent only on a navigation', async () => {
    const { headers } = await fetch(`${w.base}/console/sso/start`, { redirect: 'manual' })
    const port = new URL(w.base).port
    expect(headers.get('set-cookie')).toMatch(new RegExp(`^assay-${port}-sso=[\\w-]+; Path=/; HttpOnly; SameSite=Lax; Max-Age=600$`))
    expect(headers.get('location')).toMatch(/code_challenge=[\w-]{43}&code_challenge_method=S256/)
  })
})

describe('a flood of callbacks', () => {
  const from = (address: string, path: string, cookie = '') =>
    fetch(`${w.base}${path}`, { redirect: 'manual', headers: { 'x-forwarded-for': address, cookie } })
  const callback = '/console/sso/callback?code=a-code&state=another'
  const failedRows = async () =>
    (await query(w.url, `select id from ${auditRows} where org_id = $1 and action = 'beginSsoSession'`, [w.org_id])).length
  const started = async (address: string) => (await from(address, '/console/sso/start')).headers.getSetCookie()[0]?.split(';')[0] as string

  test.each(['', 'of-nobody'])('without a valid cookie (%j) writes no audit row and is limited per network', async (value) => {
    const { address, cookie } = { address: newAddress(), cookie: value && `assay-${new URL(w.base).port}-sso=${value}` }
    for (let i = 0; i < MAX_ATTEMPTS; i++) expect((await from(address, callback, cookie)).status).toBe(302)
    const refused = await from(address, callback, cookie)
    expect([refused.status, await refused.json()]).toMatchObject([429, { detail: { error_type: 'TOO_MANY_ATTEMPTS' } }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await failedRows()).toBe(0)
    // Others on the network can still finish what they started.
    expect((await from(address, callback, await started(address))).status).toBe(302)
    expect((await from(newAddress(), callback, cookie)).status).toBe(302)
  })

  test('with the cookie of a started sign-in is audited and limited per network', async () => {
    const address = newAddress()
    const cookie = await started(address)
    for (let i = 0; i < MAX_ATTEMPTS; i++) expect((await from(address, callback, cookie)).status).toBe(302)
    expect((await from(address, callback, cookie)).status).toBe(429)
    expect(await failedRows()).toBe(MAX_ATTEMPTS)
  })

  test('does not count sign-ins that succeed', async () => {
    const address = newAddress()
    const cookie = await started(address)
    for (let i = 1; i < MAX_ATTEMPTS; i++) await from(address, callback, cookie)
    for (let i = 0; i < 3; i++) expect(await finish(await backFromProvider(address))).toEqual(['done', 200])
  })
})

describe('a person at the provider cannot take over an account', () => {
  test('with an email that the provider did not verify', async () => {
    const member = await joinOrganization(w, w, { role: 'read_only' })
    for (const email_verified of [undefined, false, 'true']) {
      provider.forge({ claims: { email: member.email, email_verified } })
      const [failure, status] = await finish(await backFromProvider())
      expect([['SSO_OTHER_ACCOUNT', 'SSO_NO_EMAIL'].includes(String(failure)), status]).toEqual([true, 401])
    }
    expect(await member.api.getSession()).toMatchObject({ role: 'read_only' })
  })

  test.each([
    ['an email', { email_verified: undefined, groups: undefined }, { email: 'other@harbor.example', email_verified: true }],
    ['a verification', { email: undefined }, { email_verified: undefined }],
  ])('with %s in the ID token and the rest of it at the userinfo endpoint', async (_, claims, userinfo) => {
    const { email, api } = await joinOrganization(w, w, { role: 'read_only' })
    provider.forge({ claims: { email, ...claims }, userinfo: { email, groups: ['admins'], ...userinfo } })
    expect(await finish(await backFromProvider())).toEqual(['SSO_OTHER_ACCOUNT', 401])
    expect(await api.getSession()).toMatchObject({ role: 'read_only' })
  })

  test.each(['true', 'false', 1, {}])('with email_verified as %j', async (email_verified) => {
    provider.forge({ claims: { email: 'text@harbor.example', email_verified } })
    expect(await finish(await backFromProvider())).toEqual(['SSO_NO_EMAIL', 401])
  })

  test.each(['\n', '\u0000', '\u200b', '\u202e'])('with the hidden character %j in the email', async (hidden) => {
    for (const email of [`forged${hidden}@harbor.example`, `forged@harbor.example${hidden}`]) {
      provider.forge({ claims: { email } })
      expect(await finish(await backFromProvider())).toEqual(['SSO_NO_EMAIL', 401])
    }
  })

  test('that another person at the provider already uses', async () => {
    const person = { email: 'shared@harbor.example' }
    provider.forge({ claims: { ...person, sub: 'one' } })
    expect(await finish(await backFromProvider())).toEqual(['done', 200])
    provider.forge({ claims: { ...person, sub: 'two' } })
    expect(await finish(await backFromProvider())).toEqual(['SSO_OTHER_ACCOUNT', 401])
  })

  test.each([[['Admins']], ['admin'], [[{ name: 'admins' }]], [{ admins: true }], [null]])('with the groups %j', async (groups) => {
    provider.forge({ claims: { groups } })
    expect(await finish(await backFromProvider())).toEqual(['SSO_NO_ROLE', 401])
  })
})

test('a flood of sign-ins asks the provider for its configuration once', async () => {
  await useOwnService()
  const before = provider.discoveries()
  await Promise.all(Array.from({ length: 20 }, () => newBrowser().visit(`${w.base}/console/sso/start`)))
  expect(provider.discoveries() - before).toBe(1)
})

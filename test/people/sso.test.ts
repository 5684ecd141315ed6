import { beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { auditRows } from '../support/audit.ts'
import { browser, fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { cookieBrowser } from '../support/cookie-browser.ts'
import { type Account, CLIENT, identityProvider } from '../support/identity-provider.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

const PUBLIC_URL = 'http://127.0.0.1:1'
const team_id = newUuid()

let w: Awaited<ReturnType<typeof world>>
let provider: Awaited<ReturnType<typeof identityProvider>>
beforeAll(async () => {
  provider = await identityProvider(`${PUBLIC_URL}/console/sso/callback`)
  w = await world({
    env: {
      ...fastPasswords,
      PUBLIC_URL,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
      OIDC_ROLES: `admins=org_admin,support staff=support,readers=read_only,pier=team_admin@${team_id}`,
    },
  })
})

const newBrowser = () => cookieBrowser((url) => url.replace(PUBLIC_URL, w.base))
const isConsole = (url: string) => /\/console(\/sign-in)?\?/.test(url)

/** Signs in at the provider and returns the page where the browser ends, with the session. */
async function signInAs(subject: string, account: Account) {
  provider.be(subject, account)
  const visitor = newBrowser()
  const end = new URL(await visitor.follow(`${w.base}/console/sso/start`, isConsole))
  return { page: end.pathname + end.search, ...browser(w.base, visitor.cookiesOf(w.base)) }
}

const audited = () =>
  query<{ action: string; status: number; actor_kind: string; subject: string | null }>(
    w.url,
    `select action, status, actor_kind, subject from ${auditRows} where org_id = $1 and action like '%Sso%' order by at, id`,
    [w.org_id],
  )

const email = (name: string) => ({ email: `${name}@harbor.example`, email_verified: true, name: `${name} of Harbor` })

describe('single sign-on', () => {
  test('creates a person in a mapped group, opens a session and audits both', async () => {
    const { page, api } = await signInAs('first', { ...email('first'), groups: ['support staff', 'unrelated'] })
    expect(page).toBe('/console?sso=done')
    const session = await api.getSession()
    expect(session).toMatchObject({
      kind: 'person',
      role: 'support',
      person: { name: 'first of Harbor', email: 'first@harbor.example' },
      org: { id: w.org_id },
    })
    expect(await api.getAccount()).toMatchObject({ has_password: false, recovery_codes_left: 0 })
    expect((await w.admin.listMembers({ params: w })).members).toContainEqual(
      expect.objectContaining({ email: 'first@harbor.example', role: 'support', last_sign_in_at: expect.any(String) }),
    )
    expect(await audited()).toEqual([
      { action: 'beginSsoSession', status: 200, actor_kind: 'person', subject: `session_id:${session.id}` },
      { action: 'createSsoMember', status: 200, actor_kind: 'person', subject: `person_id:${session.person?.id}` },
    ])
  })

  test('finds the person again, also with another email, and follows their groups', async () => {
    const first = await signInAs('mover', { ...email('mover'), groups: ['readers'] })
    const { person, role } = await first.api.getSession()
    expect(role).toBe('read_only')
    const second = await signInAs('mover', { ...email('moved'), groups: ['readers', 'admins'] })
    expect(await second.api.getSession()).toMatchObject({ person: { id: person?.id }, role: 'org_admin' })
    // The role of the open session changes as well.
    expect(await first.api.getSession()).toMatchObject({ role: 'org_admin' })
  })

  test('refuses a person without a mapped group and creates nobody', async () => {
    for (const groups of [[], ['unrelated']]) {
      const { page, send } = await signInAs('stranger', { ...email('stranger'), groups })
      expect(page).toBe('/console/sign-in?sso=SSO_NO_ROLE')
      expect(await send(endpoints.getSession)).toMatchObject({ status: 401 })
    }
    expect((await w.admin.listMembers({ params: w, query: { search_query: 'stranger' } })).members).toEqual([])
    expect((await audited()).at(-1)).toMatchObject({ action: 'beginSsoSession', status: 401, actor_kind: 'visitor' })
  })

  test('takes the access of a person who left all groups, also from open sessions', async () => {
    const open = await signInAs('leaver', { ...email('leaver'), groups: ['admins'] })
    expect(await open.forTeam(w.team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    expect((await signInAs('leaver', { ...email('leaver'), groups: [] })).page).toBe('/console/sign-in?sso=SSO_NO_ROLE')
    expect(await open.api.getSession()).toMatchObject({ role: 'no_role', capabilities: [] })
    expect(await open.forTeam(w.team_id).send(endpoints.listUsers)).toMatchObject({ status: 404 })
  })

  test('ends the sessions of a removed person', async () => {
    const open = await signInAs('removed', { ...email('removed'), groups: ['admins'] })
    const { person } = await open.api.getSession()
    await w.admin.deleteMember({ params: { org_id: w.org_id, person_id: person?.id as string } })
    expect(await open.send(endpoints.getSession)).toMatchObject({ status: 401, body: { detail: { error_type: 'SESSION_ENDED' } } })
  })

  test('links an account with the same verified email, which keeps its password', async () => {
    const member = await joinOrganization(w, w, { role: 'read_only', email: 'linked@harbor.example' })
    const { api } = await signInAs('linked', { ...email('linked'), groups: ['admins'] })
    expect(await api.getSession()).toMatchObject({ person: { id: member.session.person?.id }, role: 'org_admin' })
    expect(await api.getAccount()).toMatchObject({ has_password: true })
    const credential = { email: 'linked@harbor.example', password: PASSWORD, code: member.recovery_codes[0] }
    expect(await (await signIn(w.base, credential)).api.getSession()).toMatchObject({ role: 'org_admin' })
  })

  test('binds a group to one team', async () => {
    const { team_id: real } = w
    const own = await world({
      env: {
        ...fastPasswords,
        PUBLIC_URL,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT.client_id,
        OIDC_CLIENT_SECRET: CLIENT.client_secret,
        OIDC_ORG_ID: w.org_id,
        OIDC_ROLES: `pier=team_admin@${real},pier=team_admin@${team_id}`,
      },
    })
    provider.be('pier', { ...email('pier'), groups: ['pier'] })
    const visitor = cookieBrowser((url) => url.replace(PUBLIC_URL, own.base))
    await visitor.follow(`${own.base}/console/sso/start`, isConsole)
    const { api } = browser(own.base, visitor.cookiesOf(own.base))
    expect(await api.getSession()).toMatchObject({ org: { id: w.org_id }, role: 'team_admin', teams: [{ team_id: real }] })
  })

  test('says so when the provider is not available', async () => {
    const own = await world({
      env: { PUBLIC_URL, OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'assay', OIDC_ROLES: 'admins=org_admin' },
    })
    const { headers, status } = await fetch(`${own.base}/console/sso/start`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([302, '/console/sign-in?sso=SSO_FAILED'])
  })

  test('a person without a password cannot sign in with one', async () => {
    await signInAs('nopass', { ...email('nopass'), groups: ['readers'] })
    const attempt = signIn(w.base, { email: 'nopass@harbor.example', password: PASSWORD, code: '000000' })
    expect(await errorOf(attempt)).toMatchObject({ status: 401 })
  })
})

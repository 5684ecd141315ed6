import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import { endpoints, rows } from '../../src/contract/index.ts'
import { HOUR, later, MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { browser, consoleHeaders, cookieOf, fastPasswords, signIn } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { type Replica, replica, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const beginSession = (body: object, headers: Record<string, string> = consoleHeaders) =>
  sendRequest(w.base, endpoints.beginSession, { body, headers })
const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const auditOf = (request_id: string) =>
  query(w.url, `select action, status, actor_kind, actor_id, team_id, org_id, via from ${auditRows} where request_id = $1`, [request_id])

describe('sign-in with a key', () => {
  test('returns the organization, teams and capabilities of a management key', async () => {
    const { org_id, management_key, admin, team_id } = await w.tenant()
    const second = await admin.createTeam({ params: { org_id }, body: { name: 'Second', region: 'us' } })
    const { api } = await signIn(w.base, { management_key })
    expect(await api.getSession()).toMatchObject({
      kind: 'management',
      role: 'org_admin',
      person: null,
      org: { id: org_id, name: 'Harbor Health' },
      teams: [
        { team_id, name: 'Harbor' },
        { team_id: second.id, name: 'Second' },
      ],
      team_id: null,
      environment: 'sandbox',
      region: 'us',
      capabilities: expect.arrayContaining(['org.manage', 'personal.reveal']),
    })
  })

  test('limits a team key to its team', async () => {
    const { team_api_key, team_id, org_id } = await w.tenant()
    const { api, send } = await signIn(w.base, { team_api_key })
    expect(await api.getSession()).toMatchObject({ kind: 'team', role: 'team_key', team_id, teams: [{ team_id, name: 'Harbor' }] })
    expect((await api.listUsers()).total).toBe(0)
    expect(await send(endpoints.getOrg, { params: { org_id } })).toMatchObject(refusedFor(403, 'SESSION_NOT_ALLOWED'))
    const foreign = (await w.tenant()).team_id
    expect(await send(endpoints.listUsers, { headers: { 'x-assay-team': foreign } })).toMatchObject(refusedFor(404, 'TEAM_NOT_FOUND'))
  })

  test.each([
    ['a wrong management key', { management_key: `mg_${'x'.repeat(46)}` }, 'INVALID_MANAGEMENT_KEY'],
    ['a wrong team key', { team_api_key: `sk_us_${'x'.repeat(46)}` }, 'INVALID_API_KEY'],
    ['a key of another deployment', { team_api_key: `pk_eu_${'x'.repeat(46)}` }, 'WRONG_DEPLOYMENT_KEY'],
  ])('rejects %s, audits it and sets no cookie', async (_, body, error_type) => {
    const request_id = newUuid()
    const response = await beginSession(body, { ...consoleHeaders, 'x-request-id': request_id })
    expect(response).toMatchObject(refusedFor(401, error_type))
    expect(response.headers.has('set-cookie')).toBe(false)
    expect(await auditOf(request_id)).toEqual([
      { action: 'beginSession', status: 401, actor_kind: 'visitor', actor_id: null, team_id: null, org_id: null, via: 'console' },
    ])
  })

  test('requires exactly one credential', async () => {
    const { management_key, team_api_key } = w
    for (const body of [{}, { management_key, team_api_key }])
      expect(await beginSession(body)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'] }] } })
  })

  test('limits an address to 100 failed attempts', async () => {
    const instance = await world({ env: {} })
    const wrong = () => sendRequest(instance.base, endpoints.beginSession, { body: { management_key: 'wrong' }, headers: consoleHeaders })
    await query(instance.url, 'delete from sign_in_attempts')
    await wrong()
    await query(instance.url, 'update sign_in_attempts set count = 99')
    expect(await wrong()).toMatchObject(refusedFor(401, 'INVALID_MANAGEMENT_KEY'))
    const refused = await wrong()
    expect(refused).toMatchObject(refusedFor(429, 'TOO_MANY_SIGN_INS'))
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(15 * 60)
    instance.advanceTime(16 * MINUTE)
    expect(await wrong()).toMatchObject(refusedFor(401, 'INVALID_MANAGEMENT_KEY'))
    await query(instance.url, 'delete from sign_in_attempts')
  })

  test('does not count a successful sign-in as an attempt', async () => {
    await query(w.url, 'delete from sign_in_attempts')
    await beginSession({ management_key: w.management_key })
    expect(await query(w.url, 'select count from sign_in_attempts')).toEqual([{ count: 0 }])
  })

  test('limits password attempts separately from key sign-ins', async () => {
    await query(w.url, 'delete from sign_in_attempts')
    const guess = { email: 'guessed@harbor.example', password: 'a guess of a password', code: '1' }
    await beginSession(guess)
    await query(w.url, 'update sign_in_attempts set count = 100')
    expect(await beginSession(guess)).toMatchObject(refusedFor(429, 'TOO_MANY_SIGN_INS'))
    expect(await beginSession({ management_key: w.management_key })).toMatchObject({ status: 200 })
    await query(w.url, 'delete from sign_in_attempts')
  })
})

describe('sign-in limits behind a proxy', () => {
  const signInFrom = (instance: { base: string }, address: string) =>
    sendRequest(instance.base, endpoints.beginSession, {
      body: { management_key: 'wrong' },
      headers: { ...consoleHeaders, 'x-forwarded-for': address },
    })
  const wrong = refusedFor(401, 'INVALID_MANAGEMENT_KEY')
  const limited = refusedFor(429, 'TOO_MANY_SIGN_INS')

  test('counts attempts per forwarded address behind a trusted proxy and ignores spoofed addresses', async () => {
    const instance = await world({ env: { TRUST_PROXY: '10.20.0.0/16, 127.0.0.1' } })
    await query(instance.url, 'delete from sign_in_attempts')
    expect(await signInFrom(instance, '203.0.113.7')).toMatchObject(wrong)
    await query(instance.url, 'update sign_in_attempts set count = 100')
    expect(await signInFrom(instance, '203.0.113.7')).toMatchObject(limited)
    expect(await signInFrom(instance, '203.0.113.8')).toMatchObject(wrong)
    expect(await signInFrom(instance, '203.0.113.8, 203.0.113.7')).toMatchObject(limited)
    expect(await signInFrom(instance, '203.0.113.7, 10.20.3.4')).toMatchObject(limited)
    await query(instance.url, 'delete from sign_in_attempts')
  })

  test.each(['', '10.20.0.0/16'])('ignores forwarded addresses from an untrusted proxy (TRUST_PROXY=%s)', async (TRUST_PROXY) => {
    const instance = await world({ env: { TRUST_PROXY } })
    await query(instance.url, 'delete from sign_in_attempts')
    expect(await signInFrom(instance, '203.0.113.7')).toMatchObject(wrong)
    await query(instance.url, 'update sign_in_attempts set count = 100')
    expect(await signInFrom(instance, '203.0.113.8')).toMatchObject(limited)
    await query(instance.url, 'delete from sign_in_attempts')
  })
})

describe('session cookie', () => {
  test('is HttpOnly and SameSite=Strict on localhost, with the port in its name', async () => {
    const { headers } = await beginSession({ management_key: w.management_key })
    const port = new URL(w.base).port
    expect(headers.get('set-cookie')).toMatch(new RegExp(`^assay-${port}=cs_\\w{46}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200$`))
  })

  test('is Secure with the __Host- prefix behind HTTPS', async () => {
    const instance = await replica({ env: { PUBLIC_URL: 'https://assay.example' } })
    const tenant = await instance.tenant()
    const body = { management_key: tenant.management_key }
    const { status, headers } = await sendRequest(instance.base, endpoints.beginSession, {
      body,
      headers: { ...consoleHeaders, origin: 'https://assay.example' },
    })
    expect(status).toBe(200)
    expect(headers.get('set-cookie')).toMatch(/^__Host-assay=cs_\w{46}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/)
    expect(await browser(instance.base, cookieOf(headers)).api.getSession()).toMatchObject({ kind: 'management' })
  })

  test('is stored only as a hash', async () => {
    const { cookie } = await signIn(w.base, { management_key: w.management_key })
    const secret = cookie.split('=')[1] as string
    const rows = await query(w.url, 'select t::text as row from console_sessions t')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString('hex'))
  })

  test('is replaced at each sign-in, which ends the previous session', async () => {
    const planted = cookieOf((await beginSession({ management_key: w.management_key })).headers)
    const victim = await signIn(w.base, { management_key: (await w.tenant()).management_key }, { cookie: planted })
    expect(victim.cookie).not.toBe(planted)
    expect(await browser(w.base, planted).send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await victim.api.getSession()).toMatchObject({ kind: 'management' })
  })
})

describe('session expiry', () => {
  /** A service whose clock these tests advance. */
  let service: Replica
  const newInstance = async () => ({ ...service, ...(await service.tenant()) })
  beforeAll(async () => {
    service = await replica()
  })

  test('ends a session after 30 idle minutes and extends it on use', async () => {
    const instance = await newInstance()
    const { api, send } = await signIn(instance.base, { management_key: instance.management_key })
    for (const _ of [1, 2, 3]) {
      instance.advanceTime(29 * MINUTE)
      await api.getSession()
    }
    instance.advanceTime(31 * MINUTE)
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
  })

  test('ends an idle session despite background requests', async () => {
    const instance = await newInstance()
    const { send } = await signIn(instance.base, { management_key: instance.management_key })
    instance.advanceTime(20 * MINUTE)
    expect(await send(endpoints.getSession, { headers: { 'x-assay-background': '1' } })).toMatchObject({ status: 200 })
    instance.advanceTime(11 * MINUTE)
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
  })

  test('ends a session after 12 hours, even when it is in use', async () => {
    const instance = await world({ env: { CONSOLE_IDLE_MINUTES: '600' } })
    const { api, send } = await signIn(instance.base, { management_key: instance.management_key })
    instance.advanceTime(6 * HOUR)
    await api.getSession()
    instance.advanceTime(6 * HOUR - MINUTE)
    const { ends_at, idle_ends_at } = await api.getSession()
    expect(idle_ends_at).toBe(ends_at)
    instance.advanceTime(MINUTE)
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    await instance.runJobs()
    expect(await query(instance.url, 'select id from console_sessions where org_id = $1', [instance.org_id])).toEqual([])
  })

  test('ends a session on sign-out and clears the cookie', async () => {
    const { send } = await signIn(w.base, { management_key: w.management_key })
    const response = await send(endpoints.endSession)
    expect(response.status).toBe(204)
    expect(response.headers.get('set-cookie')).toMatch(/^assay-\d+=; .*Max-Age=0/)
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
  })

  test('ends a session as soon as its management key is deleted', async () => {
    const { org_id, team_id, admin } = await w.tenant()
    const { id, key } = await admin.createManagementKey({ params: { org_id }, body: { label: 'second', role: 'org_admin' } })
    const { send, forTeam } = await signIn(w.base, { management_key: key })
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    await admin.deleteManagementKey({ params: { org_id, key_id: id } })
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
  })

  test('ends a session when its team key is revoked or expires', async () => {
    const instance = await newInstance()
    const { org_id, team_id, admin } = instance
    const params = { org_id, env: 'sandbox' as const, region: 'us' as const }
    const revoked = await admin.createTeamKey({ params, body: { label: 'revoked', team_id } })
    const expires_at = later(instance.app.wall(), 5 * MINUTE)
    const expiring = await admin.createTeamKey({ params, body: { label: 'brief', team_id, expires_at } })
    const [first, second] = [
      await signIn(instance.base, { team_api_key: revoked.value }),
      await signIn(instance.base, { team_api_key: expiring.value }),
    ]
    await admin.deleteTeamKeys({ params, query: { api_key_id: [revoked.id] } })
    expect(await first.send(endpoints.listUsers)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await second.send(endpoints.listUsers)).toMatchObject({ status: 200 })
    instance.advanceTime(6 * MINUTE)
    expect(await second.send(endpoints.listUsers)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
  })
})

describe('cross-site requests', () => {
  test.each<[string, Record<string, string>]>([
    ['without the console header', { 'x-assay-console': '' }],
    ['that the browser marks as cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['with a foreign Origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['from a sandboxed frame', { 'sec-fetch-site': '', origin: 'null' }],
  ])('rejects a request %s', async (_, headers) => {
    const { management_key, org_id, team_id } = await w.tenant()
    const { forTeam } = await signIn(w.base, { management_key })
    const { send } = forTeam(team_id)
    const refused = refusedFor(403, 'NOT_FROM_CONSOLE')
    expect(await send(endpoints.createUser, { body: { client_user_id: 'forged' }, headers })).toMatchObject(refused)
    expect(await send(endpoints.patchOrg, { params: { org_id }, body: { name: 'Forged' }, headers })).toMatchObject(refused)
    expect(await send(endpoints.endSession, { headers })).toMatchObject(refused)
    expect(await beginSession({ management_key }, { ...consoleHeaders, ...headers })).toMatchObject(refused)
    expect((await send(endpoints.listUsers)).body).toMatchObject({ total: 0 })
  })

  test('accepts a request from its own Origin', async () => {
    const { send } = await signIn(w.base, { management_key: w.management_key }, { origin: w.base })
    expect(await send(endpoints.getSession, { headers: { origin: w.base } })).toMatchObject({ status: 200 })
  })
})

describe('API requests with a session', () => {
  test('accepts a session for data endpoints once a team is selected', async () => {
    const { management_key, team_id } = await w.tenant()
    const { send, forTeam } = await signIn(w.base, { management_key })
    expect(await send(endpoints.listUsers)).toMatchObject(refusedFor(400, 'TEAM_REQUIRED'))
    expect(await send(endpoints.listUsers, { headers: { 'x-assay-team': 'no-id' } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['header', 'x-assay-team'] }] },
    })
    const { user_id } = await forTeam(team_id).api.createUser({ body: { client_user_id: 'console-user' } })
    expect(await forTeam(team_id).api.getUser({ params: { user_id } })).toMatchObject({ client_user_id: 'console-user', team_id })
  })

  test('returns the same 404 for a team of another organization as for an unknown one', async () => {
    const { forTeam } = await signIn(w.base, { management_key: w.management_key })
    const { team_id } = await w.tenant()
    const theirs = await forTeam(team_id).send(endpoints.listUsers)
    const unknown = await forTeam(newUuid()).send(endpoints.listUsers)
    expect(theirs).toMatchObject(refusedFor(404, 'TEAM_NOT_FOUND'))
    expect(theirs.body).toEqual(unknown.body)
  })

  test('limits a Team Management Key to its teams', async () => {
    const { org_id, team_id, admin } = await w.tenant()
    const other = await admin.createTeam({ params: { org_id }, body: { name: 'Other', region: 'us' } })
    const body = { label: 'bound', role: 'team_admin' as const, team_role_bindings: [{ team_id }] }
    const { key } = await admin.createManagementKey({ params: { org_id }, body })
    const { api, send, forTeam } = await signIn(w.base, { management_key: key })
    expect(await api.getSession()).toMatchObject({ role: 'team_admin', teams: [{ team_id }] })
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    expect(await forTeam(other.id).send(endpoints.listUsers)).toMatchObject(refusedFor(404, 'TEAM_NOT_FOUND'))
    expect(await send(endpoints.getOrg, { params: { org_id } })).toMatchObject(refusedFor(403, 'ROLE_REQUIRED'))
  })

  test('limits a read-only key to reads', async () => {
    const { org_id, team_id, admin } = await w.tenant()
    const params = { org_id, env: 'sandbox' as const, region: 'us' as const }
    const { value } = await admin.createTeamKey({ params, body: { label: 'reader', team_id, read_only: true } })
    const { api, send } = await signIn(w.base, { team_api_key: value })
    expect(await api.getSession()).toMatchObject({ role: 'read_only_key', capabilities: ['data.read', 'personal.reveal'] })
    expect(await send(endpoints.createUser, { body: { client_user_id: 'x' } })).toMatchObject(refusedFor(403, 'ROLE_REQUIRED'))
  })

  test('rejects management sessions on the launch plan and accepts team keys', async () => {
    const launch = await w.tenant({ plan: 'launch' })
    const managed = await signIn(w.base, { management_key: launch.management_key })
    expect(await managed.forTeam(launch.team_id).send(endpoints.listUsers)).toMatchObject(refusedFor(403, 'PLAN_REQUIRED'))
    const { api } = await signIn(w.base, { team_api_key: launch.team_api_key })
    expect(await api.listUsers()).toMatchObject({ total: 0 })
  })

  test('prefers an API key to the session cookie', async () => {
    const other = await w.tenant()
    await other.api.createUser({ body: { client_user_id: 'of the key' } })
    const { cookie } = await signIn(w.base, { team_api_key: w.team_api_key })
    const api = createClient(w.base, { cookie, 'x-service-api-key': other.team_api_key })
    expect((await api.listUsers()).users.map((user) => user.client_user_id)).toEqual(['of the key'])
  })

  test('rejects a session on link token endpoints', async () => {
    const { team_api_key, team_id } = await w.tenant()
    const session = (await signIn(w.base, { team_api_key })).forTeam(team_id)
    const params = { provider: 'fitbit', oauth_provider: 'fitbit' }
    for (const [, row] of rows.filter(([, row]) => row.auth === 'link'))
      expect(await session.send(row, { params, ...(row.body ? { body: {} } : {}) })).toMatchObject(refusedFor(401, 'MISSING_LINK_TOKEN'))
  })

  test('rejects a session on the partner lab API and a key on console endpoints', async () => {
    const { send } = await signIn(w.base, { management_key: w.management_key })
    expect(await send(endpoints.getOwnLab)).toMatchObject(refusedFor(401, 'MISSING_LAB_KEY'))
    const headers = { ...consoleHeaders, 'x-management-key': w.management_key }
    expect(await sendRequest(w.base, endpoints.getSession, { headers })).toMatchObject(refusedFor(401, 'MISSING_SESSION'))
  })

  test('audits the key as actor and the console as origin', async () => {
    const { management_key, admin, org_id, team_id } = await w.tenant()
    const [key] = (await admin.listManagementKeys({ params: { org_id } })).data
    const { forTeam } = await signIn(w.base, { management_key })
    const [data, managed] = [newUuid(), newUuid()]
    await forTeam(team_id).send(endpoints.listUsers, { headers: { 'x-request-id': data } })
    await forTeam(team_id).send(endpoints.getOrg, { params: { org_id }, headers: { 'x-request-id': managed } })
    const entry = { actor_kind: 'management_key', actor_id: key?.id, org_id, via: 'console', status: 200 }
    expect(await auditOf(data)).toEqual([{ ...entry, action: 'listUsers', team_id }])
    expect(await auditOf(managed)).toEqual([{ ...entry, action: 'getOrg', team_id: null }])
    const own = newUuid()
    await forTeam(team_id).send(endpoints.getSession, { headers: { 'x-request-id': own } })
    expect(await auditOf(own)).toEqual([])
  })
})

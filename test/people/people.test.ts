import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { SECOND } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { auditRows } from '../support/audit.ts'
import { consoleHeaders, fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Replica, replica, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
/** A service whose clock the tests advance. */
let moving: Replica
beforeAll(async () => {
  w = await world({ env: fastPasswords })
  moving = await replica({ env: fastPasswords })
})

const newInstance = async () => ({ ...moving, ...(await moving.tenant()) })

const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const beginSession = (body: object, instance = w) => sendRequest(instance.base, endpoints.beginSession, { body, headers: consoleHeaders })

describe('sign-in', () => {
  test('accepts an email, a password and an unused code', async () => {
    const instance = await newInstance()
    const { email, code, usedCode } = await joinOrganization(instance, instance)
    const used = { email, password: PASSWORD, code: usedCode }
    expect(await beginSession(used, instance)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    instance.advanceTime(30 * SECOND)
    const credentials = { email: ` ${email.toUpperCase()} `, password: PASSWORD, code: code() }
    expect(await beginSession(credentials, instance)).toMatchObject({ status: 200, body: { kind: 'person', person: { email } } })
    expect(await beginSession(credentials, instance)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
  })

  test('returns the same error for a wrong email, password, code or organization', async () => {
    const instance = await newInstance()
    const { email, code } = await joinOrganization(instance, instance)
    // The code is sent five times and must not expire before the last.
    instance.stopTime()
    onTestFinished(instance.resumeTime)
    instance.advanceTime(60 * SECOND)
    const credentials = { email, password: PASSWORD, code: code() }
    const responses = [
      await beginSession({ ...credentials, password: 'another lantern entirely' }, instance),
      await beginSession({ ...credentials, email: 'nobody@harbor.example' }, instance),
      await beginSession({ ...credentials, code: '000000' === credentials.code ? '111111' : '000000' }, instance),
      await beginSession({ ...credentials, org_id: newUuid() }, instance),
    ]
    for (const response of responses) {
      expect(response).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
      expect(response.body).toEqual(responses[0]?.body)
    }
    expect(await beginSession(credentials, instance)).toMatchObject({ status: 200 })
  })

  test('selects the organization by the code when two share an email and password', async () => {
    const instance = await newInstance()
    const email = 'both@harbor.example'
    const [first, second] = [await instance.tenant(), await instance.tenant()]
    const people = [await joinOrganization(instance, first, { email }), await joinOrganization(instance, second, { email })]
    instance.advanceTime(60 * SECOND)
    for (const { code, session } of people)
      expect(await beginSession({ email, password: PASSWORD, code: code() }, instance)).toMatchObject({
        status: 200,
        body: { org: { id: session.org.id }, person: { id: session.person?.id } },
      })
  })

  test('requires a code, whether or not the password is right', async () => {
    const { email } = await joinOrganization(w, await w.tenant())
    for (const password of [PASSWORD, 'wrong lantern here'])
      expect(await beginSession({ email, password })).toMatchObject(refusedFor(401, 'CODE_REQUIRED'))
  })

  test('audits a failed sign-in with the person ID but not the email', async () => {
    const tenant = await w.tenant()
    const { email, session } = await joinOrganization(w, tenant)
    const request_id = newUuid()
    const headers = { ...consoleHeaders, 'x-request-id': request_id }
    await sendRequest(w.base, endpoints.beginSession, { body: { email, password: 'wrong lantern here', code: '1' }, headers })
    const rows = await query<Record<string, unknown>>(w.url, `select * from ${auditRows} where request_id = $1`, [request_id])
    expect(rows).toMatchObject([
      { action: 'beginSession', status: 401, actor_kind: 'visitor', org_id: tenant.org_id, subject: `person_id:${session.person?.id}` },
    ])
    expect(JSON.stringify(rows)).not.toContain(email)
  })

  test('limits an email to ten attempts, whether or not the person exists', async () => {
    const instance = await newInstance()
    const { email, code } = await joinOrganization(instance, instance)
    instance.advanceTime(60 * SECOND)
    await beginSession({ email, password: 'wrong lantern here', code: '1' }, instance)
    await beginSession({ email: 'stranger@harbor.example', password: 'wrong lantern here', code: '1' }, instance)
    await query(instance.url, 'update sign_in_attempts set count = 10')
    for (const address of [email, 'stranger@harbor.example'])
      expect(await beginSession({ email: address, password: PASSWORD, code: code() }, instance)).toMatchObject(
        refusedFor(429, 'TOO_MANY_SIGN_INS'),
      )
    instance.advanceTime(16 * 60 * SECOND)
    expect(await beginSession({ email, password: PASSWORD, code: code() }, instance)).toMatchObject({ status: 200 })
  })

  test('accepts each recovery code once', async () => {
    const { email, recovery_codes } = await joinOrganization(w, await w.tenant())
    const code = (recovery_codes[3] as string).toUpperCase().replace('-', ' ')
    expect(await beginSession({ email, password: PASSWORD, code })).toMatchObject({ status: 200 })
    expect(await beginSession({ email, password: PASSWORD, code })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await beginSession({ email, password: PASSWORD, code: recovery_codes[4] })).toMatchObject({ status: 200 })
  })

  test('signs in to the organization of org_id or of the recovery code when two share an email', async () => {
    const [first, second] = [await w.tenant(), await w.tenant()]
    const email = 'shared@harbor.example'
    const [firstPerson, secondPerson] = [await joinOrganization(w, first, { email }), await joinOrganization(w, second, { email })]
    const code = secondPerson.recovery_codes[0] as string
    expect(await beginSession({ email, password: PASSWORD, code, org_id: second.org_id })).toMatchObject({
      body: { org: { id: second.org_id } },
    })
    expect(await beginSession({ email, password: PASSWORD, code: firstPerson.recovery_codes[0] })).toMatchObject({
      body: { org: { id: first.org_id } },
    })
  })

  test('stores no credentials or personal data in plain text', async () => {
    const { email, recovery_codes } = await joinOrganization(w, await w.tenant(), { email: 'secretive.keeper@harbor.example' })
    const tables = ['people', 'recovery_codes', 'invitations', 'sign_in_attempts', 'audit_log', 'audit_outbox', 'console_sessions']
    for (const table of tables) {
      const text = JSON.stringify(await query(w.url, `select t::text as row from ${table} t`))
      for (const word of [email, 'Ottoline', PASSWORD, recovery_codes[0] as string]) {
        expect(text).not.toContain(word)
        expect(text).not.toContain(Buffer.from(word).toString('hex'))
      }
    }
  })
})

describe('removal and role changes', () => {
  test('ends the sessions of a removed person and rejects a new sign-in', async () => {
    const tenant = await w.tenant()
    const { org_id, team_id, admin } = tenant
    const { send, forTeam, session, email, recovery_codes } = await joinOrganization(w, tenant)
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    await admin.deleteMember({ params: { org_id, person_id: session.person?.id as string } })
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await beginSession({ email, password: PASSWORD, code: recovery_codes[0] })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
  })

  test('applies a new role to open sessions at once', async () => {
    const tenant = await w.tenant()
    const { org_id, team_id, admin } = tenant
    const { send, forTeam, session } = await joinOrganization(w, tenant)
    const person_id = session.person?.id as string
    expect(await send(endpoints.getOrg, { params: { org_id } })).toMatchObject({ status: 200 })
    expect(await admin.patchMember({ params: { org_id, person_id }, body: { role: 'read_only', team_role_bindings: null } })).toMatchObject(
      {
        role: 'read_only',
        team_role_bindings: null,
      },
    )
    expect(await send(endpoints.getOrg, { params: { org_id } })).toMatchObject(refusedFor(403, 'ROLE_REQUIRED'))
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    await admin.patchMember({ params: { org_id, person_id }, body: { role: 'no_role' } })
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject(refusedFor(404, 'TEAM_NOT_FOUND'))
  })
})

describe('credential changes', () => {
  test('changes the password and ends all other sessions', async () => {
    const tenant = await w.tenant()
    const { api, send, email, recovery_codes } = await joinOrganization(w, tenant)
    const [a, b, c, d] = recovery_codes as [string, string, string, string]
    const otherSession = await signIn(w.base, { email, password: PASSWORD, code: a })
    const next = 'another lighthouse by night'
    expect(await send(endpoints.changePassword, { body: { password: 'wrong lantern here', new_password: next, code: b } })).toMatchObject(
      refusedFor(401, 'SIGN_IN_REFUSED'),
    )
    expect(await send(endpoints.changePassword, { body: { password: PASSWORD, new_password: 'short', code: b } })).toMatchObject(
      refusedFor(400, 'WEAK_PASSWORD'),
    )
    await api.changePassword({ body: { password: PASSWORD, new_password: next, code: b } })
    expect(await otherSession.send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await send(endpoints.getSession)).toMatchObject({ status: 200 })
    expect(await beginSession({ email, password: PASSWORD, code: c })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await beginSession({ email, password: next, code: d })).toMatchObject({ status: 200 })
  })

  test('replaces the authenticator once it is confirmed with a code', async () => {
    const instance = await newInstance()
    const { api, send, email, code, recovery_codes } = await joinOrganization(instance, instance)
    instance.advanceTime(60 * SECOND)
    const { totp_secret, totp_uri } = await api.renewSecondFactor({ body: { password: PASSWORD, code: code() } })
    expect(totp_uri).toContain(`secret=${totp_secret}&`)
    expect(await send(endpoints.confirmSecondFactor, { body: { code: 'abcdef' } })).toMatchObject(refusedFor(400, 'WRONG_CODE'))
    const newCode = () => codeAt(fromBase32(totp_secret), stepAt(instance.app.wall()))
    const confirmed = await api.confirmSecondFactor({ body: { code: newCode() } })
    expect(confirmed.recovery_codes).toHaveLength(10)
    instance.advanceTime(60 * SECOND)
    for (const old of [code(), recovery_codes[0]])
      expect(await beginSession({ email, password: PASSWORD, code: old }, instance)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await beginSession({ email, password: PASSWORD, code: newCode() }, instance)).toMatchObject({ status: 200 })
  })

  test('rejects credential changes in a session that was started with a key', async () => {
    const { send } = await signIn(w.base, { management_key: w.management_key })
    const proof = { password: PASSWORD, code: '1' }
    const attempts = [
      send(endpoints.changePassword, { body: { ...proof, new_password: PASSWORD } }),
      send(endpoints.renewSecondFactor, { body: proof }),
      send(endpoints.confirmSecondFactor, { body: { code: '1' } }),
    ]
    for (const attempt of attempts) expect(await attempt).toMatchObject(refusedFor(400, 'NOT_A_PERSON'))
  })
})

describe('people of another organization', () => {
  test('returns 404 as for an unknown person or invitation', async () => {
    const [mine, theirs] = [await w.tenant(), await w.tenant()]
    const { session } = await joinOrganization(w, theirs)
    await theirs.admin.createInvite({ params: theirs, body: { email: 'pending@harbor.example' } })
    const [invite] = (await theirs.admin.listInvites({ params: theirs })).invites
    const { admin, org_id } = mine
    for (const person_id of [session.person?.id as string, newUuid()]) {
      const params = { org_id, person_id }
      const notFound = { status: 404, detail: { error_type: 'PERSON_NOT_FOUND' } }
      expect(await errorOf(admin.patchMember({ params, body: { role: 'no_role' } }))).toMatchObject(notFound)
      expect(await errorOf(admin.deleteMember({ params }))).toMatchObject(notFound)
    }
    for (const invite_id of [invite?.id as string, newUuid()])
      expect(await errorOf(admin.deleteInvite({ params: { org_id, invite_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'INVITE_NOT_FOUND' },
      })
    expect(await admin.listMembers({ params: { org_id } })).toEqual({ members: [], next_cursor: null })
    expect(await errorOf(admin.listMembers({ params: { org_id: theirs.org_id } }))).toMatchObject({ status: 404 })
    expect((await theirs.admin.listMembers({ params: theirs })).members).toHaveLength(1)
  })

  test('does not reveal that an email belongs to another organization', async () => {
    const { email } = await joinOrganization(w, await w.tenant())
    const { admin, org_id } = await w.tenant()
    expect(await admin.createInvite({ params: { org_id }, body: { email } })).toMatchObject({ status: 'invite_created' })
  })
})

test('finds members by part of their name or email', async () => {
  const tenant = await w.tenant()
  const { admin, org_id } = tenant
  await joinOrganization(w, tenant, { email: 'harriet@harbor.example' })
  await joinOrganization(w, tenant, { email: 'wilfred@harbor.example' })
  const emails = async (search_query: string) =>
    (await admin.listMembers({ params: { org_id }, query: { search_query } })).members.map(({ email }) => email)
  expect(await emails('HARRI')).toEqual(['harriet@harbor.example'])
  expect(await emails('ottoline')).toHaveLength(2)
  expect(await emails('nobody')).toEqual([])
})

test('records the person as actor in the audit log and as creator of keys', async () => {
  const tenant = await w.tenant()
  const { org_id, team_id, admin } = tenant
  const { forTeam, api, session, send } = await joinOrganization(w, tenant)
  const actor_id = session.person?.id
  const [data, managed] = [newUuid(), newUuid()]
  await forTeam(team_id).send(endpoints.listUsers, { headers: { 'x-request-id': data } })
  await send(endpoints.createManagementKey, {
    params: { org_id },
    body: { label: 'by a person', role: 'org_admin' },
    headers: { 'x-request-id': managed },
  })
  const rows = await query(w.url, `select actor_kind, actor_id, via from ${auditRows} where request_id = any($1)`, [[data, managed]])
  expect(rows).toEqual([
    { actor_kind: 'person', actor_id, via: 'console' },
    { actor_kind: 'person', actor_id, via: 'console' },
  ])
  const created = (await admin.listManagementKeys({ params: { org_id } })).data.find((key) => key.label === 'by a person')
  expect(created?.creator).toEqual({ type: 'org_member', id: actor_id })
  expect(await errorOf(api.createAccessToken({ params: { org_id, team_id }, body: { env: 'sandbox' } }))).toMatchObject({
    status: 403,
    detail: { error_type: 'MANAGEMENT_KEY_REQUIRED' },
  })
})

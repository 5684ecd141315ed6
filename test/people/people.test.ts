import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { SECOND } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { query } from '../support/cluster.ts'
import { consoleHeaders, fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const begin = (body: object, one = w) => sendRequest(one.base, endpoints.beginSession, { body, headers: consoleHeaders })

describe('a person signs in', () => {
  test('with email, password and a code that was not used before', async () => {
    const one = await world({ env: fastPasswords })
    const { email, code } = await joinOrganization(one, one)
    const body = () => ({ email: ` ${email.toUpperCase()} `, password: PASSWORD, code: code() })
    expect(await begin(body(), one)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    one.advanceTime(30 * SECOND)
    const sent = body()
    expect(await begin(sent, one)).toMatchObject({ status: 200, body: { kind: 'person', person: { email } } })
    expect(await begin(sent, one)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
  })

  test('whatever is wrong, the answer is the same', async () => {
    const one = await world({ env: fastPasswords })
    const { email, code } = await joinOrganization(one, one)
    one.advanceTime(60 * SECOND)
    const right = { email, password: PASSWORD, code: code() }
    const answers = [
      await begin({ ...right, password: 'another lantern entirely' }, one),
      await begin({ ...right, email: 'nobody@harbour.example' }, one),
      await begin({ ...right, code: '000000' === right.code ? '111111' : '000000' }, one),
      await begin({ ...right, org_id: newUuid() }, one),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
      expect(answer.body).toEqual(answers[0]?.body)
    }
    expect(await begin(right, one)).toMatchObject({ status: 200 })
  })

  test('of two organisations with one email and password, the code says which is meant', async () => {
    const one = await world({ env: fastPasswords })
    const email = 'both@harbour.example'
    const [first, second] = [await one.tenant(), await one.tenant()]
    const people = [await joinOrganization(one, first, { email }), await joinOrganization(one, second, { email })]
    one.advanceTime(60 * SECOND)
    for (const { code, session } of people)
      expect(await begin({ email, password: PASSWORD, code: code() }, one)).toMatchObject({
        status: 200,
        body: { org: { id: session.org.id }, person: { id: session.person?.id } },
      })
  })

  test('never without a code', async () => {
    const { email } = await joinOrganization(w, await w.tenant())
    for (const password of [PASSWORD, 'wrong lantern here'])
      expect(await begin({ email, password })).toMatchObject(refusedFor(401, 'CODE_REQUIRED'))
  })

  test('a failure names the person in the audit log, and never the email', async () => {
    const tenant = await w.tenant()
    const { email, session } = await joinOrganization(w, tenant)
    const request_id = newUuid()
    const headers = { ...consoleHeaders, 'x-request-id': request_id }
    await sendRequest(w.base, endpoints.beginSession, { body: { email, password: 'wrong lantern here', code: '1' }, headers })
    const rows = await query<Record<string, unknown>>(w.url, 'select * from audit_log where request_id = $1', [request_id])
    expect(rows).toMatchObject([
      { action: 'beginSession', status: 401, actor_kind: 'visitor', org_id: tenant.org_id, subject: `person_id:${session.person?.id}` },
    ])
    expect(JSON.stringify(rows)).not.toContain(email)
  })

  test('after ten tries of one email it has to wait, whether there is such a person or not', async () => {
    const one = await world({ env: fastPasswords })
    const { email, code } = await joinOrganization(one, one)
    one.advanceTime(60 * SECOND)
    await begin({ email, password: 'wrong lantern here', code: '1' }, one)
    await begin({ email: 'stranger@harbour.example', password: 'wrong lantern here', code: '1' }, one)
    await query(one.url, 'update sign_in_turns set taken = 10')
    for (const who of [email, 'stranger@harbour.example'])
      expect(await begin({ email: who, password: PASSWORD, code: code() }, one)).toMatchObject(refusedFor(429, 'TOO_MANY_SIGN_INS'))
    one.advanceTime(16 * 60 * SECOND)
    expect(await begin({ email, password: PASSWORD, code: code() }, one)).toMatchObject({ status: 200 })
  })

  test('with a recovery code in place of the authenticator, each once', async () => {
    const { email, recovery_codes } = await joinOrganization(w, await w.tenant())
    const code = (recovery_codes[3] as string).toUpperCase().replace('-', ' ')
    expect(await begin({ email, password: PASSWORD, code })).toMatchObject({ status: 200 })
    expect(await begin({ email, password: PASSWORD, code })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await begin({ email, password: PASSWORD, code: recovery_codes[4] })).toMatchObject({ status: 200 })
  })

  test('of the organisation that is named, where the same email belongs to two', async () => {
    const [first, second] = [await w.tenant(), await w.tenant()]
    const email = 'shared@harbour.example'
    const [one, two] = [await joinOrganization(w, first, { email }), await joinOrganization(w, second, { email })]
    const code = two.recovery_codes[0] as string
    expect(await begin({ email, password: PASSWORD, code, org_id: second.org_id })).toMatchObject({ body: { org: { id: second.org_id } } })
    expect(await begin({ email, password: PASSWORD, code: one.recovery_codes[0] })).toMatchObject({ body: { org: { id: first.org_id } } })
  })

  test('nothing of it is kept in clear', async () => {
    const { email, recovery_codes } = await joinOrganization(w, await w.tenant(), { email: 'secretive.keeper@harbour.example' })
    const tables = ['people', 'recovery_codes', 'invitations', 'sign_in_turns', 'audit_log', 'console_sessions']
    for (const table of tables) {
      const text = JSON.stringify(await query(w.url, `select t::text as row from ${table} t`))
      for (const word of [email, 'Ottoline', PASSWORD, recovery_codes[0] as string]) {
        expect(text).not.toContain(word)
        expect(text).not.toContain(Buffer.from(word).toString('hex'))
      }
    }
  })
})

describe('a person is ended', () => {
  test('by removing it, and whatever it is signed in to with it', async () => {
    const tenant = await w.tenant()
    const { org_id, team_id, admin } = tenant
    const { send, forTeam, session, email, recovery_codes } = await joinOrganization(w, tenant)
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
    await admin.deleteMember({ params: { org_id, person_id: session.person?.id as string } })
    expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await begin({ email, password: PASSWORD, code: recovery_codes[0] })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
  })

  test('as what it was by a change of role, at once', async () => {
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

describe('a person changes', () => {
  test('its password, and everywhere else it is signed out', async () => {
    const tenant = await w.tenant()
    const { api, send, email, recovery_codes } = await joinOrganization(w, tenant)
    const [a, b, c, d] = recovery_codes as [string, string, string, string]
    const elsewhere = await signIn(w.base, { email, password: PASSWORD, code: a })
    const next = 'another lighthouse by night'
    expect(await send(endpoints.changePassword, { body: { password: 'wrong lantern here', new_password: next, code: b } })).toMatchObject(
      refusedFor(401, 'SIGN_IN_REFUSED'),
    )
    expect(await send(endpoints.changePassword, { body: { password: PASSWORD, new_password: 'short', code: b } })).toMatchObject(
      refusedFor(400, 'WEAK_PASSWORD'),
    )
    await api.changePassword({ body: { password: PASSWORD, new_password: next, code: b } })
    expect(await elsewhere.send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect(await send(endpoints.getSession)).toMatchObject({ status: 200 })
    expect(await begin({ email, password: PASSWORD, code: c })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await begin({ email, password: next, code: d })).toMatchObject({ status: 200 })
  })

  test('its authenticator, once the new one has shown a code', async () => {
    const one = await world({ env: fastPasswords })
    const { api, send, email, code, recovery_codes } = await joinOrganization(one, one)
    one.advanceTime(60 * SECOND)
    const { totp_secret, totp_uri } = await api.renewSecondFactor({ body: { password: PASSWORD, code: code() } })
    expect(totp_uri).toContain(`secret=${totp_secret}&`)
    expect(await send(endpoints.confirmSecondFactor, { body: { code: 'abcdef' } })).toMatchObject(refusedFor(400, 'WRONG_CODE'))
    const newCode = () => codeAt(fromBase32(totp_secret), stepAt(one.app.wall()))
    const confirmed = await api.confirmSecondFactor({ body: { code: newCode() } })
    expect(confirmed.recovery_codes).toHaveLength(10)
    one.advanceTime(60 * SECOND)
    for (const old of [code(), recovery_codes[0]])
      expect(await begin({ email, password: PASSWORD, code: old }, one)).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await begin({ email, password: PASSWORD, code: newCode() }, one)).toMatchObject({ status: 200 })
  })

  test('nothing of that where a key has signed in', async () => {
    const { send } = await signIn(w.base, { management_key: w.management_key })
    const body = { password: PASSWORD, code: '1', new_password: PASSWORD }
    for (const row of [endpoints.changePassword, endpoints.renewSecondFactor, endpoints.confirmSecondFactor])
      expect(await send(row, { body })).toMatchObject(refusedFor(400, 'NOT_A_PERSON'))
  })
})

describe('people of another organisation', () => {
  test('are answered like nobody', async () => {
    const [mine, theirs] = [await w.tenant(), await w.tenant()]
    const { session } = await joinOrganization(w, theirs)
    await theirs.admin.createInvite({ params: theirs, body: { email: 'pending@harbour.example' } })
    const [invite] = (await theirs.admin.listInvites({ params: theirs })).invites
    const { admin, org_id } = mine
    for (const person_id of [session.person?.id as string, newUuid()]) {
      const params = { org_id, person_id }
      const nobody = { status: 404, detail: { error_type: 'PERSON_NOT_FOUND' } }
      expect(await errorOf(admin.patchMember({ params, body: { role: 'no_role' } }))).toMatchObject(nobody)
      expect(await errorOf(admin.deleteMember({ params }))).toMatchObject(nobody)
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

  test('and their email addresses are not told by inviting them', async () => {
    const { email } = await joinOrganization(w, await w.tenant())
    const { admin, org_id } = await w.tenant()
    expect(await admin.createInvite({ params: { org_id }, body: { email } })).toMatchObject({ status: 'invite_created' })
  })
})

test('members are found by a part of their name or email, and listed in pages', async () => {
  const tenant = await w.tenant()
  const { admin, org_id } = tenant
  await joinOrganization(w, tenant, { email: 'harriet@harbour.example' })
  await joinOrganization(w, tenant, { email: 'wilfred@harbour.example' })
  const emails = async (search_query: string) =>
    (await admin.listMembers({ params: { org_id }, query: { search_query } })).members.map(({ email }) => email)
  expect(await emails('HARRI')).toEqual(['harriet@harbour.example'])
  expect(await emails('ottoline')).toHaveLength(2)
  expect(await emails('nobody')).toEqual([])
})

test('what a person does is on the person, in the audit log and on the keys it makes', async () => {
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
  const rows = await query(w.url, 'select actor_kind, actor_id, via from audit_log where request_id = any($1)', [[data, managed]])
  expect(rows).toEqual([
    { actor_kind: 'person', actor_id, via: 'console' },
    { actor_kind: 'person', actor_id, via: 'console' },
  ])
  const made = (await admin.listManagementKeys({ params: { org_id } })).data.find((key) => key.label === 'by a person')
  expect(made?.creator).toEqual({ type: 'org_member', id: actor_id })
  expect(await errorOf(api.createAccessToken({ params: { org_id, team_id }, body: { env: 'sandbox' } }))).toMatchObject({
    status: 403,
    detail: { error_type: 'MANAGEMENT_KEY_REQUIRED' },
  })
})

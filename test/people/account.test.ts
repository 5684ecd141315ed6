import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { consoleHeaders, fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const beginSession = (body: object) => sendRequest(w.base, endpoints.beginSession, { body, headers: consoleHeaders })
const auditOf = (request_id: string) =>
  query(w.url, `select action, actor_kind, actor_id, status, via from ${auditRows} where request_id = $1`, [request_id])

describe('recovery codes', () => {
  test('replaces the codes with a password and a code, invalidates the old ones and writes an audit entry', async () => {
    const { send, email, recovery_codes, session } = await joinOrganization(w, await w.tenant())
    const [a, b, old] = recovery_codes as [string, string, string]
    const renew = (body: object, request_id = newUuid()) =>
      send(endpoints.renewRecoveryCodes, { body, headers: { 'x-request-id': request_id } })
    expect(await renew({ password: 'wrong lantern here', code: a })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    const request_id = newUuid()
    const { status, body } = await renew({ password: PASSWORD, code: b }, request_id)
    const codes = (body as { recovery_codes: string[] }).recovery_codes
    expect([status, codes.length, new Set([...codes, ...recovery_codes]).size]).toEqual([200, 10, 20])
    expect(await beginSession({ email, password: PASSWORD, code: old })).toMatchObject(refusedFor(401, 'SIGN_IN_REFUSED'))
    expect(await beginSession({ email, password: PASSWORD, code: codes[0] })).toMatchObject({ status: 200 })
    expect(await auditOf(request_id)).toEqual([
      { action: 'renewRecoveryCodes', actor_kind: 'person', actor_id: session.person?.id, status: 200, via: 'console' },
    ])
  })

  test('counts the remaining codes', async () => {
    const { api, email, recovery_codes } = await joinOrganization(w, await w.tenant())
    expect(await api.getAccount()).toMatchObject({ recovery_codes_left: 10 })
    await signIn(w.base, { email, password: PASSWORD, code: recovery_codes[0] })
    expect(await api.getAccount()).toMatchObject({ recovery_codes_left: 9 })
  })

  test('limits renewal after ten wrong attempts', async () => {
    const { send, recovery_codes } = await joinOrganization(w, await w.tenant())
    const guess = { password: 'wrong lantern here', code: '000000' }
    for (const _ of Array(10)) expect(await send(endpoints.renewRecoveryCodes, { body: guess })).toMatchObject({ status: 401 })
    const right = { password: PASSWORD, code: recovery_codes[0] }
    expect(await send(endpoints.renewRecoveryCodes, { body: right })).toMatchObject(refusedFor(429, 'TOO_MANY_SIGN_INS'))
  })
})

test('limits confirming a new authenticator after ten wrong codes', async () => {
  const { send, recovery_codes, code } = await joinOrganization(w, await w.tenant())
  const proof = { password: PASSWORD, code: recovery_codes[0] }
  expect(await send(endpoints.renewSecondFactor, { body: proof })).toMatchObject({ status: 200 })
  // A code from the old authenticator counts as a wrong code.
  for (const _ of Array(10))
    expect(await send(endpoints.confirmSecondFactor, { body: { code: code() } })).toMatchObject({
      body: { detail: { error_type: 'WRONG_CODE' } },
    })
  expect(await send(endpoints.confirmSecondFactor, { body: { code: code() } })).toMatchObject(refusedFor(429, 'TOO_MANY_SIGN_INS'))
})

describe('sessions', () => {
  test('lists the sessions of a person, marks the current one and ends the others', async () => {
    const tenant = await w.tenant()
    const { api, send, email, recovery_codes, session } = await joinOrganization(w, tenant)
    const [a, b] = recovery_codes as [string, string]
    const otherSessions = [
      await signIn(w.base, { email, password: PASSWORD, code: a }),
      await signIn(w.base, { email, password: PASSWORD, code: b }),
    ]
    const other = await joinOrganization(w, tenant)
    const account = await api.getAccount()
    expect(account).toMatchObject({ person: { id: session.person?.id, name: 'Ottoline Keeper', email }, role: 'org_admin' })
    expect(account.sessions.filter(({ current }) => current).map(({ id }) => id)).toEqual([session.id])
    expect(account.sessions).toHaveLength(3)

    const request_id = newUuid()
    expect(await send(endpoints.endOtherSessions, { headers: { 'x-request-id': request_id } })).toMatchObject({ body: { ended: 2 } })
    for (const { send } of otherSessions) expect(await send(endpoints.getSession)).toMatchObject(refusedFor(401, 'SESSION_ENDED'))
    expect((await api.getAccount()).sessions).toMatchObject([{ id: session.id, current: true }])
    expect((await other.api.getAccount()).sessions).toHaveLength(1)
    expect(await auditOf(request_id)).toEqual([
      { action: 'endOtherSessions', actor_kind: 'person', actor_id: session.person?.id, status: 200, via: 'console' },
    ])
  })

  test('omits expired sessions', async () => {
    const instance = await world({ env: fastPasswords })
    const { api, email, recovery_codes, session } = await joinOrganization(instance, instance)
    await signIn(instance.base, { email, password: PASSWORD, code: recovery_codes[0] })
    instance.advanceTime(20 * MINUTE)
    await api.getSession()
    instance.advanceTime(20 * MINUTE)
    expect((await api.getAccount()).sessions).toMatchObject([{ id: session.id, current: true }])
  })
})

test('rejects account endpoints in a session that was started with a key', async () => {
  const { send } = await signIn(w.base, { management_key: w.management_key })
  const refused = refusedFor(400, 'NOT_A_PERSON')
  expect(await send(endpoints.getAccount)).toMatchObject(refused)
  expect(await send(endpoints.endOtherSessions)).toMatchObject(refused)
  expect(await send(endpoints.renewRecoveryCodes, { body: { password: PASSWORD, code: '1' } })).toMatchObject(refused)
  expect(await send(endpoints.getSession)).toMatchObject({ status: 200 })
})

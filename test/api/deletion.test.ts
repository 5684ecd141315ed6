import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { keyIdOf, open } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { DAY, later, MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { finishErasures } from '../support/erasure.ts'
import { moveAllEvents } from '../support/events.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { aNewOrder } from '../support/orders.ts'
import { people, someInfo, someInsurance } from '../support/people.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { tablesWith } from '../support/tables.ts'
import { errorOf, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const userBody = (change: object = {}) => ({ client_user_id: `user-${newUuid()}`, ...change })
const WEEK_SECONDS = (7 * DAY) / 1000

async function createDeletedUser(api: Tenant['api'] = w.api, body: { client_user_id: string } = userBody()) {
  const user = await api.createUser({ body })
  expect(await api.deleteUser({ params: user })).toEqual({ success: true })
  return user
}

describe('during the seven-day grace period', () => {
  test('every user endpoint returns 404 and mentions undo_delete', async () => {
    const user = await createDeletedUser()
    const params = { user_id: user.user_id }
    const calls = [
      w.api.getUser({ params }),
      w.api.patchUser({ params, body: { ingestion_start: null } }),
      w.api.deleteUser({ params }),
      w.api.getUserInfo({ params }),
      w.api.putUserInfo({ params, body: someInfo() }),
      w.api.getInsurance({ params }),
      w.api.createInsurance({ params, body: someInsurance() }),
    ]
    for (const response of await Promise.all(calls.map(errorOf)))
      expect(response).toMatchObject({
        status: 404,
        detail: { error_type: 'USER_SCHEDULED_FOR_DELETION', error_message: expect.stringContaining('undo_delete') },
      })
  })
  test('the user is not listed, counted, found or resolved', async () => {
    const { api } = await w.tenant()
    const user = await createDeletedUser(api)
    expect((await api.listUsers()).total).toBe(0)
    expect((await api.getMetrics()).number_of_users).toBe(0)
    expect(await api.searchUsers({ query: { query_id: user.user_id } })).toEqual([])
    expect(await errorOf(api.resolveUser({ params: user }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test('the user data is kept until the last minute', async () => {
    const { api } = await w.tenant()
    const user = await api.createUser({ body: userBody({ fallback_birth_date: people[0].dob }) })
    await api.putUserInfo({ params: user, body: someInfo() })
    await api.createInsurance({ params: user, body: someInsurance() })
    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS - 60 } })
    await w.runJobs()
    expect(await api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
    expect(await api.getUser({ params: user })).toEqual(user)
    expect(await api.getUserInfo({ params: user })).toMatchObject(people[0])
    expect(await api.getInsurance({ params: user })).toMatchObject({ insured: people[0] })
  })
})

describe('undoing a deletion', () => {
  test('works once, by user_id or client_user_id', async () => {
    const [first, second] = [await createDeletedUser(), await createDeletedUser()]
    expect(await w.api.undoDeleteUser({ query: { user_id: first.user_id } })).toEqual({ success: true })
    expect(await w.api.undoDeleteUser({ query: { client_user_id: second.client_user_id } })).toEqual({ success: true })
    for (const user of [first, second]) {
      expect(await w.api.getUser({ params: user })).toEqual(user)
      expect(await errorOf(w.api.undoDeleteUser({ query: { user_id: user.user_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'NO_DELETION_TO_UNDO' },
      })
    }
  })
  test('restarts the grace period when the user is deleted again', async () => {
    const { api } = await w.tenant()
    const user = await createDeletedUser(api)
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS - 60 } })
    await api.undoDeleteUser({ query: { user_id: user.user_id } })
    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS - 60 } })
    expect(await api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test.each([
    ['a query with neither ID', {}],
    ['a query with both IDs', { user_id: newUuid(), client_user_id: 'x' }],
    ['an empty client_user_id', { client_user_id: '' }],
    ['a user_id that is not a UUID', { user_id: 'x' }],
  ])('rejects %s', async (_, query) => {
    expect(await errorOf(w.api.undoDeleteUser({ query }))).toMatchObject({ status: 422, detail: [{ msg: expect.any(String) }] })
  })
  test('returns 409 while another user has the client_user_id', async () => {
    const user = await createDeletedUser()
    const successor = await w.api.createUser({ body: { client_user_id: user.client_user_id } })
    for (const query of [{ user_id: user.user_id }, { client_user_id: user.client_user_id }])
      expect(await errorOf(w.api.undoDeleteUser({ query }))).toMatchObject({
        status: 409,
        detail: { error_type: 'CLIENT_USER_ID_TAKEN', error_message: expect.stringContaining('client_user_id') },
      })
    await w.api.patchUser({ params: successor, body: { client_user_id: `renamed-${newUuid()}` } })
    expect(await w.api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('restores the most recently deleted user by client_user_id', async () => {
    const { api } = await w.tenant()
    const first = await createDeletedUser(api)
    await api.moveClock({ body: { advance_seconds: 60 } })
    const second = await createDeletedUser(api, { client_user_id: first.client_user_id })
    await api.undoDeleteUser({ query: { client_user_id: first.client_user_id } })
    expect((await api.resolveUser({ params: first })).user_id).toBe(second.user_id)
  })
  test('returns the 404 of an unknown ID to another team', async () => {
    const user = await createDeletedUser()
    const other = await w.tenant()
    const undo = (query: object) =>
      sendRequest(w.base, endpoints.undoDeleteUser, { query, headers: { 'x-service-api-key': other.team_api_key } })
    const random = await undo({ user_id: newUuid() })
    for (const response of [await undo({ user_id: user.user_id }), await undo({ client_user_id: user.client_user_id })])
      expect([response.status, response.body]).toEqual([404, random.body])
    expect(await w.api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('succeeds once for 20 concurrent requests', async () => {
    const user = await createDeletedUser()
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => errorOf(w.api.undoDeleteUser({ query: { user_id: user.user_id } }))),
    )
    expect(responses.map((response) => response.status).toSorted()).toEqual([200, ...Array(19).fill(404)])
  })
})

describe('after the grace period', () => {
  test('only the audit log mentions the user, and the encrypted data cannot be decrypted', async () => {
    const tenant = await w.tenant()
    const { api, team_id } = tenant
    const headers = { 'x-idempotency-key': newUuid() }
    const user = await api.createUser({ body: userBody({ fallback_birth_date: people[0].dob }), headers })
    await api.putUserInfo({ params: user, body: someInfo() })
    await api.createInsurance({ params: user, body: someInsurance(), headers })
    await moveAllEvents(w.app)
    const ciphertext = (await query<{ sealed: Buffer }>(w.url, 'select sealed from user_info where user_id = $1', [user.user_id]))[0]
      ?.sealed
    const key = await userSealingKey(w.app, team_id, user.user_id)
    expect(keyIdOf(ciphertext as Buffer)).toBe(key?.id)
    expect(await tablesWith(w.url, user.user_id)).toEqual([
      'audit_outbox',
      'events',
      'idempotency_keys',
      'sealing_keys',
      'user_info',
      'user_insurances',
      'users',
    ])

    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })
    await finishErasures(w)

    expect(await tablesWith(w.url, user.user_id)).toEqual(['audit_log', 'erasures'])
    const erasure = `select actor_kind, subject from ${auditRows} where action = 'eraseUser' and team_id = $1`
    expect(await query(w.url, erasure, [team_id])).toEqual([{ actor_kind: 'job', subject: `user_id:${user.user_id}` }])
    expect(await tablesWith(w.url, user.client_user_id)).toEqual([])
    expect(await tablesWith(w.url, key?.id as string)).toEqual(['erasures'])
    expect(await userSealingKey(w.app, team_id, user.user_id)).toBeUndefined()
    const others = await query<{ id: string }>(w.url, 'select id from sealing_keys')
    expect(others.map(({ id }) => id)).not.toContain(keyIdOf(ciphertext as Buffer))
    const sealingKeys = [...w.app.vault.teams.values(), ...w.app.vault.roots]
    for (const { key } of sealingKeys) expect(() => open(key, `user_info.sealed.${user.user_id}`, ciphertext as Buffer)).toThrow()
  })
  test('the deletion cannot be undone and the user is unknown', async () => {
    const { api } = await w.tenant()
    const user = await createDeletedUser(api)
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })
    for (const query of [{ user_id: user.user_id }, { client_user_id: user.client_user_id }])
      expect(await errorOf(api.undoDeleteUser({ query }))).toMatchObject({ status: 404, detail: { error_type: 'NO_DELETION_TO_UNDO' } })
    expect(await errorOf(api.getUser({ params: user }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test('the job erases the user, and undoing is rejected even before the job runs', async () => {
    const instance = await replica()
    const { api, team_id } = await instance.tenant()
    const user = await createDeletedUser(api)
    const kept = await api.createUser({ body: userBody() })
    instance.advanceTime(7 * DAY - MINUTE)
    await instance.runJobs()
    expect(await userSealingKey(instance.app, team_id, user.user_id)).toBeDefined()
    instance.advanceTime(MINUTE)
    expect((await errorOf(api.undoDeleteUser({ query: { user_id: user.user_id } }))).status).toBe(404)
    await finishErasures(instance)
    expect(await tablesWith(w.url, user.user_id)).toEqual(['audit_log', 'erasures'])
    expect(await api.getUser({ params: kept })).toEqual(kept)
  })
  test('two workers erase users concurrently', async () => {
    const [first, second] = [await replica(), await replica()]
    const { api } = await first.tenant()
    const users = await Promise.all(Array.from({ length: 12 }, () => createDeletedUser(api)))
    first.advanceTime(7 * DAY)
    second.advanceTime(7 * DAY)
    await Promise.all([first.runJobs(), second.runJobs()])
    const remaining = await query(w.url, 'select user_id from users where user_id = any($1)', [users.map((user) => user.user_id)])
    expect(remaining).toEqual([])
  })
})

test("the grace period starts at the deletion time on the team's clock", async () => {
  const { api } = await w.tenant()
  const { now } = await api.moveClock({ body: { advance_seconds: 90 * 24 * 3600 } })
  const user = await createDeletedUser(api)
  const [row] = await query<{ deleted_at: string; erase_at: string }>(w.url, 'select deleted_at, erase_at from users where user_id = $1', [
    user.user_id,
  ])
  expect(row?.erase_at).toBe(later(row?.deleted_at as string, 7 * DAY))
  expect(Date.parse(row?.deleted_at as string) - Date.parse(now)).toBeLessThan(MINUTE)
})

test.each([
  ['an existing lab test', {}],
  ['a new combination of markers', { order_set: { add_on: { marker_ids: [1001] } }, collection_method: 'walk_in_test' as const }],
])('returns 404 for an order of %s when the user is erased concurrently', async (_, change) => {
  const { api, team_id } = await w.tenant()
  const body = await aNewOrder(api, 'walk_in_test', change)
  let response: ReturnType<typeof errorOf> | undefined
  await w.app.db.transaction().execute(async (db) => {
    await db.deleteFrom('users').where('team_id', '=', team_id).where('user_id', '=', body.user_id).execute()
    response = errorOf(api.createOrder({ body }))
    await eventually(async () => (await lockWaits(w.url)).length > 0)
  })
  expect(await response).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  expect(await query(w.url, 'select from orders where user_id = $1', [body.user_id])).toEqual([])
})

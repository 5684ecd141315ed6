import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { keyIdOf, open } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { DAY, later, MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aNewOrder } from '../support/orders.ts'
import { people, someInfo, someInsurance } from '../support/people.ts'
import { eventually } from '../support/process.ts'
import { newUuid } from '../support/seeded.ts'
import { refusal, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const aUser = (change: object = {}) => ({ client_user_id: `user-${newUuid()}`, ...change })
const WEEK_SECONDS = (7 * DAY) / 1000

async function deleted(api: Tenant['api'] = w.api, body: { client_user_id: string } = aUser()) {
  const user = await api.createUser({ body })
  expect(await api.deleteUser({ params: user })).toEqual({ success: true })
  return user
}

/** The tables that mention an id, in whatever column. */
async function mentions(id: string) {
  const tables = await query<{ name: string }>(
    w.url,
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  )
  const each = tables.map(({ name }) => `select '${name}' as name where exists (select from ${name} t where strpos(t::text, $1) > 0)`)
  return (await query<{ name: string }>(w.url, `${each.join(' union all ')} order by name`, [id])).map(({ name }) => name)
}

describe('during the seven days of grace', () => {
  test('the user is gone for every call, and each says that it can be undone', async () => {
    const user = await deleted()
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
    for (const answer of await Promise.all(calls.map(refusal)))
      expect(answer).toMatchObject({
        status: 404,
        detail: { error_type: 'USER_SCHEDULED_FOR_DELETION', error_message: expect.stringContaining('undo_delete') },
      })
  })
  test('it is neither listed, counted, searched nor resolved', async () => {
    const { api } = await w.tenant()
    const user = await deleted(api)
    expect((await api.listUsers()).total).toBe(0)
    expect((await api.getMetrics()).number_of_users).toBe(0)
    expect(await api.searchUsers({ query: { query_id: user.user_id } })).toEqual([])
    expect(await refusal(api.resolveUser({ params: user }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test('everything of it is kept, up to the last moment', async () => {
    const { api } = await w.tenant()
    const user = await api.createUser({ body: aUser({ fallback_birth_date: people[0].dob }) })
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
  test('works by user_id and by client_user_id, once', async () => {
    const [one, two] = [await deleted(), await deleted()]
    expect(await w.api.undoDeleteUser({ query: { user_id: one.user_id } })).toEqual({ success: true })
    expect(await w.api.undoDeleteUser({ query: { client_user_id: two.client_user_id } })).toEqual({ success: true })
    for (const user of [one, two]) {
      expect(await w.api.getUser({ params: user })).toEqual(user)
      expect(await refusal(w.api.undoDeleteUser({ query: { user_id: user.user_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'NO_DELETION_TO_UNDO' },
      })
    }
  })
  test('starts a new week when the user is deleted again', async () => {
    const { api } = await w.tenant()
    const user = await deleted(api)
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS - 60 } })
    await api.undoDeleteUser({ query: { user_id: user.user_id } })
    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS - 60 } })
    expect(await api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test.each([
    ['neither id', {}],
    ['both ids', { user_id: newUuid(), client_user_id: 'x' }],
    ['an empty client_user_id', { client_user_id: '' }],
    ['no UUID', { user_id: 'x' }],
  ])('with %s is refused', async (_, query) => {
    expect(await refusal(w.api.undoDeleteUser({ query }))).toMatchObject({ status: 422, detail: [{ msg: expect.any(String) }] })
  })
  test('is blocked by a user who took the client_user_id since, and possible again without it', async () => {
    const user = await deleted()
    const successor = await w.api.createUser({ body: { client_user_id: user.client_user_id } })
    for (const query of [{ user_id: user.user_id }, { client_user_id: user.client_user_id }])
      expect(await refusal(w.api.undoDeleteUser({ query }))).toMatchObject({
        status: 409,
        detail: { error_type: 'CLIENT_USER_ID_TAKEN', error_message: expect.stringContaining('client_user_id') },
      })
    await w.api.patchUser({ params: successor, body: { client_user_id: `renamed-${newUuid()}` } })
    expect(await w.api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('by client_user_id takes the one that was deleted last', async () => {
    const { api } = await w.tenant()
    const first = await deleted(api)
    await api.moveClock({ body: { advance_seconds: 60 } })
    const second = await deleted(api, { client_user_id: first.client_user_id })
    await api.undoDeleteUser({ query: { client_user_id: first.client_user_id } })
    expect((await api.resolveUser({ params: first })).user_id).toBe(second.user_id)
  })
  test('in another team answers what a random id answers', async () => {
    const user = await deleted()
    const other = await w.tenant()
    const undo = (query: object) =>
      sendRequest(w.base, endpoints.undoDeleteUser, { query, headers: { 'x-service-api-key': other.team_api_key } })
    const random = await undo({ user_id: newUuid() })
    for (const answer of [await undo({ user_id: user.user_id }), await undo({ client_user_id: user.client_user_id })])
      expect([answer.status, answer.body]).toEqual([404, random.body])
    expect(await w.api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('twenty times at once succeeds once', async () => {
    const user = await deleted()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refusal(w.api.undoDeleteUser({ query: { user_id: user.user_id } }))))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array(19).fill(404)])
  })
})

describe('after the grace', () => {
  test('nothing but the audit log knows the user, and what was sealed for it cannot be opened', async () => {
    const tenant = await w.tenant()
    const { api, team_id } = tenant
    const headers = { 'x-idempotency-key': newUuid() }
    const user = await api.createUser({ body: aUser({ fallback_birth_date: people[0].dob }), headers })
    await api.putUserInfo({ params: user, body: someInfo() })
    await api.createInsurance({ params: user, body: someInsurance(), headers })
    const copy = (await query<{ sealed: Buffer }>(w.url, 'select sealed from user_info where user_id = $1', [user.user_id]))[0]?.sealed
    const key = await userSealingKey(w.app, team_id, user.user_id)
    expect(keyIdOf(copy as Buffer)).toBe(key?.id)
    expect(await mentions(user.user_id)).toEqual(['audit_log', 'idempotency_keys', 'sealing_keys', 'user_info', 'user_insurances', 'users'])

    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })

    expect(await mentions(user.user_id)).toEqual(['audit_log'])
    const erasure = "select actor_kind, subject from audit_log where action = 'eraseUser' and team_id = $1"
    expect(await query(w.url, erasure, [team_id])).toEqual([{ actor_kind: 'job', subject: `user_id:${user.user_id}` }])
    expect(await mentions(user.client_user_id)).toEqual([])
    expect(await mentions(key?.id as string)).toEqual([])
    expect(await userSealingKey(w.app, team_id, user.user_id)).toBeUndefined()
    const others = await query<{ id: string }>(w.url, 'select id from sealing_keys')
    expect(others.map(({ id }) => id)).not.toContain(keyIdOf(copy as Buffer))
    const teams = [...w.app.vault.teams.values(), w.app.vault.root]
    for (const left of teams) expect(() => open(left, `user_info.sealed.${user.user_id}`, copy as Buffer)).toThrow()
  })
  test('the deletion cannot be undone and the user is as unknown as any', async () => {
    const { api } = await w.tenant()
    const user = await deleted(api)
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })
    for (const query of [{ user_id: user.user_id }, { client_user_id: user.client_user_id }])
      expect(await refusal(api.undoDeleteUser({ query }))).toMatchObject({ status: 404, detail: { error_type: 'NO_DELETION_TO_UNDO' } })
    expect(await refusal(api.getUser({ params: user }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test('the job erases those whose time has come in real time, before which undoing is already refused', async () => {
    const days = await replica()
    const { api, team_id } = await days.tenant()
    const user = await deleted(api)
    const kept = await api.createUser({ body: aUser() })
    days.passes(7 * DAY - MINUTE)
    await days.runJobs()
    expect(await userSealingKey(days.app, team_id, user.user_id)).toBeDefined()
    days.passes(MINUTE)
    expect((await refusal(api.undoDeleteUser({ query: { user_id: user.user_id } }))).status).toBe(404)
    await days.runJobs()
    expect(await mentions(user.user_id)).toEqual(['audit_log'])
    expect(await api.getUser({ params: kept })).toEqual(kept)
  })
  test('two workers share the erasures of a night', async () => {
    const [one, two] = [await replica(), await replica()]
    const { api } = await one.tenant()
    const users = await Promise.all(Array.from({ length: 12 }, () => deleted(api)))
    one.passes(7 * DAY)
    two.passes(7 * DAY)
    await Promise.all([one.runJobs(), two.runJobs()])
    const left = await query(w.url, 'select user_id from users where user_id = any($1)', [users.map((user) => user.user_id)])
    expect(left).toEqual([])
  })
})

test('the grace is counted from the moment of deletion on the clock of the team', async () => {
  const { api } = await w.tenant()
  const { now } = await api.moveClock({ body: { advance_seconds: 90 * 24 * 3600 } })
  const user = await deleted(api)
  const [row] = await query<{ deleted_at: string; erase_at: string }>(w.url, 'select deleted_at, erase_at from users where user_id = $1', [
    user.user_id,
  ])
  expect(row?.erase_at).toBe(later(row?.deleted_at as string, 7 * DAY))
  expect(Date.parse(row?.deleted_at as string) - Date.parse(now)).toBeLessThan(MINUTE)
})

test.each([
  ['placed at once', {}],
  ['placed with a new combination of tests', { order_set: { add_on: { marker_ids: [1001] } }, collection_method: 'walk_in_test' as const }],
])('an order that is %s for a user who is erased at that moment finds no such user, and nothing is written', async (_, change) => {
  const { api } = await w.tenant()
  const body = await aNewOrder(api, 'walk_in_test', change)
  const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  let answer: ReturnType<typeof refusal> | undefined
  await w.app.db.transaction().execute(async (db) => {
    await db.deleteFrom('users').where('user_id', '=', body.user_id).execute()
    answer = refusal(api.createOrder({ body }))
    await eventually(async () => (await query(w.url, waits)).length > 0)
  })
  expect(await answer).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  expect(await query(w.url, 'select from orders where user_id = $1', [body.user_id])).toEqual([])
})

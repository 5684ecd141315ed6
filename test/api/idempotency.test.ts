import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Reply, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { handlers } from '../../src/http/handlers.ts'
import type { AnyHandler } from '../../src/http/request.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { keyIdOf } from '../../src/platform/sealing/seal.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { people, someInsurance } from '../support/people.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { type Replica, replica, type Tenant } from '../support/world.ts'

let replicaA: Replica
let replicaB: Replica
/** A replica whose createInsurance pauses inside its transaction until the test opens the gate. */
let slowReplica: Replica
let gate: Gate
let tenant: Tenant
beforeAll(async () => {
  gate = closedGate()
  replicaA = await replica()
  replicaB = await replica()
  slowReplica = await replica({ table: { endpoints, handlers: { ...handlers, createInsurance: pausingCreateInsurance as AnyHandler } } })
  tenant = await replicaA.tenant()
})
afterEach(() => {
  gate.open()
  gate = closedGate()
})

let stoppedAt: number
function stopTime() {
  stoppedAt = Date.now()
  for (const { stopTime } of [replicaA, replicaB, slowReplica]) stopTime(stoppedAt)
}
function resumeTime() {
  for (const { resumeTime } of [replicaA, replicaB, slowReplica]) resumeTime()
}

type Gate = { entered: Promise<void>; enter(): void; opened: Promise<void>; open(): void }
function closedGate(): Gate {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return { entered: entered.promise, enter: entered.resolve, opened: opened.promise, open: opened.resolve }
}

const pausingCreateInsurance: typeof handlers.createInsurance = (app, caller, input) =>
  inTransaction(app, async (app) => {
    const { enter, opened } = gate
    enter()
    await opened
    return handlers.createInsurance(app, caller, input)
  })

type RequestOptions = { key?: string; error?: string; sender?: Tenant; at?: Replica }
const headersOf = ({ key, error, sender = tenant }: RequestOptions) => ({
  'x-service-api-key': sender.team_api_key,
  ...(key === undefined ? {} : { 'x-idempotency-key': key }),
  ...(error === undefined ? {} : { 'x-idempotency-error': error }),
})
const create = (body: object, options: RequestOptions) =>
  sendRequest((options.at ?? replicaA).base, endpoints.createUser, { body, headers: headersOf(options) })
const insure = (user_id: string, options: RequestOptions, body: object = someInsurance()) =>
  sendRequest((options.at ?? replicaA).base, endpoints.createInsurance, { params: { user_id }, body, headers: headersOf(options) })

const userBody = (change: object = {}) => ({ client_user_id: `user-${newUuid()}`, ...change })
const userOf = ({ body }: Reply) => (body as { user_id: string }).user_id
const isReplay = ({ headers }: Reply) => headers.get('x-idempotency-replayed') === 'true'
const errorType = ({ body }: Reply) => (body as { detail: { error_type?: string } }).detail.error_type
const insurancesOf = async (user_id: string) =>
  (await query<{ id: string }>(replicaA.url, 'select id from user_insurances where user_id = $1', [user_id])).length
const rowsOf = (team_id: string) =>
  query<{ status: number | null; sealed: Buffer; user_id: string | null }>(
    replicaA.url,
    'select * from idempotency_keys where team_id = $1',
    [team_id],
  )

describe('a repeated request', () => {
  test('replays the status and body of a success and marks the replay', async () => {
    const key = newUuid()
    const body = userBody({ fallback_birth_date: people[0].dob })
    const first = await create(body, { key })
    await tenant.api.patchUser({ params: { user_id: userOf(first) }, body: { fallback_birth_date: null } })
    const second = await create(body, { key })
    expect([first.status, isReplay(first)]).toEqual([200, false])
    expect([second.status, isReplay(second)]).toEqual([200, true])
    expect(second.body).toEqual(first.body)
  })
  test('creates one insurance for repeated requests on two replicas', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const responses = [await insure(user_id, { key }), await insure(user_id, { key }), await insure(user_id, { key, at: replicaB })]
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200])
    expect(responses[2]?.body).toEqual(responses[0]?.body)
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('replays a rejection even after its cause is gone', async () => {
    const body = userBody()
    const holder = userOf(await create(body, {}))
    const key = newUuid()
    const first = await create(body, { key })
    expect(first).toMatchObject({ status: 400, body: { detail: { user_id: holder } } })
    await tenant.api.deleteUser({ params: { user_id: holder } })
    const second = await create(body, { key })
    expect([second.status, isReplay(second), second.body]).toEqual([400, true, first.body])
  })
  test('replays a 404 even after the user is restored', async () => {
    const user_id = userOf(await create(userBody(), {}))
    await tenant.api.deleteUser({ params: { user_id } })
    const key = newUuid()
    const first = await insure(user_id, { key })
    await tenant.api.undoDeleteUser({ query: { user_id } })
    const second = await insure(user_id, { key })
    expect([first.status, second.status, isReplay(second)]).toEqual([404, 404, true])
    expect(second.body).toEqual(first.body)
    expect((await insure(user_id, { key: newUuid() })).status).toBe(200)
  })
  test('returns 404 while its user is scheduled for deletion and replays after the undo', async () => {
    const [key, body] = [newUuid(), userBody({ fallback_birth_date: people[0].dob })]
    const created = await create(body, { key })
    const user_id = userOf(created)
    const insured = await insure(user_id, { key })
    await tenant.api.deleteUser({ params: { user_id } })
    for (const response of [await create(body, { key }), await insure(user_id, { key, at: replicaB })])
      expect([response.status, errorType(response)]).toEqual([404, 'USER_SCHEDULED_FOR_DELETION'])
    await tenant.api.undoDeleteUser({ query: { user_id } })
    for (const [first, again] of [
      [created, await create(body, { key })],
      [insured, await insure(user_id, { key })],
    ] as const)
      expect([again.status, isReplay(again), again.body]).toEqual([200, true, first.body])
  })
  test('does not store a validation error', async () => {
    const key = newUuid()
    expect((await create({}, { key })).status).toBe(422)
    expect((await create(userBody({ fallback_time_zone: 'Mars/Olympus' }), { key })).status).toBe(422)
    const right = await create(userBody(), { key })
    expect([right.status, isReplay(right)]).toEqual([200, false])
  })
  test('is executed every time without a key', async () => {
    const user_id = userOf(await create(userBody(), {}))
    await Promise.all([insure(user_id, {}), insure(user_id, {})])
    expect(await insurancesOf(user_id)).toBe(2)
  })
})

describe('an idempotency key', () => {
  test('returns 409 for another body or another user and changes nothing', async () => {
    const key = newUuid()
    const body = userBody()
    const first = await create(body, { key })
    const reused = await create(userBody(), { key })
    expect([reused.status, errorType(reused)]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    expect((await create(body, { key })).body).toEqual(first.body)

    const insured = userOf(first)
    const other = userOf(await create(userBody(), {}))
    await insure(insured, { key })
    expect(errorType(await insure(other, { key }))).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await insurancesOf(other)).toBe(0)
  })
  test('matches requests by known fields in any order', async () => {
    const key = newUuid()
    const { client_user_id } = userBody()
    const first = await create({ client_user_id, fallback_time_zone: 'Europe/Berlin' }, { key })
    const again = await create({ unknown: true, fallback_time_zone: 'Europe/Berlin', client_user_id }, { key })
    expect([again.status, isReplay(again)]).toEqual([200, true])
    expect(again.body).toEqual(first.body)
  })
  test('is scoped to one team and one operation', async () => {
    const key = newUuid()
    const body = userBody()
    const theirs = await replicaA.tenant()
    const [mine, other] = [await create(body, { key }), await create(body, { key, sender: theirs })]
    expect([mine.status, other.status, isReplay(other)]).toEqual([200, 200, false])
    const insured = await insure(userOf(mine), { key })
    expect([insured.status, isReplay(insured)]).toEqual([200, false])
  })
  test.each([
    ['is empty', ''],
    ['has 256 characters', 'k'.repeat(256)],
  ])('is rejected when it %s', async (_, key) => {
    expect(await create(userBody(), { key })).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'X-Idempotency-Key'] }] } })
  })
  test.each(['k', 'k'.repeat(255), "'; drop table users; --"])('is accepted: %s', async (key) => {
    const sender = await replicaA.tenant()
    const body = userBody()
    const [first, second] = [await create(body, { key, sender }), await create(body, { key, sender })]
    expect([first.status, second.body]).toEqual([200, first.body])
  })
})

describe('X-Idempotency-Error', () => {
  test('no-cache stores a success but not a rejection', async () => {
    const options = { key: newUuid(), error: 'no-cache' }
    const body = userBody()
    const holder = userOf(await create(body, {}))
    expect((await create(body, options)).status).toBe(400)
    await tenant.api.deleteUser({ params: { user_id: holder } })
    const executed = await create(body, options)
    const again = await create(body, options)
    expect([executed.status, isReplay(executed)]).toEqual([200, false])
    expect([again.body, isReplay(again)]).toEqual([executed.body, true])
  })
  test.each(['cache', 'No-Cache', '', 'no-cache, no-store'])('"%s" is rejected', async (error) => {
    const response = await create(userBody(), { key: newUuid(), error })
    expect(response).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'X-Idempotency-Error'] }] } })
  })
})

describe('concurrent requests', () => {
  // A request gives up after ten seconds, and this many of them may take longer than that.
  beforeAll(stopTime)
  afterAll(resumeTime)

  test('with one key on two replicas execute once and get the same response', async () => {
    const sender = await replicaA.tenant()
    const key = newUuid()
    const body = userBody()
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => create(body, { key, sender, at: i % 2 ? replicaA : replicaB })),
    )
    expect(responses.map((response) => response.status)).toEqual(Array(100).fill(200))
    expect(new Set(responses.map((response) => JSON.stringify(response.body))).size).toBe(1)
    expect(responses.filter(isReplay)).toHaveLength(99)
    expect((await sender.api.listUsers()).total).toBe(1)
  })
  test('with one key replay a single rejection', async () => {
    const sender = await replicaA.tenant()
    const body = userBody()
    await create(body, { sender })
    const key = newUuid()
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => create(body, { key, sender, at: i % 2 ? replicaA : replicaB })),
    )
    expect(responses.map((response) => response.status)).toEqual(Array(100).fill(400))
    expect(responses.filter(isReplay)).toHaveLength(99)
  })
  test('wait for the outcome of a request in flight on any replica', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const first = insure(user_id, { key, at: slowReplica })
    await gate.entered
    const waiting = [insure(user_id, { key, at: slowReplica }), insure(user_id, { key, at: replicaB })]
    expect(errorType(await insure(user_id, { key, at: replicaB }, someInsurance({ payor_code: 'SILVR' })))).toBe('IDEMPOTENCY_KEY_REUSED')
    gate.open()
    const outcome = await first
    expect(outcome.status).toBe(200)
    for (const response of await Promise.all(waiting)) {
      expect([response.status, response.body, isReplay(response)]).toEqual([200, outcome.body, true])
    }
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('execute after waiting for an outcome that is not stored', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const options = { key: newUuid(), error: 'no-cache' }
    const first = insure(user_id, { ...options, at: slowReplica })
    await gate.entered
    const waiting = insure(user_id, { ...options, at: replicaB })
    await tenant.api.deleteUser({ params: { user_id } })
    gate.open()
    const responses = [await first, await waiting]
    expect(responses.map((response) => [response.status, isReplay(response)])).toEqual([
      [404, false],
      [404, false],
    ])
    await tenant.api.undoDeleteUser({ query: { user_id } })
    expect((await insure(user_id, options)).status).toBe(200)
  })
  test('do not block others when more wait than there are database connections', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const requests = [insure(user_id, { key, at: slowReplica })]
    await gate.entered
    let settledCount = 0
    for (let i = 0; i < 40; i++)
      requests.push(
        insure(user_id, { key, at: slowReplica }).finally(() => {
          settledCount++
        }),
      )
    const unrelated = { params: { user_id }, headers: headersOf({}) }
    for (let i = 0; i < 20; i++) expect((await sendRequest(slowReplica.base, endpoints.getUser, unrelated)).status).toBe(200)
    expect((await create(userBody(), { key: newUuid(), at: slowReplica })).status).toBe(200)
    expect(settledCount).toBe(0)
    gate.open()
    expect((await Promise.all(requests)).map((response) => response.status)).toEqual(Array(41).fill(200))
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('get 409 after waiting too long and the outcome on a retry', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const impatient = await replica()
    // The lease, which is also renewed, outlasts the wait on the clock of the other replica.
    slowReplica.advanceTime(365 * DAY)
    const first = insure(user_id, { key, at: slowReplica })
    await gate.entered
    const response = await advanceUntilDone(impatient, insure(user_id, { key, at: impatient }))
    expect([response.status, errorType(response)]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT'])
    gate.open()
    const outcome = await first
    slowReplica.advanceTime(-365 * DAY)
    const again = await insure(user_id, { key, at: impatient })
    expect([again.status, again.body, isReplay(again)]).toEqual([200, outcome.body, true])
  })
})

/** Advances the clock of a replica until the response arrives. */
async function advanceUntilDone({ advanceTime, url }: Replica, response: Promise<Reply>) {
  let done = false
  const settled = response.finally(() => {
    done = true
  })
  while (!done) {
    // Each round trip gives the request time to run.
    await query(url, 'select')
    advanceTime(SECOND)
  }
  return settled
}

test('a request that takes longer than a lease keeps its key', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const user_id = userOf(await create(userBody(), {}))
  const key = newUuid()
  stopTime()
  onTestFinished(resumeTime)
  const replicas = [replicaA, replicaB, slowReplica]
  const slow = insure(user_id, { key, at: slowReplica })
  await gate.entered
  const leasedUntil = async () => {
    const rows = await query<{ leased_until: Date }>(replicaA.url, 'select leased_until from idempotency_keys where status is null')
    return rows[0]?.leased_until
  }
  for (let i = 0; i < 3; i++) {
    const before = await leasedUntil()
    for (const { advanceTime } of replicas) advanceTime(10 * SECOND)
    onTestFinished(() => replicas.forEach(({ advanceTime }) => void advanceTime(-10 * SECOND)))
    vi.advanceTimersByTime(10 * SECOND)
    await eventually(async () => String(await leasedUntil()) !== String(before))
  }
  const retry = insure(user_id, { key, at: replicaB })
  gate.open()
  expect((await retry).body).toEqual((await slow).body)
  expect([(await slow).status, isReplay(await retry)]).toEqual([200, true])
  expect(await insurancesOf(user_id)).toBe(1)
})

describe('after a process dies', () => {
  test('another replica takes over the key when the lease ends, and the stalled request cannot commit', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const stalled = insure(user_id, { key, at: slowReplica })
    await gate.entered
    const laterReplica = await replica()
    laterReplica.advanceTime(16 * SECOND)
    const takeover = await insure(user_id, { key, at: laterReplica })
    expect([takeover.status, isReplay(takeover)]).toEqual([200, false])
    gate.open()
    const late = await stalled
    expect([late.status, errorType(late)]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT'])
    expect(await insurancesOf(user_id)).toBe(1)
    expect((await insure(user_id, { key, at: slowReplica })).body).toEqual(takeover.body)
  })
  test('the key stays with the process until the lease ends', async () => {
    const user_id = userOf(await create(userBody(), {}))
    const key = newUuid()
    const otherReplica = await replica()
    stopTime()
    onTestFinished(resumeTime)
    otherReplica.stopTime(stoppedAt)
    otherReplica.advanceTime(9 * SECOND)
    const stalled = insure(user_id, { key, at: slowReplica })
    await gate.entered
    const waiting = insure(user_id, { key, at: otherReplica })
    gate.open()
    expect((await waiting).body).toEqual((await stalled).body)
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('a takeover restarts the retention of the outcome', async () => {
    const sender = await replicaA.tenant()
    const body = userBody()
    const key = newUuid()
    await create(body, { key, sender })
    await query(
      replicaA.url,
      `update idempotency_keys set status = null, sealed = null, user_id = null, leased_until = now(), created_at = now() - interval '24 hours 50 minutes'
       where team_id = $1`,
      [sender.team_id],
    )
    const laterReplica = await replica()
    laterReplica.advanceTime(MINUTE)
    const outcome = await create(body, { key, sender, at: laterReplica })
    expect(isReplay(outcome)).toBe(false)
    laterReplica.advanceTime(23 * HOUR)
    await laterReplica.runJobs()
    expect(isReplay(await create(body, { key, sender, at: laterReplica }))).toBe(true)
  })
})

describe('stored outcomes', () => {
  test('are kept for 24 hours, then pruned so that the key starts a new request', async () => {
    const sender = await replicaA.tenant()
    const instance = await replica()
    const key = newUuid()
    const body = userBody()
    const first = await create(body, { key, sender, at: instance })
    instance.advanceTime(24 * HOUR)
    await instance.runJobs()
    expect((await create(body, { key, sender, at: instance })).body).toEqual(first.body)
    instance.advanceTime(2 * HOUR)
    await instance.runJobs()
    expect(await rowsOf(sender.team_id)).toEqual([])
    expect(await create(body, { key, sender, at: instance })).toMatchObject({ status: 400, body: { detail: { user_id: userOf(first) } } })
  })
  test('roll back with the action when the commit fails', async () => {
    const sender = await replicaA.tenant()
    const body = { client_user_id: `doomed-${newUuid()}` }
    const key = newUuid()
    await query(replicaA.url, "create function doom() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$")
    await query(
      replicaA.url,
      `create constraint trigger doom after insert on users deferrable initially deferred
         for each row when (new.client_user_id like 'doomed-%') execute function doom()`,
    )
    expect((await create(body, { key, sender })).status).toBe(500)
    expect(await rowsOf(sender.team_id)).toEqual([])
    expect((await sender.api.listUsers()).total).toBe(0)
    await query(replicaA.url, 'drop function doom cascade')
    const second = await create(body, { key, sender })
    expect([second.status, isReplay(second)]).toEqual([200, false])
  })
  test("are encrypted with the user's key and erased with the user", async () => {
    const sender = await replicaA.tenant()
    const body = userBody({ fallback_birth_date: people[1].dob })
    const key = newUuid()
    const user_id = userOf(await create(body, { key, sender }))
    await insure(user_id, { key, sender })
    const stored = await rowsOf(sender.team_id)
    const userKey = await keyOf(user_id)
    expect(stored.map((row) => [row.status, row.user_id, keyIdOf(row.sealed)])).toEqual(Array(2).fill([200, user_id, userKey]))

    await sender.api.deleteUser({ params: { user_id } })
    await sender.api.moveClock({ body: { advance_seconds: 7 * 24 * 3600 } })
    expect(await rowsOf(sender.team_id)).toEqual([])
    expect(await keyOf(user_id)).toBeUndefined()
    const recreated = await create(body, { key, sender })
    expect([recreated.status, isReplay(recreated)]).toEqual([200, false])
    expect(userOf(recreated)).not.toBe(user_id)
  })
  test('belong to the created user, not to a user_id in the body', async () => {
    const sender = await replicaA.tenant()
    const other = userOf(await create(userBody(), { sender }))
    const created = userOf(await create(userBody({ user_id: other }), { key: 'with-user-id', sender }))
    expect(created).not.toBe(other)
    expect((await rowsOf(sender.team_id)).map((row) => row.user_id)).toEqual([created])
  })
  test('cannot be decrypted after being copied to another key', async () => {
    const sender = await replicaA.tenant()
    const user_id = userOf(await create(userBody(), { key: 'one', sender }))
    await insure(user_id, { key: 'two', sender })
    await query(
      replicaA.url,
      `update idempotency_keys to_row set sealed = from_row.sealed from idempotency_keys from_row
       where to_row.team_id = $1 and from_row.team_id = $1 and to_row.operation = 'createInsurance' and from_row.operation = 'createUser'`,
      [sender.team_id],
    )
    expect((await insure(user_id, { key: 'two', sender })).status).toBe(500)
  })
})

const keyOf = async (user_id: string) =>
  (await query<{ id: string }>(replicaA.url, 'select id from sealing_keys where user_id = $1', [user_id]))[0]?.id

import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Reply, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { handlers } from '../../src/http/handlers.ts'
import type { AnyHandler } from '../../src/http/request.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { keyIdOf } from '../../src/platform/sealing/seal.ts'
import { HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { people, someInsurance } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { type Replica, replica, type Tenant } from '../support/world.ts'

let here: Replica
let there: Replica
/** A replica whose insurances stop inside their transaction until the test lets them go on. */
let slow: Replica
let gate: Gate
let tenant: Tenant
beforeAll(async () => {
  gate = closedGate()
  here = await replica()
  there = await replica()
  slow = await replica({ table: { endpoints, handlers: { ...handlers, createInsurance: stopping as AnyHandler } } })
  tenant = await here.tenant()
})
afterEach(() => {
  gate.open()
  gate = closedGate()
})

type Gate = { entered: Promise<void>; enter(): void; opened: Promise<void>; open(): void }
function closedGate(): Gate {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return { entered: entered.promise, enter: entered.resolve, opened: opened.promise, open: opened.resolve }
}

const stopping: typeof handlers.createInsurance = (app, caller, input) =>
  inTransaction(app, async (app) => {
    const { enter, opened } = gate
    enter()
    await opened
    return handlers.createInsurance(app, caller, input)
  })

type Sent = { key?: string; error?: string; by?: Tenant; at?: Replica }
const headersOf = ({ key, error, by = tenant }: Sent) => ({
  'x-service-api-key': by.team_api_key,
  ...(key === undefined ? {} : { 'x-idempotency-key': key }),
  ...(error === undefined ? {} : { 'x-idempotency-error': error }),
})
const create = (body: object, sent: Sent) => sendRequest((sent.at ?? here).base, endpoints.createUser, { body, headers: headersOf(sent) })
const insure = (user_id: string, sent: Sent, body: object = someInsurance()) =>
  sendRequest((sent.at ?? here).base, endpoints.createInsurance, { params: { user_id }, body, headers: headersOf(sent) })

const aUser = (change: object = {}) => ({ client_user_id: `user-${newUuid()}`, ...change })
const userOf = ({ body }: Reply) => (body as { user_id: string }).user_id
const replayed = ({ headers }: Reply) => headers.get('x-idempotency-replayed') === 'true'
const errorType = ({ body }: Reply) => (body as { detail: { error_type?: string } }).detail.error_type
const insurancesOf = async (user_id: string) =>
  (await query<{ id: string }>(here.url, 'select id from user_insurances where user_id = $1', [user_id])).length
const rowsOf = (team_id: string) =>
  query<{ status: number | null; sealed: Buffer; user_id: string | null }>(here.url, 'select * from idempotency_keys where team_id = $1', [
    team_id,
  ])

describe('the first outcome is every outcome', () => {
  test('a success is replayed with status and body, and says so', async () => {
    const key = newUuid()
    const body = aUser({ fallback_birth_date: people[0].dob })
    const first = await create(body, { key })
    await tenant.api.patchUser({ params: { user_id: userOf(first) }, body: { fallback_birth_date: null } })
    const second = await create(body, { key })
    expect([first.status, replayed(first)]).toEqual([200, false])
    expect([second.status, replayed(second)]).toEqual([200, true])
    expect(second.body).toEqual(first.body)
  })
  test('a user is insured once, however often it is sent', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const answers = [await insure(user_id, { key }), await insure(user_id, { key }), await insure(user_id, { key, at: there })]
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    expect(answers[2]?.body).toEqual(answers[0]?.body)
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('a refusal is replayed even after its cause is gone', async () => {
    const body = aUser()
    const holder = userOf(await create(body, {}))
    const key = newUuid()
    const first = await create(body, { key })
    expect(first).toMatchObject({ status: 400, body: { detail: { user_id: holder } } })
    await tenant.api.deleteUser({ params: { user_id: holder } })
    const second = await create(body, { key })
    expect([second.status, replayed(second), second.body]).toEqual([400, true, first.body])
  })
  test('a 404 is replayed even after the user is back', async () => {
    const user_id = userOf(await create(aUser(), {}))
    await tenant.api.deleteUser({ params: { user_id } })
    const key = newUuid()
    const first = await insure(user_id, { key })
    await tenant.api.undoDeleteUser({ query: { user_id } })
    const second = await insure(user_id, { key })
    expect([first.status, second.status, replayed(second)]).toEqual([404, 404, true])
    expect(second.body).toEqual(first.body)
    expect((await insure(user_id, { key: newUuid() })).status).toBe(200)
  })
  test('for a user who awaits deletion nothing is replayed until it is undone', async () => {
    const [key, body] = [newUuid(), aUser({ fallback_birth_date: people[0].dob })]
    const created = await create(body, { key })
    const user_id = userOf(created)
    const insured = await insure(user_id, { key })
    await tenant.api.deleteUser({ params: { user_id } })
    for (const answer of [await create(body, { key }), await insure(user_id, { key, at: there })])
      expect([answer.status, errorType(answer)]).toEqual([404, 'USER_SCHEDULED_FOR_DELETION'])
    await tenant.api.undoDeleteUser({ query: { user_id } })
    for (const [first, again] of [
      [created, await create(body, { key })],
      [insured, await insure(user_id, { key })],
    ] as const)
      expect([again.status, replayed(again), again.body]).toEqual([200, true, first.body])
  })
  test('a wrong request is not kept, whether its shape or a rule finds the fault', async () => {
    const key = newUuid()
    expect((await create({}, { key })).status).toBe(422)
    expect((await create(aUser({ fallback_time_zone: 'Mars/Olympus' }), { key })).status).toBe(422)
    const right = await create(aUser(), { key })
    expect([right.status, replayed(right)]).toEqual([200, false])
  })
  test('without a key every request is executed', async () => {
    const user_id = userOf(await create(aUser(), {}))
    await Promise.all([insure(user_id, {}), insure(user_id, {})])
    expect(await insurancesOf(user_id)).toBe(2)
  })
})

describe('a key', () => {
  test('belongs to one request: another body or another user is refused and changes nothing', async () => {
    const key = newUuid()
    const body = aUser()
    const first = await create(body, { key })
    const reused = await create(aUser(), { key })
    expect([reused.status, errorType(reused)]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    expect((await create(body, { key })).body).toEqual(first.body)

    const insured = userOf(first)
    const other = userOf(await create(aUser(), {}))
    await insure(insured, { key })
    expect(errorType(await insure(other, { key }))).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await insurancesOf(other)).toBe(0)
  })
  test('knows the same request by its fields, whatever their order and what the contract does not know', async () => {
    const key = newUuid()
    const { client_user_id } = aUser()
    const first = await create({ client_user_id, fallback_time_zone: 'Europe/Berlin' }, { key })
    const again = await create({ unknown: true, fallback_time_zone: 'Europe/Berlin', client_user_id }, { key })
    expect([again.status, replayed(again)]).toEqual([200, true])
    expect(again.body).toEqual(first.body)
  })
  test('of another team or another operation is another key', async () => {
    const key = newUuid()
    const body = aUser()
    const theirs = await here.tenant()
    const [mine, other] = [await create(body, { key }), await create(body, { key, by: theirs })]
    expect([mine.status, other.status, replayed(other)]).toEqual([200, 200, false])
    const insured = await insure(userOf(mine), { key })
    expect([insured.status, replayed(insured)]).toEqual([200, false])
  })
  test.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
  ])('that is %s is refused by its name', async (_, key) => {
    expect(await create(aUser(), { key })).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'X-Idempotency-Key'] }] } })
  })
  test.each(['k', 'k'.repeat(255), "'; drop table users; --"])('%s is taken', async (key) => {
    const by = await here.tenant()
    const body = aUser()
    const [first, second] = [await create(body, { key, by }), await create(body, { key, by })]
    expect([first.status, second.body]).toEqual([200, first.body])
  })
})

describe('X-Idempotency-Error', () => {
  test('no-cache keeps a success and forgets a refusal', async () => {
    const sent = { key: newUuid(), error: 'no-cache' }
    const body = aUser()
    const holder = userOf(await create(body, {}))
    expect((await create(body, sent)).status).toBe(400)
    await tenant.api.deleteUser({ params: { user_id: holder } })
    const executed = await create(body, sent)
    const again = await create(body, sent)
    expect([executed.status, replayed(executed)]).toEqual([200, false])
    expect([again.body, replayed(again)]).toEqual([executed.body, true])
  })
  test.each(['cache', 'No-Cache', '', 'no-cache, no-store'])('"%s" is refused', async (error) => {
    const answer = await create(aUser(), { key: newUuid(), error })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'X-Idempotency-Error'] }] } })
  })
})

describe('at the same time', () => {
  test('one hundred equal requests over two replicas are executed once and answered alike', async () => {
    const by = await here.tenant()
    const key = newUuid()
    const body = aUser()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(body, { key, by, at: i % 2 ? here : there })))
    expect(answers.map((answer) => answer.status)).toEqual(Array(100).fill(200))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(answers.filter(replayed)).toHaveLength(99)
    expect((await by.api.listUsers()).total).toBe(1)
  })
  test('one hundred equal refusals are one refusal', async () => {
    const by = await here.tenant()
    const body = aUser()
    await create(body, { by })
    const key = newUuid()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(body, { key, by, at: i % 2 ? here : there })))
    expect(answers.map((answer) => answer.status)).toEqual(Array(100).fill(400))
    expect(answers.filter(replayed)).toHaveLength(99)
  })
  test('a request that meets one in flight waits and gets its outcome, on the same replica and on another', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const first = insure(user_id, { key, at: slow })
    await gate.entered
    const waiting = [insure(user_id, { key, at: slow }), insure(user_id, { key, at: there })]
    expect(errorType(await insure(user_id, { key, at: there }, someInsurance({ payor_code: 'SILVR' })))).toBe('IDEMPOTENCY_KEY_REUSED')
    gate.open()
    const outcome = await first
    expect(outcome.status).toBe(200)
    for (const answer of await Promise.all(waiting)) {
      expect([answer.status, answer.body, replayed(answer)]).toEqual([200, outcome.body, true])
    }
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('a request that waited for an outcome that is not kept is executed itself', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const sent = { key: newUuid(), error: 'no-cache' }
    const first = insure(user_id, { ...sent, at: slow })
    await gate.entered
    const waiting = insure(user_id, { ...sent, at: there })
    await tenant.api.deleteUser({ params: { user_id } })
    gate.open()
    const answers = [await first, await waiting]
    expect(answers.map((answer) => [answer.status, replayed(answer)])).toEqual([
      [404, false],
      [404, false],
    ])
    await tenant.api.undoDeleteUser({ query: { user_id } })
    expect((await insure(user_id, sent)).status).toBe(200)
  })
  test('more waiting requests than database connections keep nobody else waiting', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const requests = [insure(user_id, { key, at: slow })]
    await gate.entered
    let answered = 0
    for (let i = 0; i < 40; i++)
      requests.push(
        insure(user_id, { key, at: slow }).finally(() => {
          answered++
        }),
      )
    const unrelated = { params: { user_id }, headers: headersOf({}) }
    for (let i = 0; i < 20; i++) expect((await sendRequest(slow.base, endpoints.getUser, unrelated)).status).toBe(200)
    expect((await create(aUser(), { key: newUuid(), at: slow })).status).toBe(200)
    expect(answered).toBe(0)
    gate.open()
    expect((await Promise.all(requests)).map((answer) => answer.status)).toEqual(Array(41).fill(200))
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('after ten seconds of waiting the answer is to try again, and trying again gets the outcome', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const impatient = await replica()
    const first = insure(user_id, { key, at: slow })
    await gate.entered
    const answer = await secondsPass(impatient, insure(user_id, { key, at: impatient }))
    expect([answer.status, errorType(answer)]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT'])
    gate.open()
    const outcome = await first
    const again = await insure(user_id, { key, at: impatient })
    expect([again.status, again.body, replayed(again)]).toEqual([200, outcome.body, true])
  })
})

/** Lets the clock of a replica run until the answer is there, while whoever executes keeps the lease. */
async function secondsPass({ advanceTime, url }: Replica, answer: Promise<Reply>) {
  let done = false
  const settled = answer.finally(() => {
    done = true
  })
  while (!done) {
    await query(url, "update idempotency_keys set leased_until = now() + interval '1 year' where status is null")
    advanceTime(SECOND)
  }
  return settled
}

describe('when a process dies', () => {
  test('its key is taken over once its lease has ended, and a late comer of the past cannot commit', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const stalled = insure(user_id, { key, at: slow })
    await gate.entered
    const later = await replica()
    later.advanceTime(16 * SECOND)
    const taken = await insure(user_id, { key, at: later })
    expect([taken.status, replayed(taken)]).toEqual([200, false])
    gate.open()
    const late = await stalled
    expect([late.status, errorType(late)]).toEqual([409, 'IDEMPOTENCY_IN_FLIGHT'])
    expect(await insurancesOf(user_id)).toBe(1)
    expect((await insure(user_id, { key, at: slow })).body).toEqual(taken.body)
  })
  test('before that the key stays with it', async () => {
    const user_id = userOf(await create(aUser(), {}))
    const key = newUuid()
    const stalled = insure(user_id, { key, at: slow })
    await gate.entered
    const soon = await replica()
    soon.advanceTime(9 * SECOND)
    const waiting = insure(user_id, { key, at: soon })
    gate.open()
    expect((await waiting).body).toEqual((await stalled).body)
    expect(await insurancesOf(user_id)).toBe(1)
  })
  test('an outcome that was taken over is kept for a whole day from then on', async () => {
    const by = await here.tenant()
    const body = aUser()
    const key = newUuid()
    await create(body, { key, by })
    await query(
      here.url,
      `update idempotency_keys set status = null, sealed = null, user_id = null, leased_until = now(), created_at = now() - interval '24 hours 50 minutes'
       where team_id = $1`,
      [by.team_id],
    )
    const later = await replica()
    later.advanceTime(MINUTE)
    const outcome = await create(body, { key, by, at: later })
    expect(replayed(outcome)).toBe(false)
    later.advanceTime(23 * HOUR)
    await later.runJobs()
    expect(replayed(await create(body, { key, by, at: later }))).toBe(true)
  })
})

describe('keeping', () => {
  test('an outcome is kept for 24 hours and pruned later, when the key starts a new request', async () => {
    const by = await here.tenant()
    const days = await replica()
    const key = newUuid()
    const body = aUser()
    const first = await create(body, { key, by, at: days })
    days.advanceTime(24 * HOUR)
    await days.runJobs()
    expect((await create(body, { key, by, at: days })).body).toEqual(first.body)
    days.advanceTime(2 * HOUR)
    await days.runJobs()
    expect(await rowsOf(by.team_id)).toEqual([])
    expect(await create(body, { key, by, at: days })).toMatchObject({ status: 400, body: { detail: { user_id: userOf(first) } } })
  })
  test('a success commits with the action: if the commit fails, neither is there and the key is free', async () => {
    const by = await here.tenant()
    const body = { client_user_id: `doomed-${newUuid()}` }
    const key = newUuid()
    await query(
      here.url,
      `create function doom() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create constraint trigger doom after insert on users deferrable initially deferred
         for each row when (new.client_user_id like 'doomed-%') execute function doom()`,
    )
    expect((await create(body, { key, by })).status).toBe(500)
    expect(await rowsOf(by.team_id)).toEqual([])
    expect((await by.api.listUsers()).total).toBe(0)
    await query(here.url, 'drop trigger doom on users; drop function doom()')
    const second = await create(body, { key, by })
    expect([second.status, replayed(second)]).toEqual([200, false])
  })
  test('an outcome is sealed by the key of its user and goes with the user', async () => {
    const by = await here.tenant()
    const body = aUser({ fallback_birth_date: people[1].dob })
    const key = newUuid()
    const user_id = userOf(await create(body, { key, by }))
    await insure(user_id, { key, by })
    const kept = await rowsOf(by.team_id)
    const userKey = await keyOf(user_id)
    expect(kept.map((row) => [row.status, row.user_id, keyIdOf(row.sealed)])).toEqual(Array(2).fill([200, user_id, userKey]))

    await by.api.deleteUser({ params: { user_id } })
    await by.api.moveClock({ body: { advance_seconds: 7 * 24 * 3600 } })
    expect(await rowsOf(by.team_id)).toEqual([])
    expect(await keyOf(user_id)).toBeUndefined()
    const anew = await create(body, { key, by })
    expect([anew.status, replayed(anew)]).toEqual([200, false])
    expect(userOf(anew)).not.toBe(user_id)
  })
  test('an outcome is of the user that was made, whoever the body names beyond the contract', async () => {
    const by = await here.tenant()
    const other = userOf(await create(aUser(), { by }))
    const made = userOf(await create(aUser({ user_id: other }), { key: 'named', by }))
    expect(made).not.toBe(other)
    expect((await rowsOf(by.team_id)).map((row) => row.user_id)).toEqual([made])
  })
  test('an outcome that was copied to another key does not open there', async () => {
    const by = await here.tenant()
    const user_id = userOf(await create(aUser(), { key: 'one', by }))
    await insure(user_id, { key: 'two', by })
    await query(
      here.url,
      `update idempotency_keys to_row set sealed = from_row.sealed from idempotency_keys from_row
       where to_row.team_id = $1 and from_row.team_id = $1 and to_row.operation = 'createInsurance' and from_row.operation = 'createUser'`,
      [by.team_id],
    )
    expect((await insure(user_id, { key: 'two', by })).status).toBe(500)
  })
})

const keyOf = async (user_id: string) =>
  (await query<{ id: string }>(here.url, 'select id from sealing_keys where user_id = $1', [user_id]))[0]?.id

import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { listEventsAt, moveEvents } from '../../src/delivery/events/access.ts'
import type { Endpoint } from '../../src/delivery/webhooks/endpoints.ts'
import { attemptOf } from '../../src/delivery/webhooks/sending/contents.ts'
import { type Change, recordChanges } from '../../src/delivery/webhooks/sending/record.ts'
import * as store from '../../src/delivery/webhooks/sending/store-cursors.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey } from '../../src/platform/sealing/vault.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import {
  aWebhook,
  countPending,
  emitTo,
  endLeaseOfOwner,
  newReceiver,
  newWorker,
  type Ordering,
  ok,
  outcome,
  ownerOf,
} from '../support/delivery.ts'
import { modelWorker } from '../support/delivery-model.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { aPipeline } from '../support/pipelines.ts'
import { reservePort } from '../support/ports.ts'
import { eventually } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica, type Tenant } from '../support/world.ts'

const w = await replica()
const { app, url } = w

const keys = (count: number) => Array.from({ length: count }, (_, i) => `key ${i}`)
const allDone = (...ids: string[]) => eventually(async () => (await countPending(url, ids)) === 0)
const never = new Promise<Outcome>(() => {})

/** The rows that describe how far a webhook is. */
const progressOf = async (webhook_id: string) => ({
  cursor: await query(url, 'select after_no, done, flush, attempts from webhook_cursors where webhook_id = $1', [webhook_id]),
  parked: await query(url, 'select key, attempts, retry_at from parked where webhook_id = $1 order by key', [webhook_id]),
  attempts: await query(url, 'select id, outcome from attempts where webhook_id = $1 order by id', [webhook_id]),
})

test('one worker sends the messages of a team, and another sends none of them', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/one')
  const { by, received, first, overtaking } = newReceiver()
  const workers = [await newWorker(w, by('one')), await newWorker(w, by('two'))]
  for (let i = 0; i < 10; i++) {
    await emitTo(app, tenant.team_id, keys(20))
    for (const worker of i % 2 ? workers : workers.toReversed()) worker.wake([tenant.team_id])
  }
  await allDone(id)
  expect(new Set(received.map(({ by }) => by)).size).toBe(1)
  expect([received.length, first().length, overtaking()]).toEqual([200, 200, []])
  for (const worker of workers) await worker.stop()
})

test('two workers send for two teams side by side', async () => {
  const tenants = [await w.tenant(), await w.tenant()]
  const hooks = await Promise.all(tenants.map((tenant, i) => aWebhook(tenant, `/${i}`)))
  const { by, received } = newReceiver()
  const workers = [await newWorker(w, by('0')), await newWorker(w, by('1'))]
  for (const [i, { team_id }] of tenants.entries()) {
    await emitTo(app, team_id, ['a', 'b'])
    workers[i]?.wake([team_id])
  }
  await allDone(...hooks.map(({ id }) => id))
  for (const path of ['/0', '/1']) {
    const ofTeam = received.filter((message) => message.path === path)
    expect([ofTeam.length, new Set(ofTeam.map(({ by }) => by)).size]).toEqual([2, 1])
  }
  for (const worker of workers) await worker.stop()
})

test('another worker takes over from a killed one as soon as its lease ended, and repeats at most a window', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/killed')
  const { by, received, first, overtaking } = newReceiver()
  let isKilled = false
  const killed = await newWorker(
    w,
    by('killed', () => (isKilled ? never : ok)),
  )
  for (let i = 0; i < 30; i++) await emitTo(app, tenant.team_id, keys(40))
  killed.wake([tenant.team_id])
  await eventually(() => received.length > 300)
  isKilled = true
  await killed.kill()
  const successor = await newWorker(w, by('successor'))
  await endLeaseOfOwner(url, tenant.team_id)
  await allDone(id)
  expect([first().length, overtaking()]).toEqual([1200, []])
  expect(received.length - 1200).toBeLessThanOrEqual(256)
  await successor.stop()
})

test('a worker that was frozen while another took over changes nothing when it goes on', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/frozen')
  const { promise: response, resolve: respond } = Promise.withResolvers<Outcome>()
  const frozen = await modelWorker(app, url, tenant.team_id, () => response)
  const successor = await modelWorker(app, url, tenant.team_id, async ({ key }) => outcome(key === 'fails' ? 400 : 200))
  await emitTo(app, tenant.team_id, ['a', 'a', 'b', 'fails'])
  frozen.wake()
  await eventually(() => frozen.countOpen() === 3)
  await frozen.loseLease()
  successor.wake()
  await eventually(async () => (await countPending(url, [id])) === 1 && !successor.isBusy())
  const before = await progressOf(id)
  respond(ok)
  await eventually(() => frozen.countOpen() === 0 && !frozen.isBusy())
  expect(await progressOf(id)).toEqual(before)
  expect(before).toMatchObject({ parked: [{ key: 'fails', attempts: 1 }] })
  await frozen.end()
  await successor.end()
})

/** The cursors of a team, taken by a new owner, by webhook. */
async function takeCursors({ team_id }: Tenant) {
  const worker = newUuid()
  await moveEvents(app.db, team_id, { worker, live: [], fromSeq: 0, limit: 1000 })
  const cursors = await store.takeCursors(app.db, team_id, worker, [])
  return (webhook_id: string) => cursors.find((cursor) => cursor.webhook_id === webhook_id) as store.CursorRow
}

test('a worker that does not own the team takes none of its cursors', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/foreign')
  const { term } = (await takeCursors(tenant))(id)
  expect(await store.takeCursors(app.db, tenant.team_id, newUuid(), [])).toEqual([])
  expect(await query(url, 'select term::int from webhook_cursors where webhook_id = $1', [id])).toEqual([{ term }])
})

test('an owner gets new terms only for cursors that it does not hold, and for those that have changed', async () => {
  const tenant = await w.tenant()
  const { team_id } = tenant
  const hooks = await Promise.all(['/held', '/moved', '/recorded', '/new'].map((path) => aWebhook(tenant, path)))
  const [held, moved, recorded, added] = hooks.map(({ id }) => id) as [string, string, string, string]
  const worker = newUuid()
  await moveEvents(app.db, team_id, { worker, live: [], fromSeq: 0, limit: 1000 })
  const before = await store.takeCursors(app.db, team_id, worker, [])
  await query(url, 'update webhook_cursors set term = term + 1 where webhook_id = $1', [moved])
  await query(url, 'update webhook_cursors set flush = flush + 1 where webhook_id = $1', [recorded])
  const versions = () => query(url, 'select xmin from webhook_cursors where webhook_id = $1', [held])
  const version = await versions()
  const after = await store.takeCursors(
    app.db,
    team_id,
    worker,
    before.filter(({ webhook_id }) => webhook_id !== added),
  )
  const termsOf = (id: string) => [before, after].map((rows) => rows.find(({ webhook_id }) => webhook_id === id)?.term)
  expect([held, moved, recorded, added].map(termsOf)).toEqual([
    [1, 1],
    [1, 3],
    [1, 2],
    [1, 2],
  ])
  expect(await versions()).toEqual(version)
})

/** Outcomes of the first message of a webhook: it is exhausted, and the receiver failed. */
async function exhaustedChange({ team_id }: Tenant, cursor: store.CursorRow): Promise<Change> {
  const [state] = (await store.listWebhooks(app.db, team_id)) as [store.WebhookState]
  const [event] = [...(await listEventsAt(app.db, team_id, [{ no: 1, at: await timeOf(team_id) }])).values()]
  if (!event) throw new Error('There is no event.')
  const failed = outcome(500)
  const endpoint = { id: cursor.webhook_id, url: 'http://127.0.0.1:8099', shown_headers: {} } as Endpoint
  // An event about delivery would not be reported as exhausted.
  const message = { ...event, team_id, event_id: event.id, event_at: event.logged_at, event_type: 'labtest.order.created', previous: null }
  const attempt = attemptOf((await teamSealingKey(app, team_id)) as SealingKey, endpoint, message, {
    attempt: 8,
    at: app.wall(),
    outcome: failed,
    verdict: { state: 'exhausted' },
    signature: '',
  })
  return {
    cursor: { ...cursor, after_no: 1, after_at: event.logged_at, last_no: 1 },
    ...{ jobs: [], parked: [], messages: [], released: [], removed: [], disclosed: [] },
    attempts: [attempt],
    outcomes: [{ outcome: failed, probed: null, at: app.wall() }],
    state,
  }
}

const timeOf = async (team_id: string) =>
  (await app.db.selectFrom('events').select('logged_at').where('team_id', '=', team_id).where('no', '=', 1).executeTakeFirstOrThrow())
    .logged_at

test('outcomes that are recorded again after a lost response change nothing', async () => {
  const tenant = await w.tenant()
  const { team_id } = tenant
  const { id } = await aWebhook(tenant, '/again')
  await emitTo(app, team_id, ['a'])
  const change = await exhaustedChange(tenant, (await takeCursors(tenant))(id))
  const state = async () => ({
    ...(await progressOf(id)),
    health: await query(url, 'select failures, trips, paused_until, first_failure_at from webhooks where id = $1', [id]),
    outbox: await query(url, 'select event_type from outbox where team_id = $1', [team_id]),
  })
  const states = await recordChanges(app, team_id, [change])
  const recorded = await state()
  expect(recorded).toMatchObject({
    cursor: [{ after_no: 1, flush: 1 }],
    attempts: [{ outcome: 'exhausted' }],
    health: [{ failures: 1 }],
    outbox: [{ event_type: 'message.attempt.exhausted' }],
  })
  expect((await recordChanges(app, team_id, [change]))?.map(({ failures }) => failures)).toEqual(states?.map(({ failures }) => failures))
  expect(await state()).toEqual(recorded)
})

test('outcomes that name an earlier term change nothing, not even those of other webhooks', async () => {
  const tenant = await w.tenant()
  const { team_id } = tenant
  const [{ id }, other] = [await aWebhook(tenant, '/term'), await aWebhook(tenant, '/other')]
  await emitTo(app, team_id, ['a'])
  const cursorOf = await takeCursors(tenant)
  const change = await exhaustedChange(tenant, cursorOf(id))
  const otherChange: Change = { ...change, attempts: [], outcomes: [], cursor: { ...cursorOf(other.id), after_no: 1 } }
  await query(url, 'update webhook_cursors set term = term + 1 where webhook_id = $1', [id])
  const before = [await progressOf(id), await progressOf(other.id)]
  expect(await recordChanges(app, team_id, [change, otherChange])).toBeUndefined()
  expect(await recordChanges(app, team_id, [{ ...change, attempts: [], outcomes: [] }, otherChange])).toBeUndefined()
  expect([await progressOf(id), await progressOf(other.id)]).toEqual(before)
  expect(await query(url, 'select from outbox where team_id = $1', [team_id])).toEqual([])
})

test('a worker that stops records the responses that arrive, and its successor sends the rest at once', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/stopped')
  const { by, received } = newReceiver()
  const { promise: response, resolve: respond } = Promise.withResolvers<Outcome>()
  const stopping = await newWorker(
    w,
    by('stopping', () => response),
  )
  await emitTo(app, tenant.team_id, ['a', 'a', 'b'])
  stopping.wake([tenant.team_id])
  await eventually(() => received.filter(({ path }) => path === '/stopped').length === 2)
  const stopped = stopping.stop()
  respond(ok)
  await stopped
  expect(await ownerOf(url, tenant.team_id)).toBeNull()
  expect(await countPending(url, [id])).toBe(1)
  const successor = await newWorker(w, by('successor'))
  await allDone(id)
  const ofTeam = received.filter(({ path }) => path === '/stopped')
  expect(ofTeam.map(({ by, key }) => `${by}: ${key}`)).toEqual(['stopping: a', 'stopping: b', 'successor: a'])
  await successor.stop()
})

test('a worker goes on with other teams when one of its teams is erased', async () => {
  const [erased, kept] = [await w.tenant(), await w.tenant()]
  const { id } = await aWebhook(kept, '/kept')
  await aWebhook(erased, '/erased')
  const { by, received } = newReceiver()
  const worker = await newWorker(w, by('one'))
  await emitTo(app, erased.team_id, ['a'])
  worker.wake([erased.team_id])
  await eventually(() => received.some(({ path }) => path === '/erased'))
  await emitTo(app, erased.team_id, ['a'])
  await query(url, 'delete from teams where id = $1', [erased.team_id])
  await emitTo(app, kept.team_id, ['a'])
  worker.wake([erased.team_id, kept.team_id])
  await allDone(id)
  await eventually(async () => !(await query(url, 'select from outbox where team_id = $1', [erased.team_id])).length)
  expect(received.filter(({ path }) => path === '/kept')).toHaveLength(1)
  await worker.stop()
})

/** A worker that gives its teams up at its next look. */
const hastyWorker = (send: Parameters<typeof newWorker>[1]) => newWorker(w, send, { idleMs: 0 })

/** When a team that nobody owns needs a worker. */
async function dueAt(team_id: string) {
  const [log] = await query<{ due_at: string | null }>(url, 'select due_at from event_logs where team_id = $1 and owner is null', [team_id])
  return log
}

const givenUp = (team_id: string) => eventually(() => dueAt(team_id))

test('an idle team is given up without a due time, and its next event is delivered', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/idle')
  const { by, received } = newReceiver()
  const worker = await hastyWorker(by('one'))
  for (const n of [1, 2]) {
    await emitTo(app, tenant.team_id, ['a'])
    worker.wake([tenant.team_id])
    await eventually(() => received.length === n)
    await allDone(id)
    expect(await givenUp(tenant.team_id)).toEqual({ due_at: null })
  }
  await worker.stop()
})

/** What a webhook waits for after its receiver has failed once. */
const dueTimes: [string, Ordering, number, string][] = [
  ['the retry of a parked message', 'per_key', 1, 'select min(retry_at) as at from parked where webhook_id = $1'],
  [
    'the retry of a message at which a strict webhook waits',
    'strict',
    1,
    'select retry_at as at from webhook_cursors where webhook_id = $1',
  ],
  ['the end of a pause', 'per_key', 30, 'select paused_until as at from webhooks where id = $1'],
]

test.each(dueTimes)('a team is given up until %s, and taken again then', async (_, ordering, count, statement) => {
  const tenant = await w.tenant()
  const path = `/${ordering}-${count}`
  const { id } = await aWebhook(tenant, path, { ordering })
  const { by, received } = newReceiver()
  const worker = await hastyWorker(by('one', () => outcome(500)))
  await emitTo(app, tenant.team_id, keys(count))
  worker.wake([tenant.team_id])
  await eventually(async () => {
    const [due] = await query<{ at: string | null }>(url, statement, [id])
    return due?.at && (await dueAt(tenant.team_id))?.due_at === due.at
  })
  await worker.stop()
  const ofTeam = () => received.filter((message) => message.path === path)
  const failed = ofTeam().length
  const successor = await hastyWorker(by('two'))
  w.advanceTime(HOUR)
  await allDone(id)
  expect(
    ofTeam()
      .slice(failed)
      .map(({ by }) => by),
  ).toEqual(Array(count).fill('two'))
  await successor.stop()
})

test('a team is given up until the retry of its pipeline, and taken again then', async () => {
  const tenant = await w.tenant()
  const port = await reservePort()
  const pipeline = await aPipeline(tenant, { rabbitmq: { uri: `amqp://a:b@127.0.0.1:${port}`, exchange: 'events' } })
  const worker = await hastyWorker(async () => ok)
  await emitTo(app, tenant.team_id, ['a'])
  worker.wake([tenant.team_id])
  await eventually(async () => (await pipeline.state()).failures === 1)
  const { due_at } = await givenUp(tenant.team_id)
  expect(due_at).toBe((await pipeline.state()).next_try_at)
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  w.advanceTime(MINUTE)
  await eventually(() => connections > 0)
  await worker.stop()
  server.close()
})

test('a team whose log is locked does not delay the messages of others, and is delivered later', async () => {
  const [stuck, quiet] = [await w.tenant(), await w.tenant()]
  const [stuckHook, quietHook] = [await aWebhook(stuck, '/stuck'), await aWebhook(quiet, '/quiet')]
  const { by, received } = newReceiver()
  const sentTo = (path: string) => received.filter((message) => message.path === path).map(({ n }) => n)
  for (const { team_id } of [stuck, quiet]) await emitTo(app, team_id, ['a', 'a'])
  const commit = await runUncommitted(url, 'select from event_logs where team_id = $1 for update', [stuck.team_id])
  const worker = await newWorker(w, by('one'))
  for (const { team_id } of [stuck, quiet]) worker.wake([team_id])
  await eventually(async () => (await lockWaits(url)).length)
  await emitTo(app, quiet.team_id, ['a'])
  worker.wake([quiet.team_id])
  await allDone(quietHook.id)
  expect([sentTo('/quiet'), sentTo('/stuck')]).toEqual([[1, 2, 3], []])
  await commit()
  await allDone(stuckHook.id)
  expect(sentTo('/stuck')).toEqual([1, 2])
  await worker.stop()
})

test('a busy team does not delay the messages of another', async () => {
  const [busy, quiet] = [await w.tenant(), await w.tenant()]
  const hooks = await Promise.all([1, 2, 3, 4].map(() => aWebhook(busy, '/busy')))
  const { id } = await aWebhook(quiet, '/quiet')
  const { by, received } = newReceiver()
  const worker = await newWorker(
    w,
    by('one', ({ path }) => (path === '/busy' ? never : ok)),
  )
  await emitTo(app, busy.team_id, keys(1000))
  worker.wake([busy.team_id])
  // Three quarters of the requests of a worker.
  const ofBusy = () => received.filter(({ path }) => path === '/busy')
  await eventually(() => ofBusy().length >= 192)
  await emitTo(app, quiet.team_id, ['a', 'b'])
  worker.wake([quiet.team_id])
  await allDone(id)
  expect(received.filter(({ path }) => path === '/quiet')).toHaveLength(2)
  expect(ofBusy()).toHaveLength(192)
  expect(hooks).toHaveLength(4)
  await worker.kill()
})

test('many slow webhooks leave room for another', async () => {
  const slow = await Promise.all(Array.from({ length: 6 }, () => w.tenant()))
  const quick = await w.tenant()
  for (const tenant of slow) await aWebhook(tenant, '/slow')
  const { id } = await aWebhook(quick, '/quick')
  const { by, received } = newReceiver()
  const worker = await newWorker(
    w,
    by('one', ({ path }) => (path === '/slow' ? never : ok)),
  )
  for (const { team_id } of slow) {
    await emitTo(app, team_id, keys(70))
    worker.wake([team_id])
  }
  await eventually(() => received.filter(({ path }) => path === '/slow').length >= 64 + 64 + 64 + 32 + 16 + 8)
  await emitTo(app, quick.team_id, ['a'])
  worker.wake([quick.team_id])
  await allDone(id)
  await worker.kill()
})

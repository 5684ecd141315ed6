import { expect, test } from 'vitest'
import { listBacklogs } from '../../src/delivery/webhooks/backlog.ts'
import { deleteIdleAfter, deleteIdleLanes, purgeWebhooks } from '../../src/delivery/webhooks/management/purge.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, emitTo, manualWorker, ok, type ReceivedMessage } from '../support/lanes.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { errorOf, replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

async function setUp() {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/')
  const received: ReceivedMessage[] = []
  const worker = await manualWorker(app, url, (message) => {
    received.push(message)
    return ok
  })
  atEnd(() => worker.end())
  const { admin, org_id, team_id } = tenant
  const params = { org_id, team_id, env: 'sandbox' as const, webhook_id: id }
  const emit = (...keys: string[]) => emitTo(app, team_id, keys)
  const ref = webhookRef(team_id, id)
  const deliverPending = async () => {
    while (await worker.claimAndSend([ref])) await worker.settle()
  }
  return { id, ref, admin, params, received, worker, emit, deliverPending }
}

const keysOf = async (id: string) =>
  (await query<{ key: string }>(url, 'select key from lanes where webhook_id = $1 order by key', [id])).map(({ key }) => key)
const exists = async (id: string) => (await query(url, 'select from webhooks where id = $1', [id])).length === 1
const purge = async () => {
  while (await purgeWebhooks(app));
}
const numbers = (received: ReceivedMessage[]) => received.map(({ n }) => n)

/** Inserts `each` messages on every lane for events that are no longer retained. */
const fill = ({ team_id, webhook_id }: { team_id: string; webhook_id: string }, lanes: number, each: number) =>
  query(
    url,
    `with inserted as (
       insert into lanes (team_id, webhook_id, key, single_use, tail, run_at)
       select $1, $2, 'filled ' || i, false, $4, now() from generate_series(1, $3::int) i
       returning id
     )
     insert into deliveries (team_id, lane_id, n, event_id, event_at)
     select $1, inserted.id, n, gen_random_uuid(), now() from inserted, generate_series(1, $4::int) n`,
    [team_id, webhook_id, lanes, each],
  )

test.each([
  ['one lane', 1, 12_000],
  ['many lanes', 6_000, 2],
])('hides a deleted webhook at once and purges its backlog on %s in batches', async (_, lanes, each) => {
  const { id, admin, params, emit } = await setUp()
  await fill(params, lanes, each)
  await admin.deleteWebhook({ params })
  expect(await countPending(url, [id])).toBe(lanes * each)
  expect(await errorOf(admin.getWebhook({ params }))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } })
  expect(await errorOf(admin.deleteWebhook({ params }))).toMatchObject({ status: 404 })
  expect((await admin.listWebhooks({ params })).data).toEqual([])
  expect((await listBacklogs(app.db)).map(({ webhook_id }) => webhook_id)).not.toContain(id)
  await emit('a')
  expect(await countPending(url, [id])).toBe(lanes * each)
  await purge()
  expect(await countPending(url, [id])).toBe(0)
  expect(await keysOf(id)).toEqual([])
  w.advanceTime(3 * MINUTE)
  await purge()
  expect(await exists(id)).toBe(false)
})

test('stops delivery to a deleted webhook and continues delivery to other webhooks of the team', async () => {
  const { id, ref, admin, params, emit, worker, received } = await setUp()
  const { id: other } = await admin.createWebhook({ params, body: { url: 'http://127.0.0.1:8099/other' } })
  await emit('a', 'a')
  await admin.deleteWebhook({ params })
  expect(await worker.claimAndSend([ref])).toBe(0)
  await purge()
  expect(await countPending(url, [id, other])).toBe(2)
  await worker.claimAndSend([webhookRef(params.team_id, other)])
  await worker.settle()
  expect(received.map(({ path, n }) => [path, n])).toEqual([
    ['/other', 1],
    ['/other', 2],
  ])
})

test('keeps a claimed lane of a deleted webhook until the worker settles it', async () => {
  const { id, ref, admin, params, emit, worker } = await setUp()
  await emit('a', 'b')
  await worker.claimAndSend([ref])
  await admin.deleteWebhook({ params })
  w.advanceTime(3 * MINUTE)
  await purge()
  expect(await keysOf(id)).toEqual(['a', 'b'])
  expect(await exists(id)).toBe(true)
  expect(await worker.settle()).toBe(0)
  await purge()
  expect(await keysOf(id)).toEqual([])
  expect(await exists(id)).toBe(false)
})

test('keeps the row of a deleted webhook long enough for a concurrent statement to enqueue a message', async () => {
  const { id, admin, params } = await setUp()
  await admin.deleteWebhook({ params })
  await purge()
  expect(await exists(id)).toBe(true)
  await query(url, `select enqueue($1, $2, 'per_key', 'late', gen_random_uuid(), now())`, [params.team_id, id])
  w.advanceTime(3 * MINUTE)
  await purge()
  expect([await keysOf(id), await exists(id)]).toEqual([[], false])
})

test('deletes a lane after 30 idle days and continues its sequence when the key is used again', async () => {
  const { id, received, emit, deliverPending } = await setUp()
  await emit('a', 'a', 'b')
  await deliverPending()
  w.advanceTime(29 * DAY)
  await deleteIdleLanes(app)
  expect(await keysOf(id)).toEqual(['a', 'b'])
  await emit('b')
  await deliverPending()
  w.advanceTime(2 * DAY)
  await deleteIdleLanes(app)
  expect(await keysOf(id)).toEqual(['b'])
  await emit('a', 'a', 'c')
  await deliverPending()
  expect(numbers(received.filter(({ key }) => key === 'a'))).toEqual([1, 2, 3, 4])
  expect(numbers(received.filter(({ key }) => key === 'c'))).toEqual([1])
  w.advanceTime(31 * DAY)
  await deleteIdleLanes(app)
  await emit('a')
  await deliverPending()
  expect(received.at(-1)).toMatchObject({ key: 'a', n: 5 })
})

test('never deletes a lane that has pending messages or is claimed by a worker', async () => {
  const { id, ref, admin, params, emit, worker } = await setUp()
  await emit('in hand')
  await worker.claimAndSend([ref])
  await emit('waiting')
  await admin.patchWebhook({ params, body: { disabled: true } })
  w.advanceTime(60 * DAY)
  await deleteIdleLanes(app)
  expect(await keysOf(id)).toEqual(['in hand', 'waiting'])
  await worker.settle()
})

test('gives the next number to a message that arrives while its lane is being deleted', async () => {
  const { id, params, received, emit, deliverPending } = await setUp()
  await emit('a', 'a')
  await deliverPending()
  w.advanceTime(31 * DAY)
  const [deleted, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const deletion = inTransaction(app, async (app) => {
    await deleteIdleAfter(app.db, params.team_id, '0', app.wall())
    deleted.resolve()
    await mayCommit.promise
  })
  await deleted.promise
  const writing = emit('a')
  await eventually(async () => (await lockWaits(url)).length > 0)
  mayCommit.resolve()
  await Promise.all([deletion, writing])
  await deliverPending()
  expect(numbers(received)).toEqual([1, 2, 3])
  expect(await countPending(url, [id])).toBe(0)
})

test('keeps an idle lane while a transaction writes to it', async () => {
  const { id, params, received, emit, deliverPending } = await setUp()
  await emit('a')
  await deliverPending()
  w.advanceTime(31 * DAY)
  await inTransaction(app, async (transaction) => {
    await emitTo(transaction, params.team_id, ['a'])
    await inTransaction(app, ({ db }) => deleteIdleAfter(db, params.team_id, '0', app.wall()))
  })
  expect(await keysOf(id)).toEqual(['a'])
  await deliverPending()
  expect(numbers(received)).toEqual([1, 2])
})

test('records the attempts of other teams when a team is erased during delivery', async () => {
  const [erased, remaining] = [await setUp(), await setUp()]
  await erased.emit('a')
  await remaining.emit('a')
  await remaining.worker.claimAndSend([erased.ref, remaining.ref])
  await query(url, 'delete from teams where id = $1', [erased.params.team_id])
  expect(await remaining.worker.settle()).toBe(0)
  expect(await countPending(url, [erased.id, remaining.id])).toBe(0)
  const attempts = await query(url, 'select webhook_id from attempts where webhook_id = any($1::uuid[])', [[erased.id, remaining.id]])
  expect(attempts).toEqual([{ webhook_id: remaining.id }])
})

import { expect, test } from 'vitest'
import { endIdleLanes, purgeWebhooks } from '../../src/delivery/webhooks/management/ends.ts'
import * as store from '../../src/delivery/webhooks/management/store-ends.ts'
import { backlogs } from '../../src/delivery/webhooks/sending/backlog.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aWebhook, drivenWorker, emitTo, type Got, ok, waitingFor } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { atEnd, refusal, replica } from '../support/world.ts'

const one = await replica()
const { app, url } = one

async function begin() {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/')
  const sent: Got[] = []
  const worker = await drivenWorker(app, url, (got) => {
    sent.push(got)
    return ok
  })
  atEnd(() => worker.end())
  const { admin, org_id, team_id } = tenant
  const params = { org_id, team_id, env: 'sandbox' as const, webhook_id: id }
  const emit = (...keys: string[]) => emitTo(app, team_id, keys)
  /** Delivers whatever waits. */
  const deliver = async () => {
    while (await worker.turn([id])) await worker.settle()
  }
  return { id, admin, params, sent, worker, emit, deliver }
}

const keysOf = async (id: string) =>
  (await query<{ key: string }>(url, 'select key from lanes where webhook_id = $1 order by key', [id])).map(({ key }) => key)
const isKept = async (id: string) => (await query(url, 'select from webhooks where id = $1', [id])).length === 1
const purge = async () => {
  while (await purgeWebhooks(app));
}
const numbers = (sent: Got[]) => sent.map(({ n }) => n)

/** Messages of events that are no longer kept: `each` of them on every lane. */
const fill = (id: string, lanes: number, each: number) =>
  query(
    url,
    `with made as (
       insert into lanes (webhook_id, key, passing, tail, run_at) select $1, 'filled ' || i, false, $3, now() from generate_series(1, $2::int) i
       returning id
     )
     insert into deliveries (lane_id, n, event_id, event_at) select made.id, n, gen_random_uuid(), now() from made, generate_series(1, $3::int) n`,
    [id, lanes, each],
  )

test.each([
  ['one line', 1, 12_000],
  ['many lines', 6_000, 2],
])('a webhook with a long backlog on %s is gone at once, and the backlog follows in pieces', async (_, lanes, each) => {
  const { id, admin, params, emit } = await begin()
  await fill(id, lanes, each)
  await admin.deleteWebhook({ params })
  expect(await waitingFor(url, [id])).toBe(lanes * each)
  expect(await refusal(admin.getWebhook({ params }))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } })
  expect(await refusal(admin.deleteWebhook({ params }))).toMatchObject({ status: 404 })
  expect((await admin.listWebhooks({ params })).data).toEqual([])
  expect((await backlogs(app.db)).map(({ webhook_id }) => webhook_id)).not.toContain(id)
  await emit('a')
  expect(await waitingFor(url, [id])).toBe(lanes * each)
  await purge()
  expect(await waitingFor(url, [id])).toBe(0)
  expect(await keysOf(id)).toEqual([])
  one.passes(3 * MINUTE)
  await purge()
  expect(await isKept(id)).toBe(false)
})

test('a deleted webhook leaves others of the team alone, and sends nothing more', async () => {
  const { id, admin, params, emit, worker, sent } = await begin()
  const { id: other } = await admin.createWebhook({ params, body: { url: 'http://127.0.0.1:8099/other' } })
  await emit('a', 'a')
  await admin.deleteWebhook({ params })
  expect(await worker.turn([id])).toBe(0)
  await purge()
  expect(await waitingFor(url, [id, other])).toBe(2)
  await worker.turn([other])
  await worker.settle()
  expect(sent.map(({ path, n }) => [path, n])).toEqual([
    ['/other', 1],
    ['/other', 2],
  ])
})

test('a line that a worker has in hand outlives its webhook until the worker is done', async () => {
  const { id, admin, params, emit, worker } = await begin()
  await emit('a', 'b')
  await worker.turn([id])
  await admin.deleteWebhook({ params })
  one.passes(3 * MINUTE)
  await purge()
  expect(await keysOf(id)).toEqual(['a', 'b'])
  expect(await isKept(id)).toBe(true)
  expect(await worker.settle()).toBe(0)
  await purge()
  expect(await keysOf(id)).toEqual([])
  expect(await isKept(id)).toBe(false)
})

test('whoever still saw the webhook can write its message: the row stays for as long as a statement may take', async () => {
  const { id, admin, params } = await begin()
  await admin.deleteWebhook({ params })
  await purge()
  expect(await isKept(id)).toBe(true)
  await query(url, `select enqueue($1, 'late', false, gen_random_uuid(), now())`, [id])
  one.passes(3 * MINUTE)
  await purge()
  expect([await keysOf(id), await isKept(id)]).toEqual([[], false])
})

test('a line that was idle for a month is taken away, and its key goes on with the next number', async () => {
  const { id, sent, emit, deliver } = await begin()
  await emit('a', 'a', 'b')
  await deliver()
  one.passes(29 * DAY)
  await endIdleLanes(app)
  expect(await keysOf(id)).toEqual(['a', 'b'])
  await emit('b')
  await deliver()
  one.passes(2 * DAY)
  await endIdleLanes(app)
  expect(await keysOf(id)).toEqual(['b'])
  await emit('a', 'a', 'c')
  await deliver()
  expect(numbers(sent.filter(({ key }) => key === 'a'))).toEqual([1, 2, 3, 4])
  expect(numbers(sent.filter(({ key }) => key === 'c'))).toEqual([1])
  one.passes(31 * DAY)
  await endIdleLanes(app)
  await emit('a')
  await deliver()
  expect(sent.at(-1)).toMatchObject({ key: 'a', n: 5 })
})

test('a line on which something waits, however long, or that a worker has in hand, is not idle', async () => {
  const { id, admin, params, emit, worker } = await begin()
  await emit('in hand')
  await worker.turn([id])
  await emit('waiting')
  await admin.patchWebhook({ params, body: { disabled: true } })
  one.passes(60 * DAY)
  await endIdleLanes(app)
  expect(await keysOf(id)).toEqual(['in hand', 'waiting'])
  await worker.settle()
})

test('a message that comes while its line is being taken away waits for that, and has the next number', async () => {
  const { id, sent, emit, deliver } = await begin()
  await emit('a', 'a')
  await deliver()
  one.passes(31 * DAY)
  const [taken, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const taking = inTransaction(app, async (app) => {
    await store.endIdleLanes(app.db, app.wall(), 0, 100_000)
    taken.resolve()
    await mayCommit.promise
  })
  await taken.promise
  const writing = emit('a')
  await eventually(
    async () =>
      (await query(url, `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)).length > 0,
  )
  mayCommit.resolve()
  await Promise.all([taking, writing])
  await deliver()
  expect(numbers(sent)).toEqual([1, 2, 3])
  expect(await waitingFor(url, [id])).toBe(0)
})

test('a line that is being written to is not taken away', async () => {
  const { id, params, sent, emit, deliver } = await begin()
  await emit('a')
  await deliver()
  one.passes(31 * DAY)
  await inTransaction(app, async (inside) => {
    await emitTo(inside, params.team_id, ['a'])
    await store.endIdleLanes(app.db, app.wall(), 0, 100_000)
  })
  expect(await keysOf(id)).toEqual(['a'])
  await deliver()
  expect(numbers(sent)).toEqual([1, 2])
})

test('a team that is erased while its messages are sent costs nobody else a note', async () => {
  const [gone, left] = [await begin(), await begin()]
  await gone.emit('a')
  await left.emit('a')
  await left.worker.turn([gone.id, left.id])
  await query(url, 'delete from teams where id = $1', [gone.params.team_id])
  expect(await left.worker.settle()).toBe(0)
  expect(await waitingFor(url, [gone.id, left.id])).toBe(0)
  const noted = await query(url, 'select webhook_id from attempts where webhook_id = any($1::uuid[])', [[gone.id, left.id]])
  expect(noted).toEqual([{ webhook_id: left.id }])
})

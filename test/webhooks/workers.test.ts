import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startWorker } from '../../src/delivery/webhooks/sending/worker.ts'
import { openDatabase, type PoolConnection } from '../../src/platform/db/open.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, emitTo, ok, outcome, type ReceivedMessage, toReceivedMessage } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { replica, type Tenant } from '../support/world.ts'

const w = await replica()
const { app, url } = w

type Delivery = ReceivedMessage & { by: string; repeated: boolean }

/** Records what workers send, and reports a fault when a message overtakes its predecessor. */
function newReceiver() {
  const received: Delivery[] = []
  const seen = new Map<string, number>()
  const faults: string[] = []
  const by =
    (name: string, outcomeOf: (message: ReceivedMessage) => Outcome | Promise<Outcome> = () => ok) =>
    async (message: Parameters<typeof toReceivedMessage>[0]) => {
      const parsed = toReceivedMessage(message)
      const last = seen.get(parsed.key) ?? 0
      if (parsed.n > last + 1) faults.push(`${parsed.key}: ${parsed.n} after ${last}`)
      received.push({ ...parsed, by: name, repeated: parsed.n <= last })
      seen.set(parsed.key, Math.max(last, parsed.n))
      return outcomeOf(parsed)
    }
  return { received, faults, by }
}

/** Starts a worker on its own connections, which a test can cut. */
async function newWorker(send: Parameters<typeof startWorker>[2]) {
  const { pool, db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  let connection: PoolConnection | undefined
  let mayConnect = true
  const connect = async () => {
    if (!mayConnect) throw new Error('cut off')
    connection = await pool.connect()
    return connection
  }
  const worker = await startWorker({ ...app, db }, connect, send, () => {})
  atEnd(close)
  atEnd(() => worker.stop())
  return {
    ...worker,
    /** Ends the worker's connection; with `forever`, it cannot reconnect. */
    async cut(forever: boolean) {
      mayConnect = !forever
      const pid = (connection as unknown as { processID: number }).processID
      await query(url, 'select pg_terminate_backend($1)', [pid])
    },
  }
}

const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`)
const allDone = (id: string) => eventually(async () => (await countPending(url, [id])) === 0)
const emitAll = async ({ team_id }: Tenant, times: number) => {
  for (let i = 0; i < times; i++) await emitTo(app, team_id, keys)
}

test('two workers share the deliveries and never repeat one', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/shared')
  const { received, faults, by } = newReceiver()
  const slowly = () => new Promise<Outcome>((done) => setImmediate(() => done(ok)))
  const workers = [await newWorker(by('one', slowly)), await newWorker(by('two', slowly))]
  for (let i = 0; i < 20; i++) {
    await emitAll(tenant, 1)
    for (const worker of i % 2 ? workers : workers.toReversed()) worker.wake([id])
  }
  await allDone(id)
  expect(faults).toEqual([])
  expect(received.length).toBe(20 * keys.length)
  expect(new Set(received.map((message) => message.by))).toEqual(new Set(['one', 'two']))
  for (const worker of workers) await worker.stop()
})

test('another worker takes over the lanes of a killed worker', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/killed')
  const { received, faults, by } = newReceiver()
  const pendingOutcome = Promise.withResolvers<Outcome>()
  const killed = await newWorker(by('killed', () => pendingOutcome.promise))
  await emitAll(tenant, 3)
  killed.wake([id])
  await eventually(() => received.length === keys.length)
  const successor = await newWorker(by('successor'))
  await killed.cut(true)
  await allDone(id)
  expect(faults).toEqual([])
  expect(received.filter((message) => message.by === 'successor').length).toBe(3 * keys.length)
  await successor.stop()
  pendingOutcome.resolve(outcome(null, 'aborted'))
})

test('a worker reconnects and continues after it loses its connection', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/lost')
  const { received, faults, by } = newReceiver()
  const worker = await newWorker(by('one'))
  for (let i = 0; i < 3; i++) {
    await emitAll(tenant, 2)
    worker.wake([id])
    await worker.cut(false)
    await allDone(id)
  }
  expect(faults).toEqual([])
  expect(new Set(received.map(({ key, n }) => `${key} ${n}`)).size).toBe(6 * keys.length)
  await worker.stop()
})

test('a worker that is stopped while it reconnects leaks no connection', async () => {
  const { pool, db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  const connections: PoolConnection[] = []
  const [reconnecting, mayReconnect] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const connect = async () => {
    if (connections.length) {
      reconnecting.resolve()
      await mayReconnect.promise
    }
    const connection = await pool.connect()
    connections.push(connection)
    return connection
  }
  const worker = await startWorker(
    { ...app, db },
    connect,
    async () => ok,
    () => {},
  )
  await query(url, 'select pg_terminate_backend($1)', [(connections[0] as unknown as { processID: number }).processID])
  await reconnecting.promise
  await worker.stop()
  mayReconnect.resolve()
  await eventually(() => connections.length === 2 && pool.totalCount === pool.idleCount)
  await close()
})

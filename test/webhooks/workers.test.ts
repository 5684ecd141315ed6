import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startWorker } from '../../src/delivery/webhooks/sending/worker.ts'
import { openDatabase, type PoolConnection } from '../../src/platform/db/open.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { query } from '../support/cluster.ts'
import { aWebhook, emitTo, type Got, gotOf, ok, outcome, waitingFor } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { atEnd, replica, type Tenant } from '../support/world.ts'

const one = await replica()
const { app, url } = one

type Sent = Got & { by: string; repeated: boolean }

/** Records what workers send, and whether it came after all that precedes it in its lane. */
function newReceiver() {
  const sent: Sent[] = []
  const seen = new Map<string, number>()
  const faults: string[] = []
  const by =
    (name: string, answer: (got: Got) => Outcome | Promise<Outcome> = () => ok) =>
    async (message: Parameters<typeof gotOf>[0]) => {
      const got = gotOf(message)
      const last = seen.get(got.key) ?? 0
      if (got.n > last + 1) faults.push(`${got.key}: ${got.n} after ${last}`)
      sent.push({ ...got, by: name, repeated: got.n <= last })
      seen.set(got.key, Math.max(last, got.n))
      return answer(got)
    }
  return { sent, faults, by }
}

/** A worker on connections of its own, whose line can be cut. */
async function newWorker(send: Parameters<typeof startWorker>[2]) {
  const { pool, db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  let line: PoolConnection | undefined
  let mayConnect = true
  const connect = async () => {
    if (!mayConnect) throw new Error('cut off')
    line = await pool.connect()
    return line
  }
  const worker = await startWorker({ ...app, db }, connect, send, () => {})
  atEnd(close)
  atEnd(() => worker.stop())
  return {
    ...worker,
    /** What others see of its death; `forever`: it never comes back. */
    async cut(forever: boolean) {
      mayConnect = !forever
      const pid = (line as unknown as { processID: number }).processID
      await query(url, 'select pg_terminate_backend($1)', [pid])
    },
  }
}

const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`)
const allDone = (id: string) => eventually(async () => (await waitingFor(url, [id])) === 0)
const emitAll = async ({ team_id }: Tenant, times: number) => {
  for (let i = 0; i < times; i++) await emitTo(app, team_id, keys)
}

test('two workers share the work, and neither sends what the other has sent', async () => {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/shared')
  const { sent, faults, by } = newReceiver()
  const slowly = () => new Promise<Outcome>((done) => setImmediate(() => done(ok)))
  const workers = [await newWorker(by('one', slowly)), await newWorker(by('two', slowly))]
  for (let i = 0; i < 20; i++) {
    await emitAll(tenant, 1)
    for (const worker of i % 2 ? workers : workers.toReversed()) worker.wake([id])
  }
  await allDone(id)
  expect(faults).toEqual([])
  expect(sent.length).toBe(20 * keys.length)
  expect(new Set(sent.map((got) => got.by))).toEqual(new Set(['one', 'two']))
  for (const worker of workers) await worker.stop()
})

test('what a killed worker had in hand is taken over by another', async () => {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/killed')
  const { sent, faults, by } = newReceiver()
  const unheard = Promise.withResolvers<Outcome>()
  const killed = await newWorker(by('killed', () => unheard.promise))
  await emitAll(tenant, 3)
  killed.wake([id])
  await eventually(() => sent.length === keys.length)
  const heir = await newWorker(by('heir'))
  await killed.cut(true)
  await allDone(id)
  expect(faults).toEqual([])
  expect(sent.filter((got) => got.by === 'heir').length).toBe(3 * keys.length)
  await heir.stop()
  unheard.resolve(outcome(null, 'aborted'))
})

test('a worker that loses its connection comes back and goes on', async () => {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/lost')
  const { sent, faults, by } = newReceiver()
  const worker = await newWorker(by('one'))
  for (let i = 0; i < 3; i++) {
    await emitAll(tenant, 2)
    worker.wake([id])
    await worker.cut(false)
    await allDone(id)
  }
  expect(faults).toEqual([])
  expect(new Set(sent.map(({ key, n }) => `${key} ${n}`)).size).toBe(6 * keys.length)
  await worker.stop()
})

test('a worker that is stopped while it comes back leaves no connection behind', async () => {
  const { pool, db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  const lines: PoolConnection[] = []
  const [coming, mayCome] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const connect = async () => {
    if (lines.length) {
      coming.resolve()
      await mayCome.promise
    }
    const line = await pool.connect()
    lines.push(line)
    return line
  }
  const worker = await startWorker(
    { ...app, db },
    connect,
    async () => ok,
    () => {},
  )
  await query(url, 'select pg_terminate_backend($1)', [(lines[0] as unknown as { processID: number }).processID])
  await coming.promise
  await worker.stop()
  mayCome.resolve()
  await eventually(() => lines.length === 2 && pool.totalCount === pool.idleCount)
  await close()
})

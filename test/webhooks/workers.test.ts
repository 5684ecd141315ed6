import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { startWorker } from '../../src/delivery/worker/worker.ts'
import { newWorkerLease } from '../../src/delivery/worker/worker-lease.ts'
import { listenForNotifications } from '../../src/platform/db/connections/notifications.ts'
import { type Connection, connectDirect, openDatabase } from '../../src/platform/db/open.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, emitTo, newReceiver, newWorker, ok } from '../support/delivery.ts'
import { cancelLockWaits, lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { directUrl, query, runningStatements, runUncommitted } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { newUuid } from '../support/seeded.ts'
import { isPooledRun, newSandboxDatabase, replica, type Tenant } from '../support/world.ts'

const w = await replica()
const { app, url } = w

/** A pooler's connections belong to no worker, so all of them count. */
const isOfWorker = isPooledRun()
  ? "$1::int[] is not null and application_name = 'assay' and datname = current_database()"
  : 'pid = any($1::int[])'

/** The server processes of a pool. */
const backendsOf = (pool: ReturnType<typeof openDatabase>['pool']) =>
  (pool as unknown as { _clients: { processID: number }[] })._clients.map(({ processID }) => processID)

/** Cuts the connections of a worker. It opens new ones. */
const cut = ({ pool }: { pool: ReturnType<typeof openDatabase>['pool'] }) =>
  query(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${isOfWorker}`, [backendsOf(pool)])

const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`)
const allDone = (id: string) => eventually(async () => (await countPending(url, [id])) === 0)
const emitAll = async ({ team_id }: Tenant, times: number) => {
  for (let i = 0; i < times; i++) await emitTo(app, team_id, keys)
}

test('a worker continues after it loses its connections', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/lost')
  const { by, first, overtaking } = newReceiver()
  const worker = await newWorker(w, by('one'))
  for (let i = 0; i < 3; i++) {
    await emitAll(tenant, 2)
    worker.wake([tenant.team_id])
    await cut(worker)
    await allDone(id)
  }
  expect(overtaking()).toEqual([])
  expect(first()).toHaveLength(6 * keys.length)
  await worker.stop()
})

test('a worker renews its lease, and gets another ID after the lease expired', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const ids: string[] = []
  const lease = newWorkerLease({ db: app.db, onAcquired: (id) => ids.push(id), onError: () => {} })
  const isLive = async (id?: string) => (await query(url, 'select from workers where id = $1 and leased_until > now()', [id])).length === 1
  await lease.acquire()
  expect([ids.length, lease.isHeld()]).toEqual([1, true])
  await query(url, 'update workers set leased_until = now() where id = $1', [ids[0]])
  await eventually(() => isLive(ids[0]))
  vi.advanceTimersByTime(5000)
  expect(lease.isHeld()).toBe(false)
  await eventually(() => ids.length === 2)
  expect([lease.isHeld(), ids[0] !== ids[1]]).toEqual([true, true])
  await eventually(() => isLive(ids[1]))
  await lease.end()
  expect([lease.isHeld(), await isLive(ids[1])]).toEqual([false, false])
})

test('a worker whose renewal comes too late gets another ID', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const database = await newSandboxDatabase()
  const { db, pool, close } = openDatabase(database, 2, pino({ level: 'silent' }))
  pool.options.connectionTimeoutMillis = 0
  atEnd(close)
  const ids: string[] = []
  let failures = 0
  const lease = newWorkerLease({ db, onAcquired: (id) => ids.push(id), onError: () => failures++ })
  await lease.acquire()
  const unlock = await runUncommitted(database, 'lock table workers in share row exclusive mode')
  const isRenewing = () => eventually(async () => (await lockWaits(database)).length)
  await isRenewing()
  vi.advanceTimersByTime(3000)
  // The next attempt begins while the lease is held, and ends after it expired.
  await cancelLockWaits(database)
  await eventually(() => failures)
  await isRenewing()
  vi.advanceTimersByTime(3000)
  expect(lease.isHeld()).toBe(false)
  await unlock()
  await eventually(() => lease.isHeld())
  expect(ids.length).toBe(2)
  expect(await query(database, 'select id from workers')).toEqual([{ id: ids[1] }])
  await lease.end()
})

test.each(['is lost after the commit', 'is lost before the commit', 'is lost while the server still works on it'])(
  'records every attempt once when the connection that records outcomes %s',
  async (how) => {
    const tenant = await w.tenant()
    const { id } = await aWebhook(tenant, '/recorded')
    await emitAll(tenant, 2)
    const relay = await openRelay(url)
    atEnd(async () => relay.close())
    const { received, by, first, overtaking } = newReceiver()
    const isCommitted = how.includes('after')
    const commit = isCommitted ? undefined : await runUncommitted(url, 'lock table attempts in share row exclusive mode')
    if (isCommitted) relay.loseResponsesTo('record_outcomes')
    const worker = await newWorker({ app, url: relay.url }, by('one'))
    const countAttempts = async () =>
      Number((await query<{ count: string }>(url, 'select count(*) from attempts where webhook_id = $1', [id]))[0]?.count)
    await eventually(async () => (isCommitted ? await countAttempts() : (await runningStatements(url, 'record_outcomes')).length))
    relay.loseResponsesTo(undefined)
    if (how.includes('before')) {
      await query(url, 'select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [await runningStatements(url, 'record_outcomes')])
    } else relay.cut()
    await commit?.()
    await allDone(id)
    await eventually(async () => (await countAttempts()) === received.length)
    await worker.stop()
    expect(await countAttempts()).toBe(received.length)
    expect(overtaking()).toEqual([])
    expect(first()).toHaveLength(2 * keys.length)
  },
)

test('a worker that is the only one continues the teams of a killed worker at once', async () => {
  const database = await newSandboxDatabase()
  const alone = await replica({ database })
  const tenant = await alone.tenant()
  const { id } = await aWebhook(tenant, '/alone')
  await emitTo(alone.app, tenant.team_id, ['a'])
  const killed = newUuid()
  await query(database, "insert into workers values ($1, now() + interval '1 hour')", [killed])
  await query(database, 'update event_logs set owner = $1', [killed])
  const outbound = outboundOptionsOf(alone.app.config)
  const worker = await startWorker(alone.app, { send: async () => ok, onError: () => {}, outbound, isAlone: true })
  worker.wake([tenant.team_id])
  await eventually(async () => (await countPending(database, [id])) === 0)
  await worker.stop()
  expect(await query(database, 'select from workers')).toEqual([])
})

test('a listener that ends while it reconnects leaks no connection', async () => {
  const connections: Connection[] = []
  const [reconnecting, mayReconnect] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended: Promise<unknown>[] = []
  const connect = async () => {
    if (connections.length) {
      reconnecting.resolve()
      await mayReconnect.promise
    }
    const connection = await connectDirect(directUrl(url))
    connections.push(connection)
    ended.push(new Promise((done) => connection.once('end', done)))
    return connection
  }
  const received: string[] = []
  const onNotification = (_: string, payload: string) => received.push(payload)
  const listener = listenForNotifications({ connect, channels: ['assay test'], onNotification, onError: () => {} })
  await eventually(async () => {
    await query(url, "select pg_notify('assay test', 'a')")
    return received.length > 0
  })
  await query(url, 'select pg_terminate_backend($1::int)', [(connections[0] as unknown as { processID: number }).processID])
  await reconnecting.promise
  await listener.close()
  mayReconnect.resolve()
  await eventually(() => connections.length === 2)
  await Promise.all(ended)
})

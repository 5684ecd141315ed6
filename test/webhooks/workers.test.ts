import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startWorker } from '../../src/delivery/webhooks/sending/worker.ts'
import { newWorkerLease } from '../../src/delivery/webhooks/sending/worker-lease.ts'
import { listenForPayloads } from '../../src/delivery/webhooks/wake-ups/listen.ts'
import { sendLocal } from '../../src/delivery/webhooks/wake-ups/local-messages.ts'
import { wakeUpsAmongProcesses } from '../../src/delivery/webhooks/wake-ups/wake-ups.ts'
import { startJobs } from '../../src/jobs/loop.ts'
import { type Connection, connectDirect, openDatabase } from '../../src/platform/db/open.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, emitTo, ok, outcome, type ReceivedMessage, toReceivedMessage } from '../support/lanes.ts'
import { cancelLockWaits, lockWaits } from '../support/lock-waits.ts'
import { eventually, root, run } from '../support/process.ts'
import { directUrl, query, runningStatements, runUncommitted } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { newUuid } from '../support/seeded.ts'
import { isPooledRun, newSandboxDatabase, replica, type Tenant, temporaryFolder } from '../support/world.ts'

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

/** Starts a worker on its own connections, which a test can close. */
async function newWorker(send: Parameters<typeof startWorker>[1]['send'], database = url) {
  // Too few for pipelined connections, which would open again.
  const { pool, db, close } = openDatabase(database, 5, pino({ level: 'silent' }))
  const worker = await startWorker({ ...app, db }, { send, onError: () => {} })
  const search = startJobs({ ...app, db }, [worker.job], () => {})
  const isClosed = { yet: false }
  const closeOnce = async () => {
    if (!isClosed.yet) await close()
    isClosed.yet = true
  }
  const stop = async () => void (await Promise.all([search.stop(), worker.stop()]))
  atEnd(closeOnce)
  atEnd(stop)
  return {
    wake: worker.wake,
    stop,
    /** Closes the connections, so that the worker can neither settle nor renew its lease, like a killed process. */
    kill: closeOnce,
    /** Cuts the connections. The worker opens new ones. */
    cut: () => query(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${isOfWorker}`, [backendsOf(pool)]),
  }
}

/** An event of the team, to queue it again. */
async function eventOf(team_id: string) {
  const [event] = await query<{ id: string; logged_at: string }>(url, 'select id, logged_at::text from events where team_id = $1 limit 1', [
    team_id,
  ])
  return event as NonNullable<typeof event>
}

/** A pooler's connections belong to no worker, so all of them count. */
const isOfWorker = isPooledRun()
  ? "$1::int[] is not null and application_name = 'assay' and datname = current_database()"
  : 'pid = any($1::int[])'

/** The server processes of a pool. */
const backendsOf = (pool: ReturnType<typeof openDatabase>['pool']) =>
  (pool as unknown as { _clients: { processID: number }[] })._clients.map(({ processID }) => processID)

const keys = Array.from({ length: 40 }, (_, i) => `key ${i}`)
const allDone = (id: string) => eventually(async () => (await countPending(url, [id])) === 0)
const emitAll = async ({ team_id }: Tenant, times: number) => {
  for (let i = 0; i < times; i++) await emitTo(app, team_id, keys)
}

test('two workers share the deliveries and never repeat one', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/shared')
  const ref = webhookRef(tenant.team_id, id)
  const { received, faults, by } = newReceiver()
  const slowly = () => new Promise<Outcome>((done) => setImmediate(() => done(ok)))
  const workers = [await newWorker(by('one', slowly)), await newWorker(by('two', slowly))]
  for (let i = 0; i < 20; i++) {
    await emitAll(tenant, 1)
    for (const worker of i % 2 ? workers : workers.toReversed()) worker.wake([ref])
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
  const ref = webhookRef(tenant.team_id, id)
  const { received, faults, by } = newReceiver()
  const pendingOutcome = Promise.withResolvers<Outcome>()
  const killed = await newWorker(by('killed', () => pendingOutcome.promise))
  await emitAll(tenant, 3)
  killed.wake([ref])
  await eventually(() => received.length === keys.length)
  const successor = await newWorker(by('successor'))
  await killed.kill()
  await allDone(id)
  expect(faults).toEqual([])
  expect(received.filter((message) => message.by === 'successor').length).toBe(3 * keys.length)
  await successor.stop()
  pendingOutcome.resolve(outcome(null, 'aborted'))
})

test('a worker continues after it loses its connections', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/lost')
  const ref = webhookRef(tenant.team_id, id)
  const { received, faults, by } = newReceiver()
  const worker = await newWorker(by('one'))
  for (let i = 0; i < 3; i++) {
    await emitAll(tenant, 2)
    worker.wake([ref])
    await worker.cut()
    await allDone(id)
  }
  expect(faults).toEqual([])
  expect(new Set(received.map(({ key, n }) => `${key} ${n}`)).size).toBe(6 * keys.length)
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
  'records every attempt once and leaves no lane claimed when the connection of a settlement %s',
  async (how) => {
    const tenant = await w.tenant()
    const { id } = await aWebhook(tenant, '/settled')
    await emitAll(tenant, 2)
    const relay = await openRelay(url)
    atEnd(async () => relay.close())
    const { received, faults, by } = newReceiver()
    const isCommitted = how.includes('after')
    // Recording an attempt waits for the row of its team.
    const commit = isCommitted ? undefined : await runUncommitted(url, 'select from teams where id = $1 for update', [tenant.team_id])
    if (isCommitted) relay.loseResponsesTo('settle_lanes')
    const worker = await newWorker(by('one'), relay.url)
    const countAttempts = async () =>
      Number((await query<{ count: string }>(url, 'select count(*) from attempts where webhook_id = $1', [id]))[0]?.count)
    await eventually(async () => (isCommitted ? await countAttempts() : (await runningStatements(url, 'settle_lanes')).length))
    relay.loseResponsesTo(undefined)
    if (how.includes('before')) {
      await query(url, 'select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [await runningStatements(url, 'settle_lanes')])
    } else relay.cut()
    await commit?.()
    await allDone(id)
    await eventually(async () => (await countAttempts()) === received.length)
    await eventually(async () => !(await query(url, 'select from lanes where webhook_id = $1 and worker is not null', [id])).length)
    await worker.stop()
    expect(await countAttempts()).toBe(received.length)
    expect(faults).toEqual([])
    expect(new Set(received.map(({ key, n }) => `${key} ${n}`)).size).toBe(2 * keys.length)
  },
)

test('a team with thousands of due messages does not delay the messages of another', async () => {
  const [busy, quiet] = [await w.tenant(), await w.tenant()]
  await emitTo(app, busy.team_id, ['a'])
  const ids = await Promise.all([1, 2, 3, 4].map(async () => (await aWebhook(busy, '/busy')).id))
  const event = await eventOf(busy.team_id)
  const times = <T>(value: T) => Array.from({ length: 1000 }, () => value)
  const keys = times('key').map((key, i) => `${key} ${i}`)
  for (const webhook of ids)
    await query(url, 'select enqueue_events($1, $2, $3, $4, $5)', [busy.team_id, webhook, times(event.id), times(event.logged_at), keys])
  const { received, by } = newReceiver()
  const pendingOutcome = Promise.withResolvers<Outcome>()
  const worker = await newWorker(by('one', ({ path }) => (path === '/busy' ? pendingOutcome.promise : ok)))
  await eventually(() => received.length > 0)
  const { id } = await aWebhook(quiet, '/quiet')
  await emitTo(app, quiet.team_id, ['a', 'b'])
  await allDone(id)
  expect(received.filter(({ path }) => path === '/quiet')).toHaveLength(2)
  expect(await countPending(url, ids)).toBe(4000)
  const stopped = worker.stop()
  pendingOutcome.resolve(outcome(null, 'aborted'))
  await stopped
  await query(url, 'delete from webhooks where id = any($1::uuid[])', [ids])
})

test('a worker frees lanes that it holds without knowing', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/unknown')
  const { received, by } = newReceiver()
  const worker = await newWorker(by('one'))
  await emitTo(app, tenant.team_id, ['a'])
  worker.wake([webhookRef(tenant.team_id, id)])
  await allDone(id)
  const event = await eventOf(tenant.team_id)
  const [holder] = await query<{ id: string }>(url, 'select id from workers order by leased_until desc limit 1')
  // As after a failover that lost the settlement.
  await query(
    url,
    `begin;
     select enqueue('${tenant.team_id}', '${id}', 'per_key', 'a', '${event.id}', '${event.logged_at}');
     update lanes set worker = '${holder?.id}', lease = '${newUuid()}' where team_id = '${tenant.team_id}';
     commit`,
  )
  await allDone(id)
  expect(received.map(({ n }) => n)).toEqual([1, 2])
  await worker.stop()
})

test('a worker that is the only one continues the lanes of a killed worker at once', async () => {
  const database = await newSandboxDatabase()
  const alone = await replica({ database })
  const tenant = await alone.tenant()
  const { id } = await aWebhook(tenant, '/alone')
  await emitTo(alone.app, tenant.team_id, ['a'])
  const killed = newUuid()
  await query(database, "insert into workers values ($1, now() + interval '1 hour')", [killed])
  await query(database, 'update lanes set worker = $1, lease = $2', [killed, newUuid()])
  const worker = await startWorker(alone.app, { send: async () => ok, onError: () => {}, isAlone: true })
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
  const listener = listenForPayloads({ connect, onPayload: (payload) => received.push(payload), onError: () => {} })
  await eventually(async () => {
    await query(url, "select pg_notify('assay_events', 'a')")
    return received.length > 0
  })
  await query(url, 'select pg_terminate_backend($1::int)', [(connections[0] as unknown as { processID: number }).processID])
  await reconnecting.promise
  await listener.close()
  mayReconnect.resolve()
  await eventually(() => connections.length === 2)
  await Promise.all(ended)
})

test.each(['sockets on one machine', 'notifications of the database'])('wakes the workers of other processes through %s', async (way) => {
  const { db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  const isLocal = way.startsWith('sockets')
  const options = {
    ...{ db, onError: () => {} },
    folder: isLocal ? temporaryFolder() : undefined,
    connect: isLocal ? undefined : () => connectDirect(directUrl(url)),
  }
  const [api, delivering] = [wakeUpsAmongProcesses(options), wakeUpsAmongProcesses(options)]
  const refs = Array.from({ length: 250 }, () => webhookRef(newUuid(), newUuid()))
  const woken = new Set<string>()
  await delivering.listen((refs) => {
    for (const ref of refs) woken.add(ref)
  })
  await eventually(() => {
    api.send(refs)
    return woken.size === 250
  })
  expect(woken).toEqual(new Set(refs))
  await Promise.all([api.stop(), delivering.stop()])
  await close()
})

test('a process wakes the worker of another process on the same machine', async () => {
  const folder = temporaryFolder()
  const delivering = wakeUpsAmongProcesses({ db: app.db, folder, connect: undefined, onError: () => {} })
  const woken = new Set<string>()
  await delivering.listen((refs) => {
    for (const ref of refs) woken.add(ref)
  })
  const code = `
    import { sendLocal } from ${JSON.stringify(join(root, 'src/delivery/webhooks/wake-ups/local-messages.ts'))}
    const sender = sendLocal(${JSON.stringify(folder)})
    setInterval(() => sender.send('team/1,team/2'), 10)`
  const api = run([process.execPath, '--input-type=module', '--eval', code], { env: {} })
  await eventually(() => woken.size > 0)
  expect(woken).toEqual(new Set(['team/1', 'team/2']))
  api.child.kill()
  await api.exited
  await delivering.stop()
  expect(readdirSync(folder)).toEqual([])
})

test('a socket that a killed process left behind is removed', async () => {
  const folder = temporaryFolder()
  // The process ends without closing its socket.
  const code = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'dead.sock'))}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', code])
  expect(readdirSync(folder)).toEqual(['dead.sock'])
  const sender = sendLocal(folder)
  sender.send('a')
  await eventually(() => readdirSync(folder).length === 0)
  sender.close()
})

import { sql } from 'kysely'
import type pg from 'pg'
import { pino } from 'pino'
import { expect, inject, type TestContext, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { assay } from '../cli/assay.ts'
import { clientsOf, externalDatabase, startFailure, startInProcess } from '../start/support/start.ts'
import { atEnd } from '../support/at-end.ts'
import { databaseName } from '../support/databases.ts'
import { holdLock } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { aPipeline } from '../support/pipelines.ts'
import { pgbouncer, startPooler } from '../support/pooler.ts'
import { eventually, TIMEOUT_MS } from '../support/process.ts'
import { query } from '../support/query.ts'
import { faults, openReceiver } from '../support/receiver.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { emptyDatabase, errorOf, newSandboxDatabase, replica, temporaryFolder } from '../support/world.ts'
import { skipUnless } from './support/embedded.ts'

/** Two replicas behind one pooler, which deliver and publish. */
async function openSite() {
  const pooler = await startPooler(inject('adminUrl'))
  const url = await newSandboxDatabase()
  const google = await openReceiver(faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}'))
  atEnd(google.close)
  const env = { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` }
  const options = { database: pooler.urlOf(databaseName(url)), env }
  const replicas = [await replica(options), await replica(options)] as const
  const tenant = await replicas[0].tenant()
  const clients = replicas.map(({ base }) => createClient(base, { 'x-service-api-key': tenant.team_api_key }))
  const receiver = await aReceiver()
  await aWebhook(tenant, { url: receiver.url })
  const pipeline = await aPipeline(tenant, { cloud_pubsub: { project: 'harbor-events', topic: 'health', message_ordering: true } })
  for (const one of replicas) await one.startDelivery()
  return {
    ...{ pooler, url, replicas, tenant, receiver, pipeline },
    /** The clients of both replicas, in turns. */
    api: (turn: number) => clients[turn % clients.length] as (typeof clients)[number],
    backends: async () => (await query<{ pid: number }>(url, backendsOfService)).map(({ pid }) => pid),
  }
}

const backendsOfService = "select pid from pg_stat_activity where datname = current_database() and application_name = 'assay'"

const site = pgbouncer && (await openSite())

function siteFor(context: TestContext) {
  skipUnless(context, site !== undefined, 'no PgBouncer')
  return site as NonNullable<typeof site>
}

/** In session mode a client keeps its connection, so the pooler cannot exchange it. */
function transactionSiteFor(context: TestContext) {
  const found = siteFor(context)
  skipUnless(context, found.pooler.mode === 'transaction', `${pgbouncer?.version} does not support prepared statements in transaction mode`)
  return found
}

const times = <T>(count: number, call: (turn: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, turn) => call(turn)))

test('two replicas place, advance and deliver orders over a few connections', async (context) => {
  const { pooler, api, replicas, receiver, pipeline, backends } = siteFor(context)
  const users = await times(6, (turn) => aUser(api(turn)))
  const orders = await times(24, (turn) => placeOrder(api(turn), 'walk_in_test', { user_id: users[turn % 6] }))
  if (pooler.mode === 'transaction') expect((await backends()).length).toBeLessThanOrEqual(pooler.poolSize)
  await Promise.all(replicas.map((one) => one.runJobs()))
  const reads = await times(24, (turn) => api(turn + 1).getOrder({ params: { order_id: orders[turn]?.id as string } }))
  expect(reads.map(statusesOf)).toEqual(Array(24).fill(['ordered', 'requisition_created']))
  await times(24, (turn) => api(turn).simulateOrder({ params: { order_id: orders[turn]?.id as string }, query: {}, body: { partials: 0 } }))
  await Promise.all(replicas.map((one) => one.runJobs()))
  const received = await receiver.has(3 * 24)
  const byOrder = Map.groupBy(received, ({ headers }) => headers['webhook-key'] as string)
  expect(new Set(byOrder.keys())).toEqual(new Set(orders.map(({ id }) => `order:${id}`)))
  for (const messages of byOrder.values()) {
    const positions = messages.map(({ headers }) => Number(headers['webhook-sequence']))
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
  }
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, last_error: null }))
})

test('pushes of both replicas to one day are merged', async (context) => {
  const { api } = siteFor(context)
  const user_id = await aUser(api(0))
  const minutes = Array.from({ length: 20 }, (_, turn) => `2026-03-01T09:${10 + turn}:00.000Z`)
  const sample = (turn: number) => aSample(minutes[turn] as string, 60 + turn, { unit: 'bpm', type: 'watch' })
  await times(20, (turn) => push(api(turn), user_id, 'heartrate', [sample(turn)]))
  const { groups } = await api(1).listSamples({
    params: { user_id, resource: 'heartrate' },
    query: { start_date: '2026-03-01', end_date: '2026-03-02' },
  })
  const read = Object.values(groups).flatMap((sources) => sources.flatMap(({ data }) => data as { timestamp: string; value: number }[]))
  expect(read.map(({ timestamp, value }) => [timestamp, value])).toEqual(minutes.map((minute, turn) => [minute, 60 + turn]))
})

test('both replicas move the clock of a team, which erases a user', async (context) => {
  const { api, url, replicas } = siteFor(context)
  const user_id = await aUser(api(0))
  await api(1).deleteUser({ params: { user_id } })
  const offsets = (await times(8, (turn) => api(turn).moveClock({ body: { advance_seconds: 60 } }))).map((clock) => clock.offset_seconds)
  expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 8 }, (_, i) => 60 * (i + 1)))
  expect(await query(url, 'select from sealing_keys where user_id = $1', [user_id])).toHaveLength(1)
  await api(0).moveClock({ body: { advance_seconds: 7 * 24 * 3600 } })
  await Promise.all(replicas.map((one) => one.runJobs()))
  expect(await query(url, 'select from sealing_keys where user_id = $1', [user_id])).toEqual([])
  await times(2, async (turn) => expect(await errorOf(api(turn).getUser({ params: { user_id } }))).toMatchObject({ status: 404 }))
})

test('replicas that start at once on an empty database get the settings of the role, whatever the server has', async (context) => {
  const { pooler } = siteFor(context)
  const url = await emptyDatabase()
  await query(url, `alter database ${databaseName(url)} set timezone = 'Asia/Tokyo'`)
  const pooled = pooler.urlOf(databaseName(url))
  const environments = [externalDatabase(pooled), externalDatabase(pooled)] as const
  const services = await Promise.all(environments.map(startInProcess))
  const clients = services.map((service, i) => clientsOf(service, environments[i]?.['DATA_DIR'] as string).api)
  await times(12, (turn) => placeOrder(clients[turn % 2] as (typeof clients)[number]))
  const settings = { timezone: 'UTC', statement_timeout: '1min', idle_timeout: '1min', lock_timeout: '0' }
  expect(await settingsOf(pooled, SESSIONS)).toEqual(Array(SESSIONS).fill(settings))
})

/** All sessions of the pooler in transaction mode. */
const SESSIONS = 3

type Session = { pid: number; client: pg.PoolClient }

/** The settings of sessions, each of which is held until the last one is open. */
async function settingsOf(url: string, count: number) {
  const { pool, close } = openDatabase(url, count, pino({ level: 'silent' }))
  const sessions = await times(count, async () => {
    const client = await pool.connect()
    await client.query('begin')
    const { rows } = await client.query<Omit<Session, 'client'>>(`
      select pg_backend_pid() as pid, current_setting('timezone') as timezone, current_setting('statement_timeout') as statement_timeout,
        current_setting('idle_in_transaction_session_timeout') as idle_timeout, current_setting('lock_timeout') as lock_timeout`)
    return { ...(rows[0] as Session), client }
  })
  for (const { client } of sessions) client.release(true)
  await close()
  expect(new Set(sessions.map(({ pid }) => pid)).size).toBe(count)
  return sessions.map(({ pid: _, client: __, ...settings }) => settings)
}

test('prepared statements survive new connections of the pooler', async (context) => {
  const { pooler, api, backends } = transactionSiteFor(context)
  const user_id = await aUser(api(0))
  const before = await backends()
  await pooler.command('RECONNECT')
  for (const user of await times(20, (turn) => api(turn).getUser({ params: { user_id } }))) expect(user.user_id).toBe(user_id)
  await times(4, (turn) => placeOrder(api(turn), 'walk_in_test', { user_id }))
  await eventually(async () => (await backends()).every((pid) => !before.includes(pid)))
})

test('prepared statements survive a new column', async (context) => {
  const { api, url } = siteFor(context)
  const user_id = await aUser(api(0))
  await times(6, (turn) => placeOrder(api(turn), 'walk_in_test', { user_id }))
  await query(url, "alter table users add column later_version text not null default 'new'")
  await query(url, "alter table lab_accounts add column later_version text not null default 'new'")
  await query(url, "alter table connections add column later_version text not null default 'new'")
  await times(6, (turn) => placeOrder(api(turn), 'walk_in_test', { user_id }))
  await times(6, (turn) => push(api(turn), user_id, 'steps', [aSample('2026-03-01T09:00:00Z', 10 + turn)]))
})

test('replicas continue after the server ended the connections of the pooler', async (context) => {
  const { api, url, receiver } = siteFor(context)
  const before = receiver.received.length
  await query(url, `select pg_terminate_backend(pid, ${TIMEOUT_MS}) from (${backendsOfService}) as of_service`)
  for (const turn of [0, 1]) await eventually(() => api(turn).listUsers())
  await times(4, (turn) => placeOrder(api(turn)))
  await receiver.has(before + 4)
})

test('a read whose connection to the server is lost behind the pooler still succeeds', async (context) => {
  const { api, url, replicas } = transactionSiteFor(context)
  const user_id = await aUser(api(0))
  const isWaiting = () => eventually(async () => (await lockWaits(url)).length > 0)
  const release = await holdLock(replicas[0].app, (db) => sql`lock table users in access exclusive mode`.execute(db))
  const reading = api(0).getUser({ params: { user_id } })
  await isWaiting()
  await query(url, `select pg_terminate_backend(pid, ${TIMEOUT_MS}) from (${backendsOfService} and wait_event_type = 'Lock') as waiting`)
  await isWaiting()
  await release()
  expect(await reading).toMatchObject({ user_id })
})

const unavailable = { status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } }

test('requests fail with 503 while the pooler is paused, and work again afterwards', async (context) => {
  const { pooler, api } = transactionSiteFor(context)
  const user_id = await aUser(api(0))
  await pooler.command('SET query_wait_timeout = 1')
  await pooler.command('PAUSE')
  const refused = await times(4, (turn) => errorOf(turn < 2 ? api(turn).getUser({ params: { user_id } }) : placeOrder(api(turn))))
  for (const error of refused) expect(error).toMatchObject(unavailable)
  await pooler.command('RESUME')
  await pooler.command('SET query_wait_timeout = 600')
  for (const turn of [0, 1]) await eventually(() => api(turn).getUser({ params: { user_id } }))
  await times(4, (turn) => placeOrder(api(turn), 'walk_in_test', { user_id }))
})

test('requests fail with 503 while the pooler is down, and orders are delivered after its restart', async (context) => {
  const { pooler, api, receiver } = siteFor(context)
  await pooler.kill()
  for (const turn of [0, 1]) expect(await errorOf(api(turn).listUsers())).toMatchObject(unavailable)
  await pooler.start()
  for (const turn of [0, 1]) await eventually(() => api(turn).listUsers())
  const orders = await times(4, (turn) => placeOrder(api(turn)))
  const isDelivered = (id: string) => receiver.received.some(({ headers }) => headers['webhook-key'] === `order:${id}`)
  await eventually(() => orders.every(({ id }) => isDelivered(id)))
})

test('assay doctor does not compare the pool of a process with the connections of the server', async (context) => {
  const { pooler, url, replicas } = siteFor(context)
  const env = { DATA_DIR: temporaryFolder(), PORT: new URL(replicas[0].base).port, DATABASE_POOL_SIZE: '200' }
  const { out } = await assay(pooler.urlOf(databaseName(url)), env).run('doctor', '--json', '--quick')
  const { checks } = JSON.parse(out) as { checks: { name: string; state: string; text: string }[] }
  expect(checks.find(({ name }) => name === 'connections')).toMatchObject({
    state: 'ok',
    text: expect.stringMatching(/200 to the pooler$/),
  })
})

test('assay team move refuses a pooler, because its session would be that of other clients too', async (context) => {
  const { pooler, url, tenant } = siteFor(context)
  const moved = await assay(pooler.urlOf(databaseName(url))).run('team', 'move', '--team', tenant.team_id, '--to', 'worker-2:5432')
  expect(moved).toEqual({ code: 1, out: '', err: expect.stringContaining('needs a session of its own') })
})

test('the service rejects a pooler that does not support prepared statements', async (context) => {
  const { url, pooler } = siteFor(context)
  const losing = await startPooler(inject('adminUrl'), {
    pool_mode: 'transaction',
    ...(pooler.mode === 'transaction' ? { max_prepared_statements: 0 } : {}),
  })
  expect(await startFailure(externalDatabase(losing.urlOf(databaseName(url))))).toMatch(
    /a pooler that does not support prepared statements/,
  )
})

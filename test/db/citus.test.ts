import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, type TestContext, test } from 'vitest'
import { migrate } from '../../src/platform/db/schema/migrate.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { atEnd } from '../support/at-end.ts'
import { databaseName, databaseUrl, dropDatabase, joinServers, query as queryOnce } from '../support/databases.ts'
import { placeOrder } from '../support/orders.ts'
import { placementsIn } from '../support/placement.ts'
import { eventually } from '../support/process.ts'
import { directUrl, query } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import {
  citusServers,
  emptyDatabase,
  errorOf,
  newSandboxDatabase,
  type Replica,
  replica,
  type Tenant,
  temporaryFolder,
  world,
} from '../support/world.ts'
import { skipUnless } from './support/embedded.ts'
import { laterVersion } from './support/migrations.ts'

const onServer = (server: string, url: string) => databaseUrl(server, databaseName(url))

/** The servers of the cluster, the coordinator first. */
function clusterFor(context: TestContext) {
  const servers = citusServers()
  skipUnless(context, servers.length > 1, 'TEST_DATABASE_URL is not the coordinator of a Citus cluster')
  return servers
}

const distribute = (url: string, ...options: string[]) => assay(url).run('migrate', '--distribute', ...options)

const setupError = (message: RegExp) => ({ code: 1, out: '', err: expect.stringMatching(message) })

test('a database without Citus is migrated but not distributed', async () => {
  const url = await emptyDatabase()
  expect(await distribute(url)).toEqual(setupError(/no Citus extension.*Run CREATE EXTENSION citus on every server/))
  expect(await query(url, "select to_regclass('orders') is not null as migrated")).toEqual([{ migrated: true }])
})

test('a team of a database that is not distributed cannot be moved', async (context) => {
  skipUnless(context, !citusServers().length, 'the database of this run is distributed')
  const { url, team_id } = await world()
  expect(await assay(directUrl(url)).run('team', 'move', '--team', team_id, '--to', 'worker-2:5432')).toEqual(
    setupError(/not distributed; distribute them with: assay migrate --distribute/),
  )
})

test('a coordinator or workers that have not joined are refused with the statement to run', async (context) => {
  const servers = clusterFor(context)
  const url = await emptyDatabase()
  const { hostname, port } = new URL(url)
  await query(url, 'create extension citus')
  expect(await distribute(url)).toEqual(setupError(/coordinator is not part of the cluster.*citus_set_coordinator_host/))
  await query(url, 'select citus_set_coordinator_host($1, $2)', [hostname, Number(port)])
  expect(await distribute(url)).toEqual(setupError(/no workers.*citus_add_node/))

  await joinServers(servers, databaseName(url))
  await dropDatabase([servers.at(-1) as string], databaseName(url))
  expect(await distribute(url)).toEqual(setupError(/cannot be distributed: .*does not exist/s))
  expect(await query(url, "select from citus_tables where citus_table_type in ('distributed', 'reference')")).toEqual([])
})

type Placed = { name: string; type: string; column: string }

const placedTables = (url: string) =>
  query<Placed>(
    url,
    `select c.relname as name, t.citus_table_type as type, t.distribution_column as column
     from citus_tables t join pg_class c on c.oid = t.table_name where not c.relispartition order by c.relname`,
  )

const foreignKeys = (url: string) =>
  query(
    url,
    `select t.relname as on, f.conname as name, pg_get_constraintdef(f.oid) as definition
     from pg_constraint f join pg_class t on t.oid = f.conrelid
     where f.contype = 'f' and f.conparentid = 0 and f.connamespace = 'public'::regnamespace order by 1, 2`,
  )

test('a running service moves from one server to a cluster with its data', async (context) => {
  const servers = clusterFor(context)
  const url = await emptyDatabase()
  await assay(url).run('migrate')
  const keysBefore = await foreignKeys(url)
  const { api, ...w } = await world({ database: url })
  const orders = [await placeOrder(api), await placeOrder(api)]
  await w.runJobs()

  await joinServers(servers, databaseName(url))
  const { code, out } = await distribute(url, '--json')
  const { ran, distributed } = JSON.parse(out)
  expect([code, ran]).toEqual([0, []])
  expect(distributed).toEqual(expect.arrayContaining(['orders', 'audit_log', 'audit_outbox', 'events', 'teams', 'lab_samples']))
  expect(await foreignKeys(url)).toEqual(keysBefore)
  const placed = await placedTables(url)
  const { reference, local, spread } = await placementsIn(url)
  const namesOf = (type: string) => placed.filter((table) => table.type === type).map(({ name }) => name)
  expect(namesOf('reference')).toEqual(reference)
  expect(local).toEqual(expect.arrayContaining(namesOf('local')))
  for (const { name, column } of placed.filter(({ type }) => type === 'distributed'))
    expect([name, column]).toEqual([name, spread[name] ?? (name.startsWith('audit_') ? 'chain_id' : 'team_id')])
  expect(placed.map(({ name }) => name)).toEqual(distributed.concat(namesOf('local')).toSorted())

  // The coordinator keeps no copy, because erasing a user would not reach it.
  const remains = "select logicalrelid::text from pg_dist_partition where repmodel in ('s', 't') and pg_relation_size(logicalrelid) > 0"
  expect(await query(url, remains)).toEqual([])
  for (const { id } of orders) expect((await api.getOrder({ params: { order_id: id } })).id).toBe(id)
  const later = await placeOrder(api)
  await w.runJobs()
  expect((await api.listOrders({})).orders.map(({ id }) => id).toSorted()).toEqual([...orders, later].map(({ id }) => id).toSorted())
  await expect(query(url, 'delete from audit_log where team_id = $1', [w.team_id])).rejects.toThrow('audit_log is append-only')
  expect(await distribute(url)).toEqual({ code: 0, out: 'no pending migrations\n', err: '' })
})

test('tables that an upgrade adds are distributed by the next run, and one without a team is refused', async (context) => {
  clusterFor(context)
  const { url, team_id } = await world({ database: await newSandboxDatabase() })
  await query(
    url,
    'create table later_facts (team_id uuid not null references teams on delete cascade, n integer, primary key (team_id, n))',
  )
  await query(url, 'insert into later_facts values ($1, 1)', [team_id])
  await query(url, 'create table facts_of_nobody (id integer primary key)')
  expect(await distribute(url)).toEqual(setupError(/facts_of_nobody belongs to no team/))
  expect(await placedTables(url)).not.toContainEqual(expect.objectContaining({ name: 'later_facts', type: 'distributed' }))
  await query(url, 'drop table facts_of_nobody')
  expect(await distribute(url)).toEqual({ code: 0, out: 'distributed later_facts\n', err: '' })
  expect(await placedTables(url)).toContainEqual({ name: 'later_facts', type: 'distributed', column: 'team_id' })
  expect(await query(url, 'select n from later_facts where team_id = $1', [team_id])).toEqual([{ n: 1 }])
  await expect(query(url, 'insert into later_facts values ($1, 1)', [newUuid()])).rejects.toMatchObject({ code: '23503' })
})

const templateUrl = () => databaseUrl(inject('adminUrl'), inject('template'))

/** The functions that run on the server of the team in their first argument. */
const delegatedNames = async (url: string) =>
  (
    await query<{ name: string }>(
      url,
      `select p.proname as name from pg_dist_object o join pg_proc p on p.oid = o.objid
       where o.classid = 'pg_proc'::regclass and o.distribution_argument_index = 0 and o.force_delegation order by 1`,
    )
  ).map(({ name }) => name)

test('a later version adds a table and a function to every server', async (context) => {
  const servers = clusterFor(context)
  const url = await newSandboxDatabase()
  const functions = temporaryFolder()
  writeFileSync(
    join(functions, 'functions.sql'),
    'create or replace function count_added(team_id uuid) returns bigint language plpgsql as $$ begin return (select count(*) from added a where a.team_id = count_added.team_id); end $$;',
  )
  const added = 'create table added (team_id uuid not null references teams on delete cascade, id uuid not null, primary key (team_id, id))'
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  await migrate(pool, { folder: laterVersion({ '9001_added.sql': added }), functions })
  await pool.end()
  expect(await placedTables(url)).toContainEqual(expect.objectContaining({ name: 'added', type: 'distributed' }))
  for (const server of servers)
    expect(await queryOnce(onServer(server, url), "select from pg_proc where proname = 'count_added'")).toHaveLength(1)
  expect(await delegatedNames(url)).toEqual(await delegatedNames(templateUrl()))
  const { api } = await world({ database: url })
  await placeOrder(api)
})

test('every server has every function, and those of a team run where the team is', async (context) => {
  const servers = clusterFor(context)
  const url = templateUrl()
  const names = "select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace order by 1"
  const [expected, ...others] = await Promise.all(servers.map((server) => queryOnce(onServer(server, url), names)))
  for (const found of others) expect(found).toEqual(expected)
  expect(await delegatedNames(url)).toEqual((await placementsIn(url)).delegated)
})

test('partitions of later days are distributed, and old ones are dropped on every server', async (context) => {
  const servers = clusterFor(context)
  const w = await replica({ database: await newSandboxDatabase() })
  const partitionsOf = async (day: string) => {
    const name = `events_${day.slice(0, 10).replaceAll('-', '')}`
    // Citus hides shards by default.
    const shards = servers.map((server) =>
      queryOnce(
        `${onServer(server, w.url)}?options=-c%20citus.override_table_visibility=off`,
        `select relname from pg_class where relname ~ '^${name}_\\d+$'`,
      ),
    )
    return {
      distributed: await query(w.url, 'select from citus_tables where table_name::text = $1', [name]),
      shards: (await Promise.all(shards)).flat(),
    }
  }
  const day = later(w.app.wall(), 6 * DAY)
  expect(await partitionsOf(day)).toEqual({ distributed: [], shards: [] })
  w.advanceTime(5 * DAY)
  await w.runJobs()
  const made = await partitionsOf(day)
  const [{ count = 0 } = {}] = await query<{ count: number }>(
    w.url,
    "select count(*)::integer from pg_dist_shard where logicalrelid = 'events'::regclass",
  )
  expect([made.distributed.length, made.shards.length]).toEqual([1, count])
  w.advanceTime(400 * DAY)
  await w.runJobs()
  expect(await partitionsOf(day)).toEqual({ distributed: [], shards: [] })
})

type Server = { server: string; shards: number }

const serverOf = async (url: string, team_id: string) =>
  (
    await query<Server>(
      url,
      `select nodename || ':' || nodeport as server from citus_shards where shardid = get_shard_id_for_distribution_column('users', $1::uuid)`,
      [team_id],
    )
  )[0]?.server as string

const listServers = async (url: string) =>
  (await query<Server>(url, "select nodename || ':' || nodeport as server from pg_dist_node where shouldhaveshards order by 1")).map(
    ({ server }) => server,
  )

/** New teams until every server has one. */
async function tenantsOnEveryServer(w: Replica) {
  const tenants = new Map<string, Tenant>()
  const servers = await listServers(w.url)
  while (tenants.size < servers.length) {
    const tenant = await w.tenant()
    tenants.set(await serverOf(w.url, tenant.team_id), tenant)
  }
  return tenants
}

test('new teams on every server place orders and receive them by webhook', async (context) => {
  clusterFor(context)
  const w = await replica()
  const tenants = await tenantsOnEveryServer(w)
  await w.startDelivery()
  for (const tenant of tenants.values()) {
    const receiver = await aReceiver()
    await aWebhook(tenant, { url: receiver.url })
    const { id } = await placeOrder(tenant.api)
    await receiver.has(1)
    expect(receiver.events()[0]?.data['id']).toBe(id)
  }
})

test('assay doctor shows the shards of each server and the largest teams', async (context) => {
  clusterFor(context)
  const w = await replica()
  const [largest] = [...(await tenantsOnEveryServer(w)).values()] as [Tenant]
  for (let i = 0; i < 8; i++) await aUser(largest.api)
  await w.runJobs()
  const shards = (await doctor(w.url)).find(({ name }) => name === 'shards')
  expect(shards).toMatchObject({ state: 'ok', text: expect.stringContaining(`largest teams: ${largest.team_id} (8 events)`) })
  for (const server of await listServers(w.url)) expect(shards?.text).toMatch(new RegExp(`${server} has \\d+ shards with \\d+ MiB`))
})

const doctor = async (url: string) => {
  const { out } = await assay(url, { DATA_DIR: temporaryFolder(), PORT: '0' }).run('doctor', '--json', '--quick')
  const { checks } = JSON.parse(out) as { checks: { name: string; state: string; text: string }[] }
  return checks
}

const move = (url: string, team: string, to: string, ...more: string[]) =>
  assay(directUrl(url)).run('team', 'move', '--team', team, '--to', to, ...more)

test('a team moves while the service serves it, without a failed request', async (context) => {
  clusterFor(context)
  const w = await replica()
  const tenants = await tenantsOnEveryServer(w)
  const [from, tenant] = [...tenants][0] as [string, Tenant]
  const to = [...tenants.keys()].find((server) => server !== from) as string
  const receiver = await aReceiver()
  await aWebhook(tenant, { url: receiver.url })
  await w.startDelivery()
  const user_id = await aUser(tenant.api)

  let moving = true
  const placed: string[] = []
  const clients = Array.from({ length: 4 }, async () => {
    while (moving) {
      const { id } = await placeOrder(tenant.api, 'walk_in_test', { user_id })
      placed.push(id)
      expect((await tenant.api.getOrder({ params: { order_id: id } })).id).toBe(id)
    }
  })
  await eventually(() => placed.length > 0)
  const moved = await move(w.url, tenant.team_id, to).finally(() => {
    moving = false
  })
  expect(moved).toEqual({ code: 0, out: `moved the team from ${from} to ${to}\n`, err: '' })
  await Promise.all(clients)

  expect(await serverOf(w.url, tenant.team_id)).toBe(to)
  placed.push((await placeOrder(tenant.api, 'walk_in_test', { user_id })).id)
  expect((await tenant.api.listOrders({ query: { size: 1 } })).total).toBe(placed.length)
  await receiver.has(placed.length)
  expect(new Set(receiver.events().map(({ data }) => data['id']))).toEqual(new Set(placed))
  const torn = `select o.id from orders o join order_events e on e.team_id = o.team_id and e.order_id = o.id
    where o.team_id = $1 group by o.id, o.last_event having max(e.id) <> o.last_event`
  expect(await query(w.url, torn, [tenant.team_id])).toEqual([])
  expect(await move(w.url, tenant.team_id, to)).toMatchObject({ out: `the team is already on ${to}\n` })
})

test('a team gets a shard of its own while the service is stopped', async (context) => {
  clusterFor(context)
  const w = await replica({ database: await newSandboxDatabase() })
  const { api, team_id } = await w.tenant()
  const { id } = await placeOrder(api)
  const from = await serverOf(w.url, team_id)
  const to = (await listServers(w.url)).find((server) => server !== from) as string
  expect(await move(w.url, team_id, to, '--isolate')).toEqual(setupError(/Stop the service first/))

  await query(
    w.url,
    "select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database() and application_name = 'assay'",
  )
  expect(await move(w.url, team_id, to, '--isolate')).toEqual({ code: 0, out: `moved the team from ${from} to ${to}\n`, err: '' })
  const alone = `select shardminvalue = shardmaxvalue as alone from pg_dist_shard
    where shardid = get_shard_id_for_distribution_column('orders', $1::uuid)`
  expect(await query(w.url, alone, [team_id])).toEqual([{ alone: true }])
  await eventually(() => api.getOrder({ params: { order_id: id } }))
  expect((await placeOrder(api)).id).not.toBe(id)
  expect(await move(w.url, team_id, from, '--isolate')).toEqual({ code: 0, out: `moved the team from ${to} to ${from}\n`, err: '' })
})

test('an unknown team or server is refused', async (context) => {
  clusterFor(context)
  const w = await replica()
  const { team_id } = await w.tenant()
  expect(await move(w.url, newUuid(), 'nowhere:5432')).toEqual(setupError(/No team has this ID/))
  const servers = await listServers(w.url)
  expect(await move(w.url, team_id, 'nowhere:5432')).toEqual(
    setupError(new RegExp(`no server nowhere:5432; choose one of ${servers.join(', ')}`)),
  )
})

test('while a worker is down its teams get 503 and the others continue', async (context) => {
  const servers = clusterFor(context)
  const url = await emptyDatabase()
  const relay = await openRelay(servers[1] as string)
  atEnd(async () => relay.close())
  const addresses = servers.slice(2).map((server) => ({ host: new URL(server).hostname, port: Number(new URL(server).port) }))
  await joinServers(servers, databaseName(url), [{ host: '127.0.0.1', port: relay.port }, ...addresses])
  expect((await distribute(url)).code).toBe(0)
  const w = await replica({ database: url })
  const tenants = await tenantsOnEveryServer(w)
  const lost = tenants.get(`127.0.0.1:${relay.port}`) as Tenant
  const [other] = [...tenants.values()].filter((tenant) => tenant !== lost) as [Tenant]
  const users = { lost: await aUser(lost.api), other: await aUser(other.api) }

  relay.close()
  const unavailable = { status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } }
  expect(await errorOf(lost.api.getUser({ params: { user_id: users.lost } }))).toMatchObject(unavailable)
  expect(await errorOf(placeOrder(lost.api, 'walk_in_test', { user_id: users.lost }))).toMatchObject(unavailable)
  await placeOrder(other.api, 'walk_in_test', { user_id: users.other })
  const checks = await doctor(w.url)
  expect(checks.find(({ name }) => name === 'shards')).toMatchObject({ state: 'wrong' })
  expect(checks.find(({ name }) => name === 'encryption key')).toMatchObject({ state: 'ok' })

  await relay.open()
  await eventually(() => lost.api.getUser({ params: { user_id: users.lost } }))
  await placeOrder(lost.api, 'walk_in_test', { user_id: users.lost })
})

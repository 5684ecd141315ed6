import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type TableFamily, tableFamilies } from '../src/operations/capacity/rules-costs.ts'
import { query } from '../test/support/databases.ts'
import { CONNECTION_POLL_MS, eventually } from '../test/support/process.ts'
import { tableOwners } from '../test/support/table-owners.ts'
import { cpuOf } from './cpu.ts'
import type { LoadReport } from './load.ts'
import type { Running, Site } from './site.ts'

export type Processes = { site: Site; api: Running; worker: Running }
type Numbers = Record<string, number>
/** What some work used by resource, and how many rows it added. The CPU time of a Citus cluster is also split. */
export type Measured = { used: Numbers; events: number; deliveries: number }

/** Runs the work, and measures and prints what it uses until nothing is pending. `work` returns the traffic of its requests. */
export async function measure(processes: Processes, name: string, work: () => Promise<LoadReport['bytes'][]>): Promise<Measured> {
  const { database } = processes.api
  const before = { ...(await readTables(database)), ...(await readCounters(processes)) }
  const traffic = await work()
  await waitUntilIdle(database)
  const counters = await readCounters(processes)
  const { events, deliveries, ...used } = difference({ ...(await readTables(database)), ...counters }, before)
  const sum = (name: keyof LoadReport['bytes']) => traffic.reduce((sum, bytes) => sum + bytes[name], 0)
  const measured = { used: { ...used, received: sum('requests'), sent: sum('responses') }, events, deliveries }
  console.log(`${name}: ${JSON.stringify(measured)}`)
  return measured
}

const difference = (after: Numbers, before: Numbers) =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)])) as Record<string, number> &
    Record<'events' | 'deliveries', number>

/** CPU time in milliseconds and bytes of write-ahead log. */
async function readCounters({ site, api, worker }: Processes) {
  const [coordinator = 0, ...shards] = site.postmasters.map(cpuOf)
  const wal = await Promise.all(
    site.servers.map((server) => query<{ bytes: string }>(server, "select pg_current_wal_lsn() - '0/0' as bytes")),
  )
  const shardsMs = shards.reduce((sum, ms) => sum + ms, 0)
  return {
    api: cpuOf(api.pid),
    worker: cpuOf(worker.pid),
    database: coordinator + shardsMs,
    coordinator,
    shards: shardsMs,
    wal: wal.reduce((sum, [row]) => sum + Number(row?.bytes), 0),
  }
}

/** The family of the tables that a feature owns. */
const families: Record<string, TableFamily> = {
  'tenants/users': 'orders',
  'tenants/idempotency': 'orders',
  'labs/orders': 'orders',
  'labs/results': 'orders',
  'delivery/events': 'events',
  'delivery/webhooks': 'deliveries',
  'wearables/bulk': 'samples',
  'wearables/connections': 'samples',
  'wearables/data': 'samples',
  'tenants/audit': 'audit',
}

/** The bytes of tables with indexes, by family, and the number of rows. The tables of a cluster are on other servers. */
async function readTables(database: string) {
  await query(database, 'vacuum full')
  const tables = await query<{ name: string; bytes: string }>(
    database,
    `select coalesce(parent.relname, c.relname) as name, sum(pg_total_relation_size(c.oid)) as bytes
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  )
  const sizes = Object.fromEntries(tableFamilies.map((name) => [`${name}_disk`, 0]))
  for (const { name, bytes } of tables) {
    const family = families[tableOwners.get(name) ?? '']
    if (family) sizes[`${family}_disk`] = (sizes[`${family}_disk`] ?? 0) + Number(bytes)
  }
  const [rows] = await query<Record<'events' | 'deliveries' | 'audit_rows', number>>(
    database,
    `select (select count(*) from events)::int as events, (select count(*) from attempts)::int as deliveries,
     (select count(*) from audit_log)::int as audit_rows`,
  )
  return { ...sizes, ...rows }
}

/** Waits until every order is dispatched, every event moved to its log and delivered, and every audit row linked. */
export const waitUntilIdle = (database: string) =>
  eventually(
    async () => {
      const [row] = await query<{ busy: boolean }>(
        database,
        `select exists (select 1 from audit_outbox) or exists (select 1 from outbox)
         or exists (select 1 from webhook_cursors c join event_logs l using (team_id) where c.after_no < l.last_no)
         or exists (select 1 from parked_messages) or exists (select 1 from orders where dispatch_at < now()) as busy`,
      )
      return row?.busy === false
    },
    600_000,
    500,
  )

/** Waits until no order is due to be sent to its lab. */
export const waitUntilDispatched = (database: string) =>
  eventually(
    async () => (await query(database, 'select from orders where dispatch_at < now() limit 1')).length === 0,
    600_000,
    CONNECTION_POLL_MS,
  )

/** Checkpoints during the work. The first change of a page after a checkpoint writes the whole page to the log. */
export async function withCheckpoints<T>(database: string, work: () => Promise<T>) {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  let done = false
  const checkpoints = (async () => {
    while (!done) {
      await client.query('checkpoint')
      await sleep(200)
    }
  })()
  try {
    return await work()
  } finally {
    done = true
    await checkpoints
    await client.end()
  }
}

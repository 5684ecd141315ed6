import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { machineLines } from './machine.ts'
import { bodyOf, type HeartRate, heartRates, midnight } from './samples.ts'
import { openSite, type Site } from './site.ts'
import { waitUntilIdle } from './usage.ts'

type Options = { users: number; connections: number; pooler: number | undefined }

const DAY = 86_400_000
const PER_DAY = 1440
const PER_SMALL_PUSH = 5
/** Small pushes of each user, which fill a third of a day. */
const SMALL_PUSHES = 96
const LISTED_TABLES = 5

/** Measures how much the whole database grows per sample, with the event log and the audit log, for large and for small pushes. */
export async function benchBytes(options: Options) {
  const { machine, days, small } = await measureBytes(options)
  for (const line of machine) console.log(line)
  for (const growth of [days, small]) printGrowth(growth)
}

export async function measureBytes(options: Options) {
  const site = await openSite(options.connections + 4, options)
  try {
    const days = await measureGrowth(site, options, 'large_pushes', PER_DAY, (rates) => [rates])
    const small = await measureGrowth(site, options, 'small_pushes', PER_SMALL_PUSH, (rates) => smallPushes(rates))
    return { machine: await machineLines(site.urlOf('large_pushes')), days, small }
  } finally {
    await site.close()
  }
}

const smallPushes = (rates: HeartRate[]) =>
  Array.from({ length: SMALL_PUSHES }, (_, n) => rates.slice(n * PER_SMALL_PUSH, (n + 1) * PER_SMALL_PUSH))

type Growth = {
  pushes: number
  perPush: number
  /** Bytes per sample of the whole database, before and after PostgreSQL reclaims dead row versions, and of the sample table. */
  written: number
  compact: number
  sampleTable: number
  /** Bytes per push of each table and index, largest first. */
  tables: [string, number][]
}

/** Pushes a day of each user to a database of its own. */
async function measureGrowth(
  site: Site,
  options: Options,
  name: string,
  perPush: number,
  split: (rates: HeartRate[]) => HeartRate[][],
): Promise<Growth> {
  await site.create(name)
  const running = await site.serve(name)
  const api = createClient(running.url, running.headers)
  const users = await Promise.all(
    Array.from({ length: options.users }, async (_, n) => (await api.createUser({ body: { client_user_id: `bytes-${n}` } })).user_id),
  )
  const pushesOf = (daysAgo: number, rounds: (pushes: HeartRate[][]) => HeartRate[][]) => {
    const byUser = users.map((user, seed) =>
      rounds(split(heartRates(seed, midnight(daysAgo), PER_DAY, DAY / PER_DAY))).map((rates) => ({
        method: 'POST',
        path: `/v2/timeseries/${user}/heartrate`,
        body: bodyOf(rates),
      })),
    )
    return Array.from({ length: byUser[0]?.length ?? 0 }, (_, round) => byUser.flatMap((pushes) => pushes[round] ?? [])).flat()
  }
  const send = async (requests: ReturnType<typeof pushesOf>) => {
    await running.load({ connections: options.connections, times: requests.length, requests })
    await waitUntilIdle(running.database)
  }
  // Connects the sources and fills the first pages.
  await send(pushesOf(3, (pushes) => pushes.slice(0, 1)))
  const before = await readSizes(running.database, true)
  const requests = pushesOf(2, (pushes) => pushes)
  await send(requests)
  const written = await readSizes(running.database, false)
  const compact = await readSizes(running.database, true)
  await running.stop()
  const samples = requests.length * perPush
  const growth = (after: Sizes) => (after.total - before.total) / samples
  const tables = [...compact.tables].map(([table, bytes]): [string, number] => [
    table,
    (bytes - (before.tables.get(table) ?? 0)) / requests.length,
  ])
  const sampleTable = tables.filter(([table]) => table.startsWith('sample_days')).reduce((sum, [, bytes]) => sum + bytes, 0) / perPush
  return {
    pushes: requests.length,
    perPush,
    written: growth(written),
    compact: growth(compact),
    sampleTable,
    tables: tables.sort((a, b) => b[1] - a[1]),
  }
}

function printGrowth({ pushes, perPush, written, compact, tables }: Growth) {
  console.log(`${pushes} pushes of ${perPush}: whole database ${compact.toFixed(1)} bytes per sample`)
  console.log(`  ${written.toFixed(1)} before PostgreSQL reclaims dead row versions; per push, in bytes:`)
  for (const [table, bytes] of tables.slice(0, LISTED_TABLES)) console.log(`  ${table}: ${bytes.toFixed(0)}`)
}

type Sizes = { total: number; tables: Map<string, number> }

/** The bytes of the database, and of each table and index. Partitions count as their parent. */
async function readSizes(database: string, compact: boolean): Promise<Sizes> {
  if (compact) await query(database, 'vacuum full')
  const rows = await query<{ name: string; bytes: string }>(
    database,
    `select regexp_replace(regexp_replace(c.relname, '_[0-9]{8}', ''), '_default', '') as name, sum(pg_table_size(c.oid)) as bytes
     from pg_class c where c.relkind in ('r', 'i') and c.relnamespace = 'public'::regnamespace group by 1`,
  )
  const tables = new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
  return { total: [...tables.values()].reduce((sum, bytes) => sum + bytes, 0), tables }
}

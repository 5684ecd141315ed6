import pg from 'pg'
import { createClient } from '../src/contract/client.ts'
import { readCredentials } from '../test/support/process.ts'
import { type HotWrite, hotWrites, reset, sums } from './hot-writes.ts'
import { seedHistory } from './lagging-read.ts'
import { machineLines } from './machine.ts'
import { median } from './numbers.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { bodyOf, heartRates, midnight } from './samples.ts'
import { openSite, type Running } from './site.ts'
import { waitUntilIdle } from './usage.ts'

type Options = { rounds: number; milliseconds: number; batches: number[] }
type Team = { team_id: string; webhook_id: string; user_ids: string[] }
/** Of one item of a batch. */
type Cost = { ms: number; commit_ms: number; commits: number; written: number; wal: number }
/** The cost of a write, or of several together, and of plain statements that write the same rows. */
export type Measured = { name: string; batch?: number; calls: Cost; plain: Cost }

const USERS = 200

/** Checkpoints would add whole pages to the log at random, so there are none while it measures. */
const settings = { max_wal_size: '8GB', checkpoint_timeout: '1h' }

/** Measures and prints; it does not assert any number. `only` selects writes by a part of their name. */
export const benchStatements = ({ only = '', ...options }: Options & { only: string | undefined }) =>
  withRows(async (bench) => {
    for (const line of await machineLines(bench.database)) console.log(line)
    console.log(`server-side, of one item; medians of ${options.rounds} rounds of ${options.milliseconds} ms\n\n${header}`)
    const writes = hotWrites.filter(({ name }) => name.includes(only))
    for await (const measured of measureAll(bench, writes, options)) console.log(lineOf(measured))
  })

export const measureStatements = (options: Options) =>
  withRows(async (bench) => {
    const all: Measured[] = []
    for await (const measured of measureAll(bench, hotWrites, options)) all.push(measured)
    return all
  })

type Bench = { database: string; client: pg.Client; team: Team }

/** Calls `work` with a connection to a database that has rows of each kind. */
async function withRows<T>(work: (bench: Bench) => Promise<T>) {
  const site = await openSite(8, { settings })
  try {
    await site.create('statements')
    const running = await site.serve('statements')
    const team = await createRows(running, site.dataDir)
    await running.stop()
    const client = new pg.Client({ connectionString: running.database })
    await client.connect()
    return await work({ database: running.database, client, team }).finally(() => client.end())
  } finally {
    await site.close()
  }
}

/** Measures hot writes inside the server, with warm caches and generic plans. */
async function* measureAll({ client, team }: Bench, writes: HotWrite[], options: Options): AsyncGenerator<Measured, void> {
  await client.query("set plan_cache_mode = force_generic_plan; set statement_timeout = '1min'")
  await client.query(seedHistory)
  const all: Measured[] = []
  for (const write of writes)
    for (const batch of options.batches) {
      const measured = { name: write.name, batch, ...(await measure(client, team, write, batch, options)) }
      all.push(measured)
      yield measured
    }
  for (const { name, parts } of sums) {
    const found = parts.flatMap(([write, batch]) => all.find((one) => one.name === write.name && one.batch === batch) ?? [])
    if (found.length === parts.length)
      yield { name, calls: sumOf(found.map(({ calls }) => calls)), plain: sumOf(found.map(({ plain }) => plain)) }
  }
}

/** Lets the service write the rows that the measurements copy, and delivers their events. */
async function createRows(running: Running, dataDir: string): Promise<Team> {
  const { org_id, team_id, management_key } = readCredentials(dataDir)
  await createPatients(running, USERS, 4)
  const patients = await patientsIn(running.database)
  const load = (requests: Parameters<Running['load']>[0]['requests']) => running.load({ connections: 4, times: requests.length, requests })
  await load(
    patients.map(({ user_id }, n) => ({
      method: 'POST',
      path: `/v2/timeseries/${user_id}/heartrate`,
      body: bodyOf(heartRates(n, midnight(2), 5, 5000)),
    })),
  )
  const some = patients.slice(0, 10)
  await load([...(await orderRequests(running, some)), ...(await orderRequests(running, some, { activate_by: '2099-01-01' }))])
  await waitUntilIdle(running.database)
  const admin = createClient(running.url, { 'x-management-key': management_key })
  const { id } = await admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: { url: 'http://127.0.0.1:28001/' } })
  await waitUntilIdle(running.database)
  return { team_id, webhook_id: id, user_ids: patients.map(({ user_id }) => user_id) }
}

/** Measures the calls and the plain statements in turn. The first round only warms up. */
async function measure(client: pg.Client, team: Team, write: HotWrite, batch: number, { rounds, milliseconds }: Options) {
  for (const statement of reset) await client.query(statement)
  await client.query('vacuum analyze')
  const found = { calls: [] as Cost[], plain: [] as Cost[] }
  for (let round = 0; round <= rounds; round++)
    for (const kind of ['calls', 'plain'] as const) {
      const statements = kind === 'calls' ? write.calls : [write.plain.join(';\n    ')]
      await client.query(`drop procedure if exists bench_write; ${procedureOf(write, statements)}`)
      const { rows } = await client.query<Cost>('call bench_write($1, $2, $3, $4, $5, null, null, null, null, null)', [
        ...[team.team_id, team.webhook_id, team.user_ids],
        ...[batch, milliseconds],
      ])
      if (round > 0) found[kind].push(rows[0] as Cost)
    }
  return { calls: medianOf(found.calls), plain: medianOf(found.plain) }
}

const ROWS_WRITTEN = '(select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_xact_user_tables)'

/**
 * Runs batches for some time, each statement in a transaction of its own. Other processes also use the cores, so it returns the medians of
 * all runs. The second batch counts the rows, which takes long.
 */
const procedureOf = ({ variables, load, prepare, cleanUp = '' }: HotWrite, statements: string[]) => `
create procedure bench_write(
  team uuid, hook uuid, all_users uuid[], batch integer, milliseconds integer,
  out ms float8, out commit_ms float8, out commits float8, out written float8, out wal float8
) language plpgsql as $$
#variable_conflict use_variable
declare
  ends timestamptz := clock_timestamp() + milliseconds * interval '1 millisecond';
  started timestamptz;
  finished timestamptz;
  lsn pg_lsn;
  counted bigint;
  runs integer := 0;
  users uuid[];
  ${Object.entries({ ...variables, ...timesOf(statements) })
    .map(([name, type]) => `${name} ${type};`)
    .join('\n  ')}
begin
  commits := 0; written := 0; wal := 0;
  ${load}
  while clock_timestamp() < ends or runs < 3 loop
    runs := runs + 1;
    users := array(select all_users[1 + (runs * batch + n) % cardinality(all_users)] from generate_series(1, batch) n);
    ${prepare}
    commit;
    ${statements.map(measured).join('\n    ')}
    ${cleanUp}
    commit;
  end loop;
  ms := (${statements.map((_, i) => medianTime(`times_${i}`)).join(' + ')}) / batch;
  commit_ms := (${statements.map((_, i) => medianTime(`commit_times_${i}`)).join(' + ')}) / batch;
  commits := commits / runs / batch;
  written := written / batch;
  wal := wal / runs / batch;
end $$`

const timesOf = (statements: string[]) =>
  Object.fromEntries(statements.flatMap((_, i) => [`times_${i}`, `commit_times_${i}`].map((name) => [name, 'float8[]'])))

const medianTime = (times: string) => `(select percentile_cont(0.5) within group (order by time) from unnest(${times}) time)`

const measured = (statement: string, i: number) => `
    if runs = 2 then counted := ${ROWS_WRITTEN}; end if;
    lsn := pg_current_wal_insert_lsn();
    started := clock_timestamp();
    ${statement};
    finished := clock_timestamp();
    times_${i} := times_${i} || 1000 * extract(epoch from finished - started)::float8;
    if runs = 2 then written := written + ${ROWS_WRITTEN} - counted; end if;
    commits := commits + (pg_current_xact_id_if_assigned() is not null)::int;
    started := clock_timestamp();
    commit;
    finished := clock_timestamp();
    commit_times_${i} := commit_times_${i} || 1000 * extract(epoch from finished - started)::float8;
    wal := wal + (pg_current_wal_insert_lsn() - lsn);`

const mapCosts = (rule: (name: keyof Cost) => number): Cost => ({
  ms: rule('ms'),
  commit_ms: rule('commit_ms'),
  commits: rule('commits'),
  written: rule('written'),
  wal: rule('wal'),
})

const medianOf = (costs: Cost[]) => mapCosts((name) => median(costs.map((cost) => cost[name])))
const sumOf = (costs: Cost[]) => mapCosts((name) => costs.reduce((sum, cost) => sum + cost[name], 0))

const header = `| Write | Batch | ms | Commit, ms | Commits | Rows | WAL bytes | Plain, ms | Plain, WAL bytes | ms / plain |
|---|---|---|---|---|---|---|---|---|---|`

function lineOf({ name, batch, calls: { ms, commit_ms, commits, written, wal }, plain }: Measured) {
  const own = [ms.toFixed(3), commit_ms.toFixed(3), commits.toFixed(2), written.toFixed(2), wal.toFixed(0)]
  return `| ${[name, batch ?? '–', ...own, plain.ms.toFixed(3), plain.wal.toFixed(0), (ms / plain.ms).toFixed(1)].join(' | ')} |`
}

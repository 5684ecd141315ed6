import pg from 'pg'
import { setupProblem } from '../../problem.ts'
import { dropForeignKeys } from '../foreign-keys.ts'
import { localSettings } from '../local-settings.ts'
import { beginSchemaChange } from './schema-change.ts'

/** Every server has a copy of these. They are the same for every team, or find a team by a value that is unique across teams. */
export const referenceTables = [
  ...['orgs', 'teams', 'management_keys', 'management_key_teams', 'team_api_key_hashes', 'lab_keys'],
  ...['people', 'person_teams', 'recovery_codes', 'invitations', 'payors', 'icd_codes'],
  ...['catalog', 'labs', 'analytes', 'markers', 'lab_tests', 'lab_accounts', 'lab_account_teams', 'service_centers'],
  ...['phlebotomy_areas', 'zip_codes', 'shared_calendars'],
]

/** Tables that stay on the coordinator. */
export const localTables = [
  'migrations',
  'function_files',
  'deployment',
  'root_keys',
  'heartbeat',
  'lab_links',
  'erased_teams',
  'console_sessions',
  'sign_in_attempts',
  'workers',
  'processes',
  'unassigned_results',
]

/** Tables of values that are unique across teams and grow with them, with their distribution column. */
export const spreadTables: Record<string, string> = {
  lab_samples: 'sample_id',
  lab_fillers: 'filler_number',
  lab_inbox: 'control_id',
  shared_cells: 'calendar_code',
}

/** Functions that run on the server of the team or audit chain in their first argument, by a table that they write. */
export const delegatedFunctions = {
  users: ['create_users'],
  orders: ['place_orders', 'update_orders', 'forget_patients'],
  events: ['append_events', 'move_events', 'transactions_of'],
  webhook_cursors: ['take_cursors', 'record_outcomes'],
  disclosures: ['count_disclosures'],
  sample_days: ['write_pushes'],
  idempotency_keys: ['claim_key'],
  audit_log: ['link_audit', 'reset_audit', 'checkpoint_audit'],
}

/** A table with its distribution column. Null for a reference table. */
type Table = { name: string; column: string | null }

/** Distributes the tables over the servers of a Citus cluster, and returns those that were not distributed yet. */
export async function distribute(client: pg.ClientBase): Promise<string[]> {
  await checkCluster(client)
  try {
    await beginSchemaChange(client)
    const names = await distributeNewTables(client)
    await client.query('commit')
    await removeWorkerTimeouts((text) => client.query(text))
    return names
  } catch (error) {
    await client.query('rollback')
    throw error instanceof pg.DatabaseError ? setupProblem(`The tables cannot be distributed: ${error.message}`) : error
  }
}

/** Distributes tables and functions that are not distributed yet, in an open transaction. */
export async function distributeNewTables(client: pg.ClientBase) {
  const tables = await undistributedTables(client)
  if (tables.length) await distributeTables(client, tables)
  await distributeFunctions(client)
  return tables.map(({ name }) => name)
}

type Run = (text: string) => Promise<{ rows: unknown[] }>

/** Whether the tables are distributed over a Citus cluster. */
export async function isDistributed(run: Run) {
  const { rows } = await run("select from pg_extension where extname = 'citus'")
  if (!rows.length) return false
  return (await run("select from pg_dist_partition where logicalrelid = to_regclass('users')")).rows.length > 0
}

/**
 * By default, Citus takes over a local table with a foreign key to a reference table, and then rejects its foreign keys to
 * distributed tables. A new table can have both, so this is off until the table is distributed.
 */
export const setTakeover = (run: Run, takeover: 'on' | 'off') =>
  run(localSettings({ 'citus.enable_local_reference_table_foreign_keys': takeover }))

/**
 * A worker copies the settings of a role when it joins. Its timeouts would cancel the move of a large shard. Requests do not need
 * them there, because the timeouts of the coordinator apply.
 */
export const removeWorkerTimeouts = (run: Run) =>
  run(`
    select run_command_on_workers($command$
      do $$ begin
        set local citus.enable_alter_role_set_propagation = off;
        execute format('alter role %I in database %I reset statement_timeout', current_user, current_database());
        execute format('alter role %I in database %I reset idle_in_transaction_session_timeout', current_user, current_database());
      end $$ $command$)`)

async function checkCluster(client: pg.ClientBase) {
  const { rows } = await client.query("select from pg_extension where extname = 'citus'")
  if (!rows.length)
    throw setupProblem(
      'This database has no Citus extension, so its tables cannot be distributed. Run CREATE EXTENSION citus on every server.',
    )
  const nodes = await client.query<{ is_coordinator: boolean }>('select groupid = 0 as is_coordinator from pg_dist_node where isactive')
  if (!nodes.rows.some(({ is_coordinator }) => is_coordinator))
    throw setupProblem("The coordinator is not part of the cluster. Run SELECT citus_set_coordinator_host('HOST', PORT) with its address.")
  if (nodes.rows.length < 2) throw setupProblem("The cluster has no workers. Run SELECT citus_add_node('HOST', PORT) for each of them.")
}

/**
 * Reads the metadata of Citus, in which only reference tables have the replication model t. The view citus_tables would measure every
 * shard on connections of its own, and wait there for the tables that this transaction has changed.
 */
async function undistributedTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; first: string }>(
    `select c.relname as name, a.attname as first
     from pg_class c
     join pg_index i on i.indrelid = c.oid and i.indisprimary
     join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1)
       and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid and (d.partmethod <> 'n' or d.repmodel = 't'))
     order by c.relname`,
    [localTables],
  )
  return rows.map(({ name, first }) => ({ name, column: columnOf(name, first) }))
}

/** Tables of a team are distributed by the first column of their primary key. */
function columnOf(table: string, first: string) {
  if (referenceTables.includes(table)) return null
  const column = spreadTables[table] ?? first
  if (!(table in spreadTables || ['team_id', 'chain_id'].includes(column)))
    throw setupProblem(`The table ${table} belongs to no team, and distribute.ts does not say where it is stored.`)
  return column
}

/** The table whose shards decide where a team is. */
const FIRST_TABLE = 'users'

/** Citus distributes one table at a time, so foreign keys are dropped first and recreated at the end. */
async function distributeTables(client: pg.ClientBase, tables: Table[]) {
  const createForeignKeys = await dropForeignKeys(
    client,
    tables.map(({ name }) => name),
  )
  for (const { name } of tables.filter(({ column }) => !column)) await client.query('select create_reference_table($1::regclass)', [name])
  for (const { name, column } of tables.filter(({ column }) => column).toSorted(firstTableFirst))
    await client.query('select create_distributed_table($1::regclass, $2, colocate_with => $3)', [name, column, colocationOf(name)])
  for (const { name } of tables) await truncateOriginal(client, name)
  await createForeignKeys()
}

/** Citus copies the rows and keeps the original on the coordinator, where erasing a user would not reach it. */
async function truncateOriginal(client: pg.ClientBase, table: string) {
  const { rows } = await client.query('select from pg_trigger where tgrelid = $1::regclass and not tgisinternal', [table])
  const setTriggers = async (state: 'disable' | 'enable') => rows.length && client.query(`alter table ${table} ${state} trigger user`)
  await setTriggers('disable')
  await client.query('select truncate_local_data_after_distributing_table($1::regclass)', [table])
  await setTriggers('enable')
}

const firstTableFirst = (a: Table, b: Table) => Number(b.name === FIRST_TABLE) - Number(a.name === FIRST_TABLE)

const colocationOf = (name: string) => (name in spreadTables ? 'none' : name === FIRST_TABLE ? 'default' : FIRST_TABLE)

/** Every server has every function, because functions call each other. Delegated calls run on the server that has the team's rows. */
async function distributeFunctions(client: pg.ClientBase) {
  await allowCustomPlans(client)
  await client.query(
    `select create_distributed_function(p.oid::regprocedure) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       and p.proname <> all ($1)`,
    [Object.values(delegatedFunctions).flat()],
  )
  for (const [table, names] of Object.entries(delegatedFunctions))
    await client.query(
      `select create_distributed_function(p.oid::regprocedure, '$1'::text, colocate_with => $1, force_delegation => true)
       from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = any ($2)`,
      [table, names],
    )
}

/** Citus needs the values of a call to plan most statements. */
async function allowCustomPlans(client: pg.ClientBase) {
  const { rows } = await client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p
     where p.pronamespace = 'public'::regnamespace and 'plan_cache_mode=force_generic_plan' = any (p.proconfig)`,
  )
  for (const { name } of rows) await client.query(`alter function ${name} reset plan_cache_mode`)
}

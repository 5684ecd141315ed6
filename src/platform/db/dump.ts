import type pg from 'pg'
import { dropForeignKeys } from './foreign-keys.ts'
import { localSettings } from './local-settings.ts'

type Table = { name: string; columns: string[] }
type Partition = { parent: string; day: string }
type Sequence = { name: string; last: string | null }

/** The tables to back up. A restore creates them by running the migrations; partitions are read through their parents. Running processes are not part of the data. */
export async function tablesOf(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('migrations', 'function_files', 'processes')
    group by c.relname order by c.relname`)
  return rows
}

/** Partitions of a day, whose names end in it. Migrations create the default partitions. */
export async function partitionsOf(client: pg.ClientBase): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(`
    select p.relname as parent, to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where c.relnamespace = 'public'::regnamespace and c.relispartition and c.relkind = 'r' and c.relname ~ '_\\d{8}$' order by c.relname`)
  return rows
}

export async function partitionedTablesOf(client: pg.ClientBase) {
  const { rows } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'p'",
  )
  return rows.map(({ name }) => name)
}

export async function sequencesOf(client: pg.ClientBase): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    "select sequencename as name, last_value::text as last from pg_sequences where schemaname = 'public' order by sequencename",
  )
  return rows
}

export async function migrationsOf(client: pg.ClientBase) {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  return rows.map((row) => row.name)
}

/** Starts a snapshot. Later writes are not visible in it. */
export async function beginSnapshot(client: pg.ClientBase) {
  await client.query('begin isolation level repeatable read read only')
  await client.query(localSettings({ statement_timeout: 0, idle_in_transaction_session_timeout: 0, extra_float_digits: 1 }))
}

const BATCH_SIZE = 500

/** The rows of a table as JSON text, with a bounded number in memory. Of a subquery, Citus would not keep the names of the columns. */
export async function* rowsOf(client: pg.ClientBase, { name }: Table): AsyncGenerator<string[]> {
  await client.query(
    `declare dump no scroll cursor for /* any team: backup */
     select row_to_json(t)::text as row from ${quote(name)} t`,
  )
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${BATCH_SIZE} from dump`)
    if (!rows.length) break
    yield rows.map(({ row }) => row)
  }
  await client.query('close dump')
}

/** Foreign keys are dropped and recreated in the same transaction, which checks them, so rows can be loaded in any order. */
export async function beginLoad(client: pg.ClientBase, tables: Table[]) {
  await client.query('begin')
  await client.query(localSettings({ statement_timeout: 0, idle_in_transaction_session_timeout: 0 }))
  const createForeignKeys = await dropForeignKeys(
    client,
    tables.map(({ name }) => quote(name)),
  )
  for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`)
  await client.query(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`)
  return async () => {
    for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`)
    await createForeignKeys()
    await client.query('commit')
  }
}

export async function createPartitions(client: pg.ClientBase, partitions: Partition[]) {
  for (const { parent, day } of partitions) await client.query('select make_partition($1, $2::date)', [parent, day])
}

export const loadRows = (client: pg.ClientBase, { name, columns }: Table, rows: string[]) =>
  client.query(
    `insert into ${quote(name)} (${columnList(columns)})
     select ${columnList(columns)} from json_populate_recordset(null::${quote(name)}, $1::json)`,
    [`[${rows.join(',')}]`],
  )

export async function setSequences(client: pg.ClientBase, sequences: Sequence[]) {
  for (const { name, last } of sequences)
    if (last !== null) await client.query('select setval($1::regclass, $2::bigint)', [quote(name), last])
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
const columnList = (names: string[]) => names.map(quote).join(', ')

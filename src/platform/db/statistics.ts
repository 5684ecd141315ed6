import { sql } from 'kysely'
import type { App } from '../app.ts'
import type { Db } from './open.ts'

/** PostgreSQL looks after tables of this size by itself, and their plans change no more. */
const LARGE_ROWS = 10_000
/** Statistics are gathered again when a table has five times the rows. */
const [FIRST_ROWS, GROWTH] = [200, 5]

/**
 * Gathers the statistics of tables that grow for the first time. PostgreSQL does so about once a minute, and until then it takes a
 * table for tiny: the foreign key of an order's images would read all orders of the team instead of one.
 */
export async function analyzeYoungTables({ db }: App) {
  const names = await listYoungTables(db)
  if (names.length) await sql`analyze (skip_locked) ${sql.raw(names.join(', '))}`.execute(db)
}

/** The quoted names of tables that have grown much since their last statistics. On Citus, the shards are left to PostgreSQL. */
async function listYoungTables(db: Db) {
  const { rows } = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.reltuples < ${LARGE_ROWS}
      and pg_stat_get_live_tuples(c.oid) >= greatest(${FIRST_ROWS}, ${GROWTH} * c.reltuples) and pg_has_role(c.relowner, 'usage')`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

import type pg from 'pg'
import { query } from './databases.ts'

/** Orders of one statement, which the role ends after a minute. */
const SLICE = 100_000

/**
 * Fills the table up to `total` orders with copies of the existing ones under other IDs and past days.
 * A copy can be listed and counted but not read, because its encrypted data is bound to the original order.
 */
export async function fillOrdersTo(database: string | pg.ClientConfig, total: number) {
  const [row] = await query<{ count: string }>(database, 'select count(*) from orders')
  const missing = total - Number(row?.count)
  if (missing <= 0) return
  const indexes = await dropIndexes(database)
  for (let done = 0; done < missing; done += SLICE) await query(database, insertCopies, [done + 1, Math.min(done + SLICE, missing)])
  for (const definition of indexes) await query(database, definition)
  for (const table of ['orders', 'order_events']) await query(database, `vacuum analyze ${table}`)
}

/** Drops the non-key indexes, because recreating them after the insert is much faster. */
async function dropIndexes(database: string | pg.ClientConfig) {
  const rows = await query<{ name: string; definition: string }>(
    database,
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = 'orders' and indexname not in (select conname from pg_constraint)`,
  )
  for (const { name } of rows) await query(database, `drop index ${name}`)
  return rows.map(({ definition }) => definition)
}

/** The status of each of ten copies: mostly completed, a few pending. */
const statusMix = `(values (0, 'requisition_created', null), (1, 'appointment_pending', null), (2, 'partial_results', 'abnormal'),
  (3, 'cancelled', null), (4, 'completed', 'abnormal'), (5, 'completed', 'critical'), (6, 'completed', 'normal'), (7, 'completed', 'normal'),
  (8, 'completed', 'normal'), (9, 'completed', 'normal')) as standing (n, low_level, interpretation)`

const insertCopies = `
with templates as (select row_number() over () - 1 as n, orders as one from orders limit 1000),
copies as (
  insert into orders select copy.*
  from (select i, now() - interval '1 hour' - (i % 1051200) * interval '1 minute' as at from generate_series($1::int, $2::int) i) made
  join templates on templates.n = i % (select count(*) from templates)
  join ${statusMix} on standing.n = i % 10,
  jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'transaction_id', gen_random_uuid(),
    'created_at', at, 'updated_at', at, 'last_event_at', at, 'low_level', standing.low_level, 'interpretation', interpretation,
    'dispatch_at', null, 'step_at', null, 'sample_id', null)) as copy
  returning team_id, id, low_level, created_at)
insert into order_events (team_id, order_id, id, low_level, created_at) select team_id, id, 1, low_level, created_at from copies`

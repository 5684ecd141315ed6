import { type Insertable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** The tables whose rows are deleted or emptied with a user. */
const tables = [
  ...['user_info', 'user_insurances', 'user_tokens', 'idempotency_keys', 'outbox', 'events', 'attempts', 'inbox_messages', 'connections'],
  ...['devices', 'refreshes', 'link_tokens', 'bulk_items', 'sample_days', 'summaries', 'workout_streams', 'resource_states'],
  ...['historical_pulls', 'pull_jobs', 'cloud_changes', 'deleted_summaries', 'unmatched_results', 'messages', 'message_opt_outs'],
  ...['parsing_jobs', 'parsing_files'],
]
const tablesOfOrders = ['results', 'result_documents', 'order_images', 'appointments', 'kits', 'parcels', 'lab_messages']

type Count = { name: string; user_id: string; rows: number }

/** The rows of users by table. `orders` counts the orders themselves. */
export async function countRows(db: Db, team_id: string, user_ids: string[]) {
  const ofUser = [...tables, 'orders'].map(
    (name) => sql`
      select ${name}::text as name, user_id, count(*)::integer as rows from ${sql.table(name)}
      where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) ${exceptKept(name)} group by user_id`,
  )
  const ofOrder = tablesOfOrders.map(
    (name) => sql`
      select ${name}::text as name, o.user_id, count(*)::integer as rows from ${sql.table(name)} t
      join orders o on o.team_id = t.team_id and o.id = t.order_id
      where t.team_id = ${team_id} and o.team_id = ${team_id} and o.user_id = any(${user_ids}::uuid[]) group by o.user_id`,
  )
  return (await sql<Count>`${sql.join([...ofUser, ...ofOrder], sql` union all `)}`.execute(db)).rows
}

/** `user.deleted` stays. */
const exceptKept = (name: string) => (name === 'events' || name === 'outbox' ? sql`and event_type <> 'user.deleted'` : sql``)

export const listKeys = (db: Db, team_id: string, user_ids: string[]) =>
  db
    .selectFrom('users')
    .innerJoin('sealing_keys', (join) =>
      join.onRef('sealing_keys.team_id', '=', 'users.team_id').onRef('sealing_keys.user_id', '=', 'users.user_id'),
    )
    .select(['users.user_id', 'users.created_on', 'users.deleted_at', 'sealing_keys.id', 'sealing_keys.wrapped'])
    .where('users.team_id', '=', team_id)
    .where('users.user_id', '=', sql<string>`any(${user_ids}::uuid[])`)
    .execute()

/** A user that was erased, imported and erased again has the latest record. */
export const putErasures = (db: Db, rows: Insertable<Tables['erasures']>[]) =>
  db
    .insertInto('erasures')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'user_id']).doUpdateSet((eb) => ({
        erased_at: eb.ref('excluded.erased_at'),
        record: eb.ref('excluded.record'),
        mac: eb.ref('excluded.mac'),
      })),
    )
    .execute()

export const findErasure = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('erasures').select(['record', 'mac']).where('team_id', '=', team_id).where('user_id', '=', user_id).executeTakeFirst()

export const findUser = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('users').select('erase_at').where('team_id', '=', team_id).where('user_id', '=', user_id).executeTakeFirst()

/** Whether the database has one of these keys, in any row of the team. */
export const hasKey = async (db: Db, team_id: string, ids: string[]) =>
  (await db
    .selectFrom('sealing_keys')
    .select('id')
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .executeTakeFirst()) !== undefined

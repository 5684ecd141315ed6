import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** A new webhook begins at a position, and sees nothing before it. */
export const insertCursor = (db: Db, row: Insertable<Tables['webhook_cursors']>) => db.insertInto('webhook_cursors').values(row).execute()

/** Locks a cursor, so that no outcome of it is recorded until the transaction ends. */
export const lockCursor = (db: Db, team_id: string, webhook_id: string) =>
  db
    .selectFrom('webhook_cursors')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .forUpdate()
    .executeTakeFirstOrThrow()

type Webhook = Pick<Selectable<Tables['webhooks']>, 'team_id' | 'id' | 'filter_types' | 'ordering'>

/** Keeps the present filter and ordering up to a position, unless the cursor has passed it. */
export const keepFilter = (db: Db, { team_id, id, filter_types, ordering }: Webhook, upto_no: number) =>
  sql`
    insert into webhook_filters (team_id, webhook_id, upto_no, filter_types, ordering)
    select ${team_id}, ${id}, ${upto_no}, ${filter_types}::text[], ${ordering} from webhook_cursors c
    where c.team_id = ${team_id} and c.webhook_id = ${id} and c.after_no < ${upto_no}
    on conflict do nothing`.execute(db)

/** Parks a message behind those of its key, or to be sent now. */
export async function parkMessage(
  db: Db,
  { team_id, webhook_id, key }: { team_id: string; webhook_id: string; key: string },
  { no, logged_at }: { no: number; logged_at: string },
  now: string,
) {
  await sql`
    insert into parked (team_id, webhook_id, key, attempts, retry_at) values (${team_id}, ${webhook_id}, ${key}, 0, ${now})
    on conflict do nothing`.execute(db)
  await sql`
    insert into parked_messages (team_id, webhook_id, key, no, logged_at) values (${team_id}, ${webhook_id}, ${key}, ${no}, ${logged_at})
    on conflict do nothing`.execute(db)
}

type ParkedMessage = { key: string; no: number; logged_at: string; behind: number; attempts: number; retry_at: string }

/** A parked message by its position, with the number of those of its key before it. */
export async function findParked(db: Db, team_id: string, webhook_id: string, no: number) {
  const { rows } = await sql<ParkedMessage>`
    select m.key, m.no, m.logged_at, p.attempts, p.retry_at, (
      select count(*) from parked_messages b where b.team_id = ${team_id} and b.webhook_id = ${webhook_id} and b.key = m.key and b.no < m.no
    ) as behind
    from parked_messages m join parked p on p.team_id = m.team_id and p.webhook_id = m.webhook_id and p.key = m.key
    where m.team_id = ${team_id} and m.webhook_id = ${webhook_id} and m.no = ${no}`.execute(db)
  return rows[0]
}

export const retryParkedNow = (db: Db, team_id: string, webhook_id: string, key: string, now: string) =>
  db
    .updateTable('parked')
    .set({ retry_at: now })
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .where('key', '=', key)
    .execute()

/** The message at which a webhook with strict order waits is sent now. */
export const retryCursorNow = (db: Db, team_id: string, webhook_id: string, now: string) =>
  db
    .updateTable('webhook_cursors')
    .set({ retry_at: now })
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .where('retry_at', 'is not', null)
    .execute()

/** Counts the parked messages of keys. */
export async function countParked(db: Db, { team_id, webhook_id }: { team_id: string; webhook_id: string }, keys: string[]) {
  const { rows } = await sql<{ key: string; count: number }>`
    select key, count(*) as count from parked_messages
    where team_id = ${team_id} and webhook_id = ${webhook_id} and key = any(${keys}::text[]) group by key`.execute(db)
  return new Map(rows.map(({ key, count }) => [key, count]))
}

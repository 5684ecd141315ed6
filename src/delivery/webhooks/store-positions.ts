import { type Insertable, type Selectable, sql } from 'kysely'
import type { Format } from '../../contract/delivery/formats.ts'
import type { FilterVersion, Ordering } from '../../contract/delivery/log-rows.ts'
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

type Filtered = { id: string; filter_types: string[] | null; ordering: Ordering }

/** The filters of webhooks with their orderings, each up to a position. The present one is the last. */
export async function listVersions(db: Db, team_id: string, webhooks: Filtered[]) {
  const rows = await db
    .selectFrom('webhook_filters')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', sql<string>`any(${webhooks.map(({ id }) => id)}::uuid[])`)
    .orderBy('upto_no')
    .execute()
  const former = Map.groupBy(rows, ({ webhook_id }) => webhook_id)
  const versionsOf = ({ id, filter_types, ordering }: Filtered): FilterVersion[] => [
    ...(former.get(id) ?? []),
    { upto_no: null, filter_types, ordering },
  ]
  return new Map(webhooks.map((webhook) => [webhook.id, versionsOf(webhook)]))
}

/** Parks a message behind those of its key, or to be sent now. */
export async function parkMessage(
  db: Db,
  { team_id, webhook_id, key, format }: { team_id: string; webhook_id: string; key: string; format: Format },
  { no, logged_at }: { no: number; logged_at: string },
  now: string,
) {
  await sql`
    insert into parked (team_id, webhook_id, key, attempts, retry_at) values (${team_id}, ${webhook_id}, ${key}, 0, ${now})
    on conflict do nothing`.execute(db)
  await sql`
    insert into parked_messages (team_id, webhook_id, key, no, logged_at, format)
    values (${team_id}, ${webhook_id}, ${key}, ${no}, ${logged_at}, ${format})
    on conflict do nothing`.execute(db)
}

/** The key of a parked message, and how many of that key are before it. */
export async function findParked(db: Db, team_id: string, webhook_id: string, no: number) {
  const { rows } = await sql<{ key: string; behind: number }>`
    select m.key, (
      select count(*) from parked_messages b where b.team_id = ${team_id} and b.webhook_id = ${webhook_id} and b.key = m.key and b.no < m.no
    ) as behind
    from parked_messages m where m.team_id = ${team_id} and m.webhook_id = ${webhook_id} and m.no = ${no}`.execute(db)
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

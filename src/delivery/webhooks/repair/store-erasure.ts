import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

/** Locks the cursors of webhooks with parked keys, so that no outcome of them is recorded until the transaction ends. */
export const lockParkingCursors = (db: Db, team_id: string) =>
  sql`
    select from webhook_cursors where team_id = ${team_id} and webhook_id in (select webhook_id from parked where team_id = ${team_id})
    order by webhook_id for update`.execute(db)

/** Deletes parked messages whose event was emptied. The owner may have parked one after that. */
export const deleteEmptiedParked = (db: Db, team_id: string) =>
  deleteParked(
    db,
    team_id,
    sql`using events e where m.team_id = ${team_id} and e.team_id = ${team_id} and e.no = m.no and e.logged_at = m.logged_at and e.sealed is null`,
  )

/** Deletes parked messages, and returns how many. The attempts of a key are those of its first message, so the next one has none. */
export async function deleteParked(db: Db, team_id: string, which: RawBuilder<unknown>) {
  const { rows } = await sql<{ deleted: number }>`
    with gone as (delete from parked_messages m ${which} returning m.webhook_id, m.key, m.no),
      reset as (
        update parked p set attempts = 0 from gone g
        where p.team_id = ${team_id} and p.webhook_id = g.webhook_id and p.key = g.key and p.attempts > 0 and not exists (
          select from parked_messages m where m.team_id = ${team_id} and m.webhook_id = p.webhook_id and m.key = p.key and m.no < g.no
        )
      )
    select count(*) as deleted from gone`.execute(db)
  return rows[0]?.deleted ?? 0
}

/** Deletes parked keys without messages. */
export const deleteEmptyKeys = (db: Db, team_id: string) =>
  sql`
    delete from parked p where team_id = ${team_id}
      and not exists (select from parked_messages m where m.team_id = ${team_id} and m.webhook_id = p.webhook_id and m.key = p.key)`.execute(
    db,
  )

/** The outcomes of the attempts stay. */
export async function emptyAttempts(db: Db, team_id: string, user_ids: string[], limit: number) {
  const { rows } = await sql<{ webhook_id: string; at: string; id: string }>`
    select webhook_id, at, id from attempts where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) limit ${limit}`.execute(db)
  if (rows.length)
    await sql`
      update attempts a set sealed = null, key = null, user_id = null from ${attemptKeys(rows)}
      where a.team_id = ${team_id} and a.webhook_id = k.webhook_id and a.at = k.at and a.id = k.id`.execute(db)
  return rows.length
}

/** Deletes attempts of a team that is gone. */
export async function deleteAttempts(db: Db, team_id: string, limit: number) {
  const { rows } = await sql<{ webhook_id: string; at: string; id: string }>`
    select webhook_id, at, id from attempts where team_id = ${team_id} limit ${limit}`.execute(db)
  if (rows.length)
    await sql`
      delete from attempts a using ${attemptKeys(rows)}
      where a.team_id = ${team_id} and a.webhook_id = k.webhook_id and a.at = k.at and a.id = k.id`.execute(db)
  return rows.length
}

const attemptKeys = (rows: { webhook_id: string; at: string; id: string }[]) => sql`
  unnest(
    ${rows.map(({ webhook_id }) => webhook_id)}::uuid[], ${rows.map(({ at }) => at)}::timestamptz[], ${rows.map(({ id }) => id)}::uuid[]
  ) as k (webhook_id, at, id)`

export async function deleteInboxMessages(db: Db, team_id: string, user_ids: string[], limit: number) {
  const { numAffectedRows } = await sql`
    delete from inbox_messages where team_id = ${team_id} and id = any(array(
      select id from inbox_messages where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) limit ${limit}
    ))`.execute(db)
  return Number(numAffectedRows)
}

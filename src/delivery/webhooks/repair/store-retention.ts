import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

/** Deletes attempts that were made while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) => sql`delete from attempts_default where at < ${before}`.execute(db)

/**
 * Skips messages past retention on the lanes of disabled webhooks. Lanes of enabled ones skip them when they are sent.
 * `last` is the highest message number this statement sees, which may not be the newest of the lane.
 */
export async function skipExpired(db: Db, before: string, after: number, limit: number) {
  const { rows } = await sql<{ last: number | null }>`
    with old as materialized (
      select l.id, l.head from lanes l join webhooks w on w.id = l.webhook_id
      where w.disabled_at is not null and l.run_at < ${before} and l.worker is null and l.id > ${after}
      order by l.id limit ${limit} for update of l skip locked
    ),
    kept as (
      select old.id, coalesce((
        select d.n - 1 from deliveries d join events e on e.id = d.event_id and e.logged_at = d.event_at
        where d.lane_id = old.id and d.n > old.head order by d.n limit 1
      ), (select max(d.n) from deliveries d where d.lane_id = old.id)) as head
      from old
    ),
    passed as (
      update lanes l set head = kept.head, attempts = 0, run_at = case when l.tail > kept.head then l.run_at end
      from kept where l.id = kept.id and kept.head > l.head
      returning l.id, l.head
    ),
    gone as (delete from deliveries d using passed where d.lane_id = passed.id and d.n <= passed.head)
    select max(id) as last from old`.execute(db)
  return rows[0]?.last ?? null
}

export async function deleteFinishedLanes(db: Db, limit: number) {
  const { numAffectedRows } = await sql`
    delete from lanes where id in (select id from lanes where passing and run_at is null and worker is null and head = tail limit ${limit})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0)
}

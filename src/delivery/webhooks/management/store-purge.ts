import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

/** Unclaimed lanes of deleted webhooks of any team, locked until the transaction ends. */
export async function lockDeletedLanes(db: Db, limit: number) {
  const { rows } = await sql<{ id: number }>`
    select l.id from webhooks w cross join lateral (
      select id from lanes where webhook_id = w.id and worker is null limit ${limit} for update skip locked
    ) l where w.deleted_at is not null limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Deletes at most `limit` messages of these lanes and returns how many. */
export async function deleteMessages(db: Db, lane_ids: number[], limit: number) {
  const { numAffectedRows } = await sql`
    delete from deliveries where ctid = any (array(
      select ctid from deliveries where lane_id = any(${lane_ids}::bigint[]) limit ${limit}))`.execute(db)
  return Number(numAffectedRows ?? 0)
}

export const deleteLanes = (db: Db, lane_ids: number[]) => sql`delete from lanes where id = any(${lane_ids}::bigint[])`.execute(db)

/** Deletes webhooks of any team that were deleted before a time and have no lanes left. */
export const deletePurged = (db: Db, before: string) =>
  sql`
    delete from webhooks w where w.deleted_at < ${before} and not exists (select from lanes l where l.webhook_id = w.id)`.execute(db)

/**
 * Deletes lanes without pending messages and without activity since a time, and keeps their last number. Goes through all lanes
 * by ID and returns where to continue. A lane that is being written to is not idle and is skipped.
 */
export async function deleteIdleLanes(db: Db, since: string, after: number, limit: number) {
  const { rows } = await sql<{ last: number | null }>`
    with checked as materialized (select id from lanes where id > ${after} order by id limit ${limit}),
    idle as materialized (
      select l.id, l.webhook_id, l.key, l.tail from lanes l join checked on checked.id = l.id
      where not l.passing and l.run_at is null and l.worker is null and l.head = l.tail and l.settled_at < ${since}
      for update of l skip locked
    ),
    kept as (insert into ended_lanes (webhook_id, key_hash, tail) select webhook_id, key_hash(key), tail from idle),
    gone as (delete from lanes using idle where lanes.id = idle.id)
    select max(id) as last from checked`.execute(db)
  return rows[0]?.last ?? null
}

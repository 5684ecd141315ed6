import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

type WebhookKey = { team_id: string; id: string }

/** Deleted webhooks of any team whose rows are still there. */
export async function listDeletedWebhooks(db: Db) {
  const { rows } = await sql<WebhookKey>`
    select ${anyTeam('deleted webhooks')} team_id, id from webhooks where deleted_at is not null order by deleted_at`.execute(db)
  return rows
}

/** Unclaimed lanes of a webhook, locked until the transaction ends. */
export async function lockLanes(db: Db, { team_id, id }: WebhookKey, limit: number) {
  const { rows } = await sql<{ id: string }>`
    select id::text from lanes where team_id = ${team_id} and webhook_id = ${id} and worker is null limit ${limit} for update skip locked`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** Deletes at most `limit` messages of these lanes and returns how many. */
export async function deleteMessages(db: Db, team_id: string, lane_ids: string[], limit: number) {
  const { numAffectedRows } = await sql`
    delete from deliveries where team_id = ${team_id} and (lane_id, n) in (
      select lane_id, n from deliveries where team_id = ${team_id} and lane_id = any(${lane_ids}::bigint[]) limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

export const deleteLanes = (db: Db, team_id: string, lane_ids: string[]) =>
  sql`delete from lanes where team_id = ${team_id} and id = any(${lane_ids}::bigint[])`.execute(db)

/** Deletes the row of a webhook that was deleted before a time and has no lanes left. */
export const deletePurged = (db: Db, { team_id, id }: WebhookKey, before: string) =>
  sql`
    delete from webhooks w where w.team_id = ${team_id} and w.id = ${id} and w.deleted_at < ${before}
      and not exists (select from lanes l where l.team_id = ${team_id} and l.webhook_id = w.id)`.execute(db)

/** Finds webhooks of any team, and returns their teams. */
export async function listTeamsWithWebhooks(db: Db) {
  const { rows } = await sql<{ team_id: string }>`select ${anyTeam('teams with webhooks')} distinct team_id from webhooks`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** The lanes of a team after an ID, in the order of IDs. */
export async function listLaneIds(db: Db, team_id: string, after: string, limit: number) {
  const { rows } = await sql<{ id: string }>`
    select id::text from lanes where team_id = ${team_id} and id > ${after}::bigint order by id limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

type IdleLane = { id: string; webhook_id: string; key: string; tail: number }

/**
 * Locks those of a team's lanes that have no pending messages and no activity since a time. A lane that is being written to is
 * not idle and is skipped.
 */
export async function lockIdleLanes(db: Db, team_id: string, ids: string[], since: string) {
  const { rows } = await sql<IdleLane>`
    select id::text, webhook_id, key, tail from lanes
    where team_id = ${team_id} and id = any(${ids}::bigint[]) and not single_use and run_at is null and worker is null and head = tail
      and settled_at < ${since}
    for update skip locked`.execute(db)
  return rows
}

/** Keeps the last numbers of lanes that are deleted. */
export const insertEndedLanes = (db: Db, team_id: string, lanes: IdleLane[]) =>
  sql`
    insert into ended_lanes (team_id, webhook_id, key_hash, tail)
    select ${team_id}::uuid, lane.webhook_id, key_hash(lane.key), lane.tail
    from unnest(${lanes.map(({ webhook_id }) => webhook_id)}::uuid[], ${lanes.map(({ key }) => key)}::text[],
      ${lanes.map(({ tail }) => tail)}::bigint[]) as lane (webhook_id, key, tail)`.execute(db)

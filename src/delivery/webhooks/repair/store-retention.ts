import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

/** Deletes attempts of any team that were made while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) =>
  sql`delete from attempts_default where at < ${before} ${anyTeam('expired attempts')}`.execute(db)

/** Finds disabled webhooks of any team, and returns their teams. */
export async function listTeamsWithDisabledWebhooks(db: Db) {
  const { rows } = await sql<{ team_id: string }>`
    select ${anyTeam('teams with disabled webhooks')} distinct team_id from webhooks where disabled_at is not null`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/**
 * Skips messages past retention on the lanes of a team's disabled webhooks, and returns where to continue.
 * Lanes of enabled webhooks skip them when they are sent.
 * `last` is the highest message number this statement sees, which may not be the newest of the lane.
 */
export async function skipExpired(db: Db, team_id: string, { before, after, limit }: { before: string; after: string; limit: number }) {
  const { rows } = await sql<{ last: string | null }>`
    with old as materialized (
      select l.id, l.head from lanes l join webhooks w on w.team_id = l.team_id and w.id = l.webhook_id
      where l.team_id = ${team_id} and w.disabled_at is not null and l.run_at < ${before} and l.worker is null and l.id > ${after}::bigint
      order by l.id limit ${limit} for update of l skip locked
    ),
    kept as (
      select old.id, coalesce((
        select d.n - 1 from deliveries d join events e on e.team_id = d.team_id and e.id = d.event_id and e.logged_at = d.event_at
        where d.team_id = ${team_id} and d.lane_id = old.id and d.n > old.head order by d.n limit 1
      ), (select max(d.n) from deliveries d where d.team_id = ${team_id} and d.lane_id = old.id)) as head
      from old
    ),
    passed as (
      update lanes l set head = kept.head, attempts = 0, run_at = case when l.tail > kept.head then l.run_at end
      from kept where l.team_id = ${team_id} and l.id = kept.id and kept.head > l.head
      returning l.id, l.head
    ),
    gone as (delete from deliveries d using passed where d.team_id = ${team_id} and d.lane_id = passed.id and d.n <= passed.head)
    select max(id)::text as last from old`.execute(db)
  return rows[0]?.last ?? null
}

/** Finds finished lanes of any team, and returns their teams. */
export async function listTeamsWithFinishedLanes(db: Db) {
  const { rows } = await sql<{ team_id: string }>`
    select ${anyTeam('teams with finished lanes')} distinct team_id from lanes where single_use and run_at is null`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Returns how many lanes it deleted. */
export async function deleteFinishedLanes(db: Db, team_id: string, limit: number) {
  const isFinished = sql`team_id = ${team_id} and single_use and run_at is null and worker is null and head = tail`
  const { numAffectedRows } = await sql`
    delete from lanes where ${isFinished} and id in (select id from lanes where ${isFinished} limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

import { sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../platform/db/due-work.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** Finds open critical results of any team that are due to be escalated. Orders of erased users have none. */
export const searchEscalations = (db: Db, wall: string) =>
  db
    .selectFrom('critical_results')
    .innerJoin('teams', 'teams.id', 'critical_results.team_id')
    .innerJoin('orders', (join) =>
      join.onRef('orders.team_id', '=', 'critical_results.team_id').onRef('orders.id', '=', 'critical_results.order_id'),
    )
    .select(['critical_results.team_id', 'critical_results.order_id', 'critical_results.version', 'teams.clock_offset_ms'])
    .where('critical_results.escalate_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where('critical_results.escalate_at', '<=', teamTime(wall))
    .where('orders.user_id', 'is not', null)
    .where('teams.deleted_at', 'is', null)
    .orderBy('critical_results.escalate_at')
    .modifyEnd(anyTeam('critical results to escalate'))

const dueEscalations = prepareSearch('due_escalations', (db, wall: string, limit: number) => searchEscalations(db, wall).limit(limit))

export const listDueEscalations = (db: Db, wall: string, limit: number) => dueEscalations(db, wall, limit)

type ResultKey = { team_id: string; order_id: string; version: number }

/** Locks a critical result that is still due. */
export const lockDueCritical = (db: Db, { team_id, order_id, version }: ResultKey, now: string) =>
  db
    .selectFrom('critical_results')
    .select(['reported_at', 'escalations'])
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('version', '=', version)
    .where('acknowledged_at', 'is', null)
    .where('escalate_at', '<=', now)
    .forUpdate()
    .executeTakeFirst()

export const updateCritical = (db: Db, { team_id, order_id, version }: ResultKey, change: Updateable<Tables['critical_results']>) =>
  db
    .updateTable('critical_results')
    .set(change)
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('version', '=', version)
    .execute()

type Figures = { open: number; oldest_seconds: number; p50_seconds: number | null; p95_seconds: number | null }

/** Open critical results of any team up to `limit`, and the time to acknowledge those since a time, on the clocks of the teams. */
export async function summarizeCriticals(db: Db, wall: string, since: string, limit: number) {
  const { rows } = await sql<Figures>`
    with open as (
      select extract(epoch from ${teamTime(wall)} - critical_results.reported_at) as seconds
      from critical_results join teams on teams.id = critical_results.team_id
      join orders on orders.team_id = critical_results.team_id and orders.id = critical_results.order_id
      where critical_results.acknowledged_at is null and orders.user_id is not null and teams.deleted_at is null limit ${limit}
    ), acknowledged as (
      select extract(epoch from acknowledged_at - reported_at) as seconds from critical_results
      where acknowledged_at >= ${since}::timestamptz order by acknowledged_at desc limit ${limit}
    )
    select ${anyTeam('critical results')} (select count(*)::int from open) as open,
      (select greatest(max(seconds), 0)::float from open) as oldest_seconds,
      (select percentile_disc(0.5) within group (order by seconds)::float from acknowledged) as p50_seconds,
      (select percentile_disc(0.95) within group (order by seconds)::float from acknowledged) as p95_seconds`.execute(db)
  return rows[0] as Figures
}

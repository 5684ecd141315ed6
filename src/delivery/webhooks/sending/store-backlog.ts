import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

/** At most this many lanes of a webhook are checked for their oldest message, those due first. */
const LANES_CHECKED = 1000

type Backlog = { team_id: string; webhook_id: string; waiting: number; due: number }

/** Pending messages per webhook of any team, and those of lanes that a worker may send now. Deleted webhooks have none. */
export async function listBacklogs(db: Db, limit: number) {
  const { rows } = await sql<Backlog>`
    select ${anyTeam('pending messages by webhook')} l.team_id, l.webhook_id, sum(l.tail - l.head)::bigint as waiting,
      coalesce(sum(l.tail - l.head) filter (
        where l.run_at <= now() and w.disabled_at is null and (w.paused_until is null or w.paused_until <= now())
      ), 0)::bigint as due
    from lanes l join webhooks w on w.team_id = l.team_id and w.id = l.webhook_id
    where l.run_at is not null and w.deleted_at is null
    group by l.team_id, l.webhook_id order by waiting desc, l.webhook_id limit ${limit}`.execute(db)
  return rows
}

/** When the oldest pending message of each webhook was emitted. */
export async function listOldestPending(db: Db, team_id: string, webhook_ids: string[]) {
  const { rows } = await sql<{ webhook_id: string; oldest_at: string | null }>`
    select w.id as webhook_id, (
      select min(d.event_at)
      from (
        select l.id, l.head from lanes l
        where l.team_id = ${team_id} and l.webhook_id = w.id and l.run_at is not null order by l.run_at limit ${LANES_CHECKED}
      ) l join deliveries d on d.team_id = ${team_id} and d.lane_id = l.id and d.n = l.head + 1
    ) as oldest_at
    from webhooks w where w.team_id = ${team_id} and w.id = any(${webhook_ids}::uuid[])`.execute(db)
  return rows
}

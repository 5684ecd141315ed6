import { sql } from 'kysely'
import type { Method } from '../../contract/labs/lifecycle.ts'
import type { Db } from '../../platform/db/open.ts'

/** Counts orders by step and method, up to `limit` plus one per step, from an index alone. */
export async function countSteps(db: Db, team_id: string, stepNames: string[], limit: number) {
  const { rows } = await sql<{ low_level: string; method: Method; count: number }>`
    select s.low_level, c.method, c.count from unnest(${stepNames}::text[]) as s (low_level)
    cross join lateral (
      select method, count(*) as count from (
        select method from orders where team_id = ${team_id} and low_level = s.low_level and user_id is not null limit ${limit + 1}
      ) found group by method
    ) c`.execute(db)
  return rows
}

export async function listUnacknowledgedCriticals(db: Db, team_id: string, limit: number) {
  return db
    .selectFrom('critical_results')
    .innerJoin('orders', (join) =>
      join.onRef('orders.team_id', '=', 'critical_results.team_id').onRef('orders.id', '=', 'critical_results.order_id'),
    )
    .select([
      'order_id',
      'orders.result_version',
      'version as critical_version',
      'reported_at',
      'escalations',
      'escalate_at as next_escalation_at',
    ])
    .where('critical_results.team_id', '=', team_id)
    .where('acknowledged_at', 'is', null)
    .where('orders.user_id', 'is not', null)
    .orderBy('reported_at', 'desc')
    .limit(limit + 1)
    .execute()
}

/** Counts critical results in the review queue of a team, up to `limit` plus one. */
export async function countCriticalUnmatched(db: Db, team_id: string, limit: number) {
  const pending = db
    .selectFrom('unmatched_results')
    .select('id')
    .where('team_id', '=', team_id)
    .where('interpretation', '=', 'critical')
    .where('status', 'like', 'pending%')
    .limit(limit + 1)
  const { count } = await db
    .selectFrom(pending.as('pending'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

type AttemptStats = { attempts: number; truncated: boolean; delivered: number; p50_ms: number | null; p95_ms: number | null }

/** Summarizes the newest attempts of each webhook since a time, at most `limit` in total. */
export async function summarizeAttempts(db: Db, team_id: string, since: { hour: string; day: string }, limit: number) {
  const { rows } = await sql<{ hour: AttemptStats; day: AttemptStats }>`
    with hooks as (select id from webhooks where team_id = ${team_id}),
    share as (select (${limit} / greatest(count(*), 1))::int + 1 as each from hooks),
    recent as (
      select hooks.id, a.at, a.outcome, a.ms from hooks cross join share cross join lateral (
        select at, outcome, ms from attempts
        where team_id = ${team_id} and webhook_id = hooks.id and at >= ${since.day}::timestamptz order by at desc limit share.each
      ) a
    )
    select ${statsWhere(sql`at >= ${since.hour}::timestamptz`)} as hour, ${statsWhere(sql`true`)} as day from recent`.execute(db)
  return rows[0] as { hour: AttemptStats; day: AttemptStats }
}

const statsWhere = (condition: ReturnType<typeof sql>) => sql`json_build_object(
  'attempts', count(*) filter (where ${condition}),
  'truncated', exists (select from recent group by id having count(*) filter (where ${condition}) = (select each from share)),
  'delivered', count(*) filter (where ${condition} and outcome = 'delivered'),
  'p50_ms', percentile_disc(0.5) within group (order by ms) filter (where ${condition}),
  'p95_ms', percentile_disc(0.95) within group (order by ms) filter (where ${condition}))`

/** Counts the newest events of a team by minute, up to `limit` plus one; `data` counts wearable data. */
export async function countEventsByMinute(db: Db, team_id: string, since: string, limit: number) {
  const { rows } = await sql<{ minute: string; events: number; data: number }>`
    with newest as (
      select logged_at, event_type from events
      where team_id = ${team_id} and logged_at >= ${since}::timestamptz order by no desc limit ${limit + 1}
    )
    select date_trunc('minute', logged_at) as minute, count(*) as events, count(*) filter (where event_type like '%.data.%') as data
    from newest group by 1 order by 1`.execute(db)
  return rows
}

/** The newest events, in log order. */
export const listNewestEvents = (db: Db, team_id: string, since: string, limit: number) =>
  db
    .selectFrom('events')
    .select(['id as event_id', 'event_type', 'order_id', 'user_id', 'created_at'])
    .where('team_id', '=', team_id)
    .where('logged_at', '>=', since)
    .orderBy('no', 'desc')
    .limit(limit)
    .execute()

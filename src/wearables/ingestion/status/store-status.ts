import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

type Scope = { team_id: string; providers: string[]; limit: number }

/** The newest connections of a team to each source, up to `limit` plus one. */
const newest = ({ team_id, providers, limit }: Scope) => sql`
  select c.* from unnest(${providers}::text[]) as p (provider) cross join lateral (
    select id, provider, user_id, status, error_type, errored_at from connections
    where team_id = ${team_id} and provider = p.provider and ended_at is null order by created_at desc limit ${limit + 1}
  ) c`

export type SourceCounts = {
  provider: string
  total: number
  pending: number
  failing: number
  expired: number
  paused: number
  oldest_due: string | null
  last_read_at: string | null
}

/** Counts the connections of a team by source and state. Each counts in one state. */
export async function countConnections(db: Db, scope: Scope, now: string) {
  const { rows } = await sql<SourceCounts>`
    with live as (${newest(scope)}),
    feeds as (
      select j.connection_id, bool_or(j.tries > 0) as failing,
        bool_or(j.last_success_at is null or coalesce(j.history_from < j.history_to, false)) as pending,
        max(j.last_success_at) as last_read_at, min(j.due_at) filter (where j.due_at <= ${now}) as oldest_due
      from live join pull_jobs j on j.team_id = ${scope.team_id} and j.connection_id = live.id group by j.connection_id
    )
    select live.provider, count(*) as total,
      count(*) filter (where status = 'error') as expired, count(*) filter (where status = 'paused') as paused,
      count(*) filter (where status = 'connected' and f.failing) as failing,
      count(*) filter (where status = 'connected' and f.pending and not f.failing) as pending,
      min(f.oldest_due) filter (where status = 'connected') as oldest_due, max(f.last_read_at) as last_read_at
    from live left join feeds f on f.connection_id = live.id group by live.provider`.execute(db)
  return rows
}

export type SourceErrors = {
  provider: string
  error: string
  connections: number
  since: string | null
  next_attempt_at: string | null
  user_ids: string[]
}

/** Groups broken connections and failed reads by source and error, with some of their users. */
export async function listErrors(db: Db, scope: Scope, users: number) {
  const { rows } = await sql<SourceErrors>`
    with live as (${newest(scope)}),
    failed as (
      select provider, user_id, error_type as error, errored_at as since, null::timestamptz as next_attempt_at
      from live where status = 'error' and error_type is not null
      union all
      select live.provider, live.user_id, j.error, null, min(j.due_at)
      from live join pull_jobs j on j.team_id = ${scope.team_id} and j.connection_id = live.id
      where live.status = 'connected' and j.error is not null group by live.provider, live.user_id, j.error
    )
    select provider, error, count(*) as connections, max(since) as since, min(next_attempt_at) as next_attempt_at,
      (array_agg(user_id order by since desc nulls last, user_id))[1:${sql.lit(users)}] as user_ids
    from failed group by provider, error order by provider, connections desc, error`.execute(db)
  return rows
}

/** The feeds of a user's connections. */
export const listFeeds = (db: Db, team_id: string, user_id: string) =>
  db
    .selectFrom('pull_jobs as j')
    .innerJoin('connections as c', (join) => join.onRef('c.team_id', '=', 'j.team_id').onRef('c.id', '=', 'j.connection_id'))
    .select(['j.provider', 'j.feed', 'j.tries', 'j.error', 'j.last_success_at', 'j.due_at', 'j.skipped'])
    .where('j.team_id', '=', team_id)
    .where('j.user_id', '=', user_id)
    .where('c.ended_at', 'is', null)
    .orderBy('j.feed')
    .execute()

export const listClients = (db: Db, team_id: string) =>
  db
    .selectFrom('cloud_clients')
    .select(['provider', 'blocked_until', 'quota_limit', 'quota_remaining', 'subscribe_error'])
    .where('team_id', '=', team_id)
    .execute()

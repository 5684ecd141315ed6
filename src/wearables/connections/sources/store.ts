import { sql } from 'kysely'
import { type Db, prepareRead, prepareSearch } from '../../../platform/db/open.ts'

const sources = (db: Db, team_id: string) =>
  db
    .selectFrom('connections')
    .select(['user_id', 'provider', 'created_at'])
    .where('team_id', '=', team_id)
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')

export type SourceRow = Awaited<ReturnType<typeof listSources>>[number]

export const listSourcesOfUser = prepareRead('list_sources_of_user', (db, team_id: string, user_id: string) =>
  sources(db, team_id).where('user_id', '=', user_id),
)

export const listSources = prepareSearch('list_sources', (db, team_id: string, user_ids: string[]) =>
  sources(db, team_id).where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`),
)

type Week = { date: string; value: number; all: number }

/** Counts connected sources, those in error, and new ones per week. */
export async function countSources(db: Db, team_id: string) {
  const { rows } = await sql<{ all: number; errored: number; by_week: Week[] }>`
    with live as (select status, created_at from connections where team_id = ${team_id} and ended_at is null),
    weeks as (select date_trunc('week', created_at at time zone 'UTC') as week, count(*) as added from live group by 1)
    select (select count(*) from live) as all, (select count(*) from live where status = 'error') as errored,
      (select coalesce(json_agg(json_build_object('date', to_char(week, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'value', added, 'all', total) order by week), '[]')
       from (select week, added, sum(added) over (order by week) as total from weeks) as summed) as by_week`.execute(db)
  return rows[0] as { all: number; errored: number; by_week: Week[] }
}

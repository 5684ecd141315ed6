import { sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'

export type IntrospectFilter = {
  team_id: string
  user_id?: string | undefined
  provider?: string | undefined
  after?: string | undefined
  limit: number
}

/** The rows of one page of active users. */
const rowsOfUserPage = (
  db: Db,
  table: 'resource_states' | 'historical_pulls',
  { team_id, user_id, provider, after, limit }: IntrospectFilter,
) =>
  db
    .selectFrom(table)
    .where('team_id', '=', team_id)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider as string))
    .where('user_id', 'in', (eb) =>
      eb
        .selectFrom(`${table} as seen` as 'resource_states as seen')
        .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'seen.team_id').onRef('users.user_id', '=', 'seen.user_id'))
        .select('seen.user_id')
        .distinct()
        .where('seen.team_id', '=', team_id)
        .where('users.deleted_at', 'is', null)
        .$if(provider !== undefined, (query) => query.where('seen.provider', '=', provider as string))
        .$if(user_id !== undefined, (query) => query.where('seen.user_id', '=', user_id as string))
        .$if(after !== undefined, (query) => query.where(sql<boolean>`seen.user_id > ${after}::uuid`))
        .orderBy('seen.user_id')
        .limit(limit),
    )
    .orderBy('user_id')
    .orderBy('provider')
    .orderBy('resource')

/** Combines live and historical data. */
export const listStates = (db: Db, filter: IntrospectFilter) =>
  rowsOfUserPage(db, 'resource_states', filter)
    .select(['user_id', 'provider', 'resource'])
    .select((eb) => [
      eb.fn.min('oldest_data').as('oldest_data'),
      eb.fn.max('newest_data').as('newest_data'),
      eb.fn.max('last_attempt_at').as('last_attempt_at'),
      sql<number>`sum(sent_count)::bigint`.as('sent_count'),
      sql<string>`(array_agg(last_status order by last_attempt_at desc))[1]`.as('last_status'),
    ])
    .groupBy(['user_id', 'provider', 'resource'])
    .execute()

export const listPulls = (db: Db, filter: IntrospectFilter) => rowsOfUserPage(db, 'historical_pulls', filter).selectAll().execute()

type DaysFilter = { team_id: string; user_id: string; provider: string | undefined; from: string; to: string }

/** Counts samples and summaries by resource, source and day. A profile belongs to no day. */
export async function countByDay(db: Db, { team_id, user_id, provider, from, to }: DaysFilter) {
  const ofSource = provider ? sql`and provider = ${provider}` : sql``
  const { rows } = await sql<{ resource: string; provider: string; date: string; count: number }>`
    select resource, provider, day as date, sum(samples)::bigint as count from sample_days
    where team_id = ${team_id} and user_id = ${user_id} and day between ${from} and ${to} and samples > 0 ${ofSource}
    group by resource, provider, day
    union all
    select resource, provider, calendar_date, count(*) from summaries
    where team_id = ${team_id} and user_id = ${user_id} and calendar_date between ${from} and ${to} and resource <> 'profile' ${ofSource}
    group by resource, provider, calendar_date
    order by resource, provider, date`.execute(db)
  return rows
}

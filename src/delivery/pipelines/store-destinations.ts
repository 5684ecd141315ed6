import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type DestinationRow = Selectable<Tables['pipeline_outlets']>

/** The destinations of teams, in the lock order. */
const destinationsOf = (db: Db, team_ids: string[]) =>
  db
    .selectFrom('pipeline_outlets')
    .selectAll()
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .orderBy('team_id')
    .orderBy('destination')

export const listDestinations = (db: Db, team_ids: string[]) => destinationsOf(db, team_ids).execute()

export const lockDestinations = (db: Db, team_ids: string[]) => destinationsOf(db, team_ids).forUpdate().execute()

/** An existing destination keeps its position in the log. */
export const putDestination = (db: Db, { sealed, ...row }: Insertable<Tables['pipeline_outlets']>) =>
  db
    .insertInto('pipeline_outlets')
    .values({ ...row, sealed })
    .onConflict((conflict) => conflict.columns(['team_id', 'destination']).doUpdateSet({ sealed }))
    .execute()

/** A destination without failures. */
export const healthyDestination = { failures: 0, first_failure_at: null, last_failure_at: null, last_error: null, retry_at: null }

/** A change to a pipeline may have repaired it, so it is retried immediately. */
export const resetDestinations = (db: Db, team_id: string) =>
  db
    .updateTable('pipeline_outlets')
    .set((eb) => ({ revision: eb('revision', '+', 1), ...healthyDestination }))
    .where('team_id', '=', team_id)
    .execute()

/** Counting stops at this many pending events per destination. */
const COUNT_LIMIT = 10_000

type PendingEvents = { team_id: string; destination: string; lag: number; oldest_at: string | null }

/** Pending events per destination, with the time of the oldest. Without team IDs, the destinations created first are counted. */
export async function countPending(db: Db, team_ids: string[] | null, limit: number) {
  const { rows } = await sql<PendingEvents>`
    select o.team_id, o.destination, w.lag, w.oldest_at
    from (
      select o.team_id, o.destination, o.after_no, t.partial_webhooks_enabled
      from pipeline_outlets o join teams t on t.id = o.team_id
      where t.deleted_at is null and (${team_ids}::uuid[] is null or o.team_id = any(${team_ids}::uuid[]))
      order by o.created_at, o.team_id, o.destination limit ${limit}
    ) o
    join pipelines p on p.team_id = o.team_id
    cross join lateral (
      select count(*) as lag, min(logged_at) as oldest_at
      from (
        select event_type, partial, logged_at from events e where e.team_id = o.team_id and e.no > o.after_no order by e.no limit ${COUNT_LIMIT}
      ) e
      where (not e.partial or o.partial_webhooks_enabled)
        and (p.event_type_prefixes is null or exists (select from unnest(p.event_type_prefixes) prefix where starts_with(e.event_type, prefix)))
    ) w`.execute(db)
  return rows
}

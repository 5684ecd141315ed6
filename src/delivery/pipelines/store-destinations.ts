import { type Insertable, type Selectable, sql } from 'kysely'
import type { Position } from '../../contract/delivery/log-rows.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareStatement, run } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type DestinationRow = Selectable<Tables['pipeline_destinations']>

/** The destinations of these teams, for a list of any team's pipelines. */
export const listDestinations = (db: Db, team_ids: string[]) =>
  db
    .selectFrom('pipeline_destinations')
    .modifyFront(anyTeam('destinations of listed pipelines'))
    .selectAll()
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .orderBy('team_id')
    .orderBy('destination')
    .execute()

export const findDestination = (db: Db, team_id: string, destination: string) =>
  db
    .selectFrom('pipeline_destinations')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('destination', '=', destination)
    .executeTakeFirst()

/** Locks the destinations of a team, in one order. */
export const lockDestinations = (db: Db, team_id: string) =>
  db.selectFrom('pipeline_destinations').selectAll().where('team_id', '=', team_id).orderBy('destination').forUpdate().execute()

/** An existing destination keeps its position in the log. */
export const putDestination = (db: Db, { sealed, ...row }: Insertable<Tables['pipeline_destinations']>) =>
  db
    .insertInto('pipeline_destinations')
    .values({ ...row, sealed })
    .onConflict((conflict) => conflict.columns(['team_id', 'destination']).doUpdateSet({ sealed }))
    .execute()

/** A destination without failures. */
export const healthyDestination = { failures: 0, first_failure_at: null, last_failure_at: null, last_error: null, retry_at: null }

/** A change to a pipeline may have repaired it, so it is retried immediately. */
export const resetDestinations = (db: Db, team_id: string) =>
  db
    .updateTable('pipeline_destinations')
    .set((eb) => ({ term: eb('term', '+', 1), ...healthyDestination }))
    .where('team_id', '=', team_id)
    .execute()

/** Destinations of these teams, or those of any team created first, with what selects their events. */
const listPositions = (db: Db, team_ids: string[] | null, limit: number) =>
  db
    .selectFrom('pipeline_destinations as d')
    .modifyFront(anyTeam('positions of destinations'))
    .innerJoin('pipelines as p', 'p.team_id', 'd.team_id')
    .innerJoin('teams as t', 't.id', 'd.team_id')
    .select(['d.team_id', 'd.destination', 'd.after_no', 'd.after_at', 'p.event_type_prefixes'])
    .where('t.deleted_at', 'is', null)
    .$if(team_ids !== null, (query) => query.where('d.team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .orderBy('d.created_at')
    .orderBy('d.team_id')
    .orderBy('d.destination')
    .limit(limit)
    .execute()

/** Counting stops at this many pending events per destination. */
const COUNT_LIMIT = 10_000

const COUNT_PENDING = prepareStatement(
  'count_pending_events',
  `select count(*) as lag, min(logged_at) as oldest_at
   from (
     select event_type, deliverable, logged_at from events where team_id = $1 and no > $2 and logged_at >= $3 order by no limit ${COUNT_LIMIT}
   ) e
   where deliverable
     and ($4::text[] is null or exists (select from unnest($4::text[]) prefix where starts_with(event_type, prefix)))`,
)

type PendingEvents = { team_id: string; destination: string; lag: number; oldest_at: string | null }

/** Pending events per destination, with the time of the oldest. Without team IDs, the destinations of any team created first are counted. */
export async function countPending(db: Db, team_ids: string[] | null, limit: number) {
  const positions = await listPositions(db, team_ids, limit)
  const pending: PendingEvents[] = []
  // One after another, because a count can take a while and requests need the connections.
  for (const { team_id, destination, after_no, after_at, event_type_prefixes } of positions) {
    const values = [team_id, after_no, after_at, event_type_prefixes]
    const [counted] = await run<Pick<PendingEvents, 'lag' | 'oldest_at'>>(db, COUNT_PENDING, values)
    pending.push({ team_id, destination, lag: 0, oldest_at: null, ...counted })
  }
  return pending
}

/** Bounds the size of the metrics. */
const MAX_DESTINATIONS = 1000

/** Pending events of the destinations of any team that were created first. */
export const listLags = (db: Db) => countPending(db, null, MAX_DESTINATIONS)

/** Teams with a destination that needs an event from before a time. */
export async function listTeamsBehind(db: Db, before: string) {
  const { rows } = await sql<{ team_id: string }>`
    select distinct ${anyTeam('teams with expired events')} d.team_id from pipeline_destinations d join event_logs l on l.team_id = d.team_id
    where d.after_at < ${before} and d.after_no < l.last_no
      and exists (select from events e where e.team_id = d.team_id and e.no > d.after_no and e.logged_at < ${before})`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Moves destinations past what has expired, and returns how many. Their new terms end the rights of their owner. */
export async function moveDestinations(db: Db, team_id: string, { no, at }: Position) {
  const { numUpdatedRows } = await db
    .updateTable('pipeline_destinations')
    .set((eb) => ({ after_no: no, after_at: at, term: eb('term', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('after_no', '<', no)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

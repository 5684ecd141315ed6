import { type ExpressionBuilder, sql } from 'kysely'
import type { Position } from '../../../contract/delivery/log-rows.ts'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import { type DestinationRow, healthyDestination } from '../store-destinations.ts'

export type DestinationState = Pick<
  DestinationRow,
  'team_id' | 'created_at' | 'sealed' | 'after_no' | 'after_at' | 'failures' | 'retry_at' | 'term'
> & { destination: SupportedDestination; event_type_prefixes: string[] | null }

/** The enabled destinations of a team with their terms. */
export async function listTerms(db: Db, team_id: string) {
  const { rows } = await sql<Pick<DestinationState, 'destination' | 'term'>>`
    select d.destination, d.term from pipeline_destinations d join pipelines p on p.team_id = d.team_id
    where d.team_id = ${team_id} and d.destination = any(p.enabled)`.execute(db)
  return rows
}

/** Takes over destinations of a team. Raising the term ends the rights of the former owner. */
export async function takeDestinations(db: Db, team_id: string, names: SupportedDestination[]) {
  if (!names.length) return []
  const { rows } = await sql<DestinationState>`
    update pipeline_destinations d set term = d.term + 1
    from pipelines p
    where d.team_id = ${team_id} and p.team_id = ${team_id} and d.destination = any(${names}::text[])
    returning d.team_id, d.destination, d.created_at, p.event_type_prefixes, d.sealed, d.after_no, d.after_at, d.failures, d.retry_at, d.term`.execute(
    db,
  )
  return rows
}

type PositionChange = { next: Position; delivered: number; at: string }

/** Records the position after confirmed events. Returns false if the destination was changed or taken over. */
export async function advancePosition(db: Db, row: DestinationState, { next, delivered, at }: PositionChange) {
  const { numUpdatedRows } = await db
    .updateTable('pipeline_destinations')
    .set((eb) => ({
      after_no: next.no,
      after_at: next.at,
      ...(delivered && { delivered: eb('delivered', '+', delivered), last_delivered_at: at, ...healthyDestination }),
    }))
    .where(isUnchanged(row))
    .where('after_no', '<=', next.no)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type FailedAttempt = { error: string; at: string; retry_at: string }

/** Records a failure for the settings it happened with. Newer settings are not delayed by it. */
export const recordFailure = (db: Db, row: DestinationState, { error, at, retry_at }: FailedAttempt) =>
  db
    .updateTable('pipeline_destinations')
    .set((eb) => ({
      failures: eb('failures', '+', 1),
      first_failure_at: eb.fn.coalesce('first_failure_at', eb.val(at)),
      last_failure_at: at,
      last_error: error,
      retry_at,
    }))
    .where(isUnchanged(row))
    .execute()

/** The terms of a destination that was deleted and created again restart. */
const isUnchanged =
  ({ team_id, destination, term, created_at }: DestinationState) =>
  (eb: ExpressionBuilder<Tables, 'pipeline_destinations'>) =>
    eb.and({ team_id, destination, term, created_at })

import { sql } from 'kysely'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import type { Db } from '../../../platform/db/open.ts'
import { healthyDestination } from '../store-destinations.ts'

/** Uses the database clock, because the clocks of two processes may differ by more than a lease. */
const fromNow = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

type DestinationKey = { team_id: string; destination: SupportedDestination }

/** Claims destinations of any team that have no holder or an expired lease. */
export async function claimFreeDestinations(db: Db, holder: string, { seconds, limit }: { seconds: number; limit: number }) {
  const { rows } = await sql<DestinationKey>`
    update pipeline_outlets set holder = ${holder}, leased_until = ${fromNow(seconds)} where (team_id, destination) in (
      select o.team_id, o.destination from pipeline_outlets o join pipelines p on p.team_id = o.team_id join teams t on t.id = o.team_id
      where o.destination = any(p.enabled) and t.deleted_at is null and (o.holder is null or o.leased_until < now())
      order by o.team_id, o.destination limit ${limit} for update of o skip locked
    ) returning team_id, destination`.execute(db)
  return rows
}

/** Uses the same lock order as changes to pipelines, so that neither deadlocks. */
const heldBy = (holder: string) => sql`
  (team_id, destination) in (
    select team_id, destination from pipeline_outlets where holder = ${holder} order by team_id, destination for update
  )`

export const renewLeases = (db: Db, holder: string, seconds: number) =>
  sql`update pipeline_outlets set leased_until = ${fromNow(seconds)} where ${heldBy(holder)}`.execute(db)

export const releaseDestinations = (db: Db, holder: string) =>
  sql`update pipeline_outlets set holder = null, leased_until = null where ${heldBy(holder)}`.execute(db)

export type HeldDestination = DestinationKey & {
  created_at: string
  revision: number
  event_type_prefixes: string[] | null
  sealed: Buffer
  after_no: number
  failures: number
  retry_at: string | null
  is_behind: boolean
}

/** The destinations a process holds, and whether the log has new events. */
export async function listHeldDestinations(db: Db, holder: string) {
  const { rows } = await sql<HeldDestination>`
    select o.team_id, o.destination, o.created_at, o.revision, p.event_type_prefixes, o.sealed, o.after_no, o.failures, o.retry_at,
      exists (select from events e where e.team_id = o.team_id and e.no > o.after_no) as is_behind
    from pipeline_outlets o join pipelines p on p.team_id = o.team_id join teams t on t.id = o.team_id
    where o.holder = ${holder} and o.destination = any(p.enabled) and t.deleted_at is null`.execute(db)
  return rows
}

type PositionChange = { holder: string; from: number; position: number; delivered: number; at: string }

/**
 * Records the position after confirmed events. Returns false if another process has held the destination in the meantime,
 * or if its settings changed.
 */
export async function advancePosition(db: Db, row: HeldDestination, { holder, from, position, delivered, at }: PositionChange) {
  const { team_id, destination, sealed, event_type_prefixes } = row
  const { numUpdatedRows } = await db
    .updateTable('pipeline_outlets')
    .set((eb) => ({
      after_no: position,
      ...(delivered && {
        delivered: eb('delivered', '+', delivered),
        last_delivered_at: at,
        ...healthyDestination,
      }),
    }))
    .where('team_id', '=', team_id)
    .where('destination', '=', destination)
    .where('holder', '=', holder)
    .where('after_no', '=', from)
    .where('sealed', '=', sealed)
    .where(
      sql<boolean>`(select event_type_prefixes from pipelines where team_id = ${team_id}) is not distinct from ${event_type_prefixes}::text[]`,
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type FailedAttempt = { holder: string; error: string; at: string; retry_at: string }

/** Records a failure for the settings it happened with. Newer settings are not delayed by it. */
export const recordFailure = (
  db: Db,
  { team_id, destination, revision }: HeldDestination,
  { holder, error, at, retry_at }: FailedAttempt,
) =>
  db
    .updateTable('pipeline_outlets')
    .set((eb) => ({
      failures: eb('failures', '+', 1),
      first_failure_at: eb.fn.coalesce('first_failure_at', eb.val(at)),
      last_failure_at: at,
      last_error: error,
      retry_at,
    }))
    .where('team_id', '=', team_id)
    .where('destination', '=', destination)
    .where('holder', '=', holder)
    .where('revision', '=', revision)
    .execute()

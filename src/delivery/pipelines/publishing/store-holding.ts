import { sql } from 'kysely'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import { anyTeam } from '../../../platform/db/any-team.ts'
import { type Db, prepareSearch } from '../../../platform/db/open.ts'
import { healthyDestination } from '../store-destinations.ts'

/** Uses the database clock, because the clocks of two processes may differ by more than a lease. */
const fromNow = (seconds: number) => sql<string>`now() + make_interval(secs => ${seconds})`

type DestinationKey = { team_id: string; destination: SupportedDestination }

/** A destination that no process holds. */
const isFree = sql`(d.holder is null or d.leased_until < now())`

/** Finds enabled destinations of any team that no process holds. */
export const searchFreeDestinations = () => sql<DestinationKey>`
  select ${anyTeam('destinations without a holder')} d.team_id, d.destination
  from pipeline_destinations d join pipelines p on p.team_id = d.team_id join teams t on t.id = d.team_id
  where d.destination = any(p.enabled) and t.deleted_at is null and ${isFree}
  order by d.team_id, d.destination`

export const listFreeDestinations = prepareSearch(
  'free_destinations',
  (_, limit: number) => sql<DestinationKey>`${searchFreeDestinations()} limit ${limit}`,
)

/** Claims a destination if it is still free. Returns whether it was. */
export async function claimDestination(db: Db, { team_id, destination }: DestinationKey, holder: string, seconds: number) {
  const { numAffectedRows } = await sql`
    update pipeline_destinations set holder = ${holder}, leased_until = ${fromNow(seconds)} where team_id = ${team_id} and destination in (
      select d.destination from pipeline_destinations d
      where d.team_id = ${team_id} and d.destination = ${destination} and ${isFree} for update skip locked
    )`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

/** Uses the same lock order as changes to pipelines, so that neither deadlocks. */
const heldBy = (team_id: string, holder: string) => sql`
  team_id = ${team_id} and destination in (
    select destination from pipeline_destinations where team_id = ${team_id} and holder = ${holder} order by destination for update
  )`

/** Returns whether the process holds destinations of the team. */
export async function renewLeases(db: Db, team_id: string, holder: string, seconds: number) {
  const { numAffectedRows } = await sql`
    update pipeline_destinations set leased_until = ${fromNow(seconds)} where ${heldBy(team_id, holder)}`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

export const releaseDestinations = (db: Db, team_id: string, holder: string) =>
  sql`update pipeline_destinations set holder = null, leased_until = null where ${heldBy(team_id, holder)}`.execute(db)

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

/** The destinations of any team that a process holds, and whether the log has new events. */
export const listHeldDestinations = prepareSearch(
  'held_destinations',
  (_, holder: string) => sql<HeldDestination>`
    select ${anyTeam('destinations that a process holds')} d.team_id, d.destination, d.created_at, d.revision, p.event_type_prefixes,
      d.sealed, d.after_no, d.failures, d.retry_at, coalesce(l.last_no > d.after_no, false) as is_behind
    from pipeline_destinations d join pipelines p on p.team_id = d.team_id join teams t on t.id = d.team_id
    left join event_logs l on l.team_id = d.team_id
    where d.holder = ${holder} and d.destination = any(p.enabled) and t.deleted_at is null`,
)

type PositionChange = { holder: string; from: number; position: number; delivered: number; at: string }

/**
 * Records the position after confirmed events. Returns false if another process has held the destination in the meantime,
 * or if its settings changed.
 */
export async function advancePosition(db: Db, row: HeldDestination, { holder, from, position, delivered, at }: PositionChange) {
  const { team_id, destination, sealed, event_type_prefixes } = row
  const { numUpdatedRows } = await db
    .updateTable('pipeline_destinations')
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
    .updateTable('pipeline_destinations')
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

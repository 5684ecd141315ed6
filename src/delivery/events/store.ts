import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, parameterList, prepareSearch, prepareStatement, runPrepared } from '../../platform/db/open.ts'

export type NewEvent = {
  id: string
  team_id: string
  user_id: string | null
  order_id: string | null
  event_type: string
  key: string
  partial: boolean
  sealed: Buffer
  at: string
}

/** Returns the webhooks of the team to wake. */
export async function emit(db: Db, { team_id, id, user_id, order_id, event_type, key, sealed, at, partial }: NewEvent) {
  const { rows } = await sql<{ webhook_ids: string[] }>`
    select emit(${team_id}, ${id}, ${user_id}, ${order_id}, ${event_type}, ${key}, ${sealed}, ${at}, ${partial}) as webhook_ids`.execute(db)
  return rows[0]?.webhook_ids ?? []
}

/** Writes several events of a team in order and returns its webhooks to wake. */
export async function emitAll(db: Db, team_id: string, events: NewEvent[]) {
  const valuesOf = (column: keyof NewEvent) => events.map((event) => event[column])
  const { rows } = await sql<{ webhook_ids: string[] }>`
    select emit_all(${team_id}, ${valuesOf('id')}::uuid[], ${valuesOf('user_id')}::uuid[], ${valuesOf('order_id')}::uuid[],
      ${valuesOf('event_type')}::text[], ${valuesOf('key')}::text[], ${valuesOf('sealed')}::bytea[], ${valuesOf('at')}::timestamptz[],
      ${valuesOf('partial')}::boolean[]) as webhook_ids`.execute(db)
  return rows[0]?.webhook_ids ?? []
}

/** Finds events of any team that have no number yet. */
export const searchUnnumbered = () => sql`
  select ${anyTeam('teams with events to number')} team_id from events where no is null order by team_id, seq`

const teamsToNumber = prepareSearch(
  'teams_to_number',
  () => sql<{ team_id: string }>`select ${anyTeam('teams with events to number')} distinct team_id from events where no is null`,
)

/** Finds events of any team that have no number yet, and returns their teams. */
export const listTeamsToNumber = async (db: Db) => (await teamsToNumber(db)).map(({ team_id }) => team_id)

const numberStatement = prepareStatement('number_events', `select * from number_events(${parameterList(2)})`)

/** Numbers committed events of a team. Returns how many, and the webhooks with strict order that have a new message. */
export async function numberEvents(db: Db, team_id: string, limit: number) {
  const rows = await runPrepared<{ numbered: number; receivers: string[] }>(db, numberStatement, [team_id, limit])
  return rows[0] ?? { numbered: 0, receivers: [] }
}

/**
 * Makes the next numbering read all partitions if the clock of the server went back, or if a server with another clock took
 * over. It would not find new events otherwise. `complete_before` was a day ago when it was written.
 */
export const restartIfClockWentBack = (db: Db, team_id: string) =>
  sql`
    update event_logs set complete_before = null where team_id = ${team_id} and complete_before > now() - interval '12 hours'`.execute(db)

/** Events of one type about the users. `logged_at` is text, because an ISO instant here has milliseconds only. */
export async function listEventsOfUsers(db: Db, team_id: string, event_type: string, user_ids: string[]) {
  const { rows } = await sql<{ id: string; logged_at: string; user_id: string }>`
    select id, logged_at::text, user_id from events
    where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) and event_type = ${event_type}`.execute(db)
  return rows
}

/** Detaches events from their user, so that erasing the user keeps them. */
export async function detachEvents(db: Db, team_id: string, events: { id: string; logged_at: string; sealed: Buffer }[]) {
  if (!events.length) return
  const values = events.map(({ id, logged_at, sealed }) => sql`(${id}::uuid, ${logged_at}::timestamptz, ${sealed}::bytea)`)
  await sql`
    update events e set user_id = null, key = 'event:' || e.id, sealed = d.sealed
    from (values ${sql.join(values)}) as d (id, logged_at, sealed)
    where e.team_id = ${team_id} and e.id = d.id and e.logged_at = d.logged_at`.execute(db)
}

/** The last position in the team's log. */
export async function findLastPosition(db: Db, team_id: string) {
  const row = await db.selectFrom('event_logs').select('last_no').where('team_id', '=', team_id).executeTakeFirst()
  return row?.last_no ?? 0
}

export type LogRow = {
  no: number
  id: string
  event_type: string
  key: string
  user_id: string | null
  created_at: string
  sealed: Buffer
  key_id: string | null
  wrapped: Buffer | null
}

type LogQuery = {
  team_id: string
  after: number
  limit: number
  bytes: number
  event_type?: string[] | null | undefined
  user_id?: string | null | undefined
  order_id?: string | null | undefined
  /** Leaves out partial reports unless the team opted in. */
  deliverable?: boolean | undefined
}

/**
 * The log after a position, limited by count and, except for the first event, by bytes. `last` is the last position in the same
 * snapshot: another statement could reach a replica that is further behind, and a reader would skip events.
 */
export async function listEventsAfter(db: Db, { team_id, after, limit, bytes, event_type, user_id, order_id, deliverable }: LogQuery) {
  const { rows } = await sql<(LogRow | { no: null }) & { last: number }>`
    select l.last_no as last, e.no, e.id, e.event_type, e.key, e.user_id, e.created_at, e.sealed, k.id as key_id, k.wrapped
    from event_logs l left join (
      select page.*, sum(octet_length(sealed)) over (order by no) - octet_length(sealed) as bytes_before from (
        select no, id, event_type, key, user_id, created_at, sealed from events
        where team_id = ${team_id} and no > ${after}
          ${event_type ? sql`and takes(${event_type}::text[], event_type)` : sql``}
          ${user_id ? sql`and user_id = ${user_id}` : sql``}
          ${order_id ? sql`and order_id = ${order_id}` : sql``}
          ${deliverable ? sql`and (not partial or (select partial_webhooks_enabled from teams where id = ${team_id}))` : sql``}
        order by no limit ${limit}
      ) page
    ) e on e.bytes_before < ${bytes}
    left join sealing_keys k on k.team_id = ${team_id} and k.user_id = e.user_id
    where l.team_id = ${team_id}
    order by e.no`.execute(db)
  return { last: rows[0]?.last ?? 0, rows: rows.filter((row): row is LogRow & { last: number } => row.no !== null) }
}

/** Deletes events of any team that were logged while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) =>
  sql`delete from events_default where logged_at < ${before} ${anyTeam('expired events')}`.execute(db)

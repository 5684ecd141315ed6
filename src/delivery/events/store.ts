import { sql } from 'kysely'
import { type Db, prepareStatement, run } from '../../platform/db/open.ts'
import { type EventRow, eventValues } from '../../platform/db/rows/event-rows.ts'

export type NewEvent = EventRow & { team_id: string }

const appendEvents = prepareStatement('append_events', 'select append_events($1, $2, $3)')

/** Writes events of a team to the outbox, in order. */
export const emitAll = (db: Db, team_id: string, events: NewEvent[]) => run(db, appendEvents, [team_id, ...eventValues(events)])

/** Events of one type about the users, moved or not. */
export async function listEventsOfUsers(db: Db, team_id: string, event_type: string, user_ids: string[]) {
  const { rows } = await sql<{ id: string; no: number | null; logged_at: string | null; user_id: string }>`
    select id, no, logged_at, user_id from events
    where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) and event_type = ${event_type}
    union all
    select id, null, null, user_id from outbox
    where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) and event_type = ${event_type}`.execute(db)
  return rows
}

type Detached = { id: string; no: number | null; logged_at: string | null; sealed: Buffer }

/** Detaches events from their user, so that erasing the user keeps them. The log is locked. */
export async function detachEvents(db: Db, team_id: string, events: Detached[]) {
  const valuesOf = (column: keyof Detached) => events.map((event) => event[column])
  await sql`
    update outbox o set user_id = null, key = 'event:' || o.id, sealed = d.sealed
    from unnest(${valuesOf('id')}::uuid[], ${valuesOf('sealed')}::bytea[]) as d (id, sealed)
    where o.team_id = ${team_id} and o.id = d.id`.execute(db)
  await sql`
    update events e set user_id = null, key = 'event:' || e.id, sealed = d.sealed
    from unnest(${valuesOf('no')}::bigint[], ${valuesOf('logged_at')}::timestamptz[], ${valuesOf('sealed')}::bytea[]) as d (no, logged_at, sealed)
    where e.team_id = ${team_id} and e.no = d.no and e.logged_at = d.logged_at`.execute(db)
}

import { sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'

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

/** Returns the webhooks that receive the event. */
export async function emit(db: Db, { id, team_id, user_id, order_id, event_type, key, sealed, at, partial }: NewEvent) {
  const { rows } = await sql<{ webhook_ids: string[] }>`
    select emit(${id}, ${team_id}, ${user_id}, ${order_id}, ${event_type}, ${key}, ${sealed}, ${at}, ${partial}) as webhook_ids`.execute(db)
  return rows[0]?.webhook_ids ?? []
}

/** Writes several events in order and returns the webhooks that receive any of them. */
export async function emitAll(db: Db, events: NewEvent[]) {
  const { rows } = await sql<{ webhook_ids: string[] }>`
    select emit(e.id, e.team_id, e.user_id, e.order_id, e.event_type, e.key, e.sealed, e.at, e.partial) as webhook_ids
    from (values ${sql.join(events.map(valuesOf))}) as e (id, team_id, user_id, order_id, event_type, key, sealed, at, partial)`.execute(db)
  return [...new Set(rows.flatMap(({ webhook_ids }) => webhook_ids))]
}

const valuesOf = ({ id, team_id, user_id, order_id, event_type, key, sealed, at, partial }: NewEvent) =>
  sql`(${id}::uuid, ${team_id}::uuid, ${user_id}::uuid, ${order_id}::uuid, ${event_type}, ${key}, ${sealed}::bytea, ${at}::timestamptz, ${partial}::boolean)`

/** Numbers committed events. Returns how many, and the webhooks that receive events in log order. */
export async function numberEvents(db: Db, limit: number) {
  const { rows } = await sql<{
    numbered: number
    webhook_ids: string[]
  }>`select numbered, told as webhook_ids from number_events(${limit})`.execute(db)
  return rows[0] ?? { numbered: 0, webhook_ids: [] }
}

/**
 * Events of one type about the users, locked until the transaction ends. `logged_at` is text, because an ISO instant here has milliseconds only.
 * Events without a number are locked too, in the order in which they get their numbers, so that erasing and numbering never deadlock.
 */
export const lockEventsOfUsers = async (db: Db, event_type: string, user_ids: string[]) => {
  const { rows } = await sql<{ id: string; logged_at: string; team_id: string; user_id: string; event_type: string }>`
    select id, logged_at::text, team_id, user_id, event_type from events
    where user_id = any(${user_ids}::uuid[]) and (event_type = ${event_type} or no is null) order by seq for update`.execute(db)
  return rows.filter((row) => row.event_type === event_type)
}

/** Detaches events from their user, so that erasing the user keeps them. */
export async function detachEvents(db: Db, events: { id: string; logged_at: string; sealed: Buffer }[]) {
  if (!events.length) return
  const values = events.map(({ id, logged_at, sealed }) => sql`(${id}::uuid, ${logged_at}::timestamptz, ${sealed}::bytea)`)
  await sql`
    update events e set user_id = null, key = 'event:' || e.id, sealed = d.sealed
    from (values ${sql.join(values)}) as d (id, logged_at, sealed)
    where e.id = d.id and e.logged_at = d.logged_at`.execute(db)
}

/** The position of the team's newest event. */
export async function findLastPosition(db: Db, team_id: string) {
  const row = await db
    .selectFrom('events')
    .select('no')
    .where('team_id', '=', team_id)
    .where('no', 'is not', null)
    .orderBy('no', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.no ?? 0
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

/** The log after a position, limited by count and, except for the first event, by bytes. */
export async function listEventsAfter(db: Db, { team_id, after, limit, bytes, event_type, user_id, order_id, deliverable }: LogQuery) {
  const { rows } = await sql<LogRow>`
    select e.no, e.id, e.event_type, e.key, e.user_id, e.created_at, e.sealed, k.id as key_id, k.wrapped
    from (
      select page.*, sum(octet_length(sealed)) over (order by no) - octet_length(sealed) as bytes_before from (
        select no, id, event_type, key, user_id, created_at, sealed from events
        where team_id = ${team_id} and no > ${after}
          ${event_type ? sql`and takes(${event_type}::text[], event_type)` : sql``}
          ${user_id ? sql`and user_id = ${user_id}` : sql``}
          ${order_id ? sql`and order_id = ${order_id}` : sql``}
          ${deliverable ? sql`and (not partial or (select partial_webhooks_enabled from teams where id = ${team_id}))` : sql``}
        order by no limit ${limit}
      ) page
    ) e
    left join sealing_keys k on k.user_id = e.user_id
    where e.bytes_before < ${bytes}
    order by e.no`.execute(db)
  return rows
}

/** Deletes events that were logged while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) => sql`delete from events_default where logged_at < ${before}`.execute(db)

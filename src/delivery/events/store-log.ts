import { sql } from 'kysely'
import { BEGINNING, type LoggedEvent, type Position } from '../../contract/delivery/log-rows.ts'
import { anyTeam, pruning } from '../../platform/db/any-team.ts'
import { type Db, parameterList, prepareStatement, run } from '../../platform/db/open.ts'

const moveStatement = prepareStatement('move_events', `select * from move_events(${parameterList(5)})`)

type Move = {
  /** Null for a change that needs the end of the log. */
  worker: string | null
  live: string[]
  fromSeq: number
  limit: number
}

type MoveRow = LoggedEvent & {
  owner: string | null
  changes: number
  last_seq: number | null
  oldest_xact: number | null
  next_xact: number | null
}

/**
 * Moves committed events of a team to its log. Undefined if the team is gone. Fails with a lock timeout while another transaction
 * holds the log.
 */
export async function moveEvents(db: Db, team_id: string, { worker, live, fromSeq, limit }: Move) {
  const rows = await run<MoveRow>(db, moveStatement, [team_id, worker, live, fromSeq, limit])
  const end = rows.pop()
  if (!end) return undefined
  return {
    events: rows as LoggedEvent[],
    end: { no: end.no, at: end.logged_at },
    owner: end.owner,
    changes: end.changes,
    lastSeq: rows.at(-1)?.last_seq ?? 0,
    oldestXact: end.oldest_xact ?? 0,
    ownXact: end.next_xact ?? 0,
  }
}

/** The end of the log of a team. */
export async function findEnd(db: Db, team_id: string): Promise<Position> {
  const row = await db.selectFrom('event_logs').select(['last_no', 'last_at']).where('team_id', '=', team_id).executeTakeFirst()
  return { no: row?.last_no ?? 0, at: row?.last_at ?? BEGINNING }
}

export type Filter = { event_type?: string[] | null | undefined; user_id?: string | null | undefined; order_id?: string | null | undefined }

type Page = Filter & {
  after: Position
  /** Exclusive. */
  before: string
  limit: number
  bytes: number
  /** Only events that webhooks and pipelines receive. */
  deliverable?: boolean | undefined
}

/**
 * Events after a position and before a time, limited by count and, except for the first, by the encrypted bytes of the payloads that it
 * returns. Events of a user whose key is gone have no payload.
 */
export async function listEvents(db: Db, team_id: string, { after, before, limit, bytes, deliverable, ...filter }: Page) {
  const { event_type, user_id, order_id } = filter
  const { rows } = await sql<LoggedEvent>`
    select e.no, e.logged_at, e.id, e.user_id, e.order_id, e.event_type, e.key, e.deliverable, e.created_at, e.sealed, e.key_id, e.wrapped_key
    from (
      select keyed.*, sum(octet_length(sealed)) over (order by no rows between unbounded preceding and 1 preceding) as bytes_before from (
        select page.*, case when page.user_id is null or k.id is not null then page.payload end as sealed, k.id as key_id,
          k.wrapped as wrapped_key
        from (
          select no, logged_at, id, user_id, order_id, event_type, key, deliverable, sealed as payload, created_at from events
          where team_id = ${team_id} and no > ${after.no} and logged_at >= ${after.at} and logged_at < ${before}
            ${deliverable ? sql`and deliverable` : sql``}
            ${event_type ? sql`and takes(${event_type}::text[], event_type)` : sql``}
            ${user_id ? sql`and user_id = ${user_id}` : sql``}
            ${order_id ? sql`and order_id = ${order_id}` : sql``}
          order by no limit ${limit}
        ) page
        left join sealing_keys k on k.team_id = ${team_id} and k.user_id = page.user_id
      ) keyed
    ) e
    where coalesce(e.bytes_before, 0) < ${bytes} order by e.no`.execute(db)
  return rows
}

/** The first event after a position, by its position. It looks at every partition from that time on. */
export async function findNext(db: Db, team_id: string, after: Position): Promise<Position | undefined> {
  const { rows } = await sql<Position>`
    select no, logged_at as at from events where team_id = ${team_id} and no > ${after.no} and logged_at >= ${after.at} order by no limit 1`.execute(
    db,
  )
  return rows[0]
}

/** The last event at or before a position, for a cursor that names no time. */
export async function findLast(db: Db, team_id: string, no: number): Promise<Position | undefined> {
  const { rows } = await sql<Position>`
    select no, logged_at as at from events where team_id = ${team_id} and no <= ${no} order by no desc limit 1`.execute(db)
  return rows[0]
}

/** The position of the last event before a time, and that of the beginning if there is none. */
export async function findLastBefore(db: Db, team_id: string, before: string, from = BEGINNING): Promise<Position> {
  const { rows } = await sql<Position>`
    select no, logged_at as at from events where team_id = ${team_id} and logged_at >= ${from} and logged_at < ${before}
    order by no desc limit 1`.execute(db)
  return rows[0] ?? { no: 0, at: BEGINNING }
}

/** Events by their exact positions. */
export async function listEventsAt(db: Db, team_id: string, positions: Position[]) {
  if (!positions.length) return new Map<number, LoggedEvent>()
  const times = positions.map(({ at }) => at).sort()
  const { rows } = await sql<LoggedEvent>`
    select e.no, e.logged_at, e.id, e.user_id, e.order_id, e.event_type, e.key, e.deliverable, e.created_at,
      case when e.user_id is null or k.id is not null then e.sealed end as sealed, k.id as key_id, k.wrapped as wrapped_key
    from events e left join sealing_keys k on k.team_id = ${team_id} and k.user_id = e.user_id
    where e.team_id = ${team_id} and e.no = any(${positions.map(({ no }) => no)}::bigint[])
      and e.logged_at between ${times[0]} and ${times.at(-1)}`.execute(db)
  return new Map(rows.map((row) => [row.no, row]))
}

/** Gives up a team that needs no worker before `due_at`. Returns false if something has changed since the worker looked. */
export async function releaseTeam(
  db: Db,
  team_id: string,
  { worker, changes, no, due_at }: { worker: string; changes: number; no: number; due_at: string | null },
) {
  const { numUpdatedRows } = await db
    .updateTable('event_logs')
    .set({ owner: null, due_at })
    .where('team_id', '=', team_id)
    .where('owner', '=', worker)
    .where('changes', '=', changes)
    .where('last_no', '=', no)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The owner has read everything up to these changes. */
export const clearDue = (db: Db, team_id: string, worker: string, changes: number) =>
  db
    .updateTable('event_logs')
    .set({ due_at: null })
    .where('team_id', '=', team_id)
    .where('owner', '=', worker)
    .where('changes', '=', changes)
    .where('due_at', 'is not', null)
    .execute()

/** Tells the owner of a log, or the next one, that something beside the log has changed. Locks the log until the transaction ends. */
export const noteChange = (db: Db, team_id: string) =>
  sql`
    insert into event_logs as l (team_id, due_at, changes) values (${team_id}, now(), 1)
    on conflict (team_id) do update set due_at = excluded.due_at, changes = l.changes + 1`.execute(db)

/** The teams that a worker owns. */
export async function listOwned(db: Db, worker: string) {
  const { rows } = await sql<{ team_id: string }>`
    select ${anyTeam('what a worker owns')} team_id from event_logs where owner = ${worker}`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Ends the ownership of a worker, so that another one takes the team at once. */
export const disown = (db: Db, team_id: string, worker: string) =>
  sql`update event_logs set owner = null, due_at = now() where team_id = ${team_id} and owner = ${worker}`.execute(db)

/** Deletes events of any team that were logged while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) =>
  sql`delete from events_default where logged_at < ${before} ${pruning('expired events')}`.execute(db)

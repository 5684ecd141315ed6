import { type Selectable, sql } from 'kysely'
import type { FilterVersion } from '../../contract/delivery/log-rows.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

type Cursor = Pick<Selectable<Tables['webhook_cursors']>, 'webhook_id' | 'after_no' | 'after_at' | 'done' | 'attempts' | 'retry_at'> & {
  end_no: number
  parked: number
  parked_at: string | null
  /** The time of the oldest parked event. */
  parked_since: string | null
}

/** The cursors of webhooks with the end of the log, and their parked messages and next retry, counted up to a limit. */
export async function listCursors(db: Db, team_id: string, webhook_ids: string[], limit: number) {
  const { rows } = await sql<Cursor>`
    select c.webhook_id, c.after_no, c.after_at, c.done, c.attempts, c.retry_at, coalesce(l.last_no, 0) as end_no,
      (select count(*) from (
        select from parked_messages m where m.team_id = ${team_id} and m.webhook_id = c.webhook_id limit ${limit}
      ) m) as parked,
      (select min(p.retry_at) from parked p where p.team_id = ${team_id} and p.webhook_id = c.webhook_id) as parked_at,
      (select min(m.logged_at) from parked_messages m where m.team_id = ${team_id} and m.webhook_id = c.webhook_id) as parked_since
    from webhook_cursors c left join event_logs l on l.team_id = ${team_id}
    where c.team_id = ${team_id} and c.webhook_id = any(${webhook_ids}::uuid[])`.execute(db)
  return rows
}

/** A part of a log that a webhook has not read, with one filter. */
export type Segment = { after_no: number; after_at: string; upto_no: number; filter: FilterVersion; done: number[] }

const examined = (team_id: string, { after_no, after_at, upto_no }: Segment, limit: number) => sql`
  select no, logged_at, id, event_type, key, created_at, deliverable, sealed is not null as is_kept from events
  where team_id = ${team_id} and no > ${after_no} and no <= ${upto_no} and logged_at >= ${after_at} order by no limit ${limit}`

const isMessage = ({ filter, done }: Segment) =>
  sql`deliverable and takes(${filter.filter_types}::text[], event_type) and no <> all(${done}::bigint[])`

type SegmentCounts = { examined: number; upto_no: number | null; messages: number; oldest_at: string | null }

/** Counts the messages among the first events of a segment, and the events, which end at `upto_no`. */
export async function countSegment(db: Db, team_id: string, segment: Segment, limit: number) {
  const { rows } = await sql<SegmentCounts>`
    select count(*) as examined, max(no) as upto_no, count(*) filter (where ${isMessage(segment)}) as messages,
      min(logged_at) filter (where ${isMessage(segment)}) as oldest_at
    from (${examined(team_id, segment, limit)}) e`.execute(db)
  return rows[0] as SegmentCounts
}

export type PendingEvent = { no: number; logged_at: string; id: string; event_type: string; key: string | null; created_at: string }

/** The messages among the first events of a segment. Those of erased users are left out. */
export async function listSegment(db: Db, team_id: string, segment: Segment, limit: number, most: number) {
  const { rows } = await sql<PendingEvent>`
    select no, logged_at, id, event_type, key, created_at from (${examined(team_id, segment, most)}) e
    where ${isMessage(segment)} and is_kept order by no limit ${limit}`.execute(db)
  return rows
}

type ParkedEvent = PendingEvent & { parked_key: string; attempts: number; behind: number; retry_at: string }

/** Parked messages after a position, in the order of the log. Messages of erased users are left out. */
export async function listParkedAfter(db: Db, team_id: string, webhook_id: string, after_no: number, limit: number) {
  const { rows } = await sql<ParkedEvent>`
    select m.no, m.logged_at, e.id, e.event_type, e.key, e.created_at, m.key as parked_key, p.attempts, p.retry_at, m.behind
    from (
      select no, logged_at, key, row_number() over (partition by key order by no) - 1 as behind from parked_messages
      where team_id = ${team_id} and webhook_id = ${webhook_id}
    ) m
    join parked p on p.team_id = ${team_id} and p.webhook_id = ${webhook_id} and p.key = m.key
    join events e on e.team_id = ${team_id} and e.no = m.no and e.logged_at = m.logged_at
    where m.no > ${after_no} order by m.no limit ${limit}`.execute(db)
  return rows
}

type Lag = { team_id: string; webhook_id: string; waiting: number; due: number; oldest_at: string }

/** Webhooks of any team that are behind the end of their log or have parked messages, the furthest first. Every event after a cursor counts. */
export async function listLags(db: Db, limit: number) {
  const { rows } = await sql<Lag>`
    select ${anyTeam('pending messages by webhook')} c.team_id, c.webhook_id, l.last_no - c.after_no + coalesce(p.count, 0) as waiting,
      case when w.disabled_at is null and (w.paused_until is null or w.paused_until <= now())
        then l.last_no - c.after_no + coalesce(p.due, 0) else 0 end as due,
      least(case when c.after_no < l.last_no then c.after_at end, p.oldest_at) as oldest_at
    from webhook_cursors c
    join webhooks w on w.team_id = c.team_id and w.id = c.webhook_id
    join event_logs l on l.team_id = c.team_id
    left join (
      select m.team_id, m.webhook_id, count(*) as count, count(*) filter (where k.retry_at <= now()) as due, min(m.logged_at) as oldest_at
      from parked_messages m join parked k on k.team_id = m.team_id and k.webhook_id = m.webhook_id and k.key = m.key
      group by m.team_id, m.webhook_id
    ) p on p.team_id = c.team_id and p.webhook_id = c.webhook_id
    where c.after_no < l.last_no or p.count > 0
    order by waiting desc, c.webhook_id limit ${limit}`.execute(db)
  return rows
}

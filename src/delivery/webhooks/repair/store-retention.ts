import { type Selectable, sql } from 'kysely'
import { anyTeam, pruning } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { Segment } from '../store-backlog.ts'
import { deleteParked } from './store-erasure.ts'

/** Deletes attempts of any team that were made while their day had no partition of its own. */
export const deleteFromDefault = (db: Db, before: string) =>
  sql`delete from attempts_default where at < ${before} ${pruning('expired attempts')}`.execute(db)

/** Teams with a webhook, replay or parked message that needs an event from before a time. */
export async function listTeamsBehind(db: Db, before: string) {
  const hasEvents = (after_no: string) => sql`
    exists (select from events e where e.team_id = t.team_id and e.no > ${sql.ref(after_no)} and e.logged_at < ${before})`
  const { rows } = await sql<{ team_id: string }>`
    select ${anyTeam('teams with expired events')} t.team_id from webhook_cursors t join event_logs l on l.team_id = t.team_id
    where t.after_at < ${before} and t.after_no < l.last_no and ${hasEvents('t.after_no')}
    union select t.team_id from webhook_jobs t
    where t.state = 'running' and t.kind = 'replay' and t.window_from < ${before} and ${hasEvents('t.after_no')}
    union select team_id from parked_messages where logged_at < ${before}`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

type Cursor = Pick<Selectable<Tables['webhook_cursors']>, 'webhook_id' | 'last_no' | 'done'>

/** Locks the cursors of a team. Parked messages of those that are further may expire too. */
export const lockCursors = (db: Db, team_id: string) =>
  db
    .selectFrom('webhook_cursors')
    .select(['webhook_id', 'after_no', 'last_no', 'done'])
    .where('team_id', '=', team_id)
    .orderBy('webhook_id')
    .forUpdate()
    .execute()

/** Counts the undecided messages of a part of the log before a time, and finds its last message. */
export async function summarizeExpired(db: Db, team_id: string, { after_no, after_at, upto_no, filter, done }: Segment, before: string) {
  const { rows } = await sql<{ messages: number; last_no: number | null }>`
    select count(*) filter (where no <> all(${done}::bigint[])) as messages, max(no) as last_no from events
    where team_id = ${team_id} and no > ${after_no} and no <= ${upto_no} and logged_at >= ${after_at} and logged_at < ${before}
      and deliverable and takes(${filter.filter_types}::text[], event_type)`.execute(db)
  return rows[0] as { messages: number; last_no: number | null }
}

/** Moves a cursor past what has expired. Its new term ends the rights of its owner. */
export const moveCursor = (db: Db, team_id: string, { webhook_id, ...position }: Cursor & { after_no: number; after_at: string }) =>
  db
    .updateTable('webhook_cursors')
    .set((eb) => ({ ...position, attempts: 0, retry_at: null, term: eb('term', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .execute()

/** Moves running replays past a position. */
export const moveReplays = (db: Db, team_id: string, no: number, now: string) =>
  sql`
    update webhook_jobs set after_no = ${no}, decided = array(select d from unnest(decided) as d where d > ${no}), updated_at = ${now}
    where team_id = ${team_id} and state = 'running' and kind = 'replay' and after_no < ${no}`.execute(db)

/** Deletes parked messages from before a time, and returns how many. */
export const deleteExpiredParked = (db: Db, team_id: string, before: string) =>
  deleteParked(db, team_id, sql`where m.team_id = ${team_id} and m.logged_at < ${before}`)

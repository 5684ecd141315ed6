import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

/** An event of the team, unless it is past retention. */
export const findEvent = (db: Db, team_id: string, event_id: string) =>
  db
    .selectFrom('events')
    .select(['id', 'no', 'logged_at', 'key', 'event_type', 'deliverable'])
    .where('team_id', '=', team_id)
    .where('id', '=', event_id)
    .where('sealed', 'is not', null)
    .executeTakeFirst()

export type EventRow = NonNullable<Awaited<ReturnType<typeof findEvent>>>

/** The event at a position, unless it is past retention. Without its time, every partition is searched. */
export async function findEventAt(db: Db, team_id: string, no: number) {
  const { rows } = await sql<{ id: string; event_type: string; deliverable: boolean; isKept: boolean }>`
    select id, event_type, deliverable, sealed is not null as "isKept" from events where team_id = ${team_id} and no = ${no}`.execute(db)
  return rows[0]
}

/** The outcome of the last attempt to send an event to a webhook. */
export async function findLastOutcome(db: Db, { team_id, webhook_id }: { team_id: string; webhook_id: string }, event_id: string) {
  const attempt = await db
    .selectFrom('attempts')
    .select('outcome')
    .where('team_id', '=', team_id)
    .where('event_id', '=', event_id)
    .where('webhook_id', '=', webhook_id)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return attempt?.outcome
}

import { sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'

/** An event to queue. `logged_at` is text, because an ISO instant here has milliseconds only. */
export type QueuedEvent = { id: string; logged_at: string; key: string }

/** Appends events of a team to the queues of a webhook, in order. */
export async function enqueueEvents(db: Db, team_id: string, webhook_id: string, events: QueuedEvent[]) {
  if (!events.length) return
  const valuesOf = (column: keyof QueuedEvent) => events.map((event) => event[column])
  await sql`
    select enqueue_events(${team_id}, ${webhook_id}, ${valuesOf('id')}::uuid[], ${valuesOf('logged_at')}::timestamptz[],
      ${valuesOf('key')}::text[])`.execute(db)
}

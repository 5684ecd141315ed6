import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { QueuedEvent } from '../store-queue.ts'

export type PendingMessage = {
  event_id: string
  event_type: string
  key: string
  sequence: number
  created_at: string
  attempts: number
  behind: number
  run_at: string
  /** The position in the list: time in microseconds, lane and number. */
  run_us: number
  lane_id: string
}

type WebhookKey = { team_id: string; webhook_id: string }
export type ListPosition = { run_us: number; lane_id: string; n: number }

const pendingMessages = ({ team_id, webhook_id }: WebhookKey) => sql`
  select d.event_id, e.event_type, l.key, d.n as sequence, e.created_at, case when d.n = l.head + 1 then l.attempts else 0 end as attempts,
    (d.n - l.head - 1)::int as behind, l.run_at, (extract(epoch from l.run_at) * 1000000)::bigint as run_us, l.id::text as lane_id
  from lanes l
  join deliveries d on d.team_id = l.team_id and d.lane_id = l.id and d.n > l.head
  join events e on e.team_id = l.team_id and e.id = d.event_id and e.logged_at = d.event_at
  where l.team_id = ${team_id} and l.webhook_id = ${webhook_id} and l.run_at is not null`

/** Pending messages, the next attempt first. Messages of erased users are left out. */
export async function listPending(db: Db, webhook: WebhookKey, limit: number, after?: ListPosition) {
  const from = after && sql`timestamptz 'epoch' + ${after.run_us}::float8 * interval '1 microsecond'`
  const { rows } = await sql<PendingMessage>`${pendingMessages(webhook)}
    ${after ? sql`and l.run_at >= ${from} and (l.run_at, l.id, d.n) > (${from}, ${after.lane_id}::bigint, ${after.n}::bigint)` : sql``}
    order by l.run_at, l.id, d.n limit ${limit + 1}`.execute(db)
  return rows
}

/** The latest message with this event, if it is pending. */
export async function findPending(db: Db, webhook: WebhookKey, event_id: string) {
  const { rows } = await sql<PendingMessage>`${pendingMessages(webhook)} and d.event_id = ${event_id} order by d.n desc limit 1`.execute(db)
  return rows[0]
}

/** Makes a lane the first due one of its webhook. A claimed lane is already being sent. */
export const retryLaneNow = (db: Db, { team_id, webhook_id }: WebhookKey, lane_id: string, now: string) =>
  sql`
    update lanes set run_at = least(${now}::timestamptz, (
      select min(first.run_at) from lanes first where first.team_id = ${team_id} and first.webhook_id = ${webhook_id}
    )) - interval '1 microsecond'
    where team_id = ${team_id} and id = ${lane_id} and worker is null`.execute(db)

/** An event of the team, unless it is past retention. */
export async function findEvent(db: Db, team_id: string, event_id: string) {
  const { rows } = await sql<QueuedEvent>`
    select id, logged_at::text, key from events where team_id = ${team_id} and id = ${event_id}`.execute(db)
  return rows[0]
}

import { sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'

/** At most this many lanes of a webhook are checked for their oldest message, those due first. */
const LANES_CHECKED = 1000

/** Pending messages per webhook of any team, and when the oldest was emitted. Deleted webhooks have none. */
export async function listBacklogs(db: Db, limit: number) {
  const { rows } = await sql<{ webhook_id: string; waiting: number; oldest_at: string | null }>`
    select b.webhook_id, b.waiting, (
      select min(d.event_at)
      from (select id, head from lanes where webhook_id = b.webhook_id and run_at is not null order by run_at limit ${LANES_CHECKED}) l
      join deliveries d on d.lane_id = l.id and d.n = l.head + 1
    ) as oldest_at
    from (
      select webhook_id, sum(tail - head)::bigint as waiting from lanes where run_at is not null and webhook_id not in (select id from webhooks where deleted_at is not null)
      group by webhook_id order by waiting desc, webhook_id limit ${limit}
    ) b`.execute(db)
  return rows
}

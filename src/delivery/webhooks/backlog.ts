import type { FilterVersion, Ordering } from '../../contract/delivery/log-rows.ts'
import type { Db } from '../../platform/db/open.ts'
import { listWebhooks } from './sending/store-cursors.ts'
import * as store from './store-backlog.ts'
import { listVersions } from './store-positions.ts'

/** Counting stops at this many messages, or events examined. */
export const COUNT_LIMIT = 10_000

type Webhook = { id: string; filter_types: string[] | null; ordering: Ordering }

/** The parts of the log that a webhook has not read, each with the filter that holds there. */
export function segmentsOf(
  cursor: Awaited<ReturnType<typeof store.listCursors>>[number],
  versions: FilterVersion[],
  after = cursor.after_no,
): store.Segment[] {
  const start = Math.max(after, cursor.after_no)
  return versions.flatMap((filter, i) => {
    const after_no = Math.max(start, i === 0 ? 0 : (versions[i - 1]?.upto_no ?? 0))
    const upto_no = Math.min(cursor.end_no, filter.upto_no ?? cursor.end_no)
    return after_no < upto_no ? [{ after_no, after_at: cursor.after_at, upto_no, filter, done: cursor.done }] : []
  })
}

/** The cursors and filters of webhooks. */
export async function positionsOf(db: Db, team_id: string, webhooks: Webhook[]) {
  const ids = webhooks.map(({ id }) => id)
  const cursors = await store.listCursors(db, team_id, ids, COUNT_LIMIT)
  const versions = await listVersions(db, team_id, webhooks)
  return cursors.map((cursor) => ({ cursor, versions: versions.get(cursor.webhook_id) as FilterVersion[] }))
}

type Waiting = { count: number; isAtLeast: boolean; oldest_at: string | null; next_at: string | null }

/** Pending messages per webhook, and when the next attempt is due. */
export async function countWaiting(db: Db, team_id: string, webhooks: Webhook[]) {
  const waiting = new Map<string, Waiting>()
  for (const { cursor, versions } of await positionsOf(db, team_id, webhooks)) {
    let [messages, examined] = [0, 0]
    let oldest_at = cursor.parked_since
    for (const segment of segmentsOf(cursor, versions)) {
      const counted = await store.countSegment(db, team_id, segment, COUNT_LIMIT - examined)
      messages += counted.messages
      examined += counted.examined
      oldest_at ??= counted.oldest_at
      if (examined >= COUNT_LIMIT) break
    }
    const count = Math.min(COUNT_LIMIT, messages + cursor.parked)
    const next_at = [cursor.parked_at, messages ? (cursor.retry_at ?? cursor.after_at) : null].filter((at) => at !== null).sort()[0] ?? null
    waiting.set(cursor.webhook_id, { count, isAtLeast: examined >= COUNT_LIMIT || count >= COUNT_LIMIT, oldest_at, next_at })
  }
  return waiting
}

/** Pending messages of all webhooks of a team. */
export async function countWaitingOfTeam(db: Db, team_id: string) {
  const webhooks = await listWebhooks(db, team_id)
  const counts = [...(await countWaiting(db, team_id, webhooks)).values()]
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    isAtLeast: counts.some(({ isAtLeast }) => isAtLeast),
    oldest_at: counts.flatMap(({ oldest_at }) => oldest_at ?? []).sort()[0] ?? null,
  }
}

/** The webhooks that are furthest behind. The limit bounds the size of the metrics. */
const MAX_WEBHOOKS = 1000

export const listBacklogs = (db: Db) => store.listLags(db, MAX_WEBHOOKS)

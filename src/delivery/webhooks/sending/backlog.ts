import type { Db } from '../../../platform/db/open.ts'
import * as store from './store-backlog.ts'

/** The webhooks with the most pending messages. The limit bounds the size of the metrics. */
const MAX_WEBHOOKS = 1000

/** The backlogs of webhooks, with the time of the oldest pending message. */
export async function listBacklogs(db: Db) {
  const backlogs = await store.listBacklogs(db, MAX_WEBHOOKS)
  const oldest = new Map<string, string | null>()
  for (const [team_id, ofTeam] of Map.groupBy(backlogs, ({ team_id }) => team_id)) {
    const ids = ofTeam.map(({ webhook_id }) => webhook_id)
    for (const { webhook_id, oldest_at } of await store.listOldestPending(db, team_id, ids)) oldest.set(webhook_id, oldest_at)
  }
  return backlogs.map(({ team_id: _, ...backlog }) => ({ ...backlog, oldest_at: oldest.get(backlog.webhook_id) ?? null }))
}

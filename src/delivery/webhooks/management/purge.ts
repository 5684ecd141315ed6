import { type App, inTransaction } from '../../../platform/app.ts'
import type { Db } from '../../../platform/db/open.ts'
import { DAY, later, MINUTE } from '../../../platform/time.ts'
import * as store from './store-purge.ts'

/** The job that deletes the messages and lanes of deleted webhooks. */
export const PURGE_WEBHOOKS = 'purge webhooks'

const LANES_PER_BATCH = 1000
const MESSAGES_PER_BATCH = 5000
const IDLE_CHECK_BATCH = 5000
/** This exceeds the statement timeout, so every transaction that still saw the webhook has finished by then. */
const LAST_WRITER_MS = 2 * MINUTE
const IDLE_MS = 30 * DAY

/** Deletes one batch of each deleted webhook. Returns whether there may be more. */
export async function purgeWebhooks(app: App) {
  let more = false
  for (const webhook of await store.listDeletedWebhooks(app.db)) if (await purgeBatch(app, webhook)) more = true
  return more
}

async function purgeBatch(app: App, webhook: { team_id: string; id: string }) {
  const { team_id } = webhook
  const found = await inTransaction(app, async (app) => {
    const lanes = await store.lockLanes(app.db, webhook, LANES_PER_BATCH)
    if (!lanes.length) return false
    const deleted = await store.deleteMessages(app.db, team_id, lanes, MESSAGES_PER_BATCH)
    if (deleted < MESSAGES_PER_BATCH) await store.deleteLanes(app.db, team_id, lanes)
    return true
  })
  if (!found) await store.deletePurged(app.db, webhook, later(app.wall(), -LAST_WRITER_MS))
  return found
}

/** Most keys get events for a while and then never again, so idle lanes are deleted. */
export async function deleteIdleLanes(app: App) {
  const since = later(app.wall(), -IDLE_MS)
  for (const team_id of await store.listTeamsWithWebhooks(app.db))
    for (let after: string | undefined = '0'; after; ) after = await deleteIdleBatch(app, team_id, after, since)
}

const deleteIdleBatch = (app: App, team_id: string, after: string, since: string) =>
  inTransaction(app, ({ db }) => deleteIdleAfter(db, team_id, after, since))

/** Checks a batch of a team's lanes after an ID, deletes those that have been idle since a time, and returns the last ID it checked. */
export async function deleteIdleAfter(db: Db, team_id: string, after: string, since: string) {
  const ids = await store.listLaneIds(db, team_id, after, IDLE_CHECK_BATCH)
  const idle = await store.lockIdleLanes(db, team_id, ids, since)
  if (idle.length) {
    await store.insertEndedLanes(db, team_id, idle)
    await store.deleteLanes(
      db,
      team_id,
      idle.map(({ id }) => id),
    )
  }
  return ids.at(-1)
}

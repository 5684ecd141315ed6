import { type App, inTransaction } from '../../../platform/app.ts'
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

/** Deletes one batch. Returns whether there may be more. */
export async function purgeWebhooks(app: App) {
  const found = await inTransaction(app, async (app) => {
    const lanes = await store.lockDeletedLanes(app.db, LANES_PER_BATCH)
    if (!lanes.length) return false
    const deleted = await store.deleteMessages(app.db, lanes, MESSAGES_PER_BATCH)
    if (deleted < MESSAGES_PER_BATCH) await store.deleteLanes(app.db, lanes)
    return true
  })
  if (!found) await store.deletePurged(app.db, later(app.wall(), -LAST_WRITER_MS))
  return found
}

/** Most keys get events for a while and then never again, so idle lanes are deleted. */
export async function deleteIdleLanes(app: App) {
  const since = later(app.wall(), -IDLE_MS)
  for (let lane: number | null = 0; lane !== null; ) lane = await store.deleteIdleLanes(app.db, since, lane, IDLE_CHECK_BATCH)
}

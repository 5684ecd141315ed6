import { type App, inTransaction } from '../../../platform/app.ts'
import { DAY, later, MINUTE } from '../../../platform/time.ts'
import * as store from './store-ends.ts'

/** The job that deletes the messages and lanes of deleted webhooks. */
export const PURGE = 'purge webhooks'

const LANES = 1000
const MESSAGES = 5000
const LOOKED_AT = 5000
/** Longer than the statement timeout, so every transaction that still saw the webhook has finished by then. */
const LAST_WRITER = 2 * MINUTE
const IDLE = 30 * DAY

/** Deletes one batch. Returns whether there may be more. */
export async function purgeWebhooks(app: App) {
  const found = await inTransaction(app, async (app) => {
    const lanes = await store.lockDeletedLanes(app.db, LANES)
    if (lanes.length && (await store.deleteMessages(app.db, lanes, MESSAGES)) < MESSAGES) await store.deleteLanes(app.db, lanes)
    return lanes.length > 0
  })
  if (!found) await store.deleteEnded(app.db, later(app.wall(), -LAST_WRITER))
  return found
}

/** Most keys get events for a while and then never again, so idle lanes are deleted. */
export async function endIdleLanes(app: App) {
  const since = later(app.wall(), -IDLE)
  for (let lane: number | null = 0; lane !== null; ) lane = await store.endIdleLanes(app.db, since, lane, LOOKED_AT)
}

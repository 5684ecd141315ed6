import { type App, inTransaction } from '../../../platform/app.ts'
import { DAY, later, MINUTE } from '../../../platform/time.ts'
import * as store from './store-ends.ts'

/** The job that takes away what deleted webhooks leave behind. */
export const PURGE = 'purge webhooks'

const LANES = 1000
const MESSAGES = 5000
const LOOKED_AT = 5000
/** Longer than any statement may take: whoever still saw the webhook has written its message by then. */
const LAST_WRITER = 2 * MINUTE
const IDLE = 30 * DAY

/** A piece at a time, however much waited; answers whether there may be more. */
export async function purgeWebhooks(app: App) {
  const found = await inTransaction(app, async (app) => {
    const lanes = await store.lockDeletedLanes(app.db, LANES)
    if (lanes.length && (await store.deleteMessages(app.db, lanes, MESSAGES)) < MESSAGES) await store.deleteLanes(app.db, lanes)
    return lanes.length > 0
  })
  if (!found) await store.deleteEnded(app.db, later(app.wall(), -LAST_WRITER))
  return found
}

/** Most keys are told of for a while and never again; their lanes would be kept for nothing. */
export async function endIdleLanes(app: App) {
  const since = later(app.wall(), -IDLE)
  for (let lane: number | null = 0; lane !== null; ) lane = await store.endIdleLanes(app.db, since, lane, LOOKED_AT)
}

import { type App, inTransaction } from '../../../platform/app.ts'
import { isLockTimeout } from '../../../platform/db/open.ts'
import { DAY, later, SECOND } from '../../../platform/time.ts'
import { waitAtMost } from '../store.ts'
import { pruneJobs } from './store-jobs.ts'
import * as store from './store-retention.ts'

const AHEAD = 3
const SWEPT_AT_ONCE = 5000
const PATIENCE = SECOND

/** Makes the partitions of the coming days and drops those whose time is over, and with them what waits for their events. */
export async function keepDays(app: App) {
  for (let day = 0; day <= AHEAD; day++)
    await unlessInUse(app, (app) => store.makePartitions(app.db, later(app.wall(), day * DAY).slice(0, 10)))
  const oldest = later(app.wall(), -app.config.EVENT_RETENTION_DAYS * DAY).slice(0, 10)
  for (const { name } of await store.partitionsBefore(app.db, oldest)) await unlessInUse(app, (app) => store.dropPartition(app.db, name))
  await store.deleteFromDefaults(app.db, oldest)
  await pruneJobs(app.db, oldest)
  for (let lane: number | null = 0; lane !== null; ) lane = await store.passGone(app.db, later(oldest, DAY), lane, SWEPT_AT_ONCE)
}

/**
 * Making or dropping a day needs all of the log for a moment, and whoever writes to it waits behind. Where somebody reads for long, such as
 * a backup, it is left for the next turn; days are made long before they begin.
 */
async function unlessInUse(app: App, work: (app: App) => Promise<unknown>) {
  try {
    await inTransaction(app, async (app) => {
      await waitAtMost(app.db, PATIENCE)
      await work(app)
    })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    app.log.warn('the log is in use, so a day of it is made or dropped later')
  }
}

/** Lanes of unordered webhooks that have had their one message. */
export const sweepLanes = async (app: App) => (await store.sweepPassing(app.db, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE

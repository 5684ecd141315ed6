import { type App, DAY, later } from '../app.ts'
import { pruneJobs } from './store-jobs.ts'
import * as store from './store-lanes.ts'

const AHEAD = 3
const SWEPT_AT_ONCE = 5000

/** Makes the partitions of the coming days and drops those whose time is over, and with them what waits for their events. */
export async function keepDays(app: App) {
  for (let day = 0; day <= AHEAD; day++) await store.makePartitions(app.db, later(app.wall(), day * DAY).slice(0, 10))
  const oldest = later(app.wall(), -app.config.EVENT_RETENTION_DAYS * DAY).slice(0, 10)
  for (const { name } of await store.partitionsBefore(app.db, oldest)) await store.dropPartition(app.db, name)
  await store.deleteFromDefaults(app.db, oldest)
  await pruneJobs(app.db, oldest)
  for (let lane: number | null = 0; lane !== null; ) lane = await store.passGone(app.db, later(oldest, DAY), lane, SWEPT_AT_ONCE)
}

/** Lanes of unordered webhooks that have had their one message. */
export const sweepLanes = async (app: App) => (await store.sweepPassing(app.db, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE

import type { App } from '../../platform/app.ts'
import { maintainPartitions } from '../../platform/db/partitions.ts'
import * as store from './store-log.ts'

/** Creates the partitions of the coming days and deletes the events of days before `oldest`. */
export async function applyEventRetention(app: App, oldest: string) {
  await maintainPartitions(app, 'events', oldest)
  await store.deleteFromDefault(app.db, oldest)
}

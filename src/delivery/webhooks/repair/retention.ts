import type { App } from '../../../platform/app.ts'
import { maintainPartitions } from '../../../platform/db/partitions.ts'
import { DAY, later } from '../../../platform/time.ts'
import { applyEventRetention } from '../../events/retention.ts'
import { pruneMessages } from '../../messages/log.ts'
import { pruneJobs } from './store-jobs.ts'
import * as store from './store-retention.ts'

const SWEEP_LIMIT = 5000

/** Creates the partitions of the coming days and drops those past retention, with the attempts and pending messages of their events. */
export async function applyRetention(app: App) {
  const oldest = later(app.wall(), -app.config.EVENT_RETENTION_DAYS * DAY).slice(0, 10)
  await applyEventRetention(app, oldest)
  await maintainPartitions(app, 'attempts', oldest)
  await store.deleteFromDefault(app.db, oldest)
  await pruneJobs(app.db, oldest)
  await pruneMessages(app, oldest)
  const before = later(oldest, DAY)
  for (const team_id of await store.listTeamsWithDisabledWebhooks(app.db))
    for (let after: string | null = '0'; after !== null; )
      after = await store.skipExpired(app.db, team_id, { before, after, limit: SWEEP_LIMIT })
}

/** Deletes lanes of unordered webhooks whose single message is done. Returns whether there may be more. */
export async function deleteFinishedLanes(app: App) {
  let more = false
  for (const team_id of await store.listTeamsWithFinishedLanes(app.db))
    if ((await store.deleteFinishedLanes(app.db, team_id, SWEEP_LIMIT)) === SWEEP_LIMIT) more = true
  return more
}

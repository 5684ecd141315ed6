import type { App, AppInTransaction } from '../../../platform/app.ts'
import { maintainPartitions } from '../../../platform/db/partitions.ts'
import { DAY, later } from '../../../platform/time.ts'
import { deleteEventsFromDefault, findLastBefore } from '../../events/access.ts'
import { changeDelivery } from '../../events/change-log.ts'
import { pruneMessages } from '../../messages/log.ts'
import * as pipelines from '../../pipelines/access.ts'
import { positionsOf, segmentsOf } from '../backlog.ts'
import { deletePassedFilters } from '../sending/store-cursors.ts'
import { findByIds } from '../store.ts'
import { deleteEmptyKeys } from './store-erasure.ts'
import { pruneJobs } from './store-jobs.ts'
import * as store from './store-retention.ts'

/** What this process has expired since it started. */
export const expired = { messages: 0 }

/** Creates the partitions of the coming days and drops those past retention, with the attempts and pending messages of their events. */
export async function applyRetention(app: App) {
  const oldest = later(app.wall(), -app.config.EVENT_RETENTION_DAYS * DAY).slice(0, 10)
  await expireBefore(app, `${oldest}T00:00:00.000Z`)
  await maintainPartitions(app, 'events', oldest)
  await deleteEventsFromDefault(app.db, oldest)
  await maintainPartitions(app, 'attempts', oldest)
  await store.deleteFromDefault(app.db, oldest)
  await pruneJobs(app.db, oldest)
  await pruneMessages(app, oldest)
}

/** Moves everything that reads a log past the events from before a time. A partition is dropped only after that. */
async function expireBefore(app: App, before: string) {
  const teams = [await store.listTeamsBehind(app.db, before), await pipelines.listTeamsBehind(app.db, before)].flat()
  for (const team_id of new Set(teams)) {
    const result = await changeDelivery(app, team_id, (app) => expireTeam(app, team_id, before))
    expired.messages += result.messages
    app.log.warn({ team_id, ...result }, 'pending messages expired')
  }
}

async function expireTeam(app: AppInTransaction, team_id: string, before: string) {
  const { no } = await findLastBefore(app.db, team_id, before)
  const cursors = (await store.lockCursors(app.db, team_id)).filter(({ after_no }) => after_no < no)
  const webhooks = await findByIds(
    app.db,
    team_id,
    cursors.map(({ webhook_id }) => webhook_id),
  )
  let messages = 0
  for (const { cursor, versions } of await positionsOf(app.db, team_id, webhooks)) {
    const row = cursors.find(({ webhook_id }) => webhook_id === cursor.webhook_id)
    if (!row) continue
    let { last_no } = row
    for (const segment of segmentsOf({ ...cursor, end_no: no }, versions)) {
      const found = await store.summarizeExpired(app.db, team_id, segment, before)
      messages += found.messages
      last_no = found.last_no ?? last_no
    }
    await store.moveCursor(app.db, team_id, { ...row, last_no, done: row.done.filter((done) => done > no), after_no: no, after_at: before })
  }
  await deletePassedFilters(app.db, team_id)
  await store.moveReplays(app.db, team_id, no, app.wall())
  const parked = await store.deleteExpiredParked(app.db, team_id, before)
  await deleteEmptyKeys(app.db, team_id)
  return { messages: messages + parked, destinations: await pipelines.moveDestinations(app.db, team_id, { no, at: before }) }
}

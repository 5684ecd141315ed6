import type { App, AppInTransaction } from '../../../platform/app.ts'
import { isLockTimeout } from '../../../platform/db/errors.ts'
import { limitLockWait } from '../../../platform/db/local-settings.ts'
import { changeDelivery } from '../../events/change-log.ts'
import { presentFormat } from '../../formats/rules.ts'
import { findFormats } from '../../formats/settings.ts'
import { keyBesideOrder } from '../sending/rules-filters.ts'
import { lockHealth } from '../store.ts'
import { lockCursor, parkMessage } from '../store-positions.ts'
import * as store from './store-jobs.ts'

export { searchRunningJobs as searchRecoveries } from './store-jobs.ts'

/** Messages parked per run. */
const BATCH_SIZE = 200
/** A job parks nothing while this many messages are parked, so that new events do not wait behind all of them. */
export const MAX_PARKED = 5000
const COUNT_LIMIT = 100_000
const MAX_FAILURES = 20
const LOCK_TIMEOUT_MS = 200
/** Jobs to try, because other processes may have the first ones. */
const CANDIDATES = 8

/** Counts the events of new jobs, and parks one batch of exhausted messages. Returns whether there may be more. */
export async function recoverMessages(app: App): Promise<boolean> {
  for (const job of await store.listUncounted(app.db, CANDIDATES))
    await store.setTotal(app.db, job, await store.countJob(app.db, job, COUNT_LIMIT))
  for (const candidate of await store.listRecoveries(app.db, MAX_PARKED, CANDIDATES)) {
    const more = await continueJob(app, candidate)
    if (more !== undefined) return more
  }
  return false
}

/** Returns undefined if another process has the job or writes to its webhook. */
async function continueJob(app: App, candidate: { team_id: string; id: string }) {
  let job: store.JobRow | undefined
  try {
    return await changeDelivery(app, candidate.team_id, async (app) => {
      await limitLockWait(app.db, LOCK_TIMEOUT_MS)
      job = await store.claimJob(app.db, candidate)
      return job && (await parkBatch(app, job))
    })
  } catch (error) {
    if (isLockTimeout(error)) return undefined
    if (job) await store.recordFailure(app.db, job, MAX_FAILURES, app.wall())
    throw error
  }
}

async function parkBatch(app: AppInTransaction, job: store.JobRow) {
  const { team_id, webhook_id } = job
  const webhook = await lockHealth(app.db, team_id, webhook_id)
  if (!webhook) return false
  await lockCursor(app.db, team_id, webhook_id)
  const { processed, events, position } = await store.nextToRecover(app.db, job, BATCH_SIZE)
  const { format } = presentFormat(await findFormats(app, team_id, webhook_id))
  for (const event of events)
    await parkMessage(app.db, { team_id, webhook_id, key: keyBesideOrder(webhook.ordering, event), format }, event, app.wall())
  await store.updateJob(app.db, job, {
    ...position,
    done: job.done + processed,
    sent: job.sent + events.length,
    state: processed < BATCH_SIZE ? 'done' : 'running',
    failures: 0,
    updated_at: app.wall(),
  })
  return processed === BATCH_SIZE
}

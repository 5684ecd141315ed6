import { type App, inTransaction, wakeAfterCommit } from '../../../platform/app.ts'
import { isLockTimeout } from '../../../platform/db/errors.ts'
import { limitLockWait } from '../../../platform/db/local-settings.ts'
import { enqueueEvents } from '../store-queue.ts'
import * as store from './store-jobs.ts'

export { searchRunningJobs } from './store-jobs.ts'

/** Messages queued per run. */
const BATCH_SIZE = 200
/** A job queues nothing while this many messages are pending, so that new events do not wait behind all of them. */
export const MAX_PENDING_REPLAYS = 5000
const COUNT_LIMIT = 100_000
const MAX_FAILURES = 20
/** A job locks many lanes at once, so a short lock timeout prevents deadlocks. */
const LOCK_TIMEOUT_MS = 200

/** Jobs to try, because other processes may have the first ones. */
const CANDIDATES = 8

/** Runs one batch of one job. Returns whether there may be more. */
export async function repairWebhooks(app: App): Promise<boolean> {
  for (const candidate of await store.listJobsToContinue(app.db, MAX_PENDING_REPLAYS, CANDIDATES)) {
    const more = await continueJob(app, candidate)
    if (more !== undefined) return more
  }
  return false
}

/** Returns undefined if another process has the job or writes to its lanes. */
async function continueJob(app: App, candidate: { team_id: string; id: string }) {
  let job: store.JobRow | undefined
  try {
    return await inTransaction(app, async (app) => {
      await limitLockWait(app.db, LOCK_TIMEOUT_MS)
      job = await store.claimJob(app.db, candidate, MAX_PENDING_REPLAYS)
      return job && (await runBatch(app, job))
    })
  } catch (error) {
    if (isLockTimeout(error)) return undefined
    if (job) await store.recordFailure(app.db, job, MAX_FAILURES, app.wall())
    throw error
  }
}

async function runBatch(app: App, job: store.JobRow) {
  const { team_id, webhook_id } = job
  const total = job.counted ? job.total : await store.countJob(app.db, job, COUNT_LIMIT)
  const { processed, events, position } = await (job.kind === 'recover' ? store.nextToRecover : store.nextToReplay)(app.db, job, BATCH_SIZE)
  await enqueueEvents(app.db, team_id, webhook_id, events)
  const isOver = processed < BATCH_SIZE && !(job.kind === 'replay' && (await store.hasUnnumbered(app.db, job)))
  await store.updateJob(app.db, job, {
    ...position,
    counted: true,
    total,
    done: job.done + processed,
    sent: job.sent + events.length,
    state: isOver ? 'done' : 'running',
    failures: 0,
    updated_at: app.wall(),
  })
  if (events.length) wakeAfterCommit(app, team_id, [webhook_id])
  return isOver || processed === BATCH_SIZE
}

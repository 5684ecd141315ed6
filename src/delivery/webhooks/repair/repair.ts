import { type App, inTransaction, wakeAfterCommit } from '../../../platform/app.ts'
import { isLockTimeout } from '../../../platform/db/errors.ts'
import { limitLockWait } from '../../../platform/db/partitions.ts'
import * as store from './store-jobs.ts'

/** Messages queued per run. */
const BATCH_SIZE = 200
/** A job queues nothing while this many messages are pending, so that new events do not wait behind all of them. */
const MAX_PENDING = 5000
const COUNT_LIMIT = 100_000
const MAX_FAILURES = 20
/** A job locks many lanes at once, so a short lock timeout prevents deadlocks. */
const LOCK_TIMEOUT_MS = 200

/** Runs one batch of one job. Returns whether there may be more. */
export async function repairWebhooks(app: App): Promise<boolean> {
  let job: store.JobRow | undefined
  try {
    return await inTransaction(app, async (app) => {
      await limitLockWait(app.db, LOCK_TIMEOUT_MS)
      job = await store.claimJob(app.db, MAX_PENDING)
      return job ? runBatch(app, job) : false
    })
  } catch (error) {
    if (isLockTimeout(error)) return false
    if (job) await store.recordFailure(app.db, job, MAX_FAILURES, app.wall())
    throw error
  }
}

async function runBatch(app: App, job: store.JobRow) {
  const total = job.counted ? job.total : await store.countJob(app.db, job, COUNT_LIMIT)
  const batch = await (job.kind === 'recover' ? store.recoverBatch : store.replayBatch)(app.db, job, BATCH_SIZE)
  const isOver = batch.processed < BATCH_SIZE && !(job.kind === 'replay' && (await store.hasUnnumbered(app.db, job)))
  await store.updateJob(app.db, job, {
    counted: true,
    total,
    done: job.done + batch.processed,
    sent: job.sent + batch.sent,
    after_at: batch.after_at ?? job.after_at,
    after_id: batch.after_id ?? job.after_id,
    after_no: batch.after_no ?? job.after_no,
    state: isOver ? 'done' : 'running',
    failures: 0,
    updated_at: app.wall(),
  })
  if (batch.sent) wakeAfterCommit(app, [job.webhook_id])
  return isOver || batch.processed === BATCH_SIZE
}

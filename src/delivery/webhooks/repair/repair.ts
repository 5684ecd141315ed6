import { type App, inTransaction, wakeAfterCommit } from '../../../platform/app.ts'
import { isLockTimeout } from '../../../platform/db/open.ts'
import { limitLockWait } from '../../../platform/db/partitions.ts'
import * as store from './store-jobs.ts'

/** Messages queued per run. */
const PIECE = 200
/** A job queues nothing while this many messages are pending, so that new events do not wait behind all of them. */
const AHEAD = 5000
const COUNTED = 100_000
const GIVE_UP_AFTER = 20
/** A job locks many lanes at once, so a short lock timeout prevents deadlocks. */
const PATIENCE = 200

/** Runs one batch of one job. Returns whether there may be more. */
export async function repairWebhooks(app: App): Promise<boolean> {
  let job: store.JobRow | undefined
  try {
    return await inTransaction(app, async (app) => {
      await limitLockWait(app.db, PATIENCE)
      job = await store.claimJob(app.db, AHEAD)
      return job ? goOn(app, job) : false
    })
  } catch (error) {
    if (isLockTimeout(error)) return false
    if (job) await store.noteFailure(app.db, job, GIVE_UP_AFTER, app.wall())
    throw error
  }
}

async function goOn(app: App, job: store.JobRow) {
  const total = job.counted ? job.total : await store.countJob(app.db, job, COUNTED)
  const piece = await (job.kind === 'recover' ? store.recoverPiece : store.replayPiece)(app.db, job, PIECE)
  const isOver = piece.looked < PIECE && !(job.kind === 'replay' && (await store.hasUnnumbered(app.db, job)))
  await store.updateJob(app.db, job, {
    counted: true,
    total,
    done: job.done + piece.looked,
    sent: job.sent + piece.sent,
    after_at: piece.after_at ?? job.after_at,
    after_id: piece.after_id ?? job.after_id,
    after_no: piece.after_no ?? job.after_no,
    state: isOver ? 'done' : 'running',
    failures: 0,
    updated_at: app.wall(),
  })
  if (piece.sent) wakeAfterCommit(app, [job.webhook_id])
  return isOver || piece.looked === PIECE
}

import { MINUTE } from '../../src/platform/time.ts'
import { eventually } from './process.ts'
import { query } from './query.ts'
import type { Replica } from './world.ts'

/** Runs both passes over the logs, after which an erased user has a certificate. */
export async function finishErasures(w: Pick<Replica, 'runJobs' | 'advanceTime' | 'url'>) {
  await w.runJobs()
  w.advanceTime(3 * MINUTE)
  await w.runJobs()
  // Transactions of other test files on the same server postpone the second pass.
  await eventually(async () => {
    if (!(await query(w.url, 'select from log_erasures')).length) return true
    w.advanceTime(MINUTE)
    await w.runJobs()
    return false
  })
}

import type { Metrics } from '../http/metrics/metrics.ts'
import { failureLog } from '../jobs/failures.ts'
import { startJobs } from '../jobs/loop.ts'
import { ownMemoryJobs } from '../jobs/own-memory.ts'
import { sendJobWakeUps } from '../jobs/wake-ups.ts'
import { DELIVER, type Service } from '../platform/app.ts'
import type { Database } from '../platform/db/open.ts'
import { openWakeUps } from './wake-ups.ts'

/** Wakes the processes that run jobs and deliver, in a process that does neither. */
export async function wakeOthers(service: Service, database: Database, metrics: Metrics) {
  const onFailure = failureLog(service.log, (job) => metrics.jobFailures.inc({ job }))
  const loop = startJobs(service, ownMemoryJobs, onFailure)
  const wakeUps = openWakeUps(service, database, false, onFailure)
  const jobWakeUps = sendJobWakeUps(service.vault)
  service.wake = (job, about = []) => (job === DELIVER ? wakeUps.send(about) : jobWakeUps.send(job))
  return {
    async stop() {
      jobWakeUps.stop()
      await Promise.all([loop.stop(), wakeUps.stop()])
    },
  }
}

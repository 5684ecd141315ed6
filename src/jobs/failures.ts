import type { App } from '../platform/app.ts'
import { canStartOver, isDatabaseUnavailable } from '../platform/db/errors.ts'
import { safeError } from '../platform/log.ts'
import { SECOND } from '../platform/time.ts'

const OUTAGE_EVERY_MS = 10 * SECOND

/** Logs failed jobs. Without a database all of them fail, many times a second, so an outage is one line every ten seconds. */
export function failureLog(log: App['log'], count: (job: string) => void) {
  const failures = new Map<string, number>()
  let nextAt = 0
  return (job: string, error: unknown) => {
    count(job)
    if (!isDatabaseUnavailable(error) || canStartOver(error)) return log.error({ job, err: safeError(error) }, 'job failed')
    failures.set(job, (failures.get(job) ?? 0) + 1)
    if (performance.now() < nextAt) return
    log.warn({ code: (error as { code?: string }).code, failures: Object.fromEntries(failures) }, 'database unavailable, jobs will retry')
    failures.clear()
    nextAt = performance.now() + OUTAGE_EVERY_MS
  }
}

import { HOUR, MINUTE, SECOND } from '../../platform/time.ts'

/** The waits before attempts 2, 3, 4 and 5. After the last one the pull fails. */
export const waits = [10 * SECOND, MINUTE, 10 * MINUTE, HOUR]

/** Temporary failures, by their names in the Junction API. */
const temporary = ['provider_unavailable', 'transport_failure', 'resource_contention'] as const
export type FailureReason = (typeof temporary)[number] | 'non_retriable_error' | 'unexpected_error'

export type PullOutcome = {
  status: 'success' | 'retrying' | 'failure'
  error_details: FailureReason | 'retry_quota_exhausted' | null
  /** Milliseconds until the next attempt. Null if there is none. */
  waitMs: number | null
}

export const pullSucceeded: PullOutcome = { status: 'success', error_details: null, waitMs: null }

export function afterFailure(attempts: number, reason: FailureReason): PullOutcome {
  if (!temporary.some((other) => other === reason)) return { status: 'failure', error_details: reason, waitMs: null }
  const waitMs = waits[attempts - 1]
  if (waitMs === undefined) return { status: 'failure', error_details: 'retry_quota_exhausted', waitMs: null }
  return { status: 'retrying', error_details: reason, waitMs }
}

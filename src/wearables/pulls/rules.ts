import { problem } from '../../platform/problem.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/time.ts'
import type { FailureReason } from '../ingestion/rules.ts'

/** The waits before attempts 2, 3, 4 and 5. After the last one the pull fails. */
export const waits = [10 * SECOND, MINUTE, 10 * MINUTE, HOUR]

const temporary: FailureReason[] = ['provider_unavailable', 'transport_failure', 'resource_contention']

export type PullOutcome = {
  status: 'success' | 'retrying' | 'failure'
  error_details: FailureReason | 'retry_quota_exhausted' | null
  /** Milliseconds until the next attempt. Null if there is none. */
  waitMs: number | null
}

export const pullSucceeded: PullOutcome = { status: 'success', error_details: null, waitMs: null }

export function afterFailure(attempts: number, reason: FailureReason): PullOutcome {
  if (!temporary.includes(reason)) return { status: 'failure', error_details: reason, waitMs: null }
  const waitMs = waits[attempts - 1]
  if (waitMs === undefined) return { status: 'failure', error_details: 'retry_quota_exhausted', waitMs: null }
  return { status: 'retrying', error_details: reason, waitMs }
}

/** Adds the top-level fields that Junction clients read. */
export function refreshFailed(user_id: string, failed_sources: string[]) {
  const error = 'No source could be refreshed. GET /v2/user/providers/{user_id} shows which ones have to be connected again.'
  return problem('REFRESH_FAILED', error, {}, { success: false, user_id, error, failed_sources })
}

import { canStartOver, isDatabaseUnavailable, isLockTimeout } from '../../platform/db/errors.ts'
import { Problem } from '../../platform/problem.ts'
import type { FailureReason } from './rules.ts'

/** Why a pull failed, by an error that no source caused. */
export function reasonOf(error: unknown): FailureReason {
  if (error instanceof Problem) return 'non_retriable_error'
  if (isLockTimeout(error) || canStartOver(error)) return 'resource_contention'
  return isDatabaseUnavailable(error) ? 'transport_failure' : 'unexpected_error'
}

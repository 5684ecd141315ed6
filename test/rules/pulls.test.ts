import { expect, test } from 'vitest'
import { afterFailure, waits } from '../../src/wearables/pulls/rules.ts'

test('retries a temporary failure with growing waits, then gives up', () => {
  const outcomes = [1, 2, 3, 4, 5].map((attempts) => afterFailure(attempts, 'resource_contention'))
  expect(outcomes.slice(0, 4)).toEqual(waits.map((waitMs) => ({ status: 'retrying', error_details: 'resource_contention', waitMs })))
  expect(waits.every((wait, i) => i === 0 || wait > (waits[i - 1] as number))).toBe(true)
  expect(outcomes[4]).toEqual({ status: 'failure', error_details: 'retry_quota_exhausted', waitMs: null })
})

test.each(['non_retriable_error', 'unexpected_error'] as const)('does not retry %s', (because) => {
  expect(afterFailure(1, because)).toEqual({ status: 'failure', error_details: because, waitMs: null })
})

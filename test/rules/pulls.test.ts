import { expect, test } from 'vitest'
import { afterFailure, waits } from '../../src/wearables/connections/rules-pulls.ts'

test('what may pass is tried again, later and later, and given up in the end', () => {
  const tries = [1, 2, 3, 4, 5].map((tried) => afterFailure(tried, 'resource_contention'))
  expect(tries.slice(0, 4)).toEqual(waits.map((waitMs) => ({ status: 'retrying', error_details: 'resource_contention', waitMs })))
  expect(waits.every((wait, i) => i === 0 || wait > (waits[i - 1] as number))).toBe(true)
  expect(tries[4]).toEqual({ status: 'failure', error_details: 'retry_quota_exhausted', waitMs: null })
})

test.each(['non_retriable_error', 'unexpected_error'] as const)('%s is not tried again', (because) => {
  expect(afterFailure(1, because)).toEqual({ status: 'failure', error_details: because, waitMs: null })
})

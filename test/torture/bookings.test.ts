import { expect, test } from 'vitest'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { tortureBookings } from './bookings.ts'

// `npm run torture -- bookings` runs any number of rounds.
test('two bookings of the last slot give one visit and one refusal', { timeout: LONG_TEST_MS }, async () => {
  expect(await tortureBookings({ rounds: 5 })).toEqual([])
})

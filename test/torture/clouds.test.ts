import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { summaryOfClouds, tortureClouds } from './clouds.ts'

// `npm run torture -- clouds` connects 1,000 users.
test('every change at five clouds arrives, in a storm of notifications with outages and kills', { timeout: LONG_TEST_MS }, async () => {
  const outcome = await tortureClouds({ users: 25, rounds: 1, log: join(inject('logs'), `torture-clouds-${process.pid}.log`) })
  console.log(summaryOfClouds(outcome))
  expect(outcome.faults).toEqual([])
  expect(outcome.compared).toBeGreaterThan(25)
})

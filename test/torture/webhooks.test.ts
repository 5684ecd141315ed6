import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { killRounds, LONG_TEST_MS, needsFullRun } from '../support/full-run.ts'
import { measureTakeover } from './takeover.ts'
import { openSite, orderings, type Site } from './webhook-site.ts'
import { summaryOfWebhooks, tortureWebhooks } from './webhooks.ts'

/** Messages of a webhook that a take-over may repeat. */
const WINDOW = 256

let site: Site
beforeAll(async () => {
  site = await openSite(await preparedDataDir(), join(inject('logs'), `torture-webhooks-${process.pid}.log`))
})
afterAll(() => site?.close())

// `npm run torture -- webhooks` runs any number of rounds.
test('delivers every committed event in order after kill -9 of a worker, an API process and PostgreSQL', {
  timeout: LONG_TEST_MS,
}, async () => {
  const rounds = await tortureWebhooks(site, { rounds: killRounds })
  console.log(summaryOfWebhooks(rounds))
  for (const { lost, misplaced, faults } of rounds) expect({ lost, misplaced, faults }).toEqual({ lost: 0, misplaced: 0, faults: [] })
  for (const { repeated, taken } of rounds) expect(repeated).toBeLessThanOrEqual(taken * orderings.length * WINDOW)
  expect(rounds.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBeGreaterThan(100 * killRounds)
})

// Must run last, because it does not restart the killed processes.
test('the remaining processes take over after kill -9 of a worker and an API process under load', {
  timeout: LONG_TEST_MS,
}, async (context) => {
  needsFullRun(context)
  const { resent, messages, events, lost, misplaced, faults } = await measureTakeover(site)
  console.log(
    `kill -9 of a worker: ${resent.length} messages that it had in flight were sent again after ${spread(resent)}; ` +
      `of an API process: ${messages.length} messages emitted around it arrived after ${spread(messages)}; ${events} events in all`,
  )
  expect(resent.length).toBeGreaterThan(0)
  expect({ lost, misplaced, faults }).toEqual({ lost: 0, misplaced: 0, faults: [] })
})

function spread(times: number[]) {
  const sorted = times.map(Math.round).sort((a, b) => a - b)
  return `${sorted[Math.floor(sorted.length / 2)]} ms (median), ${sorted.at(-1)} ms (longest)`
}

import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { LONG_TEST_MS, needsFullRun } from '../support/full-run.ts'
import { summaryOfFailovers, tortureFailover } from './failover.ts'
import { openSite, type Site } from './failover-site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite({ dataDir: await preparedDataDir(), sync: false, log: join(inject('logs'), `torture-failover-${process.pid}.log`) })
})
afterAll(() => site?.close())

// `npm run torture -- failover` runs any number of rounds, also with a primary that hangs or is stopped.
test('loses nothing acknowledged when a synchronous standby takes over under load', { timeout: LONG_TEST_MS }, async () => {
  const rounds = await tortureFailover(site, { rounds: [{ mode: 'synchronous', ending: 'killed' }] })
  console.log(summaryOfFailovers(rounds))
  expect(rounds).toMatchObject([{ lost: 0, announced: 0, undelivered: 0, misplaced: 0, faults: [] }])
  expect(rounds[0]?.acknowledged).toBeGreaterThan(30)
})

// Must run last, because the receiver cannot check the order anymore.
test('continues with what an asynchronous standby has, and delivers all of it', { timeout: LONG_TEST_MS }, async (context) => {
  needsFullRun(context)
  const rounds = await tortureFailover(site, { rounds: [{ mode: 'asynchronous', ending: 'killed' }] })
  console.log(summaryOfFailovers(rounds))
  expect(rounds).toMatchObject([{ undelivered: 0, faults: [] }])
  expect(rounds[0]?.lost).toBeGreaterThan(0)
})

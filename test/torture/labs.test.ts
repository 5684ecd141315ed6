import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { summaryOfLabs, tortureLabs, transports } from './labs.ts'

// `npm run torture -- labs` runs any number of rounds, with 500 orders each.
test.each(transports)(
  'every order reaches a lab once over %s, and every result is filed and acknowledged once, after kill -9',
  { timeout: LONG_TEST_MS },
  async (transport) => {
    const log = join(inject('logs'), `torture-labs-${process.pid}.log`)
    const exchanged = await tortureLabs({ rounds: transport === 'mllp' ? 3 : 1, ordersPerRound: 60, transport, log })
    console.log(summaryOfLabs(exchanged))
    expect(exchanged.faults).toEqual([])
    expect(exchanged.reported).toBeGreaterThanOrEqual(60)
  },
)

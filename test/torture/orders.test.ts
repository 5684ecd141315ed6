import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { isFullRun, killRounds, LONG_TEST_MS } from '../support/full-run.ts'
import { orders } from './orders.ts'
import { type Kind, summaryOf, torture } from './rounds.ts'

const kinds: Kind[] = [
  { victims: ['process', 'PostgreSQL'], database: 'embedded' },
  { victims: ['PostgreSQL', 'process'], database: 'external' },
]

// `npm run torture -- orders` kills each victim twenty times; `--external` swaps the databases.
test.each(isFullRun ? kinds : kinds.slice(0, 1))(
  'keeps, emits and sends every acknowledged order once after kill -9 of the $victims.0 or $victims.1 ($database)',
  { timeout: LONG_TEST_MS },
  async (kind) => {
    const log = join(inject('logs'), `torture-orders-${process.pid}.log`)
    const result = await torture(orders, kind, { rounds: killRounds, dataDir: await preparedDataDir(), log })
    console.log(summaryOf(result))
    expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
    expect(result.acknowledged).toBeGreaterThan(13 * killRounds)
  },
)

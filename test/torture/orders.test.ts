import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { orders } from './orders.ts'
import { type Kind, summaryOf, torture } from './rounds.ts'

const kinds: Kind[] = [
  { victims: ['process', 'PostgreSQL'], database: 'embedded' },
  { victims: ['PostgreSQL', 'process'], database: 'external' },
]

// `npm run torture -- orders` kills each victim twenty times; `--external` swaps the databases.
test.each(kinds)(
  'keeps, emits and sends every acknowledged order once after kill -9 of the $victims.0 or $victims.1 ($database)',
  async (kind) => {
    const log = join(inject('logs'), `torture-orders-${process.pid}.log`)
    const result = await torture(orders, kind, { rounds: 3, dataDir: await preparedDataDir(), log })
    console.log(summaryOf(result))
    expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
    expect(result.acknowledged).toBeGreaterThan(40)
  },
)

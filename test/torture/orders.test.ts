import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { orders } from './orders.ts'
import { type Kind, summaryOf, torture } from './rounds.ts'

const kinds: Kind[] = [
  { victim: 'process', database: 'embedded' },
  { victim: 'PostgreSQL', database: 'external' },
]

// `npm run torture -- orders` kills twenty times; `--external` swaps the databases.
test.each(kinds)('keeps, emits and sends every acknowledged order once after kill -9 of the $victim ($database)', async (kind) => {
  const result = await torture(orders, kind, { rounds: 3, log: join(inject('logs'), `torture-orders-${process.pid}.log`) })
  console.log(summaryOf(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(result.acknowledged).toBeGreaterThan(100)
})

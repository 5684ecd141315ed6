import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type Kind, summaryOf, torture } from './rounds.ts'
import { users } from './users.ts'

// The orders test covers the other two combinations.
const kinds: Kind[] = [
  { victim: 'PostgreSQL', database: 'embedded' },
  { victim: 'process', database: 'external' },
]

// `npm run torture -- users` kills twenty times.
test.each(kinds)('keeps every acknowledged user after three kill -9 of the $victim ($database)', async (kind) => {
  const result = await torture(users, kind, { rounds: 3, log: join(inject('logs'), `torture-${process.pid}.log`) })
  console.log(summaryOf(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(result.acknowledged).toBeGreaterThan(100)
})

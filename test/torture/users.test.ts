import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { killRounds, LONG_TEST_MS } from '../support/full-run.ts'
import { type Kind, summaryOf, torture } from './rounds.ts'
import { users } from './users.ts'

// The orders test also covers a separate database.
const kind: Kind = { victims: ['PostgreSQL', 'process'], database: 'embedded' }

// `npm run torture -- users` kills each victim twenty times.
test('keeps every acknowledged user after kill -9 of PostgreSQL or the process', { timeout: LONG_TEST_MS }, async () => {
  const result = await torture(users, kind, {
    rounds: killRounds,
    dataDir: await preparedDataDir(),
    log: join(inject('logs'), `torture-${process.pid}.log`),
  })
  console.log(summaryOf(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(result.acknowledged).toBeGreaterThan(13 * killRounds)
})

import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { summaryOfHostile, tortureHostile } from './hostile.ts'

// `npm run torture -- hostile` attacks for ten minutes.
test('a team that behaves well gets every response, beside fuzzed, oversized, compressed, slow and half-open requests', async () => {
  const log = join(inject('logs'), `torture-hostile-${process.pid}.log`)
  const result = await tortureHostile({ seconds: 5, dataDir: await preparedDataDir(), log })
  console.log(summaryOfHostile(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(result.acknowledged).toBeGreaterThan(10)
})

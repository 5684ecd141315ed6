import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { BOMBS, summaryOfHostile, tortureHostile } from './hostile.ts'

// `npm run torture -- hostile` attacks for ten minutes.
test('a team that behaves well gets every response, beside fuzzed, oversized, compressed, slow and half-open requests', {
  timeout: LONG_TEST_MS,
}, async () => {
  const log = join(inject('logs'), `torture-hostile-${process.pid}.log`)
  const result = await tortureHostile({ seconds: 5, dataDir: await preparedDataDir(), log })
  console.log(summaryOfHostile(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(result.acknowledged).toBeGreaterThan(10)
})

// `npm run torture -- hostile --only bombs` also checks the times of /health.
test('bodies of nine million samples and of 14 million integers on 50 connections are refused, and take little memory', {
  timeout: LONG_TEST_MS,
}, async () => {
  const log = join(inject('logs'), `torture-bombs-${process.pid}.log`)
  const result = await tortureHostile({ seconds: 5, only: ['bombs'], dataDir: await preparedDataDir(), log })
  console.log(summaryOfHostile(result))
  expect({ lost: result.lost, faults: result.faults }).toEqual({ lost: 0, faults: [] })
  expect(['0', '413', '429']).toEqual(expect.arrayContaining(Object.keys(result.attack)))
  expect(result.attack['413']).toBeGreaterThan(0)
  expect(result.memory.peak).toBeLessThan(BOMBS.memoryMb)
})

import { expect, test } from 'vitest'
import { readConfig } from '../../src/platform/config.ts'
import { defaultProcesses } from '../../src/platform/runtime/process-count.ts'
import { isSupervised, supervisorSettings } from '../../src/processes/settings.ts'

test.each([
  [{}, true],
  [{ PROCESSES: '1' }, true],
  [{ ROLE: 'api', PROCESSES: '1' }, false],
  [{ ROLE: 'api', PROCESSES: '4' }, true],
  [{ ROLE: 'worker', PROCESSES: '4' }, false],
])('with %j, a supervisor runs the processes: %j', (env, expected) => {
  expect(isSupervised(env)).toBe(expected)
})

test.each([
  [1, 1, 1],
  [2, 1, 1],
  [4, 3, 3],
  [8, 7, 7],
  [16, 15, 7],
])('on %i cores, %i processes serve requests, and %i on a separate database', (cores, embedded, separate) => {
  expect(defaultProcesses({}, cores)).toBe(embedded)
  expect(defaultProcesses({ DATABASE_URL: 'postgres://db/assay' }, cores)).toBe(separate)
})

test('the processes of a default service fit into the default connections of PostgreSQL', () => {
  const external = { DATABASE_URL: 'postgres://db/assay', ENCRYPTION_KEY: 'x'.repeat(32) }
  const { DATABASE_POOL_SIZE } = readConfig(external)
  const { processes } = supervisorSettings(readConfig(external))
  const [WORKER, REPLACEMENT, RESERVED] = [1, 1, 3]
  expect((processes + WORKER + REPLACEMENT) * DATABASE_POOL_SIZE).toBeLessThanOrEqual(100 - RESERVED)
})

test('the embedded server has enough connections for every process', () => {
  const connections = (env: NodeJS.ProcessEnv) => Number(supervisorSettings(readConfig(env)).embedded?.settings['max_connections'])
  expect(connections({ PROCESSES: '1' })).toBe(100)
  expect(connections({ PROCESSES: '15' })).toBe(190)
  expect(connections({ PROCESSES: '3', DATABASE_POOL_SIZE: '50' })).toBe(230)
})

import { expect, test } from 'vitest'
import { toolFor } from '../support/skip-reporter.ts'

test.each([
  ['go is not installed', 'install go'],
  ['curl is missing', 'install curl'],
  ['no rabbitmq-server', 'apt-get install rabbitmq-server'],
  ['no PgBouncer 1.21 or newer', 'apt-get install pgbouncer (1.21 or newer for transaction mode)'],
  ['TEST_DATABASE_URL is not the coordinator of a Citus cluster', undefined],
  ['your own server allows more connections than the largest pool', undefined],
  ['repository is missing', undefined],
  ['requires root', undefined],
  ['only in a full run', undefined],
])('of a test that is skipped because %s, the missing tool is %s', (reason, tool) => {
  expect(toolFor(reason)).toBe(tool)
})

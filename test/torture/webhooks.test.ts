import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { summaryOfWebhooks, tortureWebhooks } from './webhooks.ts'

// `npm run torture -- webhooks` runs any number of rounds.
test('delivers every committed event in order after kill -9 of a worker, an API process and PostgreSQL', async () => {
  const rounds = await tortureWebhooks({ rounds: 3, log: join(inject('logs'), `torture-webhooks-${process.pid}.log`) })
  console.log(summaryOfWebhooks(rounds))
  for (const { lost, misplaced, faults } of rounds) expect({ lost, misplaced, faults }).toEqual({ lost: 0, misplaced: 0, faults: [] })
  expect(rounds.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBeGreaterThan(500)
})

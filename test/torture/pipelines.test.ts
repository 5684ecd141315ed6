import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { rabbitmq } from '../support/broker.ts'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { summaryOfPipelines, torturePipelines } from './pipelines.ts'

const title = 'publishes every event in the order of its key after kill -9 of the broker, the publisher and PostgreSQL'

// `npm run torture -- pipelines` runs any number of rounds.
test.skipIf(!rabbitmq)(rabbitmq ? title : `${title} (skipped: no rabbitmq-server)`, { timeout: LONG_TEST_MS }, async () => {
  const rounds = await torturePipelines({ rounds: 3, log: join(inject('logs'), `torture-pipelines-${process.pid}.log`) })
  console.log(summaryOfPipelines(rounds))
  for (const { lost, misplaced } of rounds) expect({ lost, misplaced }).toEqual({ lost: 0, misplaced: 0 })
})

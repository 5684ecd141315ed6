import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { skipReporter } from '../test/support/skip-reporter.ts'
import everything from '../vitest.config.ts'

/** One story per feature, in the cheapest file that tells it. Add a line when you add a feature; the whole command should stay under a minute on two quiet cores. */
const stories = [
  // Orders of each collection method, visits, kits, insurance and critical results.
  'api/stories',
  // Users, their data and its deletion.
  ...['api/users', 'api/insurance', 'api/erasure', 'people/roles', 'people/sso', 'people/background'],
  // Labs.
  ...[
    'api/catalog',
    'api/orders',
    'api/results',
    'api/lab-keys',
    'api/partner-api',
    'api/hl7-sftp',
    'api/escalation',
    'attacks/unmatched-review',
  ],
  ...['cli/schedule', 'api/report-parser', 'documents/order-documents'],
  // Wearables.
  ...['api/link-page', 'cli/simulated-clouds', 'api/push-groups', 'api/summaries'],
  // Events, webhooks and pipelines.
  ...['webhooks/move', 'webhooks/delivery', 'pipelines/management'],
  // Commands.
  ...['cli/api', 'cli/sandbox', 'cli/transfer', 'cli/backup', 'cli/rotate-data'],
  // The audit log and messages to patients.
  ...['api/audit', 'api/messages'],
].map((story) => `test/${story}.test.ts`)

const missing = stories.filter((file) => !existsSync(file))
if (missing.length) throw new Error(`scripts/quick.vitest.config.ts names files that do not exist: ${missing.join(', ')}`)

export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    root: '.',
    include: ['test/rules/*.test.ts', 'test/contract/*.test.ts', ...stories],
    reporters: ['default', skipReporter([])],
  },
})

import { defineConfig } from 'vitest/config'
import everything from '../vitest.config.ts'

/** One story per feature. Add a line when you add a feature; the whole command should stay under a minute on two quiet cores. */
const stories = [
  'api/users',
  'api/catalog',
  'api/insurance',
  'api/orders',
  'api/results',
  'api/partner-api',
  'api/link',
  'api/summaries',
  'people/roles',
  'webhooks/delivery',
  'pipelines/management',
  'cli/api',
]

export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    root: '.',
    include: ['test/rules/*.test.ts', 'test/contract/*.test.ts', ...stories.map((story) => `test/${story}.test.ts`)],
  },
})

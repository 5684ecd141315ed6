import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Workers share the service's cache of compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** These take longest, so they start first: a long file that starts last would leave the other workers idle. */
const slow = ['docs/pages', 'torture/', 'api/hostile-sweep', 'start/', 'docs/receivers', 'docs/newcomer', 'db/', 'console/']

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) => slow.findIndex((name) => moduleId.includes(`/test/${name}`)) + 1 || slow.length + 1
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run check` runs it, without a database.
    exclude: ['test/architecture.test.ts'],
    globalSetup: ['test/support/cluster.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // Loading the service takes a second, so the files of a worker share its modules. setup.ts resets what belongs to a file.
    isolate: false,
    sequence: { sequencer: SlowestFirst },
    // One more than the cores we test on: tests spend a quarter of their time waiting for processes, browsers and commits.
    maxWorkers: 3,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Ends a test that hangs. No test has a shorter limit of its own, because a busy machine is slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 600_000,
  },
})

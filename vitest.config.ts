import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// The workers load our code as the service does, and find it compiled.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/cluster.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // Of two processors a quarter was idle with two: tests wait for processes, browsers and commits.
    maxWorkers: 3,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Ends what hangs. How fast anything is says nothing on a busy machine, so no test has a shorter limit of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 600_000,
  },
})

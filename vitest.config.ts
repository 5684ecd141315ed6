import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isFullRun } from './test/support/full-run.ts'
import { skipReporter } from './test/support/skip-reporter.ts'

// Workers share the service's cache of compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

if (isFullRun) {
  // Workers inherit the seed.
  process.env['TEST_SEED'] ??= String(randomInt(2 ** 31))
  console.log(`TEST_SEED=${process.env['TEST_SEED']}`)
}

/** `npm run test:full` runs these too. */
const fullOnly = [
  ...['torture/bookings', 'torture/clouds', 'torture/labs', 'torture/pipelines', 'upgrade/rolling', 'docs/newcomer'],
  ...['db/replica', 'db/embedded-accounts', 'cli/rotation-kills'],
]
const leftOut = isFullRun ? [] : fullOnly.map((name) => `test/${name}.test.ts`)

/** These take longest, and wait for processes most of the time. */
const long = [
  ...['torture/', 'docs/pages', 'start/', 'api/isolation', 'api/hostile-sweep', 'cli/rotation', 'console/', 'db/', 'upgrade/'],
  ...['docs/newcomer', 'attacks/audit', 'attacks/bodies', 'contract/contract', 'pipelines/', 'docs/receivers'],
]

/** Puts some of the short files after each long one: so the processors are busy while a long one waits, and none starts last. */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rank = ({ moduleId }: TestSpecification) =>
      long.findIndex((name) => moduleId.includes(`/test/${name}`)) + 1 || Number.POSITIVE_INFINITY
    const sorted = (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b) || 0)
    const count = sorted.filter((file) => Number.isFinite(rank(file))).length
    const [longer, shorter] = [sorted.slice(0, count), sorted.slice(count)]
    const each = Math.ceil((shorter.length / count) * 0.8)
    return [...longer.flatMap((file, i) => [file, ...shorter.slice(i * each, (i + 1) * each)]), ...shorter.slice(count * each)]
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run check` runs it, without a database.
    exclude: ['test/architecture.test.ts', ...leftOut],
    reporters: ['default', skipReporter(leftOut)],
    globalSetup: ['test/support/cluster.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // The default depends on the machine. With 16 MB, a tenth of the processor time was garbage collection.
    execArgv: ['--max-semi-space-size=64'],
    // Loading the service takes a second, so the files of a worker share its modules. setup.ts resets what belongs to a file.
    isolate: false,
    sequence: { sequencer: Mixed },
    // Two more than the cores we test on: with one more, the cores were idle for a quarter of the time, because long tests wait for processes.
    maxWorkers: 4,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Ends a test that hangs. The slowest takes 25 seconds, and a busy machine several times as long. LONG_TEST_MS is for the others.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 600_000,
  },
})

import { defineConfig } from 'vitest/config'
import everything from '../vitest.config.ts'

/** Runs the suite once and notes which functions each test file calls. */
export default defineConfig({
  ...everything,
  test: { ...everything.test, root: '.', setupFiles: ['test/support/setup.ts', 'scripts/mutate/coverage-setup.ts'] },
})

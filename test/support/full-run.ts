import type { TestContext } from 'vitest'

/** `npm run test:full` repeats what is random or kills processes, and runs the tests that take minutes. */
export const isFullRun = process.env['TEST_FULL'] === '1'

/** How often a test kills each process. */
export const killRounds = isFullRun ? 3 : 1

/** The limit of a test that kills processes, follows a page with many commands or tries hundreds of messages. The others share `testTimeout`. */
export const LONG_TEST_MS = 600_000

/** Leaves a test to `npm run test:full`. */
export function needsFullRun(context: TestContext) {
  if (!isFullRun) context.skip('only in a full run')
}

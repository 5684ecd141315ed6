import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { root } from '../support/process.ts'
import { SKIPPED_PART } from '../support/skip-reporter.ts'
import { temporaryFolder } from '../support/world.ts'
import { newcomer, table } from './support/newcomer.ts'
import { tools } from './support/tools.ts'

const missing = ['bash', 'curl', 'git'].find((tool) => !tools.has(tool)) ?? (existsSync(join(root, '.git')) ? undefined : 'repository')
const title = 'the README leads from a clone to a verified webhook message'

test.skipIf(missing)(missing ? `${title} (skipped: ${missing} is missing)` : title, { timeout: LONG_TEST_MS }, async (context) => {
  const { faults, skipped, stages, verified } = await newcomer(join(temporaryFolder(), 'assay'), { linked: true })
  console.log(table([...stages, ...(verified ? [verified] : [])]))
  for (const block of skipped) await context.annotate(block, SKIPPED_PART)
  expect(faults.join('\n\n')).toBe('')
  expect(verified).toBeDefined()
})

import { spawnSync } from 'node:child_process'
import { stale } from './generate.ts'

/** Checks everything that needs no running service: format, lint, types, architecture and generated files. */
const steps: [string, string[]][] = [
  ['biome', ['check', '--error-on-warnings']],
  ['tsc', ['--noEmit', '-p', '.']],
  ['tsc', ['--noEmit', '-p', 'console']],
  ['vitest', ['run', 'test/architecture.test.ts', '--config', 'scripts/check.vitest.config.ts']],
]

let failed = false
for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) failed = true
}
const old = await stale()
if (old.length) console.error(`Out of date: ${old.join(', ')}. Run: npm run generate`)
process.exit(failed || old.length ? 1 : 0)

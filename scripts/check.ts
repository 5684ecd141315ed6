import { spawnSync } from 'node:child_process'
import { listStaleFiles } from './generate.ts'

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
const staleFiles = await listStaleFiles()
if (staleFiles.length) console.error(`Out of date: ${staleFiles.join(', ')}. Run: npm run generate`)
process.exit(failed || staleFiles.length ? 1 : 0)

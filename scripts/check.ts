import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { listStaleFiles } from './generate.ts'

/** Threads of the compiler repeat each other's work, which takes twice the processor time. Only more cores make up for it. */
const threads = availableParallelism() > 2 ? [] : ['--singleThreaded']

/** Checks everything that needs no running service: format, lint, types, architecture and generated files. */
const steps: [string, string[]][] = [
  ['tsc', ['--noEmit', '-p', '.', ...threads]],
  ['tsc', ['--noEmit', '-p', 'console', ...threads]],
  ['biome', ['check', '--error-on-warnings']],
  ['vitest', ['run', 'test/architecture.test.ts', '--config', 'scripts/check.vitest.config.ts']],
]

/** Runs a command and prints its output as a whole, because the others run at the same time. */
async function runStep([command, args]: [string, string[]]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = new Promise<boolean>((resolve) => child.once('close', (code) => resolve(code === 0)))
  const output = await Promise.all([text(child.stdout), text(child.stderr)])
  process.stdout.write(output.join(''))
  return exit
}

const checks = steps.map(runStep)
const staleFiles = await listStaleFiles()
if (staleFiles.length) console.error(`Out of date: ${staleFiles.join(', ')}. Run: npm run generate`)
const passed = (await Promise.all(checks)).every(Boolean)
process.exit(passed && !staleFiles.length ? 0 : 1)

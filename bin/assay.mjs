#!/usr/bin/env node
// Runs the command line with the project's own Node if the shell's Node is too old.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const args = process.argv.slice(2)

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('./stripped-types.mjs')
  await import('../src/compile-cache.ts')
  const { run } = await import('../src/cli/index.ts')
  // The reader of a pipe may close it early, as head does.
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  await run(args)
} else {
  const node = join(root, 'node_modules/.bin/node')
  // npm takes seconds, so it runs only if Node is missing; npm start installs updates.
  if (!existsSync(node)) {
    const { status } = spawnSync('npm', ['--prefix', root, '--silent', 'run', 'prestart'], { stdio: ['ignore', 'inherit', 'inherit'] })
    // The setup has printed why.
    if (status !== 0) process.exit(1)
  }
  if (!existsSync(node)) {
    console.error('Assay requires Node 24 or newer.')
    process.exit(1)
  }
  const command = spawn(node, [join(root, 'bin/assay.mjs'), ...args], { stdio: 'inherit' })
  // A signal to this process is meant for the command.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => command.kill(signal))
  command.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

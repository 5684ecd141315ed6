#!/usr/bin/env node
// Runs the command line on the Node that the project brings along, whatever Node the shell has.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const args = process.argv.slice(2)

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('../src/compile-cache.ts')
  const { run } = await import('../src/cli/index.ts')
  // Whoever reads the output may go before its end, as head does.
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  await run(args)
} else {
  const node = join(root, 'node_modules/.bin/node')
  // Asking npm costs seconds, so it is asked once: what an update changed is installed by npm start.
  if (!existsSync(node)) spawnSync('npm', ['--prefix', root, '--silent', 'run', 'prestart'], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (!existsSync(node)) {
    console.error('Assay needs Node 24 or newer.')
    process.exit(1)
  }
  const command = spawn(node, [join(root, 'bin/assay.mjs'), ...args], { stdio: 'inherit' })
  // Whoever stops us means the command, which would go on by itself.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => command.kill(signal))
  command.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

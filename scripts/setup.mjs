// Installs missing dependencies, so that one command is enough on a fresh clone. Plain JavaScript, because an older Node may run npm.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const at = (path) => join(root, path)

/** Tests and checks need the development dependencies, which an install for the service leaves out. */
const withTools = process.env.npm_lifecycle_event !== 'prestart'

if (isMissing()) installAlone()
if (!process.exitCode) requireNode()
if (!process.exitCode) build('scripts/build-console.ts')
if (!process.exitCode) build('scripts/strip-types.ts')

function isMissing() {
  const installed = at('node_modules/.package-lock.json')
  // A linked node_modules belongs to another checkout, and an install would empty it.
  if (lstatSync(at('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return false
  if (!existsSync(installed) || (withTools && !existsSync(at('node_modules/vitest')))) return true
  return statSync(installed).mtimeMs < statSync(at('package-lock.json')).mtimeMs
}

/** Two installs at once would delete each other's files, so the second one waits. */
function installAlone() {
  const lock = at('.installing')
  while (!acquire(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  try {
    if (isMissing()) install()
  } catch {
    console.error('The dependencies could not be installed. npm prints the reason above.')
    process.exitCode = 1
  } finally {
    rmSync(lock, { force: true })
  }
}

function acquire(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    // A killed install leaves its lock.
    if (!isRunning(Number(readFileSync(lock, 'utf8')))) rmSync(lock, { force: true })
    return false
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** No package needs its install scripts, because the start creates the PostgreSQL links. */
function install() {
  console.log('Installing dependencies…')
  const npm = process.env.npm_execpath
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...(withTools ? ['--include=dev'] : [])]
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }
  if (npm?.endsWith('.js')) execFileSync(process.execPath, [npm, ...args], options)
  else execFileSync('npm', args, options)
}

function requireNode() {
  if (existsSync(at('node_modules/.bin/node')) || Number(process.versions.node.split('.')[0]) >= 24) return
  console.error(
    `Assay requires Node 24 or newer; this is ${process.versions.node}, and npm has no build for ${process.platform} ${process.arch}.`,
  )
  process.exitCode = 1
}

/** A build skips itself if its sources did not change. A checkout without the script needs no build. */
function build(script) {
  if (!existsSync(at(script))) return
  const ours = at('node_modules/.bin/node')
  const args = ['--disable-warning=ExperimentalWarning', at(script)]
  execFileSync(existsSync(ours) ? ours : process.execPath, args, { cwd: root, stdio: 'inherit' })
}

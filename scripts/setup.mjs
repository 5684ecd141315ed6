// Plain JavaScript for whatever Node runs npm: installs what is missing, so that one command is enough on a fresh clone.
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const at = (path) => join(root, path)

const fresh = at('node_modules/.package-lock.json')
if (!existsSync(fresh) || statSync(fresh).mtimeMs < statSync(at('package-lock.json')).mtimeMs) install()
requireNode()

/** No package needs its install scripts: the PostgreSQL links are made at start. */
function install() {
  console.log('Installing dependencies…')
  const npm = process.env.npm_execpath
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(process.env.npm_lifecycle_event === 'prestart' ? [] : ['--include=dev']),
  ]
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }
  if (npm?.endsWith('.js')) execFileSync(process.execPath, [npm, ...args], options)
  else execFileSync(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { ...options, shell: process.platform === 'win32' })
}

function requireNode() {
  const bundled = existsSync(at(`node_modules/.bin/${process.platform === 'win32' ? 'node.cmd' : 'node'}`))
  if (bundled || Number(process.versions.node.split('.')[0]) >= 24) return
  console.error(
    `Assay needs Node 24 or newer; this is ${process.versions.node} and npm has no build of it for ${process.platform} ${process.arch}.`,
  )
  process.exit(1)
}

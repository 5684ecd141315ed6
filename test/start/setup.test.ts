import { cpSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, run } from '../support/process.ts'
import { temporaryFolder } from '../support/world.ts'

/** A checkout with only the files that the setup reads. Its npm is a stub that prints its arguments. */
function checkout(packages: string[]) {
  const folder = temporaryFolder()
  cpSync(join(root, 'scripts/setup.mjs'), join(folder, 'scripts/setup.mjs'))
  writeFileSync(join(folder, 'npm.js'), "console.log('npm', ...process.argv.slice(2))")
  writeFileSync(join(folder, 'package-lock.json'), '{}')
  const modules = join(temporaryFolder(), 'modules')
  for (const name of packages) mkdirSync(join(modules, name), { recursive: true })
  if (packages.length) writeFileSync(join(modules, '.package-lock.json'), '{}')
  return { folder, modules, install: () => cpSync(modules, join(folder, 'node_modules'), { recursive: true }) }
}

async function setup(folder: string, event: string) {
  const env = { npm_execpath: join(folder, 'npm.js'), npm_lifecycle_event: event }
  const { code, stdout } = await run([process.execPath, join(folder, 'scripts/setup.mjs')], { env }).exited
  return { code, installs: /npm ci.*/.exec(stdout)?.[0] }
}

const YEAR_2000 = 946_684_800
const installs = expect.stringMatching(/^npm ci --ignore-scripts /)

test('a fresh clone installs, with dev dependencies only for tests', async () => {
  const { folder } = checkout([])
  expect(await setup(folder, 'prestart')).toEqual({ code: 0, installs: expect.not.stringContaining('--include=dev') })
  expect(await setup(folder, 'pretest')).toEqual({ code: 0, installs: expect.stringContaining('--include=dev') })
})

test('an install without dev dependencies can start and is completed for tests', async () => {
  const { folder, install } = checkout(['fastify'])
  install()
  expect(await setup(folder, 'prestart')).toEqual({ code: 0, installs: undefined })
  expect(await setup(folder, 'pretest')).toEqual({ code: 0, installs })
})

test('reinstalls packages older than the lock file', async () => {
  const { folder, install } = checkout(['fastify', 'vitest'])
  install()
  expect(await setup(folder, 'pretest')).toEqual({ code: 0, installs: undefined })
  utimesSync(join(folder, 'node_modules/.package-lock.json'), YEAR_2000, YEAR_2000)
  expect(await setup(folder, 'pretest')).toEqual({ code: 0, installs })
})

test('of two setups at once, one installs and the other waits', async () => {
  const { folder, modules } = checkout(['fastify'])
  writeFileSync(
    join(folder, 'npm.js'),
    `console.log('npm ci'); require('node:fs').cpSync('${modules}', '${folder}/node_modules', { recursive: true })`,
  )
  const done = await Promise.all([setup(folder, 'prestart'), setup(folder, 'prestart')])
  expect(done.map(({ code }) => code)).toEqual([0, 0])
  expect(done.filter(({ installs }) => installs)).toHaveLength(1)
})

test('continues after an install that was killed', async () => {
  const { folder } = checkout([])
  writeFileSync(join(folder, '.installing'), '99999999')
  expect(await setup(folder, 'prestart')).toEqual({ code: 0, installs })
  expect(existsSync(join(folder, '.installing'))).toBe(false)
})

test('a failed install ends the setup', async () => {
  const { folder } = checkout([])
  writeFileSync(join(folder, 'npm.js'), 'process.exit(1)')
  expect(await setup(folder, 'prestart')).toEqual({ code: 1, installs: undefined })
})

test('does not touch a linked node_modules folder', async () => {
  const { folder, modules } = checkout(['fastify', 'vitest'])
  utimesSync(join(modules, '.package-lock.json'), YEAR_2000, YEAR_2000)
  symlinkSync(modules, join(folder, 'node_modules'))
  expect(await setup(folder, 'prestart')).toEqual({ code: 0, installs: undefined })
  expect(existsSync(join(modules, 'fastify'))).toBe(true)
})

test('builds the console before the service starts', async () => {
  const { folder, install } = checkout(['fastify'])
  install()
  writeFileSync(join(folder, 'scripts/build-console.ts'), "console.log('the console' satisfies string)")
  const env = { npm_lifecycle_event: 'prestart' }
  const { code, stdout } = await run([process.execPath, join(folder, 'scripts/setup.mjs')], { env }).exited
  expect([code, stdout]).toEqual([0, 'the console\n'])
})

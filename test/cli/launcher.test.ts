import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

const command = join(import.meta.dirname, '../../bin/assay.mjs')

/** An installed Node that is too old to run the service. */
const old = [...new Set([...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'])]
  .map((folder) => join(folder, 'node'))
  .find((path) => Number(/^v(\d+)/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? 99) < 24)

test.skipIf(!old).each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(`%s ends a command started by an old Node with %i${old ? '' : ' (skipped: no old Node installed)'}`, async (signal, code) => {
  const env = { PATH: process.env['PATH'], DATA_DIR: temporaryFolder(), ASSAY_URL: 'http://127.0.0.1:1', ASSAY_API_KEY: 'sk_us_nobody' }
  const child = spawn(old as string, [command, 'events', 'tail'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  await once(child.stderr, 'data')
  child.kill(signal)
  // The command holds standard error open for as long as it runs.
  expect(await once(child, 'close')).toEqual([code, null])
})

/** A checkout with only the launcher, where npm and the bundled Node are stubs that print their name. */
function checkout(installed: boolean) {
  const folder = temporaryFolder()
  const writeScript = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  cpSync(command, join(folder, 'bin/assay.mjs'))
  const node = join(folder, 'node_modules/.bin/node')
  if (installed) writeScript(node, 'shift; echo our node "$@"')
  writeScript(
    join(folder, 'tools/npm'),
    `echo npm; mkdir -p "${dirname(node)}"; printf '#!/bin/sh\\nshift; echo our node "$@"\\n' > "${node}"; chmod +x "${node}"`,
  )
  return (...args: string[]) =>
    spawnSync(old as string, [join(folder, 'bin/assay.mjs'), ...args], {
      encoding: 'utf8',
      env: { PATH: [join(folder, 'tools'), process.env['PATH']].join(delimiter) },
    }).stdout
}

test.skipIf(!old)(`an old Node runs npm only if nothing is installed${old ? '' : ' (skipped: no old Node installed)'}`, () => {
  expect(checkout(true)('doctor', '--quick')).toBe('our node doctor --quick\n')
  const fresh = checkout(false)
  expect(fresh('doctor')).toBe('npm\nour node doctor\n')
  expect(fresh('doctor')).toBe('our node doctor\n')
})

test('serve --json reports a failed start as JSON', async () => {
  const { code, out, err } = await assay('postgres://127.0.0.1:1/nowhere', { PORT: 'nowhere' }).spawnCommand('serve', '--json')
  expect([code, out, JSON.parse(err)]).toEqual([1, '', { error: { type: expect.any(String), message: expect.stringContaining('PORT') } }])
})

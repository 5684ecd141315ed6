import { expect, onTestFinished, test, vi } from 'vitest'
import { skipUnless } from '../db/support/embedded.ts'
import { credentialsIn, type Env, isAlive, main, run } from '../support/process.ts'
import { newDatabase } from '../support/world.ts'
import { outside } from './support/start.ts'

vi.setConfig({ testTimeout: 120_000 })

/** The service on a terminal of its own, which script(1) provides. */
async function onTerminal(env: Env) {
  const running = run(['script', '-qec', `exec ${process.execPath} ${main}`, '/dev/null'], { env: { SHELL: '/bin/sh', ...env } })
  onTestFinished(async () => {
    if (isAlive(running.pid)) running.child.kill('SIGTERM')
    await running.ended
  })
  await running.says(/Ctrl-C stops it/)
  return running
}

test('on a terminal it says where to sign in with what, shows no key, and Ctrl-C stops it in order', async (context) => {
  const { code } = await run(['script', '-qec', 'true', '/dev/null'], { env: {} }).ended.catch(() => ({ code: -1 }))
  skipUnless(context, code === 0, 'script(1) of util-linux is not installed')
  const env = outside(await newDatabase())

  const first = await onTerminal(env)
  const kept = credentialsIn(env['DATA_DIR'] as string)
  expect(first.said.stdout).toMatch(/Console +http:\S+\/console\s+sign in with management_key of \S+credentials\.json\s/)
  expect(first.said.stdout).toMatch(/Quick start +http:\S+\/docs\/quick-start\s/)
  for (const key of [kept.team_api_key, kept.management_key]) expect(first.said.stdout).not.toContain(key)
  first.child.stdin.write('\x03')
  expect((await first.ended).code).toBe(0)
})

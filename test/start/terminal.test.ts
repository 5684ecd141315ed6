import { expect, onTestFinished, test } from 'vitest'
import { skipUnless } from '../db/support/embedded.ts'
import { type Env, isAlive, main, readCredentials, run } from '../support/process.ts'
import { databaseWithCatalog, externalDatabase } from './support/start.ts'

/** Starts the service on a terminal, which script(1) provides. */
async function startOnTerminal(env: Env) {
  const running = run(['script', '-qec', `exec ${process.execPath} ${main}`, '/dev/null'], { env: { SHELL: '/bin/sh', ...env } })
  onTestFinished(async () => {
    if (isAlive(running.pid)) running.child.kill('SIGTERM')
    await running.exited
  })
  await running.waitForOutput(/Press Ctrl-C to stop/)
  return running
}

test('a terminal shows the keys once, and Ctrl-C stops the service cleanly', async (context) => {
  const { code } = await run(['script', '-qec', 'true', '/dev/null'], { env: {} }).exited.catch(() => ({ code: -1 }))
  skipUnless(context, code === 0, 'script(1) of util-linux is not installed')
  const env = externalDatabase(await databaseWithCatalog())

  const first = await startOnTerminal(env)
  const kept = readCredentials(env['DATA_DIR'] as string)
  expect(first.output.stdout).toContain(`team key      ${kept.team_api_key}`)
  expect(first.output.stdout).toContain(`management    ${kept.management_key}`)
  expect(first.output.stdout).toContain(`curl -s -H 'x-service-api-key: ${kept.team_api_key}'`)
  first.child.stdin.write('\x03')
  expect((await first.exited).code).toBe(0)

  const second = await startOnTerminal(env)
  expect(second.output.stdout).not.toContain(kept.team_api_key)
  expect(second.output.stdout).not.toContain(kept.management_key)
})

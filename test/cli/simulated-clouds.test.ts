import { expect, test } from 'vitest'
import { simulateClouds } from '../../src/cli/simulated-clouds.ts'
import { DAY } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { aLink, localUrl } from '../support/connections.ts'
import { grantAccess } from '../support/consent.ts'
import { assay as bin, run } from '../support/process.ts'
import { openReceiver } from '../support/receiver.ts'
import { world } from '../support/world.ts'
import { assay } from './assay.ts'

test('a simulated Oura account is connected on the link page, through the real adapter', async () => {
  const env: NodeJS.ProcessEnv = { OAUTH_SOURCES: '{"strava":{"client_id":"a","client_secret":"b"}}' }
  const clouds = await simulateClouds('oura', env)
  atEnd(() => clouds.stop())
  const w = await world({ env: { OAUTH_SOURCES: env['OAUTH_SOURCES'] as string } })
  const { user_id, link_web_url } = await aLink(w.base, w.api, { filter_on_providers: ['oura', 'strava'] })
  const token = new URL(link_web_url).searchParams.get('token') as string
  const page = await (await fetch(`${w.base}/link/source/oura?token=${token}`)).text()
  expect(page).toContain('Continue to Oura')
  const started = await fetch(`${w.base}/link/oauth/oura?token=${token}`, { redirect: 'manual' })
  const cookie = started.headers.get('set-cookie')?.split(';')[0] as string
  const consent = new URL(started.headers.get('location') as string)
  expect(await (await fetch(consent)).text()).toContain('Simulated Oura account')
  const form = new URLSearchParams([...consent.searchParams, ['user', 'oura-user-1'], ['decision', 'allow'], ['granted', 'daily']])
  const decided = await fetch(`${consent.origin}${consent.pathname}`, { method: 'POST', body: form, redirect: 'manual' })
  const callback = localUrl(w.base, decided.headers.get('location') as string)
  expect(await (await fetch(callback, { headers: { cookie } })).text()).toContain('Oura is connected')
  await w.runJobs()
  expect((await w.api.listConnections({ params: { user_id } })).providers).toMatchObject([
    { slug: 'oura', external_user_id: 'oura-user-1' },
  ])
  const start_date = new Date(Date.now() - 95 * DAY).toISOString().slice(0, 10)
  expect((await w.api.listSleep({ params: { user_id }, query: { start_date } })).sleep.length).toBeGreaterThan(80)
})

test.each([
  ['fitbit', {}, /does not know fitbit. It knows oura/],
  ['oura', { ENVIRONMENT: 'production' }, /needs the sandbox/],
  ['oura', { HOST: '0.0.0.0' }, /needs WEBHOOK_ALLOW_LOOPBACK=true if HOST is not a loopback address/],
])('--simulate %s with %j is refused', async (list, env, message) => {
  await expect(simulateClouds(list, env)).rejects.toThrow(message)
})

test('--odd adds records that Assay skips to every page, until the cloud is interrupted', async () => {
  const running = run([process.execPath, bin, 'cloud-sim', 'oura', '--port', '0', '--days', '2', '--odd', '5', '--json'], { env: {} })
  const [line] = await running.waitForOutput(/^\{.*\}\n/)
  const { OAUTH_SOURCES, accounts } = JSON.parse(line)
  const w = await world({ env: { OAUTH_SOURCES } })
  const user_id = await grantAccess(w.base, 'oura', w.api, accounts[0])
  await w.runJobs()
  const [connection] = (await w.api.listConnections({ params: { user_id } })).providers
  const sleep = connection?.feeds.find(({ name }) => name === 'sleep')
  expect(sleep).toMatchObject({ failures: 0, error: null })
  expect(sleep?.skipped.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(5)
  running.child.kill('SIGINT')
  expect(await running.exited).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  ['--odd', 'x', 'must be a whole number.'],
  ['--odd', '101', 'must be at most 100.'],
  ['--users', '0', 'must be at least 1.'],
])('cloud-sim oura %s %s is refused in plain words', async (option, value, message) => {
  expect(await assay('').run('cloud-sim', 'oura', option, value)).toMatchObject({ code: 2, err: `${option} ${message}\n` })
})

test.each([
  ['cloud-sim', 'oura'],
  ['lab-sim', '--profile', 'orm-2.3-grouped'],
])('%s %s names a port that another process uses', async (...command) => {
  const other = await openReceiver()
  atEnd(() => other.close())
  const taken = await assay('').run(...command, '--port', new URL(other.url).port)
  expect(taken).toMatchObject({ code: 1, err: 'The port is not available (EADDRINUSE). Choose another one with --port.\n' })
})

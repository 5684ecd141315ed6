import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nobodyCanRun } from '../db/support/checkout.ts'
import { isRoot, nobody, skipUnless, tempFolder } from '../db/support/embedded.ts'
import { preparedDataDir } from '../support/data-dir.ts'
import { findLeaks } from '../support/leaks.ts'
import { isAlive, main, postmasterOf, processesOf, readCredentials, run, runMain } from '../support/process.ts'
import { errorOf, newDataDir } from '../support/world.ts'
import {
  clientsOf,
  databaseWithCatalog,
  externalDatabase,
  oneProcess,
  runFailingStart,
  start,
  startFailure,
  startInProcess,
} from './support/start.ts'

test('the first start creates an organization, a team and working keys, a stop ends everything, and the second start keeps them', async () => {
  const DATA_DIR = newDataDir()
  const first = await start({ DATA_DIR, PROCESSES: '2' })

  const kept = readCredentials(DATA_DIR)
  expect(kept).toEqual({
    base_url: first.url,
    org_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    team_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    team_api_key: expect.stringMatching(/^sk_us_[0-9A-Za-z]{46}$/),
    management_key: expect.stringMatching(/^mg_[0-9A-Za-z]{46}$/),
  })
  expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700)
  for (const file of ['credentials.json', 'encryption.key']) expect(statSync(join(DATA_DIR, file)).mode & 0o777).toBe(0o600)
  expect(first.output.stdout).toContain(`keys          in ${join(DATA_DIR, 'credentials.json')}`)
  expect(first.output.stdout).toContain(`sign in with management_key in ${join(DATA_DIR, 'credentials.json')}\n`)
  expect(findLeaks(first.output.stdout + first.output.stderr, 'output')).toEqual([])

  const { api, admin } = clientsOf(first, DATA_DIR)
  const user = await api.createUser({ body: { client_user_id: 'kept', fallback_birth_date: '1961-07-23' } })
  expect(user.team_id).toBe(kept.team_id)
  expect((await admin.getOrg({ params: { org_id: kept.org_id } })).id).toBe(kept.org_id)
  const pids = [postmasterOf(DATA_DIR), ...(await processesOf(first.pid)).map(({ pid }) => pid)]
  expect(pids).toHaveLength(4)
  expect(await first.stop()).toMatchObject({ code: 0, signal: null, stderr: '' })
  expect(pids.filter(isAlive)).toEqual([])

  const second = await startInProcess({ DATA_DIR })
  expect(readCredentials(DATA_DIR)).toEqual({ ...kept, base_url: second.url })
  expect(second.url).not.toBe(first.url)
  expect(await clientsOf(second, DATA_DIR).api.resolveUser({ params: { client_user_id: 'kept' } })).toEqual(user)
})

test('the printed example commands work', async () => {
  const service = await start(
    externalDatabase(await databaseWithCatalog(), { ...oneProcess, DATA_DIR: join(newDataDir(), "a folder's name") }),
  )
  const [, commands = ''] = await service.waitForOutput(/Try it:\n([\s\S]*first-user)\n/)
  const { code, stdout } = await run(['sh', '-ec', `${commands.trim().split('\n').join(' && echo && ')}`], { env: {} }).exited
  expect(code).toBe(0)
  const [created, listed, resolved] = stdout
    .trim()
    .split('\n')
    .slice(-3)
    .map((line) => JSON.parse(line))
  expect(created).toMatchObject({ client_user_id: 'first-user' })
  expect(listed.users).toEqual([created])
  expect(resolved).toEqual(created)
})

test('a second process on the same DATA_DIR fails and does not affect the first', async () => {
  const DATA_DIR = await preparedDataDir()
  const first = await startInProcess({ DATA_DIR })
  const before = readFileSync(join(DATA_DIR, 'credentials.json'), 'utf8')

  expect(await runFailingStart({ DATA_DIR })).toEqual({
    code: 1,
    lines: [`The database in ${DATA_DIR} is in use by process ${process.pid}. Stop that process, or choose another DATA_DIR.`],
  })
  expect(readFileSync(join(DATA_DIR, 'credentials.json'), 'utf8')).toBe(before)
  expect((await fetch(`${first.url}/ready`)).status).toBe(200)
})

test('names a process that has not written its pid when it is found', async (context) => {
  skipUnless(context, (await run(['sh', '-c', 'command -v flock'], { env: {} }).exited).code === 0, 'flock is not installed')
  const DATA_DIR = newDataDir()
  mkdirSync(DATA_DIR, { mode: 0o700 })
  const lock = join(DATA_DIR, 'postgres.lock')
  writeFileSync(lock, '', { mode: 0o600 })
  // The holder is a slow process: it takes the lock now and writes its pid a second later.
  const script = 'flock -x -n 3 && echo locked && sleep 1 && echo \'{"pid":4711,"role":"service"}\' >&3 && cat'
  const holder = run(['sh', '-c', `exec 3<>"${lock}"; ${script}`], { env: {} })
  onTestFinished(() => void holder.child.kill('SIGKILL'))
  await holder.waitForOutput(/locked/)
  expect(await startFailure({ DATA_DIR })).toContain('is in use by process 4711.')
})

test('one of two processes started at once runs, and its key is kept', async () => {
  const DATA_DIR = newDataDir()
  mkdirSync(DATA_DIR, { mode: 0o700 })
  const both = [runMain({ DATA_DIR }), runMain({ DATA_DIR })]
  onTestFinished(async () => {
    for (const { child } of both) child.kill('SIGTERM')
    await Promise.all(both.map(({ exited }) => exited))
  })
  const loser = await Promise.race(both.map(async (process) => ({ process, ended: await process.exited })))
  expect(loser.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The database in .* is in use by process \d+[^\n]*\n$/) })
  const winner = both.find((process) => process !== loser.process) as (typeof both)[number]
  await winner.waitForOutput(/Assay is ready at (\S+)/)
  winner.child.kill('SIGTERM')
  await winner.exited

  const again = await startInProcess({ DATA_DIR })
  expect((await fetch(`${again.url}/ready`)).status).toBe(200)
})

test('fails without an encryption key and starts once it is restored', async () => {
  const DATA_DIR = await preparedDataDir()
  const file = join(DATA_DIR, 'encryption.key')
  const key = readFileSync(file, 'utf8')

  const missing = /^encryption\.key in DATA_DIR .* is missing or empty/
  writeFileSync(file, '')
  expect(await startFailure({ DATA_DIR })).toMatch(missing)
  rmSync(file)
  expect(await startFailure({ DATA_DIR })).toMatch(missing)
  expect(existsSync(file)).toBe(false)
  writeFileSync(file, key, { mode: 0o600 })
  await startInProcess({ DATA_DIR })
})

test('replaces a revoked key in the credentials file and keeps the other', async () => {
  const DATA_DIR = await preparedDataDir()
  const first = await startInProcess({ DATA_DIR })
  const { api, admin, credentials } = clientsOf(first, DATA_DIR)
  const params = { org_id: credentials.org_id, env: 'sandbox', region: 'us' } as const
  const { api_keys } = await admin.listTeamKeys({ params })
  await admin.deleteTeamKeys({ params, query: { api_key_id: api_keys.map(({ id }) => id) } })
  expect((await errorOf(api.listUsers())).status).toBe(401)
  await first.stop()

  const now = clientsOf(await startInProcess({ DATA_DIR }), DATA_DIR)
  expect(now.credentials.management_key).toBe(credentials.management_key)
  expect(now.credentials.team_api_key).not.toBe(credentials.team_api_key)
  expect((await now.api.listUsers()).total).toBe(0)
})

test('root starts on the DATA_DIR of an unprivileged user and leaves it usable for that user', async (context) => {
  skipUnless(context, isRoot, 'requires root')
  skipUnless(context, nobodyCanRun(), 'the account nobody cannot run Node in this folder')
  const DATA_DIR = join(tempFolder(), 'data')
  mkdirSync(DATA_DIR, { mode: 0o700 })
  chownSync(DATA_DIR, nobody.uid, nobody.gid)
  await (await startInProcess({ DATA_DIR })).stop()
  for (const file of ['credentials.json', 'encryption.key']) {
    const { uid, gid, mode } = statSync(join(DATA_DIR, file))
    expect({ file, uid, gid, mode: mode & 0o777 }).toEqual({ file, ...nobody, mode: 0o600 })
  }
  const kept = readCredentials(DATA_DIR)

  const again = run([process.execPath, main], { env: { DATA_DIR }, account: nobody })
  onTestFinished(async () => {
    again.child.kill('SIGTERM')
    await again.exited
  })
  const [, base_url] = await again.waitForOutput(/Assay is ready at (\S+)/)
  expect(readCredentials(DATA_DIR)).toEqual({ ...kept, base_url })
})

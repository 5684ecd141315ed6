import { expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { aTransit } from '../support/key-encryption.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { people, someInfo } from '../support/people.ts'
import { assay as command, eventually, run, runMain, TIMEOUT_MS } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { ENCRYPTION_KEY, newSandboxDatabase, type Replica, replica, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const NEW_KEY = 'the-next-key-for-tests-0123456789abcdef012'
const rotating = { ENCRYPTION_KEY: NEW_KEY, ENCRYPTION_KEY_PREVIOUS: ENCRYPTION_KEY }
const USERS = 6
/** Leaves the processor to the command. */
const POLL_MS = 50

async function aTeam(env: Record<string, string> = {}) {
  const w = await world({ database: await newSandboxDatabase(), env })
  const ids: string[] = []
  for (let n = 0; n < USERS; n++) {
    const user_id = await aUser(w.api)
    await w.api.putUserInfo({ params: { user_id }, body: someInfo({}, people[n % people.length]) })
    ids.push(user_id)
  }
  return { ...w, ids }
}

type Team = Awaited<ReturnType<typeof aTeam>>

const readAll = ({ api, ids }: Pick<Team, 'api' | 'ids'>) => Promise.all(ids.map((user_id) => api.getUserInfo({ params: { user_id } })))

/** The minute that a key waits passes at once. */
const skipWait = (url: string) =>
  query(
    url,
    "update sealing_keys set phase_at = now() - interval '1 hour' where phase = 'prepared' and phase_at > now() - interval '1 minute'",
  )

/** Kills a process while it waits for a locked row, in the middle of its work. The lease of the process ends. */
async function killAt(w: Replica, lock: [string, unknown[]], start: () => ReturnType<typeof run>) {
  const release = await runUncommitted(w.url, ...lock)
  const { child, exited } = start()
  const isWaiting = async () => {
    await skipWait(w.url)
    return (await lockWaits(w.url)).length > 0
  }
  await eventually(isWaiting, TIMEOUT_MS, POLL_MS)
  child.kill('SIGKILL')
  expect(await exited).toMatchObject({ signal: 'SIGKILL' })
  await release()
  await query(w.url, 'delete from processes')
  w.advanceTime(MINUTE)
}

const cases: [string, (w: Team) => { args: string[]; env?: Record<string, string>; lock: [string, unknown[]] }][] = [
  ['rotate-encryption', () => ({ args: [], env: rotating, lock: ['select from root_keys for update', []] })],
  ['rotate-root', (w) => ({ args: [], lock: ['select from sealing_keys where team_id = $1 and user_id is null for update', [w.team_id]] })],
  [
    'rotate-data',
    (w) => ({
      args: ['--team', w.team_id, '--users'],
      lock: ['select from user_info where team_id = $1 and user_id = $2 for update', [w.team_id, w.ids[3]]],
    }),
  ],
]

test.each(cases)(
  'assay keys %s continues after kill -9 in the middle, and everything is readable',
  { timeout: LONG_TEST_MS },
  async (name, caseOf) => {
    const w = await aTeam()
    const { args, env = {}, lock } = caseOf(w)
    const before = await readAll(w)
    const settings = { DATABASE_URL: w.url, ENCRYPTION_KEY, DATA_DIR: temporaryFolder(), ...env }
    await killAt(w, lock, () => run([process.execPath, command, 'keys', name, ...args], { env: settings }))
    expect(await readAll(w)).toEqual(before)

    let isDone = false
    const again = assay(w.url, env)
      .run('keys', name, ...args)
      .finally(() => {
        isDone = true
      })
    await eventually(() => skipWait(w.url).then(() => isDone), TIMEOUT_MS, POLL_MS)
    expect(await again).toMatchObject({ code: 0 })
    w.advanceTime(MINUTE)
    expect(await readAll(w)).toEqual(before)
    const next = await replica({ database: w.url, env })
    expect(await readAll({ ids: w.ids, api: createClient(next.base, { 'x-service-api-key': w.team_api_key }) })).toEqual(before)
    expect(await assay(w.url, env).run('audit', 'verify')).toMatchObject({ code: 0 })
  },
)

test('a worker killed with kill -9 while it wraps keys with another epoch loses nothing', { timeout: LONG_TEST_MS }, async () => {
  const { env } = await aTransit()
  const settings = { ...env, ERASURE_EPOCH_DAYS: '30' }
  const w = await aTeam(settings)
  const before = await readAll(w)
  await w.runJobs()
  await query(w.url, "update team_epochs set prepared_at = now() - interval '1 hour' where prepared_at is not null")
  await w.runJobs()
  await query(w.url, "update team_epochs set active_at = now() - interval '2 hours' where active_at is not null")
  const locked: [string, unknown[]] = ['select from sealing_keys where team_id = $1 and user_id = $2 for update', [w.team_id, w.ids[3]]]
  const worker = { DATABASE_URL: w.url, ENCRYPTION_KEY, DATA_DIR: temporaryFolder(), ROLE: 'worker', ...settings }
  await killAt(w, locked, () => runMain(worker))
  const wrapped = () =>
    query<{ count: number }>(
      w.url,
      `select count(*)::integer as count from sealing_keys k join team_epochs e on e.team_id = k.team_id
       where k.user_id is not null and substring(k.wrapped from 2 for 16) = decode(replace(e.id::text, '-', ''), 'hex') and e.complete_at is not null`,
    )
  expect(await readAll(w)).toEqual(before)
  expect(await wrapped()).toEqual([{ count: 0 }])
  await w.runJobs()
  expect(await wrapped()).toEqual([{ count: USERS }])
  expect(await readAll(w)).toEqual(before)
})

test('a worker killed with kill -9 between the destruction of an epoch and its record loses no survivor, and the next run completes', {
  timeout: LONG_TEST_MS,
}, async () => {
  const transit = await aTransit()
  const settings = { ...transit.env, ERASURE_EPOCH_DAYS: '30', ERASURE_ESCROW_DAYS: '35' }
  const w = await aTeam(settings)
  const [erased = '', ...ids] = w.ids
  const before = await readAll({ api: w.api, ids })
  const shift = (interval: string) =>
    query(
      w.url,
      `update team_epochs set created_at = created_at - $1::interval, prepared_at = prepared_at - $1::interval,
         active_at = active_at - $1::interval, complete_at = complete_at - $1::interval, retired_at = retired_at - $1::interval`,
      [interval],
    )
  const pass = async (interval: string) => {
    await shift(interval)
    w.advanceTime(MINUTE)
    await w.runJobs()
  }
  // The first epoch wraps all keys. A user is erased, and the second epoch takes over the others.
  for (const interval of ['0', '1 hour', '2 hours']) await pass(interval)
  await w.api.deleteUser({ params: { user_id: erased } })
  await w.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  for (const interval of ['31 days', '1 hour', '2 hours']) await pass(interval)
  const retired = () =>
    query<{ id: string; destroyed: boolean }>(
      w.url,
      'select id, destroyed_at is not null as destroyed from team_epochs where team_id = $1 and retired_at is not null',
      [w.team_id],
    )
  const [{ id } = { id: '' }, ...others] = await retired()
  expect(others).toEqual([])
  const isInStore = () => transit.keys.has(`assay-epoch-${id}`)
  expect(isInStore()).toBe(true)

  await shift('36 days')
  const locked: [string, unknown[]] = ['select from team_epochs where team_id = $1 and id = $2 for update', [w.team_id, id]]
  const worker = { DATABASE_URL: w.url, ENCRYPTION_KEY, DATA_DIR: temporaryFolder(), ROLE: 'worker', ...settings }
  await killAt(w, locked, () => runMain(worker))
  expect([isInStore(), await retired()]).toEqual([false, [{ id, destroyed: false }]])
  const readAnew = async () => {
    const { base } = await replica({ database: w.url, env: settings })
    return readAll({ ids, api: createClient(base, { 'x-service-api-key': w.team_api_key }) })
  }
  expect(await readAnew()).toEqual(before)

  await w.runJobs()
  expect(await retired()).toEqual([{ id, destroyed: true }])
  expect(await query(w.url, `select from ${auditRows} where team_id = $1 and action = 'destroyEpoch'`, [w.team_id])).toHaveLength(1)
  expect(await readAnew()).toEqual(before)
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { deploymentColumns, sealedColumns } from '../../src/operations/rotation/sealed-columns.ts'
import { open } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { linkConnection } from '../../src/wearables/connections/actions.ts'
import { placeOrder } from '../support/orders.ts'
import { people, someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { aNight, aSample, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { newSandboxDatabase, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world({ database: await newSandboxDatabase() })
const cli = assay(w.url)
const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
const repeated = { 'x-idempotency-key': newUuid() }
const workout = { source_id: 'w-1' }
let user_id: string
let first: { user_id: string }

beforeAll(async () => {
  first = await w.api.createUser({ body: { client_user_id: 'one', fallback_birth_date: '1961-07-23' }, headers: repeated })
  user_id = first.user_id
  await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
  await w.api.createInsurance({ params: { user_id }, body: someInsurance() })
  await w.api.readInbox()
  const order = await placeOrder(w.api, 'walk_in_test', { user_id, passthrough: 'ours' })
  await w.api.simulateOrder({ params: { order_id: order.id }, body: { interpretation: 'abnormal' } })
  await pushData()
  const account = { external_user_id: 'swimmer-81', tokens: { access_token: 'a-token', refresh_token: 'another' } }
  await linkConnection(w.app, await requireUser(w.app, w.team_id, user_id), 'oura', { kind: 'oauth', account })
  await w.admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9977/hooks?token=s3cret' } })
  await w.runJobs()
})

async function pushData() {
  const watch = { type: 'watch', product_type: 'Tidemark 2' }
  await push(w.api, user_id, 'heartrate', [aSample('2026-03-01T09:00:00Z', 61, watch), aSample('2026-03-02T09:00:00Z', 62, watch)])
  await pushSummary(w.api, user_id, 'sleep', [aNight({ product_type: 'Tidemark 2' })])
  await pushSummary(w.api, user_id, 'workouts', [aWorkout(workout)])
  const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: { start_date: '2026-01-01' } })
  const stream = { stage: 'daily' as const, time: [1_772_384_400, 1_772_384_401], heartrate: [100, null] }
  await w.api.pushWorkoutStream({ params: { workout_id: workouts[0]?.id as string }, body: stream })
}

/** Everything that a key of the team or of a user encrypts, as it is read. */
async function readEverything() {
  const file = join(temporaryFolder(), 'team.ndjson')
  await cli.json('export', '--team', w.team_id, '--file', file)
  const [, ...lines] = readFileSync(file, 'utf8').split('\n')
  return {
    lines: lines.map((line) => line.replaceAll(/"sealed":"\\\\x[0-9a-f]*"/g, '')),
    events: (await w.api.listEvents({ query: { limit: 200 } })).events,
    inbox: await w.api.readInbox(),
    webhooks: (await w.admin.listWebhooks({ params })).data.map(({ url }) => url),
    attempts: (await query<{ id: string }>(w.url, 'select id from attempts where team_id = $1', [w.team_id])).length,
    found: (await w.api.findPeople({ body: { query: people[0].first_name } })).map(({ user_id }) => user_id),
    first: await w.api.createUser({ body: { client_user_id: 'one', fallback_birth_date: '1961-07-23' }, headers: repeated }),
    team: await w.admin.getTeam({ params }),
  }
}

/** Runs the command. A minute passes for each key whose replacement waits for it, and for the service. */
async function rotate(...args: string[]) {
  let isDone = false
  const rotation = cli.json('keys', 'rotate-data', ...args).finally(() => {
    isDone = true
  })
  while (!isDone) {
    const waiting = await query(
      w.url,
      "update sealing_keys set phase_at = now() - interval '1 hour' where phase = 'prepared' and phase_at > now() - interval '1 minute' returning id",
    )
    if (waiting.length) w.advanceTime(MINUTE)
    await w.api.getUserInfo({ params: { user_id } })
  }
  return rotation
}

const keyIds = async (of: 'is null' | 'is not null') =>
  (
    await query<{ id: string }>(w.url, `select id from sealing_keys where team_id = $1 and user_id ${of} order by created_at`, [w.team_id])
  ).map(({ id }) => id)

const oneDayLater = async () => {
  await query(w.url, "update sealing_keys set phase_at = now() - interval '25 hours' where phase is not null")
  await w.runJobs()
  expect(await query(w.url, 'select phase from sealing_keys where phase is not null')).toEqual([])
}

describe('assay keys rotate-data', () => {
  test('replaces the key of a user, and everything stays readable, also after the earlier key is gone', async () => {
    const [before, stolen] = [await readEverything(), await userSealingKey(w.app, w.team_id, user_id)]
    const { keys, rows } = await rotate('--user', user_id)
    expect([keys, rows > 10]).toEqual([1, true])
    expect(await keyIds('is not null')).not.toContain(stolen?.id)
    await oneDayLater()
    expect(await readEverything()).toEqual(before)
    const [info] = await query<{ sealed: Buffer }>(w.url, 'select sealed from user_info where user_id = $1', [user_id])
    const current = await userSealingKey(w.app, w.team_id, user_id)
    expect(current?.others).toEqual([])
    expect(open(current as never, `user_info.sealed.${user_id}`, info?.sealed as Buffer)).toMatchObject(someInfo())
    expect(() => open(stolen as never, `user_info.sealed.${user_id}`, info?.sealed as Buffer)).toThrow()
  })

  test('replaces the key of a team and those of all its users', async () => {
    const [before, others] = [await readEverything(), await Promise.all(Array.from({ length: 3 }, () => aUser(w.api)))]
    const [team, users] = [await keyIds('is null'), await keyIds('is not null')]
    expect(await rotate('--team', w.team_id)).toMatchObject({ keys: 1 })
    expect(await rotate('--team', w.team_id, '--users')).toMatchObject({ keys: users.length })
    for (const id of [...(await keyIds('is null')), ...(await keyIds('is not null'))]) expect([...team, ...users]).not.toContain(id)
    await oneDayLater()
    for (const other of others) await w.api.putUserInfo({ params: { user_id: other }, body: someInfo({}, people[1]) })
    const after = await readEverything()
    expect({ ...after, lines: after.lines.filter((line) => line.includes(user_id)) }).toMatchObject({
      ...{ inbox: before.inbox, webhooks: before.webhooks, found: before.found, first: before.first, team: before.team },
      lines: before.lines.filter((line) => line.includes(user_id)),
    })
    expect(after.events).toEqual(expect.arrayContaining(before.events))
  })

  test('keeps keyed hashes: a device, a report and a repeated request are recognized', async () => {
    await pushData()
    expect(await w.api.listDevices({ params: { user_id } })).toHaveLength(1)
    expect(await query(w.url, 'select from users where client_user_id = $1', ['one'])).toHaveLength(1)
  })

  test('continues with a worker after an interruption', async () => {
    const before = await keyIds('is not null')
    const interrupted = cli.run('keys', 'rotate-data', '--user', user_id)
    while (!(await query(w.url, "select from sealing_keys where phase = 'prepared'")).length);
    await query(w.url, "update sealing_keys set phase_at = now() - interval '1 hour' where phase = 'prepared'")
    w.advanceTime(MINUTE)
    await w.runJobs()
    expect(await query(w.url, "select user_id from sealing_keys where phase = 'resealed'")).toEqual([{ user_id }])
    expect(await interrupted).toMatchObject({ code: 0 })
    expect(await keyIds('is not null')).not.toEqual(before)
    expect(await w.api.getUserInfo({ params: { user_id } })).toMatchObject(someInfo())
  })

  test.each([
    [['--user', '0198c7a5-0000-7000-8000-000000000000'], 1, 'No user has this ID'],
    [['--team', '0198c7a5-0000-7000-8000-000000000000'], 1, 'No key belongs to this team'],
    [[], 2, 'Use either --team or --user.'],
    [['--user', '0198c7a5-0000-7000-8000-000000000000', '--users'], 2, '--users needs --team.'],
  ])('rejects %j', async (args, code, message) => {
    expect(await cli.run('keys', 'rotate-data', ...args)).toMatchObject({ code, err: expect.stringContaining(message) })
  })
})

test('the list of encrypted columns has every column that a key of a team or a user encrypts', async () => {
  const columns = await query<{ name: string }>(
    w.url,
    `select table_name || '.' || column_name as name from information_schema.columns c
     join pg_class p on p.oid = to_regclass(quote_ident(c.table_name)) and not p.relispartition
     where c.table_schema = 'public' and c.data_type = 'bytea'`,
  )
  /** Hashes and MACs, and what the root secret encrypts. */
  const others =
    /\.(hash|key_hash|client_hash|email_hash|token_hash|account_hash|number_hash|state_hash|browser_hash|chain_hash|fingerprint|digest|mac|key|key_check|sso_subject|reason|setup)$|^(root_keys|people|invitations|lab_inbox|unassigned_results)\./
  const names = columns.map(({ name }) => name)
  const ofDeployment = names.filter((name) => /^(lab_inbox|unassigned_results)\./.test(name) && !name.endsWith('.digest'))
  expect(ofDeployment.sort()).toEqual(deploymentColumns.map(({ table, column }) => `${table}.${column}`).sort())
  const sealed = names.filter((name) => !others.test(name))
  expect(sealed.sort()).toEqual(sealedColumns.map(({ table, column }) => `${table}.${column}`).sort())
})

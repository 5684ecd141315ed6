import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { databaseUrl, query } from '../support/cluster.ts'
import { placeOrder } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { atEnd, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
await w.api.createUser({ body: { client_user_id: 'someone' } })

type Check = { name: string; state: string; text: string; remedy?: string }

async function told(env: Record<string, string> = {}, ...args: string[]) {
  const DATA_DIR = temporaryFolder()
  chmodSync(DATA_DIR, 0o700)
  const { code, out } = await assay(w.url, { DATA_DIR, PORT: new URL(w.base).port, ...env }).run('doctor', '--json', ...args)
  const { healthy, checks } = JSON.parse(out) as { healthy: boolean; checks: Check[] }
  expect(healthy).toBe(code === 0)
  return { code, checks, of: (name: string) => checks.find((check) => check.name === name) }
}

test('a deployment in order is told so, and nothing is changed', async () => {
  const { code, checks } = await told()
  const states = Object.fromEntries(checks.map(({ name, state }) => [name, state]))
  expect([code, states]).toEqual([
    0,
    {
      Node: 'ok',
      settings: 'ok',
      'public address': 'ok',
      DATA_DIR: 'ok',
      disk: expect.stringMatching(/ok|warning/),
      port: 'ok',
      database: expect.stringMatching(/ok|warning/),
      clock: 'ok',
      connections: expect.stringMatching(/ok|warning/),
      schema: 'ok',
      'encryption key': 'ok',
      jobs: 'ok',
      webhooks: 'skipped',
      'audit chain': 'ok',
    },
  ])
})

test('a person reads a line for each, with the remedy', async () => {
  const { code, out } = await assay(w.url, { DATA_DIR: temporaryFolder(), PORT: '0' }).run('doctor', '--quick')
  expect([code, out]).toEqual([0, expect.stringMatching(/^ok {7}Node {14}\d+\./)])
  expect(out).toMatch(/^skipped {2}audit chain {7}not checked$/m)
})

test('settings that cannot be are the first thing to mend', async () => {
  const { code, checks } = await told({ PORT: 'many' })
  expect([code, checks.map(({ name }) => name)]).toEqual([1, ['Node', 'settings']])
  expect(checks[1]).toMatchObject({ state: 'wrong', text: expect.stringContaining('PORT must be a whole number') })
})

test('keys that other users can read are named with the command that mends it', async () => {
  const DATA_DIR = temporaryFolder()
  writeFileSync(join(DATA_DIR, 'credentials.json'), '{}', { mode: 0o644 })
  const { code, of } = await told({ DATA_DIR }, '--quick')
  expect([code, of('DATA_DIR')]).toMatchObject([1, { state: 'wrong', remedy: `chmod 600 ${join(DATA_DIR, 'credentials.json')}` }])
  chmodSync(join(DATA_DIR, 'credentials.json'), 0o600)
  chmodSync(DATA_DIR, 0o755)
  expect((await told({ DATA_DIR }, '--quick')).of('DATA_DIR')).toMatchObject({ state: 'warning', remedy: `chmod 700 ${DATA_DIR}` })
})

test('a port that somebody else has is wrong', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(async () => server.close())
  const { port } = server.address() as { port: number }
  expect((await told({ PORT: String(port) }, '--quick')).of('port')).toMatchObject({
    state: 'wrong',
    remedy: expect.stringContaining('PORT'),
  })
})

test('a database that is away, empty, unmigrated or of another key is told with its remedy', async () => {
  const away = await told({ DATABASE_URL: 'postgres://assay:secret-word@127.0.0.1:1/assay' })
  expect([away.code, away.checks.at(-1)]).toMatchObject([1, { name: 'database', state: 'wrong' }])
  expect(JSON.stringify(away.checks)).not.toContain('secret-word')
  const none = await told({ DATABASE_URL: '' })
  expect(none.checks.at(-1)).toMatchObject({ name: 'database', state: 'wrong', text: 'DATA_DIR has no database' })

  const bare = `${inject('template')}_doctor`
  await query(inject('adminUrl'), `create database ${bare}`)
  const unmigrated = await told({ DATABASE_URL: databaseUrl(inject('adminUrl'), bare) })
  expect(unmigrated.checks.at(-1)).toMatchObject({ name: 'schema', state: 'wrong', remedy: expect.stringContaining('assay migrate') })
  expect(await query(databaseUrl(inject('adminUrl'), bare), "select to_regclass('migrations') as made")).toEqual([{ made: null }])

  const wrongKey = await told({ ENCRYPTION_KEY: 'another-key-0123456789abcdef0123456789' })
  expect([wrongKey.code, wrongKey.of('encryption key'), wrongKey.of('audit chain')]).toMatchObject([
    1,
    { state: 'wrong', text: expect.stringContaining('ENCRYPTION_KEY is not the key') },
    { state: 'skipped' },
  ])
})

test('more connections than the server has are counted before they are missed', async () => {
  const [{ max = 0 } = {}] = await query<{ max: number }>(w.url, "select current_setting('max_connections')::integer as max")
  expect((await told({ DATABASE_POOL_SIZE: String(Math.min(200, max)) }, '--quick')).of('connections')).toMatchObject({
    remedy: expect.stringMatching(/DATABASE_POOL_SIZE/),
  })
})

test('a receiver that cannot be reached, an event that nobody tells and a broken chain are found', async () => {
  const gone = await openReceiver()
  const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const { id: webhook_id } = await w.admin.createWebhook({ params, body: { url: gone.url } })
  expect((await told()).of('webhooks')).toMatchObject({ state: 'ok' })
  await gone.close()
  expect((await told()).of('webhooks')).toMatchObject({ state: 'warning', text: expect.stringContaining(new URL(gone.url).host) })
  await w.admin.deleteWebhook({ params: { ...params, webhook_id } })

  await placeOrder(w.api)
  await query(w.url, "update events set logged_at = logged_at - interval '5 minutes' where no is null")
  expect((await told({}, '--quick')).of('jobs')).toMatchObject({ state: 'warning', remedy: expect.stringContaining('ROLE') })

  await w.runJobs()
  await query(w.url, 'alter table audit_log disable trigger audit_log_append_only')
  await query(w.url, "update audit_log set action = 'nothing' where chain_seq = 1")
  const broken = await told()
  expect([broken.code, broken.of('audit chain')]).toMatchObject([1, { state: 'wrong', text: expect.stringContaining('broken at row 1') }])
})

import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostsFinding, shardsFinding } from '../../src/operations/doctor/database.ts'
import { clockSkew } from '../../src/operations/doctor/store.ts'
import { timeOrderedId } from '../../src/platform/db/time-ordered-id.ts'
import { later, MINUTE } from '../../src/platform/time.ts'
import { auditRow, newAuditBatch } from '../../src/tenants/audit/actions.ts'
import { skipUnless } from '../db/support/embedded.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder } from '../support/orders.ts'
import { directUrl, query } from '../support/query.ts'
import { openReceiver } from '../support/receiver.ts'
import { openRelay } from '../support/relay.ts'
import { citusServers, emptyDatabase, isPooledRun, newDatabase, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
await w.api.createUser({ body: { client_user_id: 'someone' } })
// An event that waits for a minute is reported.
await w.runJobs()

type Check = { name: string; state: string; text: string; remedy?: string }

async function runDoctor(env: Record<string, string> = {}, ...args: string[]) {
  const DATA_DIR = temporaryFolder()
  chmodSync(DATA_DIR, 0o700)
  const { code, out } = await assay(w.url, { DATA_DIR, PORT: new URL(w.base).port, ...env }).run('doctor', '--json', ...args)
  const { healthy, checks } = JSON.parse(out) as { healthy: boolean; checks: Check[] }
  expect(healthy).toBe(code === 0)
  return { code, checks, of: (name: string) => checks.find((check) => check.name === name) }
}

test('passes every check of a healthy deployment', async () => {
  const { code, checks } = await runDoctor()
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
      ...(isPooledRun() ? { pooler: 'ok' } : {}),
      standby: 'ok',
      schema: 'ok',
      ...(citusServers().length ? { shards: 'ok' } : {}),
      'encryption key': 'ok',
      jobs: 'ok',
      'event logs': 'ok',
      webhooks: 'skipped',
      'audit owner': 'ok',
      'audit chain': 'ok',
    },
  ])
})

test.each([
  [9500, 0],
  [-3000, -3000],
  [13_000, 3000],
])('a database time of %i ms, read between 0 and 10,000 ms, is a skew of %i ms', (at, skew) => {
  expect(clockSkew(at, 0, 10_000)).toBe(skew)
})

const GIB = 1024 ** 3

test.each([
  ['a small difference', [0, 0.5 * GIB], 'ok'],
  ['less than twice the data', [3 * GIB, 5 * GIB], 'ok'],
  ['more than twice the data', [3 * GIB, 7 * GIB], 'warning'],
  ['a new, empty server', [0, 7 * GIB], 'warning'],
] as const)('%s on a server of a cluster', (_, sizes, state) => {
  const servers = sizes.map((bytes, i) => ({ server: `worker-${i + 1}:5432`, node: i + 1, shards: 16, bytes }))
  const finding = shardsFinding({ servers, teams: [{ team_id: 'a4153bc7-cb49-401c-84ee-aaf336ac92e4', events: 12 }] })
  expect(finding).toMatchObject({ state, text: expect.stringMatching(/^worker-1:5432 has 16 shards with \d+ MiB.*\(12 events\)$/) })
  if (state === 'warning') expect(finding.remedy).toMatch(/citus_rebalance_start.*assay team move/)
})

test.each([
  [['primary', 'standby'], 'ok'],
  [['primary', 'unreachable'], 'warning'],
  [['primary', 'standby', 'primary'], 'wrong'],
] as const)('hosts that are %j are %s', (states, state) => {
  expect(hostsFinding(states.map((state, i) => ({ host: `db-${i + 1}:5432`, state })))).toMatchObject({ state })
})

test('asks every host of DATABASE_URL', async () => {
  const relay = await openRelay(directUrl(w.url))
  atEnd(async () => relay.close())
  const { host } = new URL(relay.url)
  const { code, of } = await runDoctor({ DATABASE_URL: relay.url.replace(host, `${host},127.0.0.1:1`) }, '--quick')
  expect([code, of('hosts')]).toMatchObject([0, { state: 'warning', text: `${host} is a primary, 127.0.0.1:1 is unreachable` }])
})

test('prints one line per check', async () => {
  const { code, out } = await assay(w.url, { DATA_DIR: temporaryFolder(), PORT: '0' }).run('doctor', '--quick')
  expect([code, out]).toEqual([0, expect.stringMatching(/^ok {7}Node {14}\d+\./)])
  expect(out).toMatch(/^skipped {2}audit chain {7}not checked$/m)
})

test('stops at invalid settings', async () => {
  const { code, checks } = await runDoctor({ PORT: 'many' })
  expect([code, checks.map(({ name }) => name)]).toEqual([1, ['Node', 'settings']])
  expect(checks[1]).toMatchObject({ state: 'wrong', text: expect.stringContaining('PORT must be a whole number') })
})

test('reports keys that other users can read, with the chmod command', async () => {
  const DATA_DIR = temporaryFolder()
  writeFileSync(join(DATA_DIR, 'credentials.json'), '{}', { mode: 0o644 })
  const { code, of } = await runDoctor({ DATA_DIR }, '--quick')
  expect([code, of('DATA_DIR')]).toMatchObject([1, { state: 'wrong', remedy: `chmod 600 ${join(DATA_DIR, 'credentials.json')}` }])
  chmodSync(join(DATA_DIR, 'credentials.json'), 0o600)
  chmodSync(DATA_DIR, 0o755)
  expect((await runDoctor({ DATA_DIR }, '--quick')).of('DATA_DIR')).toMatchObject({ state: 'warning', remedy: `chmod 700 ${DATA_DIR}` })
})

test('reports a port that another process uses', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  atEnd(async () => server.close())
  const { port } = server.address() as { port: number }
  expect((await runDoctor({ PORT: String(port) }, '--quick')).of('port')).toMatchObject({
    state: 'wrong',
    remedy: expect.stringContaining('PORT'),
  })
})

test('reports an unreachable, missing, unmigrated or foreign database with a remedy', async () => {
  const unreachable = await runDoctor({ DATABASE_URL: 'postgres://assay:secret-word@127.0.0.1:1/assay' })
  expect([unreachable.code, unreachable.checks.at(-1)]).toMatchObject([1, { name: 'database', state: 'wrong' }])
  expect(JSON.stringify(unreachable.checks)).not.toContain('secret-word')
  const missing = await runDoctor({ DATABASE_URL: '' })
  expect(missing.checks.at(-1)).toMatchObject({ name: 'database', state: 'wrong', text: 'DATA_DIR has no database' })

  const empty = await emptyDatabase()
  const unmigrated = await runDoctor({ DATABASE_URL: empty })
  expect(unmigrated.checks.at(-1)).toMatchObject({ name: 'schema', state: 'wrong', remedy: expect.stringContaining('assay migrate') })
  expect(await query(empty, "select to_regclass('migrations') as made")).toEqual([{ made: null }])

  const wrongKey = await runDoctor({ ENCRYPTION_KEY: 'another-key-0123456789abcdef0123456789' })
  expect([wrongKey.code, wrongKey.of('encryption key'), wrongKey.of('audit chain')]).toMatchObject([
    1,
    { state: 'wrong', text: expect.stringContaining('ENCRYPTION_KEY is not the key') },
    { state: 'skipped' },
  ])
})

test('reports a pool larger than max_connections', async (context) => {
  const [{ max = 0 } = {}] = await query<{ max: number }>(w.url, "select current_setting('max_connections')::integer as max")
  skipUnless(context, max <= 200, 'your own server allows more connections than the largest pool')
  const settings = { DATABASE_URL: directUrl(w.url), DATABASE_POOL_SIZE: String(max) }
  expect((await runDoctor(settings, '--quick')).of('connections')).toMatchObject({ remedy: expect.stringMatching(/DATABASE_POOL_SIZE/) })
})

test('checks that DIRECT_DATABASE_URL and READ_DATABASE_URL lead to this database', async () => {
  const direct = directUrl(w.url)
  const same = await runDoctor({ DIRECT_DATABASE_URL: direct, READ_DATABASE_URL: direct }, '--quick')
  expect([same.code, same.of('direct database'), same.of('read replica')]).toMatchObject([
    0,
    { state: 'ok', text: 'reached without a pooler' },
    { state: 'ok', text: '0 s behind the primary' },
  ])
  const another = directUrl(await newDatabase())
  const foreign = await runDoctor({ DIRECT_DATABASE_URL: another, READ_DATABASE_URL: another }, '--quick')
  expect([foreign.code, foreign.of('direct database'), foreign.of('read replica')]).toMatchObject([
    1,
    { state: 'wrong', remedy: expect.stringContaining('DIRECT_DATABASE_URL') },
    { state: 'wrong', remedy: expect.stringContaining('READ_DATABASE_URL') },
  ])
  const lost = await runDoctor({ READ_DATABASE_URL: 'postgres://assay:secret-word@127.0.0.1:1/assay' }, '--quick')
  expect([lost.code, lost.of('read replica')]).toMatchObject([
    1,
    { state: 'wrong', text: expect.stringMatching(/^READ_DATABASE_URL postgres:.* cannot be used: .*ECONNREFUSED/) },
  ])
  expect(JSON.stringify(lost.checks)).not.toContain('secret-word')
})

test('reports an unreachable receiver, an unpublished event, an unchained audit row and a broken audit chain', async () => {
  const gone = await openReceiver()
  const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const { id: webhook_id } = await w.admin.createWebhook({ params, body: { url: gone.url } })
  expect((await runDoctor()).of('webhooks')).toMatchObject({ state: 'ok' })
  await gone.close()
  expect((await runDoctor()).of('webhooks')).toMatchObject({ state: 'warning', text: expect.stringContaining(new URL(gone.url).host) })
  await w.admin.deleteWebhook({ params: { ...params, webhook_id } })

  await placeOrder(w.api)
  const [event] = await query<{ id: string }>(w.url, 'select id from outbox order by seq desc limit 1')
  const old = timeOrderedId(later(w.app.wall(), -5 * MINUTE))
  const renameEvent = (from: string | undefined, to: string | undefined) =>
    query(w.url, 'update outbox set id = $2 where id = $1', [from, to])
  await renameEvent(event?.id, old)
  expect((await runDoctor({}, '--quick')).of('jobs')).toMatchObject({ state: 'warning', remedy: expect.stringContaining('ROLE') })
  await renameEvent(old, event?.id)

  const earlier = { ...w.app, wall: () => later(w.app.wall(), -2 * MINUTE) }
  await newAuditBatch(w.app)(auditRow(earlier, { kind: 'operator' }, { action: 'test', status: 200 }))
  expect((await runDoctor()).of('audit chain')).toMatchObject({ state: 'warning', text: 'rows that are in no chain after a minute: 1' })

  await w.runJobs()
  await query(w.url, "update event_logs set last_at = now() + interval '1 hour'")
  expect((await runDoctor({}, '--quick')).of('event logs')).toMatchObject({ state: 'warning', remedy: expect.stringContaining('clock') })
  await query(
    w.url,
    `insert into events (team_id, no, logged_at, id, event_type, deliverable, created_at)
     select team_id, no, logged_at + interval '1 ms', id, event_type, false, created_at from events order by no limit 1`,
  )
  expect((await runDoctor({}, '--quick')).of('event logs')).toMatchObject({ state: 'wrong', text: 'repeated positions in event logs: 1' })
  await query(w.url, 'delete from events where sealed is null')
  await query(w.url, 'alter table audit_log disable trigger audit_log_append_only')
  await query(w.url, "update audit_log set action = 'nothing' where chain_seq = 1")
  const broken = await runDoctor()
  expect([broken.code, broken.of('audit chain')]).toMatchObject([1, { state: 'wrong', text: expect.stringContaining('broken at row 1') }])
})

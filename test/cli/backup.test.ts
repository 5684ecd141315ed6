import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { skipUnless } from '../db/support/embedded.ts'
import { auditRows } from '../support/audit.ts'
import { readBackup, writeForged } from '../support/backups.ts'
import { aNewOrder, placeOrder } from '../support/orders.ts'
import { people, someInfo } from '../support/people.ts'
import { reservePort } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { contentsOf } from '../support/tables.ts'
import { citusServers, emptyDatabase, newDatabase, replica, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const cli = assay(w.url)
const path = join(temporaryFolder(), 'one.backup')

let order_id: string
let user_id: string
let written: { rows: number; tables: number }
beforeAll(async () => {
  const order = await placeOrder(w.api)
  order_id = order.id
  user_id = order.user_id
  await w.api.putUserInfo({ params: { user_id }, body: someInfo() })
  await w.runJobs()
  await w.api.simulateOrder({ params: { order_id }, body: { interpretation: 'abnormal' } })
  await w.runJobs()
  written = await cli.json('backup', '--file', path)
})

const contents = (url: string) => contentsOf(url, ['audit_log', 'audit_outbox'])

test('writes a private file without patient data that passes the check', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { rows } = await readBackup(path, w.app.vault)
  const text = rows.map(({ row }) => row).join('\n')
  for (const word of [...Object.values(people[0]), 'Marrowbone', w.team_api_key]) expect(text).not.toContain(word)
  expect(await cli.json('backup', 'check', '--file', path)).toMatchObject({
    rows: written.rows,
    tables: written.tables,
    environment: 'sandbox',
  })
  expect(await query(w.url, `select actor_kind from ${auditRows} where action = 'operator backup'`)).toEqual([{ actor_kind: 'operator' }])
})

test('restores every row into an empty database, readable with the same keys', async () => {
  const url = await emptyDatabase()
  const restored = await assay(url).json('restore', '--file', path)
  expect(restored).toMatchObject({ rows: written.rows, audit_rows: expect.any(Number) })
  expect(await contents(url)).toEqual(await contents(w.url))
  const other = await replica({ database: url })
  const api = createClient(other.base, { 'x-service-api-key': w.team_api_key })
  for (const read of [
    (of: typeof api) => of.getOrder({ params: { order_id } }),
    (of: typeof api) => of.getResults({ params: { order_id } }),
    (of: typeof api) => of.getUserInfo({ params: { user_id } }),
    (of: typeof api) => of.listEvents({ query: {} }),
    (of: typeof api) => of.findPeople({ body: { query: people[0].last_name } }),
  ])
    expect(JSON.parse(JSON.stringify(await read(api)).replaceAll(other.base, w.base))).toEqual(await read(w.api))
  const next = await api.createOrder({ body: await aNewOrder(api) })
  expect(next.order.last_event.status).toBe('received.walk_in_test.ordered')
  expect((await assay(url).run('audit', 'verify')).code).toBe(0)
  expect(await assay(url).run('restore', '--file', path)).toMatchObject({
    code: 1,
    err: expect.stringContaining('The database is not empty'),
  })
})

describe('restore is rejected and writes nothing', () => {
  const rejectionOf = async (file: string, env: Record<string, string> = {}, url?: string) => {
    const isCluster = citusServers().length > 0
    const into = url ?? (await (isCluster ? emptyDatabase() : newDatabase()))
    const { code, out, err } = await assay(into, env).run('restore', '--file', file)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^[^\n]+\n$/)
    if (!url && !isCluster) expect(await query(into, 'select * from orgs')).toEqual([])
    return err
  }

  test('with another ENCRYPTION_KEY', async () => {
    expect(await rejectionOf(path, { ENCRYPTION_KEY: 'another-key-0123456789abcdef0123456789' })).toContain(
      'ENCRYPTION_KEY is not the key that encrypted this backup',
    )
  })
  test('without encryption.key in DATA_DIR, and creates no database', async () => {
    const DATA_DIR = temporaryFolder()
    const { code, err } = await assay('', { DATABASE_URL: '', ENCRYPTION_KEY: '', DATA_DIR }).run('restore', '--file', path)
    expect([code, err]).toEqual([1, expect.stringMatching(/^encryption\.key in DATA_DIR .* is missing or empty/)])
    expect(readdirSync(DATA_DIR)).toEqual([])
  })
  test('into another deployment', async () => {
    expect(await rejectionOf(path, { REGION: 'eu' })).toContain('The backup belongs to the sandbox us deployment')
  })
  test('into a database with other tables', async () => {
    const url = await emptyDatabase()
    await query(url, 'create table theirs (id integer)')
    expect(await rejectionOf(path, {}, url)).toContain('The database is not empty')
  })
  test('into distributed tables', async (context) => {
    skipUnless(context, citusServers().length > 0, 'no Citus cluster')
    expect(await rejectionOf(path, {}, await newDatabase())).toContain('The tables are already distributed')
  })
  test('for a backup with an unknown migration', async () => {
    const plain = await readBackup(path, w.app.vault)
    const contents = { ...plain.contents, migrations: [...plain.contents.migrations, '9999_later.sql'] }
    const newer = await writeForged(w.app.vault, { ...plain, contents })
    expect(await rejectionOf(newer)).toContain('a migration that this version of Assay does not have (9999_later.sql)')
  })
  test('for a truncated, foreign or unreadable file', async () => {
    const half = join(temporaryFolder(), 'half.backup')
    writeFileSync(half, readFileSync(path).subarray(0, 5000))
    expect(await rejectionOf(half)).toContain('was cut off')
    const foreign = join(temporaryFolder(), 'foreign.backup')
    writeFileSync(foreign, '{"something":"else"}\n')
    expect(await rejectionOf(foreign)).toContain('is not an Assay backup')
    expect(await rejectionOf('/nowhere.backup')).toContain('The backup cannot be read: ENOENT')
    expect((await cli.run('backup', 'check', '--file', half)).code).toBe(1)
  })
  test('a backup overwrites no file and leaves no partial one', async () => {
    expect(await cli.run('backup', '--file', path)).toMatchObject({ code: 1, err: expect.stringContaining('The file already exists') })
    expect((await cli.run('backup', '--file', '/nowhere/x.backup')).code).toBe(1)
    expect(existsSync(`${path}.part`)).toBe(false)
  })
})

test('names the server that it read from: the primary if the replica is down', async () => {
  const READ_DATABASE_URL = `postgres://assay@127.0.0.1:${await reservePort()}/assay`
  const file = join(temporaryFolder(), 'primary.backup')
  const { code, out } = await assay(w.url, { READ_DATABASE_URL }).run('backup', '--file', file)
  expect([code, out]).toEqual([0, expect.stringMatching(/^wrote \d+ rows of \d+ tables to .*, read from the primary\n$/)])
})

test('migrate runs and reports pending migrations once', async () => {
  const url = await emptyDatabase()
  const cli = assay(url)
  const missing = await cli.run('migrate', '--check', '--json')
  expect([missing.code, JSON.parse(missing.out).missing[0]]).toEqual([1, '0001_tenants_baseline.sql'])
  expect((await cli.run('migrate')).out).toMatch(/^ran 0001_tenants_baseline\.sql\n/)
  expect((await cli.run('migrate')).out).toBe('no pending migrations\n')
  expect((await cli.run('migrate', '--check')).code).toBe(0)
})

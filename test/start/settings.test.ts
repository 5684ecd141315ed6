import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nobodyCanRun } from '../db/support/checkout.ts'
import { nobody, skipUnless } from '../db/support/embedded.ts'
import { query } from '../support/cluster.ts'
import { main, run } from '../support/process.ts'
import { ENCRYPTION_KEY, emptyDatabase, newDatabase, temporaryFolder } from '../support/world.ts'
import { newDataDir, outside, refusedStart } from './support/start.ts'

const url = 'postgres://assay@127.0.0.1:1/assay'

describe('an invalid setting stops the start with one line that names it', () => {
  test.concurrent.each([
    [{ PORT: 'abc' }, /^PORT must be a whole number/],
    [{ PORT: '65536' }, /^PORT must be at most 65535/],
    [{ PORT: '80.5' }, /^PORT must be a whole number/],
    [{ ENVIRONMENT: 'staging' }, /^ENVIRONMENT must be one of sandbox, production/],
    [{ REGION: 'mars' }, /^REGION must be one of us, eu/],
    [{ ROLE: 'x' }, /^ROLE must be one of all, api, worker/],
    [{ PUBLIC_URL: 'ftp://example.org' }, /^PUBLIC_URL must be an http or https address/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of/],
    [{ DATABASE_POOL_SIZE: '1' }, /^DATABASE_POOL_SIZE must be at least 2/],
    [{ DATABASE_URL: 'mysql://root:hunter2@db/assay', ENCRYPTION_KEY }, /^DATABASE_URL must be a postgres:\/\/ address/],
    [{ DATABASE_URL: 'nonsense', ENCRYPTION_KEY }, /^DATABASE_URL must be a postgres:\/\/ address/],
    [{ ENCRYPTION_KEY: 'short' }, /^ENCRYPTION_KEY must have at least 32 characters/],
    [{ WEBHOOK_ALLOW_LOOPBACK: 'maybe' }, /^WEBHOOK_ALLOW_LOOPBACK must be one of true, false/],
    [{ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,10.1.2.3' }, /^WEBHOOK_ALLOWED_NETWORKS must be networks/],
    [{ TRUST_PROXY: 'true' }, /^TRUST_PROXY must be addresses or networks of proxies/],
    [{ TRUST_PROXY: '127.0.0.1,0.0.0.0/0' }, /^TRUST_PROXY must be addresses or networks of proxies/],
    [{ PUBSUB_PROJECTS: 'harbor-events,Harbor' }, /^PUBSUB_PROJECTS must be ids of Google Cloud projects/],
    [{ PUBSUB_ENDPOINT: 'pubsub.googleapis.com' }, /^PUBSUB_ENDPOINT must be an http or https address/],
    [{ ENVIRONMENT: 'production', PUBSUB_ENDPOINT: 'http://127.0.0.1:8085' }, /^PUBSUB_ENDPOINT must be an https address in production/],
    [{ DATABASE_URL: url }, /^ENCRYPTION_KEY is required with DATABASE_URL/],
    [{ ENVIRONMENT: 'production' }, /^ENCRYPTION_KEY is required in production/],
    [{ BOOTSTRAP_TEAM_API_KEY: 'short' }, /^BOOTSTRAP_TEAM_API_KEY must have 8 to 200 printable characters/],
    [{ BOOTSTRAP_TEAM_API_KEY: 'mg_0123456789' }, /^BOOTSTRAP_TEAM_API_KEY is a management key/],
    [{ BOOTSTRAP_TEAM_API_KEY: 'lks_us_0123456789' }, /^BOOTSTRAP_TEAM_API_KEY is a lab key/],
    [{ BOOTSTRAP_MANAGEMENT_KEY: 'lkp_us_0123456789' }, /^BOOTSTRAP_MANAGEMENT_KEY is a lab key/],
    [{ BOOTSTRAP_MANAGEMENT_KEY: 'sk_us_0123456789' }, /^BOOTSTRAP_MANAGEMENT_KEY is a team API key/],
    [
      { BOOTSTRAP_TEAM_API_KEY: 'one-key-for-both', BOOTSTRAP_MANAGEMENT_KEY: 'one-key-for-both' },
      /^BOOTSTRAP_TEAM_API_KEY and BOOTSTRAP_MANAGEMENT_KEY are the same/,
    ],
    [{ PORT: 'abc', REGION: 'mars' }, /^PORT must .*; REGION must/],
  ])('%j', async (env, line) => {
    expect(await refusedStart({ DATA_DIR: '/nonexistent/assay', ...env })).toEqual({ code: 1, lines: [expect.stringMatching(line)] })
  })
})

describe('an unusable database is named without its password', () => {
  test.concurrent.each([
    [
      'unreachable',
      'postgres://assay:hunter2@127.0.0.1:1/assay',
      /^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot be used: .*ECONNREFUSED/,
    ],
    [
      'an unknown host',
      'postgres://assay:hunter2@db.invalid/assay',
      /^DATABASE_URL postgres:\/\/db\.invalid\/assay cannot be used: getaddrinfo/,
    ],
    [
      'an @ in the password',
      'postgres://assay:hunter2@hunter2@127.0.0.1:1/assay',
      /^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot/,
    ],
    [
      'the password as a parameter',
      'postgres://127.0.0.1:1/assay?user=assay&password=hunter2',
      /^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot/,
    ],
    [
      'a broken escape',
      'postgres://assay:hunter2%zz@127.0.0.1:1/assay',
      /^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot be used: /,
    ],
    [
      'a missing certificate',
      'postgres://assay:hunter2@127.0.0.1:1/assay?sslcert=/nonexistent',
      /^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot be used: E/,
    ],
  ])('%s', async (_, DATABASE_URL, line) => {
    const refused = await refusedStart(outside(DATABASE_URL))
    expect(refused).toEqual({ code: 1, lines: [expect.stringMatching(line)] })
    expect(refused.lines.join()).not.toContain('hunter2')
  })

  test('a wrong password', async (context) => {
    skipUnless(context, !process.env['TEST_DATABASE_URL'], 'your own server may use trust authentication')
    const url = new URL(await newDatabase())
    url.password = 'hunter2'
    const refused = await refusedStart(outside(url.href))
    expect(refused).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^DATABASE_URL postgres:.* cannot be used: password authentication failed/)],
    })
    expect(refused.lines.join()).not.toContain('hunter2')
  })

  test('a read-only database', async () => {
    const readOnly = new URL(await emptyDatabase())
    readOnly.searchParams.set('options', '-c default_transaction_read_only=on')
    expect(await refusedStart(outside(readOnly.href))).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(/^The database in DATABASE_URL cannot be migrated: cannot execute CREATE TABLE in a read-only transaction/),
      ],
    })
  })
})

test('names a PORT in use', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  onTestFinished(() => void holder.close())
  const PORT = String((holder.address() as AddressInfo).port)
  expect(await refusedStart(outside(await newDatabase(), { PORT }))).toEqual({
    code: 1,
    lines: [expect.stringMatching(new RegExp(`^PORT ${PORT} on HOST 127.0.0.1 is not available: .*EADDRINUSE`))],
  })
})

test('names a HOST that is not local', async () => {
  expect(await refusedStart(outside(await newDatabase(), { HOST: '192.0.2.1' }))).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^PORT 0 on HOST 192\.0\.2\.1 is not available: .*EADDRNOTAVAIL/)],
  })
})

describe('an unusable DATA_DIR is named', () => {
  const aFile = () => {
    const path = join(temporaryFolder(), 'file')
    writeFileSync(path, '')
    return path
  }
  test.each([
    ['a file', aFile],
    ['a folder in a file', () => join(aFile(), 'data')],
    ['a path where no folder can be created', () => '/sys/assay'],
  ])('%s, with either database', async (_, path) => {
    const DATA_DIR = path()
    const line = expect.stringMatching(new RegExp(`^DATA_DIR ${DATA_DIR} cannot be used: E[A-Z]+`))
    expect(await refusedStart({ DATA_DIR })).toEqual({ code: 1, lines: [line] })
    expect(await refusedStart(outside(await newDatabase(), { DATA_DIR }))).toEqual({ code: 1, lines: [line] })
  })

  test('a folder of another user', async (context) => {
    skipUnless(context, process.getuid?.() === 0, 'requires root')
    const asNobody = (...args: string[]) =>
      run([process.execPath, ...args], { env: { DATA_DIR: temporaryFolder() }, account: nobody }).exited
    skipUnless(context, nobodyCanRun(), 'nobody cannot run this Node: the project lies in a closed folder')
    const { code, stderr } = await asNobody(main)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^DATA_DIR \S+ cannot be used: EACCES[^\n]*\n$/) })
  })
})

test('an unusable DATA_DIR leaves no unknown key in the database', async () => {
  const database = await newDatabase()
  await refusedStart(outside(database, { DATA_DIR: '/sys/assay' }))
  expect(await query(database, 'select count(*)::int as keys from team_api_keys')).toEqual([{ keys: 0 }])
})

test('treats an empty setting as unset', async () => {
  expect(await refusedStart({ DATA_DIR: newDataDir(), DATABASE_URL: '', ENVIRONMENT: 'production', ENCRYPTION_KEY: ' ' })).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^ENCRYPTION_KEY is required in production/)],
  })
})

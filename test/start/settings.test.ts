import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nobodyCanRun } from '../db/support/checkout.ts'
import { nobody, skipUnless } from '../db/support/embedded.ts'
import { databaseName } from '../support/databases.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually, main, run } from '../support/process.ts'
import { directUrl, query } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { emptyDatabase, isPooledRun, newDatabase, newDataDir, temporaryFolder } from '../support/world.ts'
import { databaseWithCatalog, externalDatabase, runFailingStart, startFailure } from './support/start.ts'

describe('an invalid setting stops the start with one line that names it', () => {
  test.concurrent.each([[{ PORT: 'abc', REGION: 'mars' }, /^PORT must .*; REGION must/]])('%j', async (env, line) => {
    expect(await runFailingStart({ DATA_DIR: '/nonexistent/assay', ...env })).toEqual({ code: 1, lines: [expect.stringMatching(line)] })
  })
})

describe('an unusable database is named without its password', () => {
  test.each([
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
    const message = await startFailure(externalDatabase(DATABASE_URL))
    expect(message).toMatch(line)
    expect(message).not.toContain('hunter2')
  })

  test('in a new process', async () => {
    const DATABASE_URL = 'postgres://assay:hunter2@127.0.0.1:1/assay'
    expect(await runFailingStart(externalDatabase(DATABASE_URL))).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^DATABASE_URL postgres:\/\/127\.0\.0\.1:1\/assay cannot be used: .*ECONNREFUSED/)],
    })
  })

  test('a wrong password', async (context) => {
    skipUnless(context, !process.env['TEST_DATABASE_URL'] && !isPooledRun(), 'your own server or the pooler may use trust authentication')
    const url = new URL(await newDatabase())
    url.password = 'hunter2'
    const message = await startFailure(externalDatabase(url.href))
    expect(message).toMatch(/^DATABASE_URL postgres:.* cannot be used: password authentication failed/)
    expect(message).not.toContain('hunter2')
  })

  test('a read-only database', async () => {
    const url = await emptyDatabase()
    await query(url, `alter database ${databaseName(url)} set default_transaction_read_only = on`)
    expect(await startFailure(externalDatabase(url))).toMatch(
      /^The database cannot be migrated: cannot execute CREATE TABLE in a read-only transaction/,
    )
  })

  test('a database that is lost during a migration', async () => {
    const url = await emptyDatabase()
    const relay = await openRelay(directUrl(url))
    const holder = new pg.Client({ connectionString: directUrl(url) })
    await holder.connect()
    await holder.query('begin; create table migrations (name text)')
    const failure = startFailure(externalDatabase(relay.url))
    await eventually(async () => (await lockWaits(url)).length)
    relay.close()
    expect(await failure).toMatch(/^The database became unavailable during the start: .*\. Check the server and start again\.$/)
    await holder.end()
  })
})

test('names a PORT in use', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  onTestFinished(() => void holder.close())
  const PORT = String((holder.address() as AddressInfo).port)
  expect(await startFailure(externalDatabase(await databaseWithCatalog(), { PORT }))).toMatch(
    new RegExp(`^PORT ${PORT} on HOST 127.0.0.1 is not available: .*EADDRINUSE`),
  )
})

test('names a HOST that is not local', async () => {
  expect(await startFailure(externalDatabase(await databaseWithCatalog(), { HOST: '192.0.2.1' }))).toMatch(
    /^PORT 0 on HOST 192\.0\.2\.1 is not available: .*EADDRNOTAVAIL/,
  )
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
    const line = new RegExp(`^DATA_DIR ${DATA_DIR} cannot be used: E[A-Z]+`)
    expect(await startFailure({ DATA_DIR })).toMatch(line)
    expect(await startFailure(externalDatabase(await newDatabase(), { DATA_DIR }))).toMatch(line)
  })

  test('a folder of another user', async (context) => {
    skipUnless(context, process.getuid?.() === 0, 'requires root')
    const asNobody = (...args: string[]) =>
      run([process.execPath, ...args], { env: { DATA_DIR: temporaryFolder() }, account: nobody }).exited
    skipUnless(context, nobodyCanRun(), 'the account nobody cannot run Node in this folder')
    const { code, stderr } = await asNobody(main)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^DATA_DIR \S+ cannot be used: EACCES[^\n]*\n$/) })
  })
})

test('an unusable DATA_DIR leaves no unknown key in the database', async () => {
  const database = await newDatabase()
  await startFailure(externalDatabase(database, { DATA_DIR: '/sys/assay' }))
  expect(await query(database, 'select count(*)::int as keys from team_api_keys')).toEqual([{ keys: 0 }])
})

test('treats an empty setting as unset', async () => {
  expect(await startFailure({ DATA_DIR: newDataDir(), DATABASE_URL: '', ENVIRONMENT: 'production', ENCRYPTION_KEY: ' ' })).toMatch(
    /^ENCRYPTION_KEY is required in production/,
  )
})

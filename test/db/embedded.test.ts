import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { lockName } from '../../src/platform/db/embedded/lock.ts'
import { borrowEmbedded } from '../../src/platform/db/embedded/start.ts'
import { reservePort } from '../support/ports.ts'
import { eventually, isAlive, postmasterOf } from '../support/process.ts'
import { optionsFor, prepareCluster, skipUnless, spawnHolder, start, tempFolder } from './support/embedded.ts'
import { query } from './support/query.ts'

const existingCluster = prepareCluster()

test('the first start creates a private database, and the next one keeps the data', async () => {
  const dataDir = join(tempFolder(), 'data')
  const first = await start(dataDir)
  await query(first.url, 'create table kept as select 42 as answer')
  await first.stop()

  const second = await start(dataDir)

  expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  expect(second.url).toBe(first.url)
  for (const folder of ['', 'postgres']) expect(fs.statSync(join(dataDir, folder)).mode & 0o777).toBe(0o700)
  for (const file of ['postgres.json', 'postgres.log', 'postgres.lock', 'postgres/PG_VERSION'])
    expect(fs.statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)
})

test('creates a durable UTF-8 database in UTC owned by a role that is not a superuser', async () => {
  const dataDir = existingCluster()
  const { url } = await start(dataDir, { settings: {} })

  const names = ['server_encoding', 'timezone', 'fsync', 'synchronous_commit', 'is_superuser', 'listen_addresses', 'password_encryption']
  const rows = await query(url, `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`)
  expect(rows[0]).toEqual({
    server_encoding: 'UTF8',
    timezone: 'UTC',
    fsync: 'on',
    synchronous_commit: 'on',
    is_superuser: 'off',
    listen_addresses: '',
    password_encryption: 'scram-sha-256',
  })
  await query(url, 'create extension pg_trgm')
  await query(url, 'create database another')
})

test('requires the password', async () => {
  const dataDir = existingCluster()
  const { url } = await start(dataDir)

  await expect(query(url.replace(/:[0-9a-f]+@/, ':guess@'), 'select 1')).rejects.toThrow(/password authentication failed/)
  await expect(query(url.replace('//assay:', '//postgres:'), 'select 1')).rejects.toThrow(/no pg_hba.conf entry/)
})

test('writes no query values to the server log', async () => {
  const dataDir = existingCluster()
  const { url, stop } = await start(dataDir)
  await expect(query(url, "select 'Zephyrine Quillfeather'::int")).rejects.toThrow(/Zephyrine Quillfeather/)
  await query(url, 'create table people (name text primary key)')
  await query(url, "insert into people values ('Zephyrine Quillfeather')")
  await expect(query(url, "insert into people values ('Zephyrine Quillfeather')")).rejects.toThrow(/duplicate key/)
  await stop()

  const log = fs.readFileSync(join(dataDir, 'postgres.log'), 'utf8')
  expect(log).toContain('ready to accept connections')
  expect(log).not.toContain('Quillfeather')
  expect(log).not.toContain('ERROR')
})

test('rejects a second process on the same folder and names the first', async () => {
  const dataDir = existingCluster()
  const holder = spawnHolder(dataDir)
  await holder.waitForMessage('ready')

  await expect(start(dataDir)).rejects.toThrow(`The database in ${dataDir} is in use by process ${holder.pid}`)
})

test('one of two processes started at once wins and the other fails', async () => {
  const dataDir = existingCluster()
  const holders = [spawnHolder(dataDir), spawnHolder(dataDir)]

  const words = await Promise.all(holders.map((holder) => holder.waitForMessage('ready', 'refused')))
  expect(words.map((word) => String(word).replace(/:.*/s, '')).sort()).toEqual([expect.stringContaining(`in use by process`), 'postgres'])
})

test('a command uses the database of the running service and leaves it running', async () => {
  const dataDir = existingCluster()
  const holder = spawnHolder(dataDir)
  const url = await holder.waitForMessage('ready')

  const borrowed = await borrowEmbedded(optionsFor(dataDir))
  expect(borrowed.url).toBe(url)
  await borrowed.stop()
  expect(await query(borrowed.url, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('commands without a service run one after the other, each with its own server', async () => {
  const dataDir = existingCluster()
  const first = await borrowEmbedded(optionsFor(dataDir))
  const pid = postmasterOf(dataDir)
  const waiting = borrowEmbedded(optionsFor(dataDir))
  await first.stop()
  expect(isAlive(pid)).toBe(false)

  const second = await waiting
  expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await second.stop()
  expect(fs.existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
})

test('rejects a cluster of another PostgreSQL version with instructions', async () => {
  const dataDir = tempFolder()
  fs.mkdirSync(join(dataDir, 'postgres'))
  fs.writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '14\n')

  await expect(start(dataDir)).rejects.toThrow(/was written by PostgreSQL 14, .* Back up .* move .* restore/)
  expect(fs.readdirSync(join(dataDir, 'postgres'))).toEqual(['PG_VERSION'])
})

test('rejects a folder that is not a cluster and does not change it', async () => {
  const dataDir = tempFolder()
  fs.mkdirSync(join(dataDir, 'postgres'))
  fs.writeFileSync(join(dataDir, 'postgres/precious'), '')

  await expect(start(dataDir)).rejects.toThrow(/not a PostgreSQL cluster/)
  expect(fs.readdirSync(join(dataDir, 'postgres'))).toEqual(['precious'])
})

test('a failed start gives the reason in one line and releases the folder', async () => {
  const dataDir = existingCluster()
  const failure = await start(dataDir, { settings: { shared_buffers: 'plenty' } }).catch((error: Error) => error.message)

  expect(failure).toMatch(/PostgreSQL did not start in .*invalid value for parameter "shared_buffers": "plenty"/)
  expect(failure).not.toContain('\n')
  await start(dataDir)
})

test('uses loopback for a path too long for a socket and keeps the address after a restart', async () => {
  const dataDir = join(tempFolder(), 'long'.repeat(20), 'path and ümlaut'.repeat(4))
  const first = await start(dataDir)
  expect(first.url).toMatch(/@127\.0\.0\.1:\d+\/assay$/)
  expect(await query(first.url, "select current_setting('listen_addresses') as at")).toEqual([{ at: '127.0.0.1' }])
  const file = join(dataDir, 'postgres.json')
  const access = JSON.parse(fs.readFileSync(file, 'utf8'))
  expect(first.url).toContain(`:${access.port}/`)
  await first.stop()

  // Any process may take the free port of the first start now, so the second one gets a reserved port.
  const port = await reservePort()
  fs.writeFileSync(file, JSON.stringify({ ...access, port }))
  const second = await start(dataDir)
  expect(second.url).toBe(first.url.replace(`:${access.port}/`, `:${port}/`))
})

test('supports special characters in the folder name', async () => {
  const { url } = await start(join(tempFolder(), "a b%20'ü,?&"))
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('recreates a lost password file', async () => {
  const dataDir = existingCluster()
  const file = join(dataDir, 'postgres.json')
  const { password } = JSON.parse(fs.readFileSync(file, 'utf8'))
  fs.rmSync(file)

  const { url } = await start(dataDir)
  expect(url).not.toContain(password)
  expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }])
})

test('starts with a password file with an invalid port', async () => {
  const dataDir = existingCluster()
  const file = join(dataDir, 'postgres.json')
  const { password } = JSON.parse(fs.readFileSync(file, 'utf8'))
  for (const port of ['"nonsense"', '-1', '99999', '5432.5', 'null', '{}']) {
    fs.writeFileSync(file, `{"password":"${password}","port":${port}}`)

    const { url, stop } = await start(dataDir)
    expect(url, port).toContain(`:${password}@localhost/`)
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
    await stop()
  }
})

test('uses the PostgreSQL of the system without the npm package', async (context) => {
  const search = { account: undefined, dataDir: tempFolder(), preferred: 15, packageDir: '/nonexistent' }
  const found = await findBinaries(search).catch((error: Error) => error)
  if (found instanceof Error) expect(found.message).toMatch(/version 15 or newer. Set DATABASE_URL\.$/)
  skipUnless(context, !(found instanceof Error), 'no PostgreSQL installed')
  expect(found).toMatchObject({ major: expect.any(Number), initdb: expect.stringMatching(/initdb/) })
})

test('uses an abstract socket as the lock if flock is missing', async (context) => {
  skipUnless(context, process.platform === 'linux', 'requires abstract sockets of Linux')
  const name = `assay-test-${process.pid}`
  const free = await lockName(name)
  expect(await lockName(name)).toBeUndefined()
  free?.()
  const again = await eventually(() => lockName(name))
  again?.()
})

test('rejects the password file of another database with instructions', async () => {
  const dataDir = existingCluster()
  fs.writeFileSync(join(dataDir, 'postgres.json'), '{"password":"0123456789abcdef"}')

  await expect(start(dataDir)).rejects.toThrow(/password authentication failed .* remove .*postgres\.json and restart/)
})

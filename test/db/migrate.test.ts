import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { functionFiles } from '../../src/platform/db/schema/functions.ts'
import { migrate, migrationFiles, pendingMigrations } from '../../src/platform/db/schema/migrate.ts'
import { registerProcess } from '../../src/platform/db/schema/processes.ts'
import { splitStatements } from '../../src/platform/db/schema/statements.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/process.ts'
import { directUrl, query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { parseStatements } from '../support/sql-tree.ts'
import { emptyDatabase, newDatabase } from '../support/world.ts'
import { laterVersion, migrationsFolder } from './support/migrations.ts'

function poolFor(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: 1 })
  atEnd(() => pool.end())
  return pool
}

test('processes that start together run each migration once', async () => {
  const url = await emptyDatabase()
  const ran = await Promise.all([1, 2, 3].map(() => migrate(poolFor(url))))
  expect(ran.flat().sort()).toEqual(await migrationFiles())
  expect(await migrate(poolFor(url))).toEqual([])
})

test('the text of a migration is split into its statements', async () => {
  const tricky = `-- It's one; not two.
    create function f() returns text language sql as $body$ select ';' || $$;$$ $body$; /* a; b */
    comment on table ";" is 'it''s; here';;
    -- the end;`
  const texts = (await migrationFiles()).map((name) => readFileSync(join(migrationsFolder, name), 'utf8'))
  const functions = (await functionFiles()).map(({ text }) => text)
  for (const text of [...texts, ...functions, tricky]) {
    const statements = splitStatements(text)
    expect(statements.map((statement) => parseStatements(statement).length)).toEqual(statements.map(() => 1))
    expect(statements).toHaveLength(parseStatements(text).length)
  }
})

test('a failed migration leaves the ones before it and releases the lock', async () => {
  const url = await emptyDatabase()
  await query(url, 'create table labs (id integer)')
  const [first, second] = await migrationFiles()
  await expect(migrate(poolFor(url))).rejects.toMatchObject({
    detail: { error_message: 'The database cannot be migrated: relation "labs" already exists' },
  })
  expect(await query(url, 'select name from migrations order by name')).toEqual([{ name: first }, { name: second }])
  await query(url, 'drop table labs')
  expect(await migrate(poolFor(url))).toEqual((await migrationFiles()).slice(2))
})

const newest = (await migrationFiles()).at(-1) as string

const expand = { '9001_expand.sql': `-- Runs beside ${newest}\ncreate table added (id integer)` }
const contract = { '9002_contract.sql': '-- Runs beside 9001_expand.sql\ndrop table added' }

/** A process of our version that runs for as long as the test takes. */
async function registerOurs(url: string) {
  const id = newUuid()
  await registerProcess(poolFor(url), { id, newest })
  await query(url, "update processes set leased_until = '9999-12-31' where id = $1", [id])
  return id
}

const pendingIn = (url: string, folder: string) => pendingMigrations(poolFor(url), folder)

const refusal = (text: RegExp) => ({ detail: { error_message: expect.stringMatching(text) } })

test('a migration runs beside processes of the version that it names, and an older process can start afterwards', async () => {
  const url = await newDatabase()
  const folder = laterVersion(expand)
  await registerOurs(url)
  expect(await pendingIn(url, folder)).toEqual({ missing: ['9001_expand.sql'], breaking: [] })
  expect(await migrate(poolFor(url), { folder })).toEqual(['9001_expand.sql'])
  expect(await migrate(poolFor(url), { process: { id: newUuid(), newest } })).toEqual([])
  expect(await query(url, 'select newest from processes')).toEqual([{ newest }, { newest }])
})

test('a migration that would break a running process waits until it has stopped, and then the older version does not start', async () => {
  const url = await newDatabase()
  const id = await registerOurs(url)
  const folder = laterVersion({ ...expand, ...contract })
  expect(await pendingIn(url, folder)).toEqual({ missing: ['9001_expand.sql', '9002_contract.sql'], breaking: ['9002_contract.sql'] })
  await expect(migrate(poolFor(url), { folder })).rejects.toMatchObject(
    refusal(/^The migration 9002_contract\.sql cannot run while processes of an earlier version run \(1, the oldest/),
  )
  expect(await query(url, 'select from added')).toEqual([])
  expect(await migrate(poolFor(url))).toEqual([])

  await query(url, 'delete from processes where id = $1', [id])
  expect(await migrate(poolFor(url), { folder })).toEqual(['9002_contract.sql'])
  await expect(migrate(poolFor(url))).rejects.toMatchObject(refusal(/not compatible with this version of Assay \(9002_contract\.sql\)/))
})

test('a process that was killed delays a migration only until its lease ends', async () => {
  const url = await newDatabase()
  const folder = laterVersion({ '9001_breaking.sql': 'create table added (id integer)' })
  await registerOurs(url)
  await expect(migrate(poolFor(url), { folder })).rejects.toMatchObject(refusal(/A killed process counts as running for 15 seconds\.$/))
  await query(url, "update processes set leased_until = now() - interval '1 second'")
  expect(await migrate(poolFor(url), { folder })).toEqual(['9001_breaking.sql'])
})

test('a migration that waits for a table lets other statements through', async () => {
  const url = await newDatabase()
  const holder = new pg.Client({ connectionString: directUrl(url) })
  await holder.connect()
  await holder.query('create table busy (id integer)')
  await holder.query('begin')
  await holder.query('set local idle_in_transaction_session_timeout = 0; select from busy')
  const migrated = migrate(poolFor(url), { folder: laterVersion({ '9001_alter.sql': 'alter table busy add column added integer' }) })
  const isWaiting = "select from pg_locks where relation = 'busy'::regclass and mode = 'AccessExclusiveLock' and not granted"
  await eventually(async () => (await query(url, isWaiting)).length)
  expect(await query(url, 'select from busy')).toEqual([])
  await holder.query('commit')
  await holder.end()
  expect(await migrated).toEqual(['9001_alter.sql'])
})

test('a header names an earlier migration', async () => {
  const files = await migrationFiles()
  for (const [at, name] of files.entries()) {
    const [, beside] = /^-- Runs beside (.*)$/m.exec(readFileSync(join(migrationsFolder, name), 'utf8')) ?? []
    if (beside) expect(files.slice(0, at), name).toContain(beside)
  }
})

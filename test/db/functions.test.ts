import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { functionFiles } from '../../src/platform/db/schema/functions.ts'
import { migrate, migrationFiles } from '../../src/platform/db/schema/migrate.ts'
import { atEnd } from '../support/at-end.ts'
import { query } from '../support/query.ts'
import { citusServers, emptyDatabase, newDatabase, temporaryFolder } from '../support/world.ts'
import { laterVersion } from './support/migrations.ts'

function poolFor(connectionString: string) {
  const pool = new pg.Pool({ connectionString, max: 1 })
  atEnd(() => pool.end())
  return pool
}

/** The folder of a version whose function returns this number. */
function functionsOf(result: number, name = 'answer') {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'labs/orders'), { recursive: true })
  writeFileSync(
    join(folder, 'labs/orders/functions.sql'),
    `create or replace function ${name}() returns integer language plpgsql as $$ begin return ${result}; end $$;`,
  )
  return folder
}

const answerIn = async (url: string) => (await query<{ answer: number }>(url, 'select answer()'))[0]?.answer

test('a new database has the functions of every file', async () => {
  const url = await emptyDatabase()
  await migrate(poolFor(url))
  const names = (await functionFiles()).flatMap(({ text }) =>
    [...text.matchAll(/^create or replace function (\w+)/gm)].map(([, name]) => name),
  )
  const rows = await query<{ name: string }>(url, "select proname as name from pg_proc where pronamespace = 'public'::regnamespace")
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
  expect(names).toContain('forget_patients')
})

test('hot functions keep their plans, except on Citus, which needs the values to plan', async () => {
  const rows = await query<{ name: string }>(
    await newDatabase(),
    "select proname as name from pg_proc where 'plan_cache_mode=force_generic_plan' = any (proconfig) order by proname",
  )
  const hot = [
    ...['create_users', 'keep_outcomes', 'link_audit', 'move_events'],
    ...['place_orders', 'record_outcomes', 'update_orders', 'write_pushes'],
  ]
  expect(rows.map(({ name }) => name)).toEqual(citusServers().length ? [] : hot)
})

test('a changed function is replaced without a migration, and an unchanged one is left alone', async () => {
  const url = await newDatabase()
  await migrate(poolFor(url), { functions: functionsOf(1) })
  expect(await answerIn(url)).toBe(1)
  await query(url, 'create or replace function answer() returns integer language sql as $$ select 7 $$')
  await migrate(poolFor(url), { functions: functionsOf(1) })
  expect(await answerIn(url)).toBe(7)
  await migrate(poolFor(url), { functions: functionsOf(2) })
  expect(await answerIn(url)).toBe(2)
})

test('an older version that starts during a deploy does not put its functions back', async () => {
  const url = await newDatabase()
  const newest = (await migrationFiles()).at(-1)
  const folder = laterVersion({ '9001_functions.sql': `-- Runs beside ${newest}\n` })
  await migrate(poolFor(url), { functions: functionsOf(1) })
  expect(await migrate(poolFor(url), { folder, functions: functionsOf(2) })).toEqual(['9001_functions.sql'])
  expect(await migrate(poolFor(url), { functions: functionsOf(1) })).toEqual([])
  expect(await answerIn(url)).toBe(2)
})

test('functions are not applied while migrations are missing', async () => {
  const url = await newDatabase()
  const folder = laterVersion({ '9001_one.sql': 'create table one (id integer)', '9002_two.sql': 'create table two (id integer)' })
  await migrate(poolFor(url), { folder, only: ['9001_one.sql'], functions: functionsOf(1) })
  expect(await query(url, "select from pg_proc where proname = 'answer'")).toEqual([])
  await migrate(poolFor(url), { folder, functions: functionsOf(1) })
  expect(await answerIn(url)).toBe(1)
})

test('a function with an error is not recorded', async () => {
  const url = await newDatabase()
  await expect(migrate(poolFor(url), { functions: functionsOf(1, 'broken name') })).rejects.toMatchObject({
    detail: { error_message: expect.stringMatching(/^The database cannot be migrated: syntax error/) },
  })
  await migrate(poolFor(url), { functions: functionsOf(1) })
  expect(await answerIn(url)).toBe(1)
})

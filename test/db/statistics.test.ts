import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { jobs } from '../../src/jobs/index.ts'
import type { Job } from '../../src/jobs/job.ts'
import { appOf } from '../../src/platform/app.ts'
import type { Db } from '../../src/platform/db/open.ts'
import { world } from '../support/world.ts'

const { app } = await world()
const { run } = jobs.find(({ name }) => name === 'analyze young tables') as Job

/** Sessions report the rows of a table with a delay of up to a second, unless they are asked to. */
const addRows = (count: number) =>
  app.db.connection().execute(async (db: Db) => {
    await sql`insert into young select from generate_series(1, ${count}::int)`.execute(db)
    await sql`select pg_stat_force_next_flush()`.execute(db)
    await sql`select`.execute(db)
  })

async function knownRows() {
  const { rows } = await sql<{ reltuples: number }>`select reltuples from pg_class where oid = 'young'::regclass`.execute(app.db)
  return rows[0]?.reltuples
}

test('a table has statistics soon after its first rows, and again once it is five times as large', async () => {
  await sql`create table young () with (autovacuum_enabled = off)`.execute(app.db)
  const rowsAfter = async (added: number) => {
    await addRows(added)
    await run(appOf(app))
    return knownRows()
  }
  expect(await rowsAfter(100)).toBe(-1)
  expect(await rowsAfter(200)).toBe(300)
  expect(await rowsAfter(900)).toBe(300)
  expect(await rowsAfter(400)).toBe(1600)
  await sql`drop table young`.execute(app.db)
})

import { sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** The tests that a team created. */
export async function listTeamTests(db: Db, team_id: string) {
  const rows = await db
    .selectFrom('team_lab_tests')
    .select(sql<JsonRow>`to_jsonb(team_lab_tests) - 'status' - 'team_id'`.as('row'))
    .where('team_id', '=', team_id)
    .orderBy('id')
    .execute()
  return rows.map(({ row }) => row)
}

/** Finds tests of the catalog and of the team. */
export async function findExistingTests(db: Db, team_id: string, ids: string[]) {
  const { rows } = await sql<{ id: string }>`
    select id from lab_tests where id = any(${ids}::uuid[])
    union all select id from team_lab_tests where team_id = ${team_id} and id = any(${ids}::uuid[])`.execute(db)
  return rows.map(({ id }) => id)
}

export const findExistingMarkers = async (db: Db, ids: number[]) =>
  (await db.selectFrom('markers').select('id').where('id', '=', sql<number>`any(${ids}::integer[])`).execute()).map(({ id }) => id)

export const insertTest = (db: Db, row: JsonRow) => insertJson(db.insertInto('team_lab_tests'), 'team_lab_tests', [row])

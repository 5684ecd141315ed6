import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  team_lab_tests: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('team_lab_tests'), 'team_lab_tests', rows),
}

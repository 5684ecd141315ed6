import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  lab_tests: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('lab_tests'), 'lab_tests', rows),
  lab_test_markers: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('lab_test_markers'), 'lab_test_markers', rows),
}

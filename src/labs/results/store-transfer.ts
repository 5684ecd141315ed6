import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  results: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('results'), 'results', rows),
  critical_results: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('critical_results'), 'critical_results', rows),
  result_documents: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('result_documents'), 'result_documents', rows),
}

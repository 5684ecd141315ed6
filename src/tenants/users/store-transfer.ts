import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  users: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('users'), 'users', rows),
  user_info: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('user_info'), 'user_info', rows),
  user_insurances: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('user_insurances'), 'user_insurances', rows),
}

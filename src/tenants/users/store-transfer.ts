import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  users: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('users'), 'users', rows),
  user_info: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('user_info'), 'user_info', rows),
  user_insurances: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('user_insurances'), 'user_insurances', rows),
}

import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

export const inserts = {
  connections: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('connections'), 'connections', rows),
  devices: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('devices'), 'devices', rows),
}

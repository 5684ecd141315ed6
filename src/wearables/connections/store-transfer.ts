import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

export const inserts = {
  connections: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('connections'), 'connections', rows),
  devices: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('devices'), 'devices', rows),
}

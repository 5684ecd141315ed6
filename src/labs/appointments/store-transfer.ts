import { insertJson, type JsonRow } from '../../platform/db/json-rows.ts'
import type { Db } from '../../platform/db/open.ts'

/** Inserts rows from a team's export. */
export const inserts = {
  appointments: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('appointments'), 'appointments', rows),
  appointment_events: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('appointment_events'), 'appointment_events', rows),
}

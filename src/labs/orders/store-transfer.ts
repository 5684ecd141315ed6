import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

export const insertSamples = (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('lab_samples'), 'lab_samples', rows)

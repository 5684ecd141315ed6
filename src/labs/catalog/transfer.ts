import type { AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import { inserts } from './store-transfer.ts'

/** Inserts rows from a team's export into a table of this feature. */
export const insertExportedRows = (app: AppInTransaction, table: keyof typeof inserts, rows: JsonRow[]) => inserts[table](app.db, rows)

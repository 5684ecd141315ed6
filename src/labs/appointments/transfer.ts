import type { AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import { claimTime, schedulerOf } from '../schedule/scheduler.ts'
import { isActive } from './rules.ts'
import { inserts } from './store.ts'

/** Inserts rows from a team's export into a table of this feature. Active visits occupy their time. */
export async function insertExportedRows(app: AppInTransaction, table: keyof typeof inserts, rows: JsonRow[]) {
  await inserts[table](app.db, rows)
  if (table === 'appointments') for (const row of rows as ExportedVisit[]) await occupyTime(app, row)
}

type ExportedVisit = {
  team_id: string
  id: string
  status: string
  calendar_code: string | null
  start_at: string | null
  end_at: string | null
}

/** A time that is already taken stays with the other visit. Nobody can refuse a visit that was booked elsewhere. */
async function occupyTime(app: AppInTransaction, { team_id, id, status, calendar_code, start_at, end_at }: ExportedVisit) {
  if (!isActive({ status }) || !calendar_code || !start_at || !end_at) return
  const calendar = await schedulerOf(app).find(app, team_id, calendar_code)
  const slot = { start: new Date(start_at).toISOString(), end: new Date(end_at).toISOString() }
  if (calendar) await claimTime(app, { team_id, id }, calendar, slot)
}

import type { AppInTransaction } from '../../platform/app.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'
import { claimTime, schedulerOf } from '../schedule/scheduler.ts'
import { isActive } from './rules.ts'

export const parts: Part[] = [
  {
    table: 'appointments',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['id'],
    ids: ['id', 'order_id'],
    order: ['created_at', 'id'],
    // A copied order is history: its visit takes nobody's time.
    adapt: (rows, { isCopy }) => (isCopy ? rows.map((row) => ({ ...row, due_at: null, calendar_code: null })) : rows),
    finish: occupyTimes,
  },
  {
    table: 'appointment_events',
    through: { column: 'order_id', table: 'orders' },
    ids: ['order_id', 'appointment_id'],
    order: ['appointment_id', 'id'],
  },
]

/** Active visits occupy their time. */
async function occupyTimes(app: AppInTransaction, rows: JsonRow[]) {
  for (const row of rows as ExportedVisit[]) await occupyTime(app, row)
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

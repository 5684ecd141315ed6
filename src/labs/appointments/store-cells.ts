import { sql } from 'kysely'
import type { Calendar } from '../../contract/labs/calendars.ts'
import type { Db } from '../../platform/db/open.ts'

export const listCalendars = async (db: Db, team_id: string): Promise<Calendar[]> => {
  const rows = await db.selectFrom('calendars').select('calendar').where('team_id', '=', team_id).orderBy('code').execute()
  return rows.map(({ calendar }) => calendar)
}

export async function replaceCalendars(db: Db, team_id: string, calendars: Calendar[], updated_at: string) {
  await db.deleteFrom('calendars').where('team_id', '=', team_id).execute()
  const rows = calendars.map((calendar) => ({ team_id, code: calendar.code, calendar: JSON.stringify(calendar), updated_at }))
  if (rows.length) await db.insertInto('calendars').values(rows).execute()
}

/** The occupied cells of calendars in a period. */
export const listTaken = (db: Db, team_id: string, codes: string[], period: { from: string; to: string }) =>
  db
    .selectFrom('booked_cells')
    .select(['calendar_code', 'seat', 'cell_at'])
    .where('team_id', '=', team_id)
    .where('calendar_code', '=', sql<string>`any(${codes}::text[])`)
    .where('cell_at', '>=', period.from)
    .where('cell_at', '<', period.to)
    .execute()

type Seat = { team_id: string; calendar_code: string; seat: number; appointment_id: string }

/**
 * Occupies the cells of a seat; returns false if one of them is taken. It waits for a transaction that is occupying the same
 * cells. All transactions insert cells by time, so that none waits for another in a circle.
 */
export async function claimSeat(db: Db, seat: Seat, cells: string[]) {
  const inserted = await db
    .insertInto('booked_cells')
    .values(cells.map((cell_at) => ({ ...seat, cell_at })))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (Number(inserted.numInsertedOrUpdatedRows) === cells.length) return true
  await releaseCells(db, seat.team_id, seat.appointment_id)
  return false
}

export const releaseCells = (db: Db, team_id: string, appointment_id: string) =>
  db.deleteFrom('booked_cells').where('team_id', '=', team_id).where('appointment_id', '=', appointment_id).execute()

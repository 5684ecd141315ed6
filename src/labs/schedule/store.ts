import { sql } from 'kysely'
import type { Calendar } from '../../contract/labs/calendars.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import { setLocally } from '../../platform/db/local-settings.ts'
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

/** The calendars of the operator, which all teams share. */
export const listSharedCalendars = async (db: Db): Promise<Calendar[]> => {
  const rows = await db.selectFrom('shared_calendars').select('calendar').orderBy('code').execute()
  return rows.map(({ calendar }) => calendar)
}

export async function replaceSharedCalendars(db: Db, calendars: Calendar[], updated_at: string) {
  await db.deleteFrom('shared_calendars').execute()
  const rows = calendars.map((calendar) => ({ code: calendar.code, calendar: JSON.stringify(calendar), updated_at }))
  if (rows.length) await db.insertInto('shared_calendars').values(rows).execute()
}

type Period = { from: string; to: string }

/** The occupied cells of the team's calendars in a period. */
export const listTaken = (db: Db, team_id: string, codes: string[], { from, to }: Period) =>
  db
    .selectFrom('booked_cells')
    .select(['calendar_code', 'seat', 'cell_at'])
    .where('team_id', '=', team_id)
    .where('calendar_code', '=', sql<string>`any(${codes}::text[])`)
    .where('cell_at', '>=', from)
    .where('cell_at', '<', to)
    .execute()

/** The cells of shared calendars that visits of any team occupy. */
export const listSharedTaken = (db: Db, codes: string[], { from, to }: Period) =>
  db
    .selectFrom('shared_cells')
    .select(['calendar_code', 'seat', 'cell_at'])
    .where('calendar_code', '=', sql<string>`any(${codes}::text[])`)
    .where('cell_at', '>=', from)
    .where('cell_at', '<', to)
    .modifyEnd(anyTeam('occupied time of shared calendars'))
    .execute()

/** The cells of a calendar are in one table, so that its primary key excludes all visits at the same time. */
export type CellTable = 'booked_cells' | 'shared_cells'
type Seat = { team_id: string; calendar_code: string; seat: number; appointment_id: string }

/**
 * Occupies the cells of a seat; returns false if one of them is taken. It waits for a transaction that is occupying the same
 * cells. All transactions insert cells by time, so that none waits for another in a circle.
 */
export async function claimSeat(db: Db, table: CellTable, seat: Seat, cells: string[]) {
  const inserted = await db
    .insertInto(table)
    .values(cells.map((cell_at) => ({ ...seat, cell_at })))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (Number(inserted.numInsertedOrUpdatedRows) === cells.length) return true
  await releaseFrom(db, table, seat)
  return false
}

type Occupied = Pick<Seat, 'team_id' | 'calendar_code' | 'appointment_id'>

const releaseFrom = (db: Db, table: CellTable, { team_id, calendar_code, appointment_id }: Occupied) =>
  db
    .deleteFrom(table)
    .where('team_id', '=', team_id)
    .where('calendar_code', '=', calendar_code)
    .where('appointment_id', '=', appointment_id)
    .execute()

/** On Citus, the cells of a team are on every worker, and only a sequential delete may precede other writes of the transaction. */
export async function releaseShared(db: Db, team_id: string) {
  await setLocally(db, { 'citus.multi_shard_modify_mode': 'sequential' })
  await db.deleteFrom('shared_cells').where('team_id', '=', team_id).execute()
}

/** Frees the time of a visit. Its calendar may have been replaced since, so both tables are searched. */
export async function releaseCells(db: Db, occupied: Occupied) {
  await releaseFrom(db, 'booked_cells', occupied)
  await releaseFrom(db, 'shared_cells', occupied)
}

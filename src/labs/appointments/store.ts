import type { Insertable, Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../platform/db/due-work.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type AppointmentRow = NonNullable<Awaited<ReturnType<typeof findLatest>>>
export type EventRow = Awaited<ReturnType<typeof listEvents>>[number]

/** The latest appointment of an order: the active one, if there is one. */
export const findLatest = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('appointments')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()

export const listEvents = (db: Db, team_id: string, appointment_id: string) =>
  db
    .selectFrom('appointment_events')
    .select(['id', 'status', 'data', 'created_at'])
    .where('team_id', '=', team_id)
    .where('appointment_id', '=', appointment_id)
    .orderBy('id')
    .execute()

export const insertAppointment = (db: Db, row: Insertable<Tables['appointments']>) => db.insertInto('appointments').values(row).execute()

export const updateAppointment = (
  db: Db,
  { team_id, id }: Pick<AppointmentRow, 'team_id' | 'id'>,
  change: Updateable<Tables['appointments']>,
) => db.updateTable('appointments').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

export const insertEvent = (db: Db, row: Insertable<Tables['appointment_events']>) =>
  db.insertInto('appointment_events').values(row).execute()

/** Deletes the appointments of orders whose user is erased, with their events and booked times. */
export const deleteAppointmentsOf = (db: Db, team_id: string, order_ids: string[]) =>
  db.deleteFrom('appointments').where('team_id', '=', team_id).where('order_id', 'in', order_ids).execute()

/** The appointments of orders that occupy time. */
export const listBooked = (db: Db, team_id: string, order_ids: string[]) =>
  db
    .selectFrom('appointments')
    .select(['team_id', 'id', 'calendar_code'])
    .where('team_id', '=', team_id)
    .where('order_id', 'in', order_ids)
    .where('status', 'not in', ['cancelled'])
    .where('calendar_code', 'is not', null)
    .execute()

/** The visits of a calendar in a period, by start. */
export const listOfCalendar = (db: Db, team_id: string, calendar_code: string, period: { from: string; to: string }, limit: number) =>
  db
    .selectFrom('appointments')
    .select(['id', 'order_id', 'status', 'start_at', 'end_at', 'sealed'])
    .where('team_id', '=', team_id)
    .where('calendar_code', '=', calendar_code)
    .where('start_at', '>=', period.from)
    .where('start_at', '<', period.to)
    .where('status', '<>', 'cancelled')
    .orderBy('start_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** The orders of a user with a visit that has not begun. */
export const listUpcoming = (db: Db, team_id: string, user_id: string) =>
  db
    .selectFrom('appointments')
    .innerJoin('orders', (join) =>
      join.onRef('orders.team_id', '=', 'appointments.team_id').onRef('orders.id', '=', 'appointments.order_id'),
    )
    .select('appointments.order_id')
    .where('appointments.team_id', '=', team_id)
    .where('orders.team_id', '=', team_id)
    .where('orders.user_id', '=', user_id)
    .where('appointments.status', 'in', ['pending', 'reserved', 'confirmed'])
    .orderBy('appointments.order_id')
    .execute()

export const findBookingSetting = async (db: Db, team_id: string) =>
  (await db.selectFrom('teams').select('booking_before_requisition').where('id', '=', team_id).executeTakeFirst())
    ?.booking_before_requisition ?? false

/** Finds appointments of any team that change by themselves. */
export const searchDueVisits = (db: Db, wall: string) =>
  db
    .selectFrom('appointments')
    .innerJoin('teams', 'teams.id', 'appointments.team_id')
    .select(['appointments.order_id', 'appointments.team_id', 'appointments.due_at as at', 'teams.clock_offset_ms'])
    .where('appointments.due_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where('appointments.due_at', '<=', teamTime(wall))
    .orderBy('appointments.due_at')
    .modifyEnd(anyTeam('appointments that change'))

const dueVisits = prepareSearch('due_visits', (db, wall: string, limit: number) => searchDueVisits(db, wall).limit(limit))

/** Appointments of any team, or of one, that change by themselves. */
export const listDueVisits = (db: Db, wall: string, limit: number, team_id?: string) =>
  team_id === undefined
    ? dueVisits(db, wall, limit)
    : searchDueVisits(db, wall).where('appointments.team_id', '=', team_id).limit(limit).execute()

export const findNextDue = (db: Db, team_id: string) =>
  db
    .selectFrom('appointments')
    .select((eb) => eb.fn.min('due_at').as('at'))
    .where('team_id', '=', team_id)
    .where('due_at', 'is not', null)
    .executeTakeFirst()

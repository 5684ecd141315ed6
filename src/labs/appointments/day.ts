import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { dayIn, instantAt } from '../geography/rules-zones.ts'
import { loadOrders } from '../orders/reading/present.ts'
import { schedulerOf } from '../schedule/scheduler.ts'
import * as store from './store.ts'
import { openVisit } from './visit.ts'

const MAX_VISITS = 1000

/** The visits of a day at a site or of a phlebotomist, for those who collect the specimens. */
export async function listDayVisits(app: App, { team_id }: TeamCaller, code: string, date: string | null | undefined) {
  const calendar = await schedulerOf(app).find(app, team_id, code)
  if (!calendar)
    throw problem('CALENDAR_NOT_FOUND', 'The schedule has no calendar with this code. GET /v3/schedule lists those of the team.')
  const { name, iana_timezone } = calendar
  const day = date ?? dayIn(iana_timezone, app.now())
  const period = { from: instantAt(day, '00:00', iana_timezone), to: instantAt(day, '24:00', iana_timezone) }
  const rows = await store.listOfCalendar(app.db, team_id, code, period, MAX_VISITS)
  const orders = await loadOrders(app, team_id, [...new Set(rows.map(({ order_id }) => order_id))])
  return { code, name, iana_timezone, date: day, visits: rows.flatMap((row) => presentRow(row, orders)) }
}

type Orders = Awaited<ReturnType<typeof loadOrders>>

/** The user of an order may be erased meanwhile. */
function presentRow(row: Awaited<ReturnType<typeof store.listOfCalendar>>[number], orders: Orders) {
  const order = orders.find(({ id }) => id === row.order_id)
  if (!order) return []
  const { first_name = null, last_name = null, dob = null } = order.document.patient_details ?? {}
  const { name: lab_test, sample_type, fasting } = order.lab_test
  return [
    {
      ...{ appointment_id: row.id, order_id: order.id, user_id: order.user_id, status: row.status },
      ...{ start_at: row.start_at as string, end_at: row.end_at as string, first_name, last_name, dob },
      ...{ lab_test, sample_type, fasting, sample_id: order.sample_id },
      appointment_notes: openVisit(order, row).appointment_notes,
    },
  ]
}

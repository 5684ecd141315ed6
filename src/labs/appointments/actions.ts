import { randomUUID } from 'node:crypto'
import type { AddressIn, AppointmentType } from '../../contract/labs/appointments.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { ageOn } from '../../platform/time.ts'
import { locateHome, zipLocator } from '../geography/homes.ts'
import { type LoadedOrder, lockOrder, requireOrder } from '../orders/reading/present.ts'
import { type BookedSlot, type Place, schedulerOf } from '../schedule/scheduler.ts'
import { openBookingKey } from './booking-key.ts'
import { requireReason } from './reasons.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { advanceThrough, loadVisit, presentVisit, requireVisit, sealVisit, type Visit, type VisitDocument, writeVisit } from './visit.ts'

type Booking = { booking_key: string; appointment_notes?: string | null | undefined }

/** Books a visit. Before the lab has accepted the order, the visit is reserved, if the team allows it. */
export const bookVisit = (app: App, caller: TeamCaller, type: AppointmentType, order_id: string, body: Booking) =>
  withOrder(app, caller, type, order_id, async (app, order) => {
    const current = await checkNewVisit(app, order, type)
    const document = await documentOf(app, order, body.appointment_notes ?? current?.document.appointment_notes)
    const visit = current ?? (await insertVisit(app, order, type, document))
    const { calendars, time } = await requestedSlot(app, order, type, body.booking_key)
    const slot = await schedulerOf(app).book(app, visit, calendars, time)
    const status = order.low_level === 'ordered' ? 'reserved' : 'confirmed'
    const booked = await writeVisit(app, order, visit, status, { ...fieldsOf(slot, document), data: { origin: 'customer' } })
    return takeSteps(app, order, booked, rules.stepsToVisit(order))
  })

/** Moves a booked visit to another slot. */
export const moveVisit = (app: App, caller: TeamCaller, type: AppointmentType, order_id: string, body: Booking) =>
  withOrder(app, caller, type, order_id, async (app, order) => {
    const visit = await requireVisit(app, order)
    rules.checkMovable(visit, app.now())
    const { calendars, time } = await requestedSlot(app, order, type, body.booking_key)
    const slot = await schedulerOf(app).move(app, visit, calendars, time)
    const document = { ...visit.document, appointment_notes: body.appointment_notes ?? visit.document.appointment_notes }
    const moved = await writeVisit(app, order, visit, visit.status as 'confirmed' | 'reserved', {
      ...fieldsOf(slot, document),
      data: { origin: 'customer', is_reschedule: true },
    })
    return takeSteps(app, order, moved, order.low_level === 'appointment_scheduled' ? ['appointment_scheduled'] : [])
  })

type Cancellation = { reason_id: string; notes: string | null | undefined }

export const cancelVisit = (app: App, caller: TeamCaller, type: AppointmentType, order_id: string, { reason_id, notes }: Cancellation) =>
  withOrder(app, caller, type, order_id, async (app, order) => {
    const cancellation_reason = requireReason(type, reason_id)
    const visit = await requireVisit(app, order)
    rules.checkCancellable(visit)
    const document = { ...visit.document, cancellation_notes: notes ?? null }
    return endVisit(app, order, { ...visit, document }, { origin: 'customer', cancellation_reason })
  })

/** Cancels a visit and releases its time. An order that waits for the visit shows it. */
export async function endVisit(
  app: AppInTransaction,
  order: LoadedOrder,
  visit: Visit,
  data: { origin: string; cancellation_reason?: string },
) {
  await schedulerOf(app).cancel(app, visit)
  const cancelled = await writeVisit(app, order, visit, 'cancelled', { document: visit.document, data })
  const isWaiting = ['appointment_pending', 'appointment_scheduled'].includes(order.low_level)
  return takeSteps(app, order, cancelled, isWaiting ? ['appointment_cancelled'] : [])
}

export async function getVisit(app: App, { team_id }: TeamCaller, type: AppointmentType, order_id: string) {
  const order = await requireOrder(app, team_id, order_id)
  rules.checkMethod(order, type)
  return presentVisit(app, order, await requireVisit(app, order))
}

/** Records that a visit began or ended. */
export const reportVisit = (app: App, { team_id }: TeamCaller, order_id: string, status: 'in_progress' | 'completed') =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    return recordProgress(app, order, await requireVisit(app, order), status)
  })

/** The end of a visit at home completes the draw. */
export async function recordProgress(app: AppInTransaction, order: LoadedOrder, visit: Visit, status: 'in_progress' | 'completed') {
  rules.checkReport(visit, status)
  const changed = await writeVisit(app, order, visit, status, { data: { origin: 'provider' } })
  const isDrawn = status === 'completed' && visit.type === 'phlebotomy' && order.low_level === 'appointment_scheduled'
  return takeSteps(app, order, changed, isDrawn ? ['draw_completed'] : [])
}

/** Deletes the appointments of orders whose user is erased, and frees their time. */
export async function forgetVisits(app: AppInTransaction, team_id: string, order_ids: string[]) {
  for (const visit of await store.listBooked(app.db, team_id, order_ids)) await schedulerOf(app).cancel(app, visit)
  await store.deleteAppointmentsOf(app.db, team_id, order_ids)
}

/** Cancels the visits of a user who is deleted, unless they have begun. */
export async function cancelVisitsOf(app: AppInTransaction, team_id: string, user_id: string) {
  for (const { order_id } of await store.listUpcoming(app.db, team_id, user_id)) {
    const order = await lockOrder(app, team_id, order_id)
    const visit = await requireVisit(app, order)
    if (rules.isUpcoming(visit)) await endVisit(app, order, visit, { origin: 'automatic', cancellation_reason: 'User was deleted' })
  }
}

export function withOrder<T>(
  app: App,
  { team_id }: TeamCaller,
  type: AppointmentType,
  order_id: string,
  work: (app: AppInTransaction, order: LoadedOrder) => Promise<T>,
) {
  return inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    rules.checkMethod(order, type)
    return work(app, order)
  })
}

/** Returns the requested visit that has no time yet, if there is one. */
export async function checkNewVisit(app: AppInTransaction, order: LoadedOrder, type: AppointmentType) {
  const current = await loadVisit(app, order)
  if (current && rules.isActive(current) && current.status !== 'pending') throw rules.appointmentExists()
  rules.checkBookable(order, await store.findBookingSetting(app.db, order.team_id))
  const dob = order.document.patient_details?.dob
  if (type === 'phlebotomy') rules.checkAdult(dob === undefined ? undefined : ageOn(dob, app.now().slice(0, 10)))
  return current && rules.isActive(current) ? current : undefined
}

/** The row of a visit, before it has a time. Its time can only be booked for a row that exists. */
export async function insertVisit(
  app: AppInTransaction,
  order: LoadedOrder,
  type: AppointmentType,
  document: VisitDocument,
  provider = '',
) {
  const at = app.now()
  const row = {
    ...{ team_id: order.team_id, id: randomUUID(), order_id: order.id, type, provider, status: 'pending', calendar_code: null },
    ...{ start_at: null, end_at: null, iana_timezone: null, due_at: null, created_at: at, updated_at: at },
  }
  await store.insertAppointment(app.db, { ...row, sealed: sealVisit(order, row.id, document) })
  return { ...row, events: [], document }
}

const homeOf = (app: App, { document }: LoadedOrder) =>
  locateHome(app, document.patient_address?.zip ?? '', document.patient_address?.state)

async function requestedSlot(app: App, order: LoadedOrder, type: AppointmentType, booking_key: string) {
  const { code, ...time } = openBookingKey(booking_key, type)
  const place: Place = type === 'phlebotomy' ? { home: await homeOf(app, order) } : { lab: order.lab_test.lab, codes: [code] }
  const calendars = await schedulerOf(app).calendars(app, order.team_id, place)
  if ('lab' in place && !calendars.length) throw rules.siteOfAnotherLab(code)
  return { calendars, time }
}

/** Clients require a location. */
const unknownLocation = { lng: 0, lat: 0 }

export async function documentOf(
  app: App,
  order: LoadedOrder,
  notes: string | null | undefined,
  requested?: AddressIn,
): Promise<VisitDocument> {
  const { first_line = '', second_line, city = '', state = '', zip = '', access_notes } = order.document.patient_address ?? {}
  const address = requested ?? {
    first_line,
    second_line: second_line ?? null,
    city,
    state,
    zip_code: zip,
    access_notes: access_notes ?? null,
  }
  return {
    address,
    location: (await zipLocator(app))(address.zip_code.slice(0, 5)) ?? unknownLocation,
    appointment_notes: notes ?? null,
    cancellation_notes: null,
  }
}

/** A visit to a site is at the address of the site. */
export const fieldsOf = ({ calendar, start, end }: BookedSlot, document: VisitDocument) => ({
  provider: calendar.provider,
  calendar_code: calendar.code,
  start_at: start,
  end_at: end,
  iana_timezone: calendar.iana_timezone,
  document: calendar.kind === 'site' ? { ...document, address: calendar.address, location: calendar.location } : document,
})

export const takeSteps = async (app: AppInTransaction, order: LoadedOrder, visit: Visit, steps: string[]) =>
  presentVisit(app, await advanceThrough(app, order, visit, steps), visit)

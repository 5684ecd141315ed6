import type { AppointmentEventData, AppointmentStatus } from '../../contract/labs/appointments.ts'
import { emit } from '../../delivery/events/emit.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { notifyOfVisit } from '../communication/notify.ts'
import { advanceOrder } from '../orders/progress/advance.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { schedulerOf } from '../schedule/scheduler.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The personal data of a visit, encrypted with the user's key. */
export type VisitDocument = {
  address: {
    first_line: string
    second_line?: string | null | undefined
    city: string
    state: string
    zip_code: string
    access_notes?: string | null | undefined
  }
  location: { lng: number; lat: number }
  appointment_notes: string | null
  cancellation_notes: string | null
}

/** An appointment with its events and its decrypted document. */
export type Visit = Omit<store.AppointmentRow, 'sealed'> & { events: store.EventRow[]; document: VisitDocument }

const associatedData = (id: string) => `appointments.sealed.${id}`

export const sealVisit = (order: LoadedOrder, id: string, document: VisitDocument) => seal(order.key, associatedData(id), document)

/** The personal data of an appointment. */
export const openVisit = (order: LoadedOrder, { id, sealed }: { id: string; sealed: Buffer }) =>
  open<VisitDocument>(order.key, associatedData(id), sealed)

/** The latest appointment of an order. */
export async function loadVisit({ db }: App, order: LoadedOrder): Promise<Visit | undefined> {
  const row = await store.findLatest(db, order.team_id, order.id)
  if (!row) return undefined
  const { sealed, ...fields } = row
  const events = await store.listEvents(db, order.team_id, row.id)
  return { ...fields, events, document: openVisit(order, row) }
}

export async function requireVisit(app: App, order: LoadedOrder) {
  const visit = await loadVisit(app, order)
  if (!visit) throw rules.appointmentNotFound()
  return visit
}

type Fields = Partial<Pick<Visit, 'provider' | 'calendar_code' | 'start_at' | 'end_at' | 'iana_timezone' | 'document'>>

/** Gives an appointment a status and other fields, appends the event and emits it. */
export async function writeVisit(
  app: AppInTransaction,
  order: LoadedOrder,
  visit: Visit,
  status: AppointmentStatus,
  { data = null, ...fields }: Fields & { data?: AppointmentEventData | null },
): Promise<Visit> {
  const at = app.now()
  const isNew = visit.events.length === 0
  const event = { id: visit.events.length + 1, status: rules.eventStatus(status), data, created_at: at }
  const changed = { ...visit, ...fields, status, updated_at: at, events: [...visit.events, event] }
  changed.due_at = rules.nextChangeAt(order, changed, app.config.ENVIRONMENT === 'sandbox')
  const { provider, calendar_code, start_at, end_at, iana_timezone, due_at, document } = changed
  await store.updateAppointment(app.db, visit, {
    ...{ status, provider, calendar_code, start_at, end_at, iana_timezone, due_at, updated_at: at },
    sealed: sealVisit(order, visit.id, document),
  })
  await store.insertEvent(app.db, {
    ...event,
    ...{ team_id: order.team_id, order_id: order.id, appointment_id: visit.id },
    data: data && JSON.stringify(data),
  })
  await emit(app, order.key, {
    ...{ team_id: order.team_id, user_id: order.user_id, order_id: order.id, client_user_id: order.client_user_id },
    event_type: isNew ? 'labtest.appointment.created' : 'labtest.appointment.updated',
    key: `appointment:${visit.id}`,
    data: presentVisit(app, order, changed),
    at,
  })
  await notifyOfVisit(app, order, visit, changed)
  return changed
}

export function presentVisit(app: App, order: LoadedOrder, { events, document, ...visit }: Visit) {
  const last = events.at(-1)
  return {
    id: visit.id,
    user_id: order.user_id,
    order_id: order.id,
    order_transaction_id: order.transaction_id,
    address: document.address,
    location: document.location,
    start_at: visit.start_at,
    end_at: visit.end_at,
    iana_timezone: visit.iana_timezone,
    type: visit.type,
    provider: visit.provider,
    status: visit.status,
    provider_id: visit.calendar_code ?? '',
    external_id: null,
    can_reschedule: rules.canMove(visit, app.now()),
    appointment_notes: document.appointment_notes,
    event_status: rules.eventStatus(visit.status),
    event_data: last?.data ?? null,
    events: events.map(({ created_at, status, data }) => ({ created_at, status, data })),
  }
}

/** What an order shows of its appointment. */
const summaryOf = ({ id, status, type, start_at, end_at }: Visit) => ({ id, status, type, start_at, end_at })

/** Brings the active visit of an order in line with a step that the order took. A confirmed visit moves the order on. */
export async function alignVisit(app: AppInTransaction, order: LoadedOrder, step: string): Promise<LoadedOrder | undefined> {
  const { appointment } = order
  const status = appointment && rules.isActive(appointment) ? rules.visitAfterStep(appointment, step) : undefined
  const visit = status && (await loadVisit(app, order))
  if (!status || !visit) return undefined
  if (status === 'cancelled') await schedulerOf(app).cancel(app, visit)
  const changed = await writeVisit(app, order, visit, status, { data: { origin: 'order' } })
  return advanceThrough(app, order, changed, status === 'confirmed' ? ['appointment_pending', 'appointment_scheduled'] : [])
}

/** Shows the visit on the order, and takes the steps that it means. */
export async function advanceThrough(app: AppInTransaction, order: LoadedOrder, visit: Visit, steps: string[]) {
  let current: LoadedOrder = { ...order, appointment: summaryOf(visit) }
  for (const step of steps) current = await advanceOrder(app, current, step)
  return current
}

import type { AppointmentStatus, AppointmentType } from '../../contract/labs/appointments.ts'
import type { Method } from '../../contract/labs/lifecycle.ts'
import { problem } from '../../platform/problem.ts'
import { HOUR, later } from '../../platform/time.ts'

type Order = { low_level: string; method: Method; created_at: string; scheduled: boolean }
export type Visit = { status: string; type: string; start_at: string | null; end_at: string | null }
type DatedVisit = Visit & { created_at: string }

export const methodOf: Record<AppointmentType, Method> = { phlebotomy: 'at_home_phlebotomy', patient_service_center: 'walk_in_test' }

export const isActive = ({ status }: { status: string }) => status !== 'completed' && status !== 'cancelled'

/** Whether the visit has not begun. */
export const isUpcoming = ({ status }: { status: string }) => ['pending', 'reserved', 'confirmed'].includes(status)

/** The name of a status in the list of events. */
export const eventStatus = (status: string) => (status === 'confirmed' ? 'scheduled' : status)

export function checkMethod({ method }: Order, type: AppointmentType) {
  if (method === methodOf[type]) return
  throw type === 'phlebotomy'
    ? problem('NOT_A_HOME_DRAW', 'The specimen of this order is not collected at home. Only at_home_phlebotomy orders have such visits.')
    : problem('NOT_A_WALK_IN', 'The specimen of this order is not collected at a site. Only walk_in_test orders have such visits.')
}

const beforeVisit = ['requisition_created', 'requisition_bypassed', 'appointment_cancelled']

/** The steps of an order when a visit is booked. A reserved visit leaves the order as it is. */
export function stepsToVisit({ low_level }: Order): string[] {
  if (low_level === 'ordered') return []
  return beforeVisit.includes(low_level) ? ['appointment_pending', 'appointment_scheduled'] : ['appointment_scheduled']
}

export const stepsToRequest = ({ low_level }: Order) => (beforeVisit.includes(low_level) ? ['appointment_pending'] : [])

/** Whether the visit is reserved, because the lab has not accepted the order yet. */
export function checkBookable({ low_level }: Order, canReserve: boolean) {
  if (low_level === 'ordered' && canReserve) return
  if (low_level === 'ordered')
    throw problem(
      'NO_REQUISITION',
      "This order does not have a requisition, it's still in state ordered. Wait for requisition_created, or turn on the team setting booking_before_requisition.",
    )
  if (![...beforeVisit, 'appointment_pending', 'appointment_scheduled'].includes(low_level))
    throw problem('VISIT_NOT_POSSIBLE', `An order in ${low_level} can no longer have a visit. Place a new order.`)
}

export const appointmentExists = () =>
  problem('APPOINTMENT_EXISTS', 'The order already has an active appointment. Reschedule it, or cancel it first.')

export const appointmentNotFound = () => problem('APPOINTMENT_NOT_FOUND', 'The order has no appointment. Book one first.')

export const siteOfAnotherLab = (code: string) =>
  problem('UNKNOWN_SITE', `The lab of the order has no site ${code}. List the slots of the order's own lab and choose one of them.`)

export function checkAdult(age: number | undefined) {
  if (age !== undefined && age < 18)
    throw problem('MINOR_AT_HOME', 'Phlebotomists do not visit patients under 18 at home. Choose another collection method.')
}

export function checkMovable({ status, start_at }: Visit, now: string) {
  if (!['confirmed', 'reserved'].includes(status) || !start_at || start_at <= now)
    throw problem('VISIT_NOT_MOVABLE', 'Only a booked visit that has not begun can be rescheduled. Book the visit if it has no time yet.')
}

export const canMove = (visit: Visit, now: string) =>
  ['confirmed', 'reserved'].includes(visit.status) && visit.start_at !== null && visit.start_at > now

export function checkCancellable(visit: Visit) {
  if (!isActive(visit)) throw problem('VISIT_ENDED', `The appointment is already ${visit.status}.`)
}

const follows: Record<string, string[]> = { confirmed: ['in_progress', 'completed'], in_progress: ['completed'] }

export function checkReport({ status }: Visit, to: string) {
  if (!follows[status]?.includes(to))
    throw problem('VISIT_NOT_POSSIBLE', `An appointment that is ${status} cannot become ${to}. Report in_progress, then completed.`)
}

const WITHOUT_REQUISITION_MS = 8 * HOUR
const BEFORE_START_MS = 2 * HOUR

/**
 * When a reserved visit is canceled automatically: eight hours after the order was placed, unless the order is scheduled, or two
 * hours before the visit.
 */
export function reservationEnds({ created_at, scheduled }: Order, start_at: string) {
  const beforeStart = later(start_at, -BEFORE_START_MS)
  const patience = later(created_at, WITHOUT_REQUISITION_MS)
  return scheduled || beforeStart < patience ? beforeStart : patience
}

/** How long a service in the sandbox takes to propose a time. */
const PROPOSAL_MS = HOUR

/** When the sandbox changes a visit: it begins and ends at its times. */
const visitTimes: Record<string, 'start_at' | 'end_at'> = { confirmed: 'start_at', in_progress: 'end_at' }

/** When a visit changes without a report. Outside the sandbox, only a reservation ends by itself. */
export function nextChangeAt(order: Order, visit: DatedVisit, isSandbox: boolean) {
  if (visit.status === 'reserved' && visit.start_at) return reservationEnds(order, visit.start_at)
  if (!isSandbox || visit.type !== 'phlebotomy') return null
  if (visit.status === 'pending') return later(visit.created_at, PROPOSAL_MS)
  const field = visitTimes[visit.status]
  return field ? visit[field] : null
}

const ended = ['cancelled', 'do_not_process']
const collected = ['draw_completed', 'partial_results', 'completed', 'sample_error', 'redraw_available']
const accepted = ['requisition_created', 'requisition_bypassed']

/** What a step of the order means for its active visit. Canceling an order never cancels a visit to a center. */
export function visitAfterStep({ status, type }: Visit, step: string): AppointmentStatus | undefined {
  if (accepted.includes(step) && status === 'reserved') return 'confirmed'
  if (ended.includes(step) && type === 'phlebotomy') return 'cancelled'
  return collected.includes(step) ? 'completed' : undefined
}

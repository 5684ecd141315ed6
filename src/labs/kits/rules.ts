import type { Direction, KitLimits, ScanStatus } from '../../contract/labs/kits.ts'
import type { Method } from '../../contract/labs/lifecycle.ts'
import { problem } from '../../platform/problem.ts'
import { DAY, later } from '../../platform/time.ts'
import * as orders from '../orders/rules.ts'

type Order = { method: Method; low_level: string; registrable: boolean; events: { low_level: string }[] }

/** The part of its way that a kit is on. */
export type Leg = 'to_customer' | 'with_customer' | 'to_lab'

const stepsOfScans: Record<Direction, Record<ScanStatus, string>> = {
  outbound: {
    in_transit: 'transit_customer',
    out_for_delivery: 'out_for_delivery',
    delivered: 'with_customer',
    delayed: 'problem_in_transit_customer',
    undeliverable: 'failure_to_deliver_to_customer',
    lost: 'lost',
  },
  inbound: {
    in_transit: 'transit_lab',
    out_for_delivery: 'transit_lab',
    delivered: 'delivered_to_lab',
    delayed: 'problem_in_transit_lab',
    undeliverable: 'failure_to_deliver_to_lab',
    lost: 'lost',
  },
}

/** The step that a scan of a parcel means. */
export const stepOfScan = (direction: Direction, status: ScanStatus) => stepsOfScans[direction][status]

const legs: Record<string, Leg> = {
  transit_customer: 'to_customer',
  out_for_delivery: 'to_customer',
  problem_in_transit_customer: 'to_customer',
  with_customer: 'with_customer',
  transit_lab: 'to_lab',
  problem_in_transit_lab: 'to_lab',
}

/** A kit that shipped before its registration is with the patient until it is on its way to the lab. */
export function legOf(order: Order): Leg | undefined {
  if (order.method !== 'testkit') return undefined
  const isRegistered = ['registered', 'requisition_created'].includes(order.low_level)
  if (isRegistered && orders.outbound.some((step) => orders.hasPassed(order, step))) return 'with_customer'
  return legs[order.low_level]
}

const onTheWay: Record<Direction, Leg> = { outbound: 'to_customer', inbound: 'to_lab' }
const problems = ['problem_in_transit_customer', 'problem_in_transit_lab']
const missing = ['lost', 'failure_to_deliver_to_customer', 'failure_to_deliver_to_lab']
const towardLab = ['transit_lab', 'delivered_to_lab']

export type Reaction = 'advance' | 'ignore' | 'alert' | 'recreate'

/**
 * What a step that a courier reports means for the order. A kit that was missing and turns up on its way to the lab continues in a
 * new order. A problem that the lifecycle cannot show, and a canceled kit that arrives, are alerts.
 */
export function reactionTo(order: Order, step: string, direction: Direction): Reaction {
  if (reappears(order, step)) return 'recreate'
  if (orders.isCancelled(order)) return step === 'delivered_to_lab' ? 'alert' : 'ignore'
  // The outbound parcel has arrived once the patient has the kit, so a late scan of it means nothing.
  if (direction === 'outbound' && isWithPatient(order)) return 'ignore'
  if (orders.canReach(order, step)) return 'advance'
  const isNews = problems.includes(step) && step !== order.low_level && legOf(order) === onTheWay[direction]
  return isNews ? 'alert' : 'ignore'
}

/** Whether a kit that was given up is on its way to the lab after all. */
export const reappears = (order: Order, step: string) =>
  order.method === 'testkit' && towardLab.includes(step) && missing.includes(order.low_level)

const isWithPatient = (order: Order) => ['with_customer', ...towardLab].some((step) => orders.hasPassed(order, step))

/** The step of an overdue kit, where the lifecycle has one. Only a courier or an operator reports a kit as lost. */
export function overdueStep(order: Order) {
  const leg = legOf(order)
  const step = leg === 'to_customer' ? 'problem_in_transit_customer' : leg === 'to_lab' ? 'problem_in_transit_lab' : undefined
  return step && orders.canFollow(order, step) ? step : undefined
}

export const defaultLimits: KitLimits = { to_customer_days: 10, with_customer_days: 30, to_lab_days: 7 }

export const limitOf = (limits: KitLimits, leg: Leg) => limits[`${leg}_days`]

export function dueAt(limits: KitLimits, leg: Leg, since: string) {
  const days = limitOf(limits, leg)
  return days === null ? null : later(since, days * DAY)
}

export function checkIsKit({ method }: Order) {
  if (method !== 'testkit') throw problem('NOT_A_KIT', 'The order is not collected with a test kit, so it has no shipment.')
}

export const courierNotFound = () =>
  problem('COURIER_NOT_FOUND', 'The team has no courier with this code. List the couriers with GET /v3/courier.')

export const unknownCourier = () =>
  problem('UNKNOWN_COURIER', 'The team has no courier with this code. Create it with PUT /v3/courier/{courier}.')

export const trackingNumberTaken = () =>
  problem('TRACKING_NUMBER_TAKEN', 'Another order has a parcel with this tracking number. Check the label.')

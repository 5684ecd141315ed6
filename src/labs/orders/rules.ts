import { canBecome, isEnd, type Method, reachableFrom, shortestPath, stepsOf } from '../../contract/labs/lifecycle.ts'
import { problem } from '../../platform/problem.ts'
import { servesState } from '../coverage/rules.ts'

type Order = { method: Method; low_level: string; registrable: boolean; events: { low_level: string }[] }

export const hasPassed = (order: Order, step: string) => order.events.some((event) => event.low_level === step)

/** The steps of a kit to the patient. */
export const outbound = ['transit_customer', 'out_for_delivery', 'with_customer']

/** The next step toward results. For a kit it depends on whether the kit shipped before it had a patient. */
export function nextStep(order: Order): string | undefined {
  if (order.method === 'testkit') {
    if (order.low_level === 'ordered' && order.registrable) return 'awaiting_registration'
    if (order.low_level === 'with_customer' && needsRegistration(order)) return 'registered'
    if (order.low_level === 'requisition_created' && outbound.some((step) => hasPassed(order, step))) return 'transit_lab'
  }
  return stepsOf(order.method)[order.low_level]?.next
}

/** A kit that was shipped before its patient is known. */
export const awaitsPatient = ({ registrable, document }: { registrable: boolean; document: { patient_details: unknown } }) =>
  registrable && !document.patient_details

const needsRegistration = (order: Order) => order.registrable && !hasPassed(order, 'registered')

/** The steps from the current one to `final`: along the usual path, or by the shortest transitions if it is off that path. */
export function pathTo(order: Order, final: string): string[] {
  const steps: string[] = []
  for (let current = order; current.low_level !== final; ) {
    const step = nextStep(current)
    if (!step) break
    steps.push(step)
    current = { ...current, low_level: step, events: [...current.events, { low_level: step }] }
  }
  if (steps.at(-1) === final) return steps
  const branch = detourTo(order, steps, final)
  if (!branch)
    throw problem(
      'STATUS_NOT_REACHABLE',
      `An order in ${order.low_level} cannot reach ${final}. The lifecycle reference lists the statuses that can follow.`,
    )
  return branch
}

/** Leaves the usual path for `final` with the shortest detour; of equal detours, the latest. */
function detourTo(order: Order, steps: string[], final: string): string[] | undefined {
  const detours = [order.low_level, ...steps].flatMap((step, i) => {
    const path = shortestPath(order.method, step, final)
    return path && canTakeAll(order, [...steps.slice(0, i), ...path]) ? [[...steps.slice(0, i), ...path]] : []
  })
  const stepsOffPath = (detour: string[]) => detour.length - sharedLength(detour, steps)
  return detours.sort((a, b) => stepsOffPath(a) - stepsOffPath(b) || b.length - a.length)[0]
}

function canTakeAll(order: Order, [step, ...rest]: string[]): boolean {
  if (step === undefined) return true
  return canFollow(order, step) && canTakeAll({ ...order, low_level: step, events: [...order.events, { low_level: step }] }, rest)
}

const sharedLength = (detour: string[], steps: string[]) => {
  const i = detour.findIndex((step, i) => step !== steps[i])
  return i < 0 ? detour.length : i
}

const onlyOutbound = [...outbound, 'problem_in_transit_customer', 'failure_to_deliver_to_customer']

/**
 * A kit ordered with its patient is never registered. A kit without a patient has no requisition and no results.
 * A kit that was delivered to the patient does not ship again.
 */
function canEnter(order: Order, step: string) {
  if (order.method !== 'testkit') return true
  if (['awaiting_registration', 'registered'].includes(step)) return needsRegistration(order)
  if (['requisition_created', 'completed'].includes(step)) return !needsRegistration(order)
  return !(onlyOutbound.includes(step) && hasPassed(order, 'with_customer'))
}

/** An outbound scan that was already reported. A kit ships again only after a problem in transit. */
const isRepeatedScan = (order: Order, step: string) =>
  outbound.includes(step) && hasPassed(order, step) && order.low_level !== 'problem_in_transit_customer'

/** Whether one transition leads from the current step to this one. */
export const canFollow = (order: Order, step: string) =>
  canBecome(order.method, order.low_level, step) && canEnter(order, step) && !isRepeatedScan(order, step)

/** Whether the order is already at this step and cannot enter it again. */
export const isAt = (order: Order, step: string) => order.low_level === step && !canFollow(order, step)

const cancellations = ['cancelled', 'do_not_process']

/**
 * Classifies a step that a lab or courier reports. Scans can be missing, so it may be several transitions ahead.
 * A step that the order already passed is late and changes nothing.
 */
export function classifyReport(order: Order, step: string): 'accept' | 'late' {
  const kind = kindOfReport(order, step)
  if (kind !== 'impossible') return kind
  throw problem(
    'STATUS_NOT_REACHABLE',
    `An order in ${order.low_level} cannot reach ${step}. The lifecycle reference lists the statuses that can follow.`,
  )
}

/** Whether a report of this step changes the order. */
export const canReach = (order: Order, step: string) => kindOfReport(order, step) === 'accept'

/** Classifies a report. It never throws, because nobody can correct a report. */
export function kindOfReport(order: Order, step: string): 'accept' | 'late' | 'impossible' {
  if (canFollow(order, step)) return 'accept'
  const ahead = reachableFrom(order.method, order.low_level, (candidate) => canEnter(order, candidate))
  if (ahead.has(step) && !isRepeatedScan(order, step) && !cancellations.includes(step) && step !== order.low_level) return 'accept'
  const isLate = step === order.low_level || hasPassed(order, step) || reachableFrom(order.method, step).has(order.low_level)
  return isLate ? 'late' : 'impossible'
}

export const isCancelled = (order: Order) => cancellations.includes(order.low_level)

/** Gap 41: an order can be canceled while a transition leads from its step to cancelled. */
export function checkCancellable(order: Order) {
  if (!canFollow(order, 'cancelled'))
    throw problem(
      'ORDER_NOT_CANCELLABLE',
      `An order in ${order.low_level} can no longer be canceled. The lifecycle reference lists the statuses that allow it.`,
    )
}

/** An order in ordered may already be at a partner lab, which has not reported yet; it is no longer held. */
const isHeld = ({ low_level, dispatch_at }: ScheduledOrder) =>
  low_level === 'ordered' ? dispatch_at !== null : low_level === 'awaiting_registration'

type ScheduledOrder = Order & { scheduled: boolean; dispatch_at: string | null }

export function checkReschedule(order: ScheduledOrder, canActivate: boolean) {
  if (!isHeld(order))
    throw problem(
      'ORDER_NOT_HELD',
      `An order in ${order.low_level} cannot be rescheduled. You can reschedule an order in ordered that is not yet sent to the lab, or in awaiting_registration.`,
    )
  if (!order.scheduled)
    throw problem(
      'ORDER_NOT_SCHEDULED',
      'The order was created without activate_by, so it has no date to change. Cancel it and place a new order.',
    )
  if (!canActivate) throw problem('ACTIVATE_BY_PASSED', 'activate_by has passed. Send today or a later day.')
}

export function checkDraw(order: Order) {
  if (order.method !== 'on_site_collection')
    throw problem('NOT_ON_SITE', 'You report the draw of on_site_collection orders only. For other collection methods, the lab reports it.')
  if (!canFollow(order, 'draw_completed'))
    throw problem(
      'DRAW_NOT_POSSIBLE',
      order.low_level === 'ordered'
        ? 'The lab has not accepted the order yet. Wait for requisition_created.'
        : `The order is in ${order.low_level}, so its draw can no longer be reported. Report the draw once, before the lab reports results.`,
    )
}

/** Gap 363: the steps that date the collection, if the lab does not report collected_at. Results do not. */
const collectionSteps: Record<Method, string[]> = {
  walk_in_test: [],
  at_home_phlebotomy: ['draw_completed'],
  testkit: ['transit_lab', 'delivered_to_lab'],
  on_site_collection: ['draw_completed'],
}

export const impliesCollection = (method: Method, step: string) => collectionSteps[method].includes(step)

type Sibling = { id: string; method: Method; low_level: string; parent_id: string | null }

/** Gap 42: cancelled if every order is; active while any order is. An offered redraw is active until its order exists. */
export function transactionStatus(orders: Sibling[]): 'active' | 'completed' | 'cancelled' {
  if (orders.every((order) => cancellations.includes(order.low_level))) return 'cancelled'
  return orders.some((order) => isActive(order, orders)) ? 'active' : 'completed'
}

function isActive(order: Sibling, orders: Sibling[]) {
  if (order.low_level === 'redraw_available') return !orders.some((other) => other.parent_id === order.id)
  return !isEnd(order.method, order.low_level) && !['completed', 'corrected'].includes(order.low_level)
}

export function checkKit<T extends { method: string }>(test: T | undefined): asserts test is T {
  if (test?.method !== 'testkit')
    throw problem('NOT_A_TESTKIT', 'The lab test is not collected with a test kit. Choose a lab test whose method is testkit.')
}

export function checkStateServed(lab: { name: string; excluded_states: string[] }, state: string) {
  if (!servesState(lab, state))
    throw problem('LAB_DOES_NOT_SERVE_STATE', `${lab.name} does not serve this state. Order a kit from another lab.`)
}

export function checkRegistrable(order: Order) {
  if (!order.registrable)
    throw problem('KIT_HAS_A_PATIENT', 'The order with this sample_id already names its patient, so there is no kit to register.')
  if (hasPassed(order, 'registered'))
    throw problem('KIT_REGISTERED', 'The kit is already registered. Check the sample_id if you expected another kit.')
  // The patient may register a delivered kit before the courier's scan arrives.
  if (!reachableFrom('testkit', order.low_level).has('registered'))
    throw problem(
      'KIT_NOT_REGISTRABLE',
      `A kit in ${order.low_level} cannot be registered. Register it before it is on its way to the lab.`,
    )
}

type Redrawable = Order & { siblings: { origin: string }[]; lab_test: { lab: { supports_redraw: boolean } } }

/** Gap 46: a redraw is offered once in a transaction, on a walk-in order, by a lab that offers redraws. */
export const mayRedraw = ({ siblings, lab_test }: Redrawable) =>
  lab_test.lab.supports_redraw && !siblings.some(({ origin }) => origin === 'redraw')

export function checkRedraw(order: Redrawable) {
  if (!mayRedraw(order))
    throw problem('REDRAW_NOT_OFFERED', 'The lab cannot offer a redraw: it does not support redraws, or the transaction already has one.')
}

/** An order that ended without results rejects them, so that no result is lost. */
export function checkAcceptsResults({ method, low_level }: Order) {
  if (isEnd(method, low_level))
    throw problem(
      'STATUS_NOT_REACHABLE',
      `An order in ${low_level} accepts no results. Recreate it with POST /lab/v1/orders/{order_id}/recreate.`,
    )
}

export const transactionNotFound = () =>
  problem('TRANSACTION_NOT_FOUND', 'The team has no order transaction with this ID. Send order_transaction.id of an order.')

export const orderNotFound = () => problem('ORDER_NOT_FOUND', 'The team has no order with this ID. List the orders with GET /v3/orders.')

/** The collection methods. */
export const methods = ['walk_in_test', 'at_home_phlebotomy', 'testkit', 'on_site_collection'] as const
export type Method = (typeof methods)[number]

export const topLevels = ['received', 'collecting_sample', 'sample_with_lab', 'completed', 'cancelled', 'failed'] as const
export type TopLevel = (typeof topLevels)[number]

type Step = {
  top: TopLevel
  /** The steps that can follow. */
  to: readonly string[]
  /** The step that the simulator takes next; absent at the end of the usual path. */
  next?: string
}

const ended = { to: [] } as const
const corrected = { top: 'completed', to: ['corrected'] } as const

/**
 * The transition table of orders: for each method and step, the steps that can follow.
 * Gap 30: the specification lists the statuses but no transitions; these follow the public diagrams and the cancellation windows.
 */
export const lifecycle = {
  walk_in_test: {
    ordered: { top: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: {
      top: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'redraw_available', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    requisition_bypassed: {
      top: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'redraw_available', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    appointment_pending: {
      top: 'collecting_sample',
      to: ['appointment_scheduled', 'appointment_cancelled', 'partial_results', 'completed', 'cancelled'],
      next: 'partial_results',
    },
    appointment_scheduled: {
      top: 'collecting_sample',
      to: [
        'appointment_pending',
        'appointment_scheduled',
        'appointment_cancelled',
        'partial_results',
        'completed',
        'redraw_available',
        'sample_error',
        'cancelled',
      ],
      next: 'partial_results',
    },
    appointment_cancelled: {
      top: 'collecting_sample',
      to: ['appointment_pending', 'partial_results', 'completed', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: {
      top: 'sample_with_lab',
      to: ['partial_results', 'completed', 'redraw_available', 'sample_error'],
      next: 'completed',
    },
    redraw_available: { top: 'collecting_sample', ...ended },
    completed: corrected,
    corrected,
    cancelled: { top: 'cancelled', ...ended },
    sample_error: { top: 'failed', ...ended },
  },
  at_home_phlebotomy: {
    ordered: { top: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: {
      top: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'appointment_pending',
    },
    requisition_bypassed: {
      top: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'appointment_pending',
    },
    appointment_pending: {
      top: 'collecting_sample',
      to: ['appointment_scheduled', 'appointment_cancelled', 'partial_results', 'completed', 'cancelled'],
      next: 'appointment_scheduled',
    },
    appointment_scheduled: {
      top: 'collecting_sample',
      to: [
        'appointment_pending',
        'appointment_scheduled',
        'appointment_cancelled',
        'draw_completed',
        'partial_results',
        'completed',
        'sample_error',
        'cancelled',
      ],
      next: 'draw_completed',
    },
    appointment_cancelled: {
      top: 'collecting_sample',
      to: ['appointment_pending', 'appointment_scheduled', 'partial_results', 'completed', 'cancelled'],
      next: 'appointment_scheduled',
    },
    draw_completed: {
      top: 'collecting_sample',
      to: ['partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: { top: 'sample_with_lab', to: ['partial_results', 'completed', 'sample_error'], next: 'completed' },
    completed: corrected,
    corrected,
    cancelled: { top: 'cancelled', ...ended },
    sample_error: { top: 'failed', ...ended },
  },
  testkit: {
    ordered: {
      top: 'received',
      to: ['awaiting_registration', 'requisition_created', 'requisition_bypassed', 'cancelled', 'do_not_process'],
      next: 'requisition_created',
    },
    awaiting_registration: {
      top: 'received',
      to: ['transit_customer', 'registered', 'cancelled', 'do_not_process'],
      next: 'transit_customer',
    },
    registered: { top: 'received', to: ['requisition_created', 'cancelled', 'do_not_process'], next: 'requisition_created' },
    requisition_created: {
      top: 'received',
      to: ['transit_customer', 'transit_lab', 'cancelled', 'do_not_process'],
      next: 'transit_customer',
    },
    requisition_bypassed: {
      top: 'received',
      to: ['transit_customer', 'delivered_to_lab', 'cancelled', 'do_not_process'],
      next: 'delivered_to_lab',
    },
    transit_customer: {
      top: 'collecting_sample',
      to: ['out_for_delivery', 'problem_in_transit_customer', 'failure_to_deliver_to_customer', 'lost'],
      next: 'out_for_delivery',
    },
    out_for_delivery: {
      top: 'collecting_sample',
      to: ['with_customer', 'failure_to_deliver_to_customer', 'lost'],
      next: 'with_customer',
    },
    with_customer: { top: 'collecting_sample', to: ['registered', 'transit_lab', 'lost'], next: 'transit_lab' },
    transit_lab: {
      top: 'collecting_sample',
      to: ['delivered_to_lab', 'problem_in_transit_lab', 'failure_to_deliver_to_lab', 'lost'],
      next: 'delivered_to_lab',
    },
    problem_in_transit_customer: { top: 'collecting_sample', to: ['transit_customer', 'lost'], next: 'transit_customer' },
    problem_in_transit_lab: { top: 'collecting_sample', to: ['transit_lab', 'lost'], next: 'transit_lab' },
    delivered_to_lab: {
      top: 'sample_with_lab',
      to: ['lab_processing_blocked', 'completed', 'sample_error'],
      next: 'completed',
    },
    lab_processing_blocked: { top: 'sample_with_lab', to: ['delivered_to_lab', 'sample_error'], next: 'delivered_to_lab' },
    completed: corrected,
    corrected,
    failure_to_deliver_to_customer: { top: 'failed', ...ended },
    failure_to_deliver_to_lab: { top: 'failed', ...ended },
    sample_error: { top: 'failed', ...ended },
    lost: { top: 'failed', ...ended },
    cancelled: { top: 'cancelled', ...ended },
    do_not_process: { top: 'cancelled', ...ended },
  },
  on_site_collection: {
    ordered: { top: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: { top: 'received', to: ['draw_completed', 'sample_error', 'cancelled'], next: 'draw_completed' },
    requisition_bypassed: { top: 'received', to: ['draw_completed', 'sample_error', 'cancelled'], next: 'draw_completed' },
    draw_completed: {
      top: 'sample_with_lab',
      to: ['partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: { top: 'sample_with_lab', to: ['partial_results', 'completed', 'sample_error'], next: 'completed' },
    completed: corrected,
    corrected,
    cancelled: { top: 'cancelled', ...ended },
    sample_error: { top: 'failed', ...ended },
  },
} as const satisfies Record<Method, Record<string, Step>>

export const stepsOf = (method: Method): Record<string, Step> => lifecycle[method]

/** The composite status, such as `received.walk_in_test.ordered`. */
export function statusOfStep(method: Method, low: string) {
  const step = stepsOf(method)[low]
  if (!step) throw new Error(`${method} has no step ${low}`)
  return `${step.top}.${method}.${low}`
}

/** All 54 statuses. */
export const orderStatuses = methods.flatMap((method) => Object.keys(lifecycle[method]).map((low) => statusOfStep(method, low)))

export const lowLevels = [...new Set(methods.flatMap((method) => Object.keys(lifecycle[method])))]

export const canBecome = (method: Method, from: string, to: string) => stepsOf(method)[from]?.to.includes(to) ?? false

export const isEnd = (method: Method, low: string) => stepsOf(method)[low]?.to.length === 0

/** Every step that can be reached, without the first one unless a path leads back to it. */
export function reachableFrom(method: Method, from: string, canEnter: (low: string) => boolean = () => true): Set<string> {
  const found = new Set<string>()
  const pending = [...(stepsOf(method)[from]?.to ?? [])]
  for (let low = pending.pop(); low !== undefined; low = pending.pop()) {
    if (found.has(low) || !canEnter(low)) continue
    found.add(low)
    pending.push(...(stepsOf(method)[low]?.to ?? []))
  }
  return found
}

/** The shortest path from one step to another, without the first step; undefined if there is none. */
export function shortestPath(method: Method, from: string, to: string): string[] | undefined {
  const paths: string[][] = (stepsOf(method)[from]?.to ?? []).map((low) => [low])
  const seen = new Set<string>()
  for (let path = paths.shift(); path; path = paths.shift()) {
    const low = path.at(-1) as string
    if (low === to) return path
    if (seen.has(low)) continue
    seen.add(low)
    paths.push(...(stepsOf(method)[low]?.to ?? []).map((after) => [...path, after]))
  }
  return undefined
}

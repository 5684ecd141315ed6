/** The collection methods. */
export const methods = ['walk_in_test', 'at_home_phlebotomy', 'testkit', 'on_site_collection'] as const
export type Method = (typeof methods)[number]

export const phases = ['received', 'collecting_sample', 'sample_with_lab', 'completed', 'cancelled', 'failed'] as const
export type Phase = (typeof phases)[number]

type Step = {
  phase: Phase
  /** The steps that can follow. */
  to: readonly string[]
  /** The step that the simulator takes next; absent at the end of the usual path. */
  next?: string
}

const ended = { to: [] } as const
const correctable = { phase: 'completed', to: ['corrected'] } as const

/**
 * The transition table of orders: for each method and step, the steps that can follow.
 * Gap 30: the specification lists the statuses but no transitions; these follow the public diagrams and the cancellation windows.
 */
export const lifecycle = {
  walk_in_test: {
    ordered: { phase: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: {
      phase: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'redraw_available', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    requisition_bypassed: {
      phase: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'redraw_available', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    appointment_pending: {
      phase: 'collecting_sample',
      to: ['appointment_scheduled', 'appointment_cancelled', 'partial_results', 'completed', 'cancelled'],
      next: 'partial_results',
    },
    appointment_scheduled: {
      phase: 'collecting_sample',
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
      phase: 'collecting_sample',
      to: ['appointment_pending', 'partial_results', 'completed', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: {
      phase: 'sample_with_lab',
      to: ['partial_results', 'completed', 'redraw_available', 'sample_error'],
      next: 'completed',
    },
    redraw_available: { phase: 'collecting_sample', ...ended },
    completed: correctable,
    corrected: correctable,
    cancelled: { phase: 'cancelled', ...ended },
    sample_error: { phase: 'failed', ...ended },
  },
  at_home_phlebotomy: {
    ordered: { phase: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: {
      phase: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'appointment_pending',
    },
    requisition_bypassed: {
      phase: 'received',
      to: ['appointment_pending', 'partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'appointment_pending',
    },
    appointment_pending: {
      phase: 'collecting_sample',
      to: ['appointment_scheduled', 'appointment_cancelled', 'partial_results', 'completed', 'cancelled'],
      next: 'appointment_scheduled',
    },
    appointment_scheduled: {
      phase: 'collecting_sample',
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
      phase: 'collecting_sample',
      to: ['appointment_pending', 'appointment_scheduled', 'partial_results', 'completed', 'cancelled'],
      next: 'appointment_scheduled',
    },
    draw_completed: {
      phase: 'collecting_sample',
      to: ['partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: { phase: 'sample_with_lab', to: ['partial_results', 'completed', 'sample_error'], next: 'completed' },
    completed: correctable,
    corrected: correctable,
    cancelled: { phase: 'cancelled', ...ended },
    sample_error: { phase: 'failed', ...ended },
  },
  testkit: {
    ordered: {
      phase: 'received',
      to: ['awaiting_registration', 'requisition_created', 'requisition_bypassed', 'cancelled', 'do_not_process'],
      next: 'requisition_created',
    },
    awaiting_registration: {
      phase: 'received',
      to: ['transit_customer', 'registered', 'cancelled', 'do_not_process'],
      next: 'transit_customer',
    },
    registered: { phase: 'received', to: ['requisition_created', 'cancelled', 'do_not_process'], next: 'requisition_created' },
    requisition_created: {
      phase: 'received',
      to: ['transit_customer', 'transit_lab', 'cancelled', 'do_not_process'],
      next: 'transit_customer',
    },
    requisition_bypassed: {
      phase: 'received',
      to: ['transit_customer', 'delivered_to_lab', 'cancelled', 'do_not_process'],
      next: 'delivered_to_lab',
    },
    transit_customer: {
      phase: 'collecting_sample',
      to: ['out_for_delivery', 'problem_in_transit_customer', 'failure_to_deliver_to_customer', 'lost'],
      next: 'out_for_delivery',
    },
    out_for_delivery: {
      phase: 'collecting_sample',
      to: ['with_customer', 'failure_to_deliver_to_customer', 'lost'],
      next: 'with_customer',
    },
    with_customer: { phase: 'collecting_sample', to: ['registered', 'transit_lab', 'lost'], next: 'transit_lab' },
    transit_lab: {
      phase: 'collecting_sample',
      to: ['delivered_to_lab', 'problem_in_transit_lab', 'failure_to_deliver_to_lab', 'lost'],
      next: 'delivered_to_lab',
    },
    problem_in_transit_customer: { phase: 'collecting_sample', to: ['transit_customer', 'lost'], next: 'transit_customer' },
    problem_in_transit_lab: { phase: 'collecting_sample', to: ['transit_lab', 'lost'], next: 'transit_lab' },
    delivered_to_lab: {
      phase: 'sample_with_lab',
      to: ['lab_processing_blocked', 'completed', 'sample_error'],
      next: 'completed',
    },
    lab_processing_blocked: { phase: 'sample_with_lab', to: ['delivered_to_lab', 'sample_error'], next: 'delivered_to_lab' },
    completed: correctable,
    corrected: correctable,
    failure_to_deliver_to_customer: { phase: 'failed', ...ended },
    failure_to_deliver_to_lab: { phase: 'failed', ...ended },
    sample_error: { phase: 'failed', ...ended },
    lost: { phase: 'failed', ...ended },
    cancelled: { phase: 'cancelled', ...ended },
    do_not_process: { phase: 'cancelled', ...ended },
  },
  on_site_collection: {
    ordered: { phase: 'received', to: ['requisition_created', 'requisition_bypassed', 'cancelled'], next: 'requisition_created' },
    requisition_created: { phase: 'received', to: ['draw_completed', 'sample_error', 'cancelled'], next: 'draw_completed' },
    requisition_bypassed: { phase: 'received', to: ['draw_completed', 'sample_error', 'cancelled'], next: 'draw_completed' },
    draw_completed: {
      phase: 'sample_with_lab',
      to: ['partial_results', 'completed', 'sample_error', 'cancelled'],
      next: 'partial_results',
    },
    partial_results: { phase: 'sample_with_lab', to: ['partial_results', 'completed', 'sample_error'], next: 'completed' },
    completed: correctable,
    corrected: correctable,
    cancelled: { phase: 'cancelled', ...ended },
    sample_error: { phase: 'failed', ...ended },
  },
} as const satisfies Record<Method, Record<string, Step>>

/** The steps of a kit that a courier or the operator reports. */
export const shippingSteps = [
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'problem_in_transit_customer',
  'failure_to_deliver_to_customer',
  'transit_lab',
  'delivered_to_lab',
  'problem_in_transit_lab',
  'failure_to_deliver_to_lab',
  'lost',
] as const

export const stepsOf = (method: Method): Record<string, Step> => lifecycle[method]

/** The full status, such as `received.walk_in_test.ordered`. */
export function statusOfStep(method: Method, step: string) {
  const phase = stepsOf(method)[step]?.phase
  if (!phase) throw new Error(`${method} has no step ${step}`)
  return `${phase}.${method}.${step}`
}

/** All 54 statuses. */
export const orderStatuses = methods.flatMap((method) => Object.keys(lifecycle[method]).map((step) => statusOfStep(method, step)))

export const stepNames = [...new Set(methods.flatMap((method) => Object.keys(lifecycle[method])))]

export const canBecome = (method: Method, from: string, to: string) => stepsOf(method)[from]?.to.includes(to) ?? false

export const isEnd = (method: Method, step: string) => stepsOf(method)[step]?.to.length === 0

/** Every step that can be reached, without the first one unless a path leads back to it. */
export function reachableFrom(method: Method, from: string, canEnter: (step: string) => boolean = () => true): Set<string> {
  const found = new Set<string>()
  const pending = [...(stepsOf(method)[from]?.to ?? [])]
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    if (found.has(step) || !canEnter(step)) continue
    found.add(step)
    pending.push(...(stepsOf(method)[step]?.to ?? []))
  }
  return found
}

/** The shortest path from one step to another, without the first step; undefined if there is none. */
export function shortestPath(method: Method, from: string, to: string): string[] | undefined {
  const paths: string[][] = (stepsOf(method)[from]?.to ?? []).map((step) => [step])
  const seen = new Set<string>()
  for (let path = paths.shift(); path; path = paths.shift()) {
    const step = path.at(-1) as string
    if (step === to) return path
    if (seen.has(step)) continue
    seen.add(step)
    paths.push(...(stepsOf(method)[step]?.to ?? []).map((after) => [...path, after]))
  }
  return undefined
}

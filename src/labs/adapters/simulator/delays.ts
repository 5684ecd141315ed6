import { type Method, stepsOf } from '../../../contract/labs/lifecycle.ts'
import { seededRandom } from '../../../platform/seeded-random.ts'
import { DAY, HOUR, MINUTE } from '../../../platform/time.ts'

type Span = readonly [min: number, max: number]

/** The time to reach a step from any previous step. */
const spans: Record<string, Span> = {
  awaiting_registration: [1 * MINUTE, 10 * MINUTE],
  requisition_created: [2 * MINUTE, 20 * MINUTE],
  requisition_bypassed: [1 * MINUTE, 5 * MINUTE],
  registered: [5 * MINUTE, 2 * DAY],
  appointment_pending: [10 * MINUTE, 4 * HOUR],
  appointment_scheduled: [30 * MINUTE, 1 * DAY],
  appointment_cancelled: [1 * HOUR, 1 * DAY],
  draw_completed: [1 * DAY, 4 * DAY],
  transit_customer: [4 * HOUR, 1 * DAY],
  out_for_delivery: [1 * DAY, 2 * DAY],
  with_customer: [2 * HOUR, 10 * HOUR],
  transit_lab: [1 * DAY, 5 * DAY],
  delivered_to_lab: [1 * DAY, 3 * DAY],
  problem_in_transit_customer: [1 * DAY, 2 * DAY],
  problem_in_transit_lab: [1 * DAY, 2 * DAY],
  failure_to_deliver_to_customer: [2 * DAY, 5 * DAY],
  failure_to_deliver_to_lab: [2 * DAY, 5 * DAY],
  lost: [10 * DAY, 20 * DAY],
  lab_processing_blocked: [2 * HOUR, 8 * HOUR],
  redraw_available: [4 * HOUR, 36 * HOUR],
  sample_error: [4 * HOUR, 36 * HOUR],
  corrected: [1 * DAY, 5 * DAY],
  cancelled: [1 * MINUTE, 30 * MINUTE],
  do_not_process: [1 * MINUTE, 30 * MINUTE],
}

/** Durations that depend on the previous step. */
const exceptions: Record<string, Span> = {
  'on_site_collection: requisition_created → draw_completed': [1 * HOUR, 1 * DAY],
  'on_site_collection: requisition_bypassed → draw_completed': [1 * HOUR, 1 * DAY],
  'testkit: requisition_created → transit_lab': [2 * HOUR, 1 * DAY],
  'testkit: problem_in_transit_lab → transit_lab': [4 * HOUR, 2 * DAY],
  'testkit: lab_processing_blocked → delivered_to_lab': [4 * HOUR, 2 * DAY],
}

/** Shares of the usual turnaround; a partial report and the rest together stay within it. */
const labWork = { partial: [0.35, 0.55], rest: [0.25, 0.45], all: [0.6, 1] } as const

/** The time until the patient visits the lab. */
const untilVisit: Span = [4 * HOUR, 4 * DAY]
const withLab = ['partial_results', 'draw_completed', 'delivered_to_lab', 'lab_processing_blocked']

type Move = { method: Method; from: string; to: string; seed: string; common_tat_days: number | null }

/** A realistic delay in milliseconds between two steps of an order. The same seed gives the same delay. */
export function stepDelay({ method, from, to, seed, common_tat_days }: Move): number {
  if (!stepsOf(method)[to]) throw new Error(`${method} has no step ${to}`)
  const random = seededRandom(seed, 'delay', from, to)
  const pickFrom = ([min, max]: Span) => Math.round(min + random() * (max - min))
  if (to !== 'partial_results' && to !== 'completed') return pickFrom(exceptions[`${method}: ${from} → ${to}`] ?? (spans[to] as Span))
  const [min, max] = labWork[to === 'partial_results' ? 'partial' : from === 'partial_results' ? 'rest' : 'all']
  const turnaround = Math.max(1, common_tat_days ?? 3) * DAY
  return pickFrom([min * turnaround, max * turnaround]) + (withLab.includes(from) ? 0 : pickFrom(untilVisit))
}

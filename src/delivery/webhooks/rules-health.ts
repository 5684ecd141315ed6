import { DAY, HOUR, later, SECOND } from '../../platform/time.ts'
import { type AttemptOutcome, isGone } from './rules.ts'

export type Breaker = { failures: number; trips: number; paused_until: string | null }

export const closedBreaker: Breaker = { failures: 0, trips: 0, paused_until: null }

/** An outcome, and the pause that had ended when its message was sent. A message that was sent after the present pause is its probe. */
type Probe = { outcome: AttemptOutcome; probed: string | null }

/** This many consecutive failures open the circuit breaker. Then one message at a time is sent; each failure leads to the next pause. */
export const BREAKER_THRESHOLD = 5
export const pausesMs = [15 * SECOND, 30 * SECOND, 60 * SECOND, 120 * SECOND, 300 * SECOND]
const LONGEST_PAUSE_MS = Math.max(...pausesMs)

export function breakerAfter(state: Breaker, { outcome, probed }: Probe, at: string): Breaker {
  if (outcome.error === 'aborted') return state
  const isProbe = probed !== null && probed === state.paused_until
  // Deliveries in flight when the breaker opened add no information.
  if (state.paused_until !== null && !isProbe) return state
  if (!isReceiverFailure(outcome)) return closedBreaker
  const failures = state.failures + 1
  const requestedMs = asksToSlowDown(outcome) ? Math.min(outcome.retry_after_ms ?? 0, LONGEST_PAUSE_MS) : 0
  if (!isProbe && failures < BREAKER_THRESHOLD)
    return { failures, trips: state.trips, paused_until: requestedMs ? later(at, requestedMs) : null }
  const pause = pausesMs[Math.min(state.trips, pausesMs.length - 1)] as number
  return { failures, trips: state.trips + 1, paused_until: later(at, Math.max(pause, requestedMs)) }
}

/** Other 4xx responses concern one message: the receiver is up and may accept the next one. */
const isReceiverFailure = ({ ok, status, error }: AttemptOutcome) =>
  !ok && (error !== 'status' || status === null || status >= 500 || [408, 425, 429].includes(status))

const asksToSlowDown = ({ status }: AttemptOutcome) => status === 429 || status === 503

/** When a message due at `run_at` is attempted: never while the webhook is disabled, and not before its pause ends. */
export function nextAttemptAt(
  { disabled_at, paused_until }: { disabled_at: string | null; paused_until: string | null },
  run_at: string | null,
) {
  if (disabled_at || !run_at) return null
  return paused_until && paused_until > run_at ? paused_until : run_at
}

/** The state for disabling a webhook automatically. All fields are null while the last attempt succeeded. */
export type Health = { first_failure_at: string | null; last_failure_at: string | null; clock_started_at: string | null }

export const healthy: Health = { first_failure_at: null, last_failure_at: null, clock_started_at: null }

const WINDOW_MS = DAY
const MIN_SPAN_MS = 12 * HOUR
const DISABLE_AFTER_MS = 5 * DAY

/** The five days before a webhook is disabled start once two failures without a success in between are 12 to 24 hours apart. */
export function healthAfter(health: Health, outcome: AttemptOutcome, at: string): Health {
  if (outcome.ok) return healthy
  if (outcome.error === 'aborted') return health
  // If the first failure is too old, no failure followed it within 12 to 24 hours, so only the last one can still count.
  const first = [health.first_failure_at, health.last_failure_at].find((then) => then !== null && msBetween(then, at) <= WINDOW_MS) ?? at
  const clock_started_at = health.clock_started_at ?? (msBetween(first, at) >= MIN_SPAN_MS ? at : null)
  return { first_failure_at: first, last_failure_at: at, clock_started_at }
}

/** Whether this attempt disables the webhook. */
export const shouldDisable = (health: Health, outcome: AttemptOutcome, at: string) =>
  isGone(outcome) || (!outcome.ok && health.clock_started_at !== null && msBetween(health.clock_started_at, at) >= DISABLE_AFTER_MS)

const msBetween = (from: string, to: string) => Date.parse(to) - Date.parse(from)

import { type Answered, isGone, later } from './rules.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR

export type Breaker = { failures: number; trips: number; open_until: string | null; probing: boolean }

export const closedBreaker: Breaker = { failures: 0, trips: 0, open_until: null, probing: false }

/** This many consecutive failures open the circuit breaker. Then one message at a time is sent; each failure leads to the next pause. */
export const SUSPECT = 5
export const pauses = [15 * SECOND, 30 * SECOND, 60 * SECOND, 120 * SECOND, 300 * SECOND]
const LONGEST = Math.max(...pauses)

export function breaker(state: Breaker, outcome: Answered, at: string): Breaker {
  if (outcome.error === 'aborted') return state
  if (!isTrouble(outcome)) return closedBreaker
  // Deliveries in flight when the breaker opened add no information.
  if (state.open_until !== null && !state.probing) return state
  const failures = state.failures + 1
  const asked = asksForRest(outcome) ? Math.min(outcome.retry_after_ms ?? 0, LONGEST) : 0
  if (!state.probing && failures < SUSPECT) return { ...state, failures, open_until: asked ? later(at, asked) : null }
  const pause = pauses[Math.min(state.trips, pauses.length - 1)] as number
  return { failures, trips: state.trips + 1, open_until: later(at, Math.max(pause, asked)), probing: false }
}

/** Other 4xx responses concern one message: the receiver is up and may accept the next one. */
const isTrouble = ({ ok, status, error }: Answered) =>
  !ok && (error !== 'status' || status === null || status >= 500 || [408, 425, 429].includes(status))

const asksForRest = ({ status }: Answered) => status === 429 || status === 503

/** When a message due at `run_at` is attempted: never while the webhook is disabled, and not before its pause ends. */
export function triedAt({ disabled_at, paused_until }: { disabled_at: string | null; paused_until: string | null }, run_at: string | null) {
  if (disabled_at || !run_at) return null
  return paused_until && paused_until > run_at ? paused_until : run_at
}

/** The state for disabling a webhook automatically. All fields are null while the last attempt succeeded. */
export type Health = { first_failure_at: string | null; last_failure_at: string | null; clock_started_at: string | null }

export const healthy: Health = { first_failure_at: null, last_failure_at: null, clock_started_at: null }

const WINDOW = DAY
const SPAN = 12 * HOUR
const PATIENCE = 5 * DAY

/** The period starts once two failures without a success in between are 12 to 24 hours apart. */
export function healthAfter(health: Health, outcome: Answered, at: string): Health {
  if (outcome.ok) return healthy
  if (outcome.error === 'aborted') return health
  // If the first failure is too old, no failure followed it within 12 to 24 hours, so only the last one can still count.
  const first = [health.first_failure_at, health.last_failure_at].find((then) => then !== null && apart(then, at) <= WINDOW) ?? at
  const clock_started_at = health.clock_started_at ?? (apart(first, at) >= SPAN ? at : null)
  return { first_failure_at: first, last_failure_at: at, clock_started_at }
}

/** Whether this attempt disables the webhook. */
export const mayDisable = (health: Health, outcome: Answered, at: string) =>
  isGone(outcome) || (!outcome.ok && health.clock_started_at !== null && apart(health.clock_started_at, at) >= PATIENCE)

const apart = (from: string, to: string) => Date.parse(to) - Date.parse(from)

import type { Outcome } from '../../platform/outbound/outcome.ts'
import { HOUR, later, MINUTE, SECOND } from '../../platform/time.ts'

/** Wait before attempt 2, 3, 4… When the list ends, the delivery is exhausted. */
export const retryWaits = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR]

/** Each wait grows by up to a tenth at random, so that messages that failed together are not retried together. */
const JITTER = 0.1

export type AttemptOutcome = Pick<Outcome, 'ok' | 'status' | 'error' | 'retry_after_ms'>

type Attempt = {
  /** Attempts so far, including this one. */
  attempts: number
  outcome: AttemptOutcome
  at: string
  /** From 0 to 1. */
  random: number
  schedule?: number[]
}

export type AttemptVerdict = { state: 'delivered' } | { state: 'waiting'; due_at: string } | { state: 'exhausted' }

export function afterAttempt({ attempts, outcome, at, random, schedule = retryWaits }: Attempt): AttemptVerdict {
  if (outcome.ok) return { state: 'delivered' }
  const wait = schedule[attempts - 1]
  if (wait === undefined) return { state: 'exhausted' }
  const requestedMs = Math.min(outcome.retry_after_ms ?? 0, 2 * wait)
  return { state: 'waiting', due_at: later(at, Math.round(Math.max(wait, requestedMs) * (1 + JITTER * random))) }
}

/** 410 Gone: the webhook is disabled, and its pending messages are kept. */
export const isGone = ({ status }: AttemptOutcome) => status === 410

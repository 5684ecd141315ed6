import type { Outcome } from '../../../platform/outbound/outcome.ts'
import type { Disclosure } from '../../disclosures/rules.ts'
import type { CursorChange, NewAttempt } from './store-cursors.ts'

export type { NewAttempt } from './store-cursors.ts'

/** An outcome, when it was known, and the pause that had ended when its message was sent. */
export type HealthOutcome = { outcome: Outcome; probed: string | null; at: string }

/** What has happened at a cursor since it was last recorded. The position is read when it is recorded. */
export const noChanges = () => ({
  isDirty: false,
  /** Keys that are parked, retried or released in part. */
  parked: new Set<string>(),
  /** Keys without parked messages. */
  removed: new Set<string>(),
  messages: [] as CursorChange['messages'],
  released: [] as CursorChange['released'],
  attempts: [] as NewAttempt[],
  /** What has reached the webhook. */
  disclosed: [] as Disclosure[],
  outcomes: [] as HealthOutcome[],
})

import { createHmac } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { tooMany } from '../../../platform/problem.ts'
import { derive } from '../../../platform/sealing/seal.ts'
import { later, MINUTE, secondsUntil } from '../../../platform/time.ts'
import * as store from './store.ts'

export const WINDOW_MS = 15 * MINUTE

/** Limits apply whether or not the account exists. */
export const MAX_ATTEMPTS_PER_PERSON = 10
export const MAX_ATTEMPTS_PER_NETWORK = 100
const MAX_ATTEMPTS_PER_EMAIL = 100

type Limit = {
  key: string
  max: number
  /** Only the person who signs in causes these attempts, so a success clears them. */
  own?: boolean
}

export const keyLimits = (network: string): Limit[] => [{ key: `keys at ${network}`, max: MAX_ATTEMPTS_PER_NETWORK }]

/**
 * The limits of a sign-in with an email. Attempts elsewhere do not lock the person out of a known device, which has a limit of
 * its own. On others, guesses from one network do not lock the person out of another.
 */
export function personLimits(network: string, email: string, device: string | undefined): Limit[] {
  if (device) return [{ key: `device ${device}`, max: MAX_ATTEMPTS_PER_PERSON, own: true }]
  return [
    { key: `people at ${network}`, max: MAX_ATTEMPTS_PER_NETWORK },
    { key: `email ${email} at ${network}`, max: MAX_ATTEMPTS_PER_PERSON, own: true },
    { key: `email ${email}`, max: MAX_ATTEMPTS_PER_EMAIL },
  ]
}

/** Counts an attempt before it runs, so concurrent attempts count too. A successful one does not count. */
export async function limited<T>(app: App, limits: Limit[], attempt: () => Promise<T>): Promise<T> {
  for (const { key, max } of limits) await countAttempt(app, key, max)
  const result = await attempt()
  for (const { key, own } of limits) await (own ? clearAttempts(app, key) : uncountAttempt(app, key))
  return result
}

export const attemptKey = (app: App, limiterKey: string) =>
  createHmac('sha256', derive(app.vault.root, 'sign-in attempts')).update(limiterKey).digest()

export async function countAttempt(app: App, limiterKey: string, limit: number) {
  const { count, since } = await store.countAttempt(app.db, attemptKey(app, limiterKey), app.wall(), later(app.wall(), -WINDOW_MS))
  if (count > limit)
    throw tooMany(
      'TOO_MANY_SIGN_INS',
      'Too many sign-in attempts. Wait 15 minutes, then sign in again.',
      secondsUntil(later(since, WINDOW_MS), app.wall()),
    )
}

export const uncountAttempt = (app: App, limiterKey: string) => store.uncountAttempt(app.db, attemptKey(app, limiterKey))

export const clearAttempts = (app: App, limiterKey: string) => store.clearAttempts(app.db, attemptKey(app, limiterKey))

export const pruneAttempts = (app: App) => store.deleteOldAttempts(app.db, later(app.wall(), -WINDOW_MS))

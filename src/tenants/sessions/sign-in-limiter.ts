import { createHmac } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { derive } from '../../platform/sealing/seal.ts'
import { later, MINUTE } from '../../platform/time.ts'
import * as store from './store.ts'

const WINDOW_MS = 15 * MINUTE

/** Limits apply per email, whether or not the account exists, and per network address. */
export const MAX_ATTEMPTS_PER_PERSON = 10
export const MAX_ATTEMPTS_PER_ADDRESS = 100

const keyOf = (app: App, limiterKey: string) => createHmac('sha256', derive(app.vault.root, 'sign-in attempts')).update(limiterKey).digest()

/** Counts an attempt before the credentials are checked, so concurrent attempts count too. */
export async function countAttempt(app: App, limiterKey: string, limit: number) {
  const { count } = await store.countAttempt(app.db, keyOf(app, limiterKey), app.wall(), later(app.wall(), -WINDOW_MS))
  if (count > limit) throw problem('TOO_MANY_SIGN_INS', 'Too many sign-in attempts. Wait 15 minutes, then sign in again.')
}

/** A successful attempt does not count. */
export const uncountAttempt = (app: App, limiterKey: string) => store.uncountAttempt(app.db, keyOf(app, limiterKey))

/** A successful sign-in also clears the person's earlier failures. */
export const clearAttempts = (app: App, limiterKey: string) => store.clearAttempts(app.db, keyOf(app, limiterKey))

export const pruneAttempts = (app: App) => store.deleteOldAttempts(app.db, later(app.wall(), -WINDOW_MS))

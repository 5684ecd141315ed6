import { createHmac } from 'node:crypto'
import type { App } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { derive } from '../../platform/sealing/seal.ts'
import { later, MINUTE } from '../../platform/time.ts'
import * as store from './store.ts'

const WINDOW = 15 * MINUTE

/** Tries of one e-mail, whether there is such a person or not, and of one address. */
export const MAX_ATTEMPTS_PER_PERSON = 10
export const MAX_ATTEMPTS_PER_ADDRESS = 100

const keyOf = (app: App, who: string) => createHmac('sha256', derive(app.vault.root, 'sign-in turns')).update(who).digest()

/** Counts a try before it is made. */
export async function countAttempt(app: App, who: string, limit: number) {
  const { taken } = await store.countAttempt(app.db, keyOf(app, who), app.wall(), later(app.wall(), -WINDOW))
  if (taken > limit) throw problem('TOO_MANY_SIGN_INS', 'Too many tries to sign in; wait for 15 minutes and try again.')
}

/** A try that succeeded does not count. */
export const uncountAttempt = (app: App, who: string) => store.uncountAttempt(app.db, keyOf(app, who))

/** Nor do those before it, of whoever could show who it is. */
export const clearAttempts = (app: App, who: string) => store.clearAttempts(app.db, keyOf(app, who))

export const pruneAttempts = (app: App) => store.deleteOldAttempts(app.db, later(app.wall(), -WINDOW))

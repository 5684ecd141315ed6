import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { tooMany } from '../../../platform/problem.ts'
import { later, secondsUntil } from '../../../platform/time.ts'
import { attemptKey, WINDOW_MS } from './sign-in-limiter.ts'
import * as store from './store.ts'

export const MAX_ATTEMPTS = 100
const MAX_REMEMBERED = 10_000

/** Until when this process rejects the attempts of a key without asking the database. */
const rejections = declareCache(() => new Map<string, string>())

/** Rejects an attempt if there were too many. It reads memory only, so that it costs good requests nothing. */
export function checkAttempts(app: App, limiterKey: string) {
  const until = rejections(app).get(limiterKey)
  if (until && until > app.wall())
    throw tooMany(
      'TOO_MANY_ATTEMPTS',
      'Too many attempts. Check the URL, the secret or the signature, then try again later.',
      secondsUntil(until, app.wall()),
    )
}

/** Counts an attempt, such as a request that proved nothing, and rejects it if there were too many in 15 minutes. */
export async function countAgainstLimit(app: App, limiterKey: string, max = MAX_ATTEMPTS) {
  checkAttempts(app, limiterKey)
  const { count, since } = await store.countAttempt(app.db, attemptKey(app, limiterKey), app.wall(), later(app.wall(), -WINDOW_MS))
  if (count <= max) return
  const remembered = rejections(app)
  if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string)
  remembered.set(limiterKey, later(since, WINDOW_MS))
  checkAttempts(app, limiterKey)
}

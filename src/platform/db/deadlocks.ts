import { isDeadlock } from './errors.ts'

const ATTEMPTS = 3

/** PostgreSQL rolls back one side of a deadlock, so that side can run again. */
export async function retryDeadlocks<T>(run: () => Promise<T>, canRunAgain = isDeadlock): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await run()
    } catch (error) {
      if (!canRunAgain(error) || attempt === ATTEMPTS) throw error
    }
}

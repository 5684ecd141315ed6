import type { App } from '../platform/app.ts'
import { type Filling, fillUser } from '../wearables/providers/demo/fill.ts'

/** Every so many-th of the users, from the first on: what one process, or one thread of it, fills. */
export type Share = { filling: Filling; users: number; first: number; step: number }

/** So that the database has something to do while the next user is made up. */
const AT_ONCE = 4

/** `done` hears of each user whether it was made, or was there. */
export async function fillShare(app: App, { filling, users, first, step }: Share, done: (made: boolean) => void) {
  let next = first
  const fill = async () => {
    while (next <= users) {
      const name = `demo-${next}`
      next += step
      done(await fillUser(app, filling, name))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, fill))
}

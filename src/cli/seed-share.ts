import type { App } from '../platform/app.ts'
import { type FillOptions, fillUser } from '../wearables/providers/demo/fill.ts'

/** The users that one thread creates: every `step`-th, starting at `first`. */
export type Share = { filling: FillOptions; users: number; first: number; step: number }

/** Keeps the database busy while the next user is generated. */
const AT_ONCE = 4

/** Calls `done` for each user: true if it was created, false if it existed. */
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

import type { App } from '../platform/app.ts'
import { type FillOptions, fillUser } from '../wearables/providers/demo/fill.ts'

/** A thread creates every `step`-th user, starting at `first`. */
export type Share = { filling: FillOptions; users: number; first: number; step: number }

/** The database stays busy while the next user is generated. */
const CONCURRENCY = 4

/** Calls `onUser` for each user: true if it was created, false if it existed. */
export async function fillShare(app: App, { filling, users, first, step }: Share, onUser: (isCreated: boolean) => void) {
  let next = first
  const fill = async () => {
    while (next <= users) {
      const name = `demo-${next}`
      next += step
      onUser(await fillUser(app, filling, name))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, fill))
}

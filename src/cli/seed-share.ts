import type { App } from '../platform/app.ts'
import { type DemoSeedOptions, seedDemoUser } from '../wearables/demo/seed.ts'

/** A thread creates every `step`-th user, starting at `first`. */
export type Share = { options: DemoSeedOptions; users: number; first: number; step: number }

/** The database stays busy while the next user is generated. */
const CONCURRENCY = 4

/** Seeds the users of a share. Calls `onUser` for each: true if it was created, false if it existed. */
export async function seedShare(app: App, { options, users, first, step }: Share, onUser: (isCreated: boolean) => void) {
  let next = first
  const seedNext = async () => {
    while (next <= users) {
      const name = `demo-${next}`
      next += step
      onUser(await seedDemoUser(app, options, name))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, seedNext))
}

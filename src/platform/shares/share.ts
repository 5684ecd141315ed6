import { AsyncLocalStorage } from 'node:async_hooks'

/** Who a request works for: a team, or an organization, a lab or an address, and within it a key or a user. */
export type Share = { owner: string; member: string }

const shares = new AsyncLocalStorage<Share | undefined>()

/** Undefined for jobs and for other work of the service itself. */
export const currentShare = () => shares.getStore()

export const runForShare = <T>(share: Share, work: () => T): T => shares.run(share, work)

/** Runs work that serves several teams at once, such as a common write. */
export const runForService = <T>(work: () => T): T => shares.run(undefined, work)

import { AsyncLocalStorage } from 'node:async_hooks'
import { SECOND } from '../time.ts'
import { newContention } from './contention.ts'

/** Who a request works for: a team, or an organization, a lab or an address, and within it a key or a user. */
export type Share = { owner: string; member: string }

const shares = new AsyncLocalStorage<Share | undefined>()
const contention = newContention(SECOND)

/** Undefined for jobs and for other work of the service itself. */
export const currentShare = () => shares.getStore()

export const runForShare = <T>(share: Share, work: () => T): T => shares.run(share, work)

/** Runs a request for its share and notes that the owner is active. */
export function runAsActive<T>(share: Share, work: () => T): T {
  seeOwner(share.owner)
  return runForShare(share, work)
}

/** Runs work that serves several teams at once, such as a common write. */
export const runForService = <T>(work: () => T): T => shares.run(undefined, work)

/** Notes that an owner is active. A long request is noted with each of its slices. */
export const seeOwner = contention.see

/** Whether several owners were active in this process within the last second. */
export const isContended = contention.isOn

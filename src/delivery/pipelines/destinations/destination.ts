import type { Policy } from '../../../platform/outbound/address.ts'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import type { Resolve } from '../../../platform/outbound/resolve.ts'
import type { Failure } from '../rules-failure.ts'
import type { Tokens } from './google-tokens.ts'
import type { Message } from './message.ts'

/** A way to one destination. What `publish` resolves for is kept on the other side. */
export type Destination = { isOpen(): boolean; publish(message: Message): Promise<void>; close(): Promise<void> }

/** What destinations may be reached, and how. */
export type OutboundOptions = {
  policy: Policy
  resolve: Resolve
  pubsub: { endpoint: string; projects: string[]; tokens: Tokens }
  /** Instead of the certificate authorities of the system. */
  ca?: string | undefined
}

/** What comes of the work, unless it takes longer than it may, or we end before it does. */
export function within<T>(ms: number, work: Promise<T>, late: () => Failure, ends?: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(errorWithCode(late()))
  const timer = setTimeout(giveUp, ms)
  ends?.addEventListener('abort', giveUp)
  if (ends?.aborted) giveUp()
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(timer)
    ends?.removeEventListener('abort', giveUp)
  })
}

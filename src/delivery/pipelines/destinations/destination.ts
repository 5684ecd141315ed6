import type { Policy } from '../../../platform/outbound/address.ts'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import type { Resolve } from '../../../platform/outbound/resolve.ts'
import type { Failure } from '../rules-failure.ts'
import type { Tokens } from './google-tokens.ts'
import type { Message } from './message.ts'

/** An open destination. When `publish` resolves, the destination has stored the event. */
export type Destination = { isOpen(): boolean; publish(message: Message): Promise<void>; close(): Promise<void> }

/** Settings for outbound connections: allowed addresses, name resolution and Pub/Sub access. */
export type OutboundOptions = {
  policy: Policy
  resolve: Resolve
  pubsub: { endpoint: string; projects: string[]; tokens: Tokens }
  /** Replaces the system's certificate authorities. */
  ca?: string | undefined
}

/** Rejects if the time runs out or the signal aborts before the work is done. */
export function withTimeout<T>(ms: number, work: Promise<T>, failureOnTimeout: () => Failure, signal?: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(errorWithCode(failureOnTimeout()))
  const timer = setTimeout(giveUp, ms)
  signal?.addEventListener('abort', giveUp)
  if (signal?.aborted) giveUp()
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  })
}

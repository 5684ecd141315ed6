import { isConnectionLost, isDatabaseError, isReadOnly } from '../errors.ts'

/** With one group at a time, a write would wait for the group before it, and no group would form while the server writes. */
const MAX_GROUPS = 2
/** A larger group delays its members more than it saves. */
const MAX_SIZE = 32

/** Writes items in one transaction, or none of them. */
type Write<T, R> = (items: T[]) => Promise<R>

/**
 * Items of one turn of the event loop, and those that arrive while enough writes are in flight, are written together. If the server
 * refuses a group, each member is written alone, and only its own error reaches it.
 */
export function groupWrites<T, R>(write: Write<T, R>) {
  type Waiting = { item: T; written: PromiseWithResolvers<{ result: R } | undefined> }
  let waiting: Waiting[] = []
  let inFlight = 0
  let isScheduled = false
  const schedule = () => {
    if (isScheduled || !waiting.length || inFlight >= MAX_GROUPS) return
    isScheduled = true
    setImmediate(sendNext)
  }
  const finish = () => {
    inFlight--
    schedule()
  }
  const sendNext = async () => {
    isScheduled = false
    const group = waiting.slice(0, MAX_SIZE)
    waiting = waiting.slice(MAX_SIZE)
    inFlight++
    schedule()
    try {
      const accepted = group.length > 1 ? await ifAccepted(write(group.map(({ item }) => item))) : undefined
      // Each member that is written alone counts until it is done.
      inFlight += accepted ? 0 : group.length
      for (const { written } of group) written.resolve(accepted)
    } catch (error) {
      for (const { written } of group) written.reject(error)
    }
    finish()
  }
  return {
    async write(item: T): Promise<R> {
      const written = Promise.withResolvers<{ result: R } | undefined>()
      waiting.push({ item, written })
      schedule()
      const accepted = await written.promise
      // The item is written alone here, in the asynchronous context of its request.
      return accepted ? accepted.result : write([item]).finally(finish)
    },
    isIdle: () => !inFlight && !waiting.length,
  }
}

/** Undefined if the server rolled the statement back. Without a response, the statement may have been committed. */
const ifAccepted = <R>(writing: Promise<R>) =>
  writing.then(
    (result) => ({ result }),
    (error) => {
      if (!isDatabaseError(error) || isConnectionLost(error) || isReadOnly(error)) throw error
      return undefined
    },
  )

import { whenConfirmed } from '../../shares/share.ts'
import { isConnectionLost, isDatabaseError, isReadOnly } from '../errors.ts'

/** With one group at a time, a write would wait for the group before it, and no group would form while the server writes. */
const MAX_GROUPS = 2
/** A larger group delays its members more than it saves. */
const MAX_SIZE = 32

type Write<T> = {
  /** Writes several items in one transaction, or none of them. */
  together(items: T[]): Promise<unknown>
  alone(item: T): Promise<void>
}

/**
 * Items of one turn of the event loop, and those that arrive while enough writes are in flight, are written together. If the server
 * refuses a group, each member is written alone, and only its own error reaches it.
 */
export function groupWrites<T>({ together, alone }: Write<T>) {
  type Waiting = { item: T; written: PromiseWithResolvers<boolean> }
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
      const isWritten = group.length > 1 && (await isAccepted(together(group.map(({ item }) => item))))
      // Each member that is written alone counts until it is done.
      inFlight += isWritten ? 0 : group.length
      for (const { written } of group) written.resolve(isWritten)
    } catch (error) {
      for (const { written } of group) written.reject(error)
    }
    finish()
  }
  return {
    async write(item: T) {
      // A group is written in the context of one of its requests, so each waits for its own check.
      await whenConfirmed()
      const written = Promise.withResolvers<boolean>()
      waiting.push({ item, written })
      schedule()
      // The item is written alone here, in the asynchronous context of its request.
      if (!(await written.promise)) await alone(item).finally(finish)
    },
    isIdle: () => !inFlight && !waiting.length,
  }
}

/** False if the server rolled the statement back. Without a response, the statement may have been committed. */
const isAccepted = (writing: Promise<unknown>) =>
  writing.then(
    () => true,
    (error) => {
      if (!isDatabaseError(error) || isConnectionLost(error) || isReadOnly(error)) throw error
      return false
    },
  )

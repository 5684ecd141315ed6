import type { Destination } from '../destinations/destination.ts'
import { messageOf, type Publication } from '../destinations/message.ts'

type PublishResult = { confirmed: number; error?: unknown }

/** Publishes in log order and stops at the first rejected event, or when `isOver` returns true. Returns how many events from the start were confirmed. */
export async function publishAll(
  destination: Pick<Destination, 'publish'>,
  entries: Publication[],
  isOver: () => boolean,
): Promise<PublishResult> {
  const messages = await Promise.all(entries.map(messageOf))
  const inFlight = new Map<string, Promise<void>>()
  const confirms: Promise<void>[] = []
  let isRejected = false
  for (const message of messages) {
    // One event per key is in flight at a time. If it were rejected, a later one would overtake it.
    await inFlight.get(message.key)?.catch(() => {})
    if (isRejected || isOver()) break
    const confirm = destination.publish(message)
    confirm.catch(() => {
      isRejected = true
    })
    inFlight.set(message.key, confirm)
    confirms.push(confirm)
  }
  const settled = await Promise.allSettled(confirms)
  const first = settled.findIndex(({ status }) => status === 'rejected')
  const rejected = settled[first]
  return rejected?.status === 'rejected' ? { confirmed: first, error: rejected.reason } : { confirmed: confirms.length }
}

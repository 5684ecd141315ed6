import type { Logged } from '../../events/log.ts'
import type { Destination } from '../destinations/destination.ts'
import { messageOf } from '../destinations/message.ts'

type Published = { confirmed: number; error?: unknown }

/** Publishes in log order and stops at the first rejected event, or when asked to. Returns how many events from the start were confirmed. */
export async function publishAll(outlet: Pick<Destination, 'publish'>, logged: Logged[], isOver: () => boolean): Promise<Published> {
  const messages = await Promise.all(logged.map(({ key, event }) => messageOf(event, key)))
  const underWay = new Map<string, Promise<void>>()
  const confirms: Promise<void>[] = []
  let isRefused = false
  for (const message of messages) {
    // One event per key is in flight at a time. If it were rejected, a later one would overtake it.
    await underWay.get(message.key)?.catch(() => {})
    if (isRefused || isOver()) break
    const confirm = outlet.publish(message)
    confirm.catch(() => {
      isRefused = true
    })
    underWay.set(message.key, confirm)
    confirms.push(confirm)
  }
  const settled = await Promise.allSettled(confirms)
  const first = settled.findIndex(({ status }) => status === 'rejected')
  const refused = settled[first]
  return refused?.status === 'rejected' ? { confirmed: first, error: refused.reason } : { confirmed: confirms.length }
}

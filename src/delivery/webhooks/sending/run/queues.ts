import type { Format } from '../../../../contract/delivery/formats.ts'
import type { LoggedEvent } from '../../../../contract/delivery/log-rows.ts'
import type { Replay } from '../replay.ts'
import type { Place } from '../rules-positions.ts'

/** A message that a webhook is about to receive. */
export type Item = {
  event: LoggedEvent
  /** Messages with the same key are sent one after another. */
  key: string
  previous: number | null
  format: Format
  /** Attempts so far. */
  attempts: number
  /** Where the cursor or the replay has read it. A parked message has none. */
  place?: Place | undefined
  replay?: Replay | undefined
}

/** Messages to send, by key. The first of a key is sent, then the next one. A live message goes before replayed ones. */
export function newQueues() {
  const queues = new Map<string, Item[]>()
  /** Keys that are being sent, or that wait. */
  const busy = new Set<string>()
  const ready = new Set<string>()

  const noOf = (key: string) => (queues.get(key) as [Item])[0].event.no

  function offer(key: string) {
    if (queues.has(key) && !busy.has(key)) ready.add(key)
  }

  return {
    add(item: Item) {
      const queue = queues.get(item.key)
      if (!queue) queues.set(item.key, [item])
      else if (item.replay) queue.push(item)
      else {
        const firstReplayed = queue.findIndex(({ replay }) => replay)
        queue.splice(firstReplayed < 0 ? queue.length : firstReplayed, 0, item)
      }
      offer(item.key)
    },
    /** Takes the next message, or the oldest one, whose key is busy until it is freed. */
    take(isOldest: boolean): Item | undefined {
      const [first] = ready
      if (first === undefined) return undefined
      const key = isOldest ? [...ready].reduce((oldest, key) => (noOf(key) < noOf(oldest) ? key : oldest)) : first
      ready.delete(key)
      const queue = queues.get(key) as Item[]
      const item = queue.shift() as Item
      if (!queue.length) queues.delete(key)
      busy.add(key)
      return item
    },
    hasReady: () => ready.size > 0,
    has: (key: string, isCounted: (item: Item) => boolean) => queues.get(key)?.some(isCounted) ?? false,
    hold: (key: string) => {
      busy.add(key)
      ready.delete(key)
    },
    free(key: string) {
      busy.delete(key)
      offer(key)
    },
    /** Puts a message back before the others of its key. */
    putBack(item: Item) {
      queues.set(item.key, [item, ...(queues.get(item.key) ?? [])])
    },
    /** Removes the messages of a key. */
    clear(key: string) {
      const queue = queues.get(key) ?? []
      queues.delete(key)
      ready.delete(key)
      return queue
    },
    items: () => [...queues.values()].flat(),
    /** Removes messages, and returns them. */
    remove(isRemoved: (item: Item) => boolean) {
      const removed: Item[] = []
      for (const [key, queue] of queues) {
        const kept = queue.filter((item) => !isRemoved(item))
        if (kept.length === queue.length) continue
        removed.push(...queue.filter(isRemoved))
        if (kept.length) queues.set(key, kept)
        else {
          queues.delete(key)
          ready.delete(key)
        }
      }
      return removed
    },
  }
}

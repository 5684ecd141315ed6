import type { LoggedEvent, Position } from '../../contract/delivery/log-rows.ts'
import type { App } from '../../platform/app.ts'
import { positionOf, readPage } from '../events/read.ts'
import { takes } from '../webhooks/sending/rules-filters.ts'

/** The newest events stay in memory, so that webhooks at the end of the log need no read. */
const MAX_EVENTS = 1000
const MAX_BYTES = 8 * 1024 * 1024

type Limits = { limit: number; bytes: number; event_type?: string[] | null | undefined; end?: Position }

/** The log of a team as its owner knows it. */
export function openTeamLog({ db }: Pick<App, 'db'>, team_id: string) {
  let tail: LoggedEvent[] = []
  let bytes = 0
  let end: Position | undefined
  let forgotten = 0

  function forget() {
    forgotten += 1
    tail = []
    bytes = 0
  }

  function readTail(after: Position, { limit, bytes, event_type = null }: Limits, end: Position) {
    const from = tail.findIndex(({ no }) => no > after.no)
    const events: LoggedEvent[] = []
    let size = 0
    for (let i = from; i >= 0 && i < tail.length && events.length < limit && (size < bytes || !events.length); i++) {
      const event = tail[i] as LoggedEvent
      if (event.no > end.no) break
      if (!event.deliverable || !takes(event_type, event.event_type)) continue
      events.push(event)
      size += sizeOf(event)
    }
    const last = events.at(-1)
    const isFull = events.length >= limit || size >= bytes
    return { events, upto: last && isFull ? positionOf(last) : end }
  }

  return {
    team_id,
    end: () => end as Position,
    /** Takes over moved events, if they follow those that it has. */
    append(events: LoggedEvent[], next: Position) {
      if (next.no - events.length !== end?.no) forget()
      tail.push(...events)
      for (const event of events) bytes += sizeOf(event)
      let dropped = 0
      while (tail.length - dropped > MAX_EVENTS || (bytes > MAX_BYTES && dropped < tail.length))
        bytes -= sizeOf(tail[dropped++] as LoggedEvent)
      if (dropped) tail = tail.slice(dropped)
      end = next
    },
    /** The next page after a position. */
    async read(after: Position, limits: Limits) {
      const last = limits.end ?? (end as Position)
      if (after.no >= last.no || limits.limit <= 0) return { events: [], upto: after }
      const first = tail[0]
      // A replay can end at an event that another process has moved and this one has not taken over.
      const isKnown = last.no <= (end?.no ?? 0)
      if (isKnown && first && first.no <= after.no + 1) return readTail(after, limits, last)
      for (;;) {
        const started = forgotten
        const page = await readPage(db, team_id, { ...limits, after, end: last, deliverable: true })
        if (started === forgotten) return page
      }
    },
    /** Users may have been erased, so events are read again, also those of a page that is being read. */
    forget,
  }
}

const sizeOf = ({ sealed }: LoggedEvent) => sealed?.length ?? 0

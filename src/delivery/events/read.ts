import { BEGINNING, type LoggedEvent, type Position } from '../../contract/delivery/log-rows.ts'
import type { Db } from '../../platform/db/open.ts'
import { DAY, later } from '../../platform/time.ts'
import * as store from './store-log.ts'

type Query = store.Filter & {
  after: Position
  /** The end of the log, or an earlier position to read to. */
  end: Position
  limit: number
  bytes: number
  deliverable?: boolean | undefined
}

/** The log of a team, as its owner reads it. */
export type LogReader = {
  team_id: string
  end(): Position
  /** The next page after a position. */
  read(
    after: Position,
    limits: { limit: number; bytes: number; event_type: string[] | null; end?: Position },
  ): Promise<{ events: LoggedEvent[]; upto: Position }>
}

/** A search that finds little stops after this many days. Its page may be short, and its position moves on. */
const MAX_DAYS_PER_PAGE = 7

/**
 * The next page of a log, and the position up to which it was read. It reads one day after another until the page is full, so that it
 * opens no other partitions. Only the beginning of a log, and the end of a week without an event, are searched for in all of them.
 */
export async function readPage(db: Db, team_id: string, { end, ...query }: Query) {
  const events: LoggedEvent[] = []
  let { after } = query
  for (let days = 1, from = after; after.no < end.no; days++) {
    const isQuiet = !isFiltered(query) && !events.length && days > MAX_DAYS_PER_PAGE
    const next = from.at === BEGINNING || isQuiet ? await store.findNext(db, team_id, from) : from
    if (!next) return { events, upto: end }
    const at = next.at > from.at ? next.at : from.at
    const before = dayAfter(at)
    const room = { limit: query.limit - events.length, bytes: query.bytes - sizeOf(events) }
    const found = await store.listEvents(db, team_id, { ...query, ...room, after: { no: after.no, at }, before })
    events.push(...found.filter(({ no }) => no <= end.no))
    const last = events.at(-1)
    if (last && (found.length === room.limit || sizeOf(events) >= query.bytes)) return { events, upto: positionOf(last) }
    if (before > end.at) return { events, upto: end }
    if (days >= MAX_DAYS_PER_PAGE && (last || isFiltered(query)))
      return { events, upto: laterOf(after, await store.findLastBefore(db, team_id, before, at)) }
    from = { no: after.no, at: before }
    after = { no: last?.no ?? after.no, at: before }
  }
  return { events, upto: end }
}

const isFiltered = ({ event_type, user_id, order_id, deliverable }: Omit<Query, 'end'>) =>
  Boolean(event_type || user_id || order_id || deliverable)

export const positionOf = ({ no, logged_at }: LoggedEvent): Position => ({ no, at: logged_at })

const laterOf = (a: Position, b: Position) => (b.no > a.no ? b : a)

const dayAfter = (at: string) => later(`${at.slice(0, 10)}T00:00:00.000Z`, DAY)

const sizeOf = (events: LoggedEvent[]) => events.reduce((sum, { sealed }) => sum + (sealed?.length ?? 0), 0)

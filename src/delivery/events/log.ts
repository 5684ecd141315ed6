import type { EventEnvelope } from '../../contract/delivery/event.ts'
import { BEGINNING, type LoggedEvent, type Position } from '../../contract/delivery/log-rows.ts'
import { type App, onReplica } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { keyOf } from './body.ts'
import { type EventPayload, openEventText } from './emit.ts'
import { positionOf, readPage } from './read.ts'
import * as rules from './rules.ts'
import * as store from './store-log.ts'

/** A page ends early rather than exceed this size in memory. The query limits the encrypted size, and the reader the decompressed one. */
const PAGE_BYTES = 8 * 1024 * 1024
const END = 'end'

export type Filter = store.Filter

type Query = Filter & { after?: string | null | undefined; limit: number }

/** Lists the team's log after a cursor, oldest first. */
export async function listEvents(app: App, { team_id }: TeamCaller, { after, limit, ...filter }: Query) {
  rules.checkEventTypes(filter.event_type, ['query', 'event_type'])
  const { events, position } = await readLog(app, team_id, { ...filter, limit, after: await positionAfter(app, team_id, after) })
  return { events, next_cursor: rules.cursorOf(position) }
}

/** The position of a reader's cursor. The end is read from the primary, because a replica could be behind what the reader has seen. */
export async function positionAfter(
  app: App,
  team_id: string,
  cursor: string | null | undefined,
  loc = ['query', 'after'],
): Promise<Position> {
  if (!cursor) return { no: 0, at: BEGINNING }
  if (cursor === END) return store.findEnd(app.db, team_id)
  const { no, at } = rules.parseCursor(cursor, loc)
  if (at !== undefined) return { no, at }
  return { no, at: (await store.findLast(app.db, team_id, no))?.at ?? BEGINNING }
}

export type LoggedEnvelope = EventEnvelope & { cursor: string }

type LogQuery = Filter & { after: Position; limit: number }

/** Events after a position, and the next position. Those of erased users are left out. */
export async function readLog(app: App, team_id: string, query: LogQuery) {
  const page = await onReplica(app, (app) => readLogFrom(app, team_id, query))
  return page ?? { events: [], position: await endBefore(app, team_id, query) }
}

/**
 * The position of a reader beyond the end of the log. A failover can lose the end, and its numbers are used again, so the
 * reader goes back to the end. On a replica that is further behind, the position stays.
 */
async function endBefore({ db }: App, team_id: string, { after }: LogQuery) {
  const end = await store.findEnd(db, team_id)
  return end.no < after.no ? end : after
}

/** Undefined if the position is beyond the end. Most readers wait at the end. */
async function readLogFrom(app: App, team_id: string, query: LogQuery) {
  const end = await store.findEnd(app.db, team_id)
  if (end.no < query.after.no) return undefined
  if (end.no === query.after.no) return { events: [], position: query.after }
  return inSnapshot(app, (app) => readToEnd(app, team_id, query))
}

/** The end and the events before it come from one server, because the next connection can lead to a replica that is further behind. */
const inSnapshot = <T>(app: App, read: (app: App) => Promise<T>) =>
  app.transaction
    ? read(app)
    : app.db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((db) => read({ ...app, db }))

async function readToEnd(app: App, team_id: string, { after, ...query }: LogQuery) {
  const end = await store.findEnd(app.db, team_id)
  if (end.no <= after.no) return { events: [], position: after }
  const { events: rows, upto } = await readPage(app.db, team_id, { ...query, after, end, bytes: PAGE_BYTES })
  const team = rows.length ? await teamSealingKey(app, team_id) : undefined
  const events: LoggedEnvelope[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= PAGE_BYTES) return { events, position: positionOf(rows[rows.indexOf(row) - 1] as LoggedEvent) }
    if (!row.sealed) continue
    const { event, size } = openEnvelope(team as Key, team_id, { ...row, sealed: row.sealed })
    events.push({ ...event, cursor: rules.cursorOf(positionOf(row)) })
    bytes += size
  }
  return { events, position: upto }
}

type Key = Awaited<ReturnType<typeof teamSealingKey>>

type SealedEvent = LoggedEvent & { sealed: Buffer }

/** An event as clients read it. */
export function openEnvelope(
  team: Key,
  team_id: string,
  { id, event_type, user_id, created_at, sealed, ...keys }: SealedEvent,
): { event: EventEnvelope; size: number } {
  const text = openEventText(keyOf(team, { team_id, user_id, ...keys }), id, sealed)
  const { client_user_id, data, ...rest } = JSON.parse(text) as EventPayload
  return { event: { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at, ...rest }, size: text.length }
}

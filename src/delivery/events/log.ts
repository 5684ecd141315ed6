import type { EventEnvelope } from '../../contract/delivery/event.ts'
import { type App, DELIVER_WEBHOOKS, retryDeadlocks } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { openEvent } from './emit.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const NUMBER_LIMIT = 1000
/** A page ends early rather than exceed this size in memory. */
const PAGE_BYTES = 8 * 1024 * 1024
const END = 'end'

/** Numbers committed events. Webhooks with log order get their messages in the same statement. */
export async function numberEvents(app: App) {
  const { numbered, webhook_ids } = await retryDeadlocks(() => store.numberEvents(app.db, NUMBER_LIMIT))
  if (webhook_ids.length) app.wake(DELIVER_WEBHOOKS, webhook_ids)
  return numbered === NUMBER_LIMIT
}

export type Filter = { event_type?: string[] | null | undefined; user_id?: string | null | undefined; order_id?: string | null | undefined }

type Query = Filter & { after?: string | null | undefined; limit: number }

/** Lists the team's log after a cursor, oldest first. */
export async function listEvents(app: App, { team_id }: TeamCaller, { after, limit, ...filter }: Query) {
  const { events, position } = await readLog(app, team_id, { ...filter, limit, after: await positionAfter(app, team_id, after) })
  return { events, next_cursor: rules.cursorOf(position) }
}

/** The position of a reader's cursor. */
export async function positionAfter(app: App, team_id: string, cursor: string | null | undefined, loc = ['query', 'after']) {
  if (!cursor) return 0
  return cursor === END ? store.findLastPosition(app.db, team_id) : rules.positionOf(cursor, loc)
}

export type LoggedEvent = EventEnvelope & { cursor: string }

/** Events after a position, and the next position. */
export async function readLog(app: App, team_id: string, query: LogQuery) {
  const { entries, position } = await readEntries(app, team_id, query)
  return { events: entries.map(({ event, position }): LoggedEvent => ({ ...event, cursor: rules.cursorOf(position) })), position }
}

type LogQuery = Filter & { after: number; limit: number }

/** An event with its position and its ordering key. */
export type LogEntry = { position: number; key: string; event: EventEnvelope }

/**
 * Only numbered events are read. Numbers are assigned after the commit, so no event can appear before a position that was already read.
 * `deliverable` leaves out partial reports unless the team opted in.
 */
export async function readEntries(app: App, team_id: string, { after, ...query }: LogQuery & { deliverable?: boolean }) {
  // Read before the events, so that the following query sees every event up to this position.
  const last = await store.findLastPosition(app.db, team_id)
  const rows = last > after ? await store.listEventsAfter(app.db, { team_id, after, bytes: PAGE_BYTES, ...query }) : []
  const team = rows.length ? await teamSealingKey(app, team_id) : undefined
  const entries = rows.map((row): LogEntry => ({ position: row.no, key: row.key, event: openEnvelope(team as Key, team_id, row) }))
  return { entries, position: rows.at(-1)?.no ?? Math.max(after, last) }
}

type Key = Awaited<ReturnType<typeof teamSealingKey>>

function openEnvelope(
  team: Key,
  team_id: string,
  { id, event_type, user_id, created_at, sealed, key_id, wrapped }: store.LogRow,
): EventEnvelope {
  const key = user_id && key_id && wrapped ? unwrap(team, { team_id, user_id }, { id: key_id, wrapped }) : team
  const { client_user_id, data, ...rest } = openEvent(key, id, sealed)
  return { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at, ...rest }
}

import { type App, DELIVER, type TeamCaller } from '../app.ts'
import type { EventEnvelope } from '../contract/event.ts'
import { teamSealingKey, unwrap } from '../sealing/vault.ts'
import { openEvent } from './emit.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const NUMBERED_AT_ONCE = 1000
/** A page ends early rather than hold more than this in memory. */
const PAGE_BYTES = 8 * 1024 * 1024
const END = 'end'

/** Gives committed events their place in the log; webhooks that are told by place get their messages with it. */
export async function numberEvents(app: App) {
  const { numbered, told } = await store.numberEvents(app.db, NUMBERED_AT_ONCE)
  if (told.length) app.wake(DELIVER, told)
  return numbered === NUMBERED_AT_ONCE
}

export type Filter = { event_type?: string[] | null | undefined; user_id?: string | null | undefined; order_id?: string | null | undefined }

type Query = Filter & { after?: string | null | undefined; limit: number }

/** The team's log after a cursor, oldest first. */
export async function listEvents(app: App, { team_id }: TeamCaller, { after, limit, ...filter }: Query) {
  const { events, place } = await readLog(app, team_id, { ...filter, limit, after: await placeAfter(app, team_id, after) })
  return { events, next_cursor: rules.cursorOf(place) }
}

/** The place that a reader names. */
export async function placeAfter(app: App, team_id: string, cursor: string | null | undefined, loc = ['query', 'after']) {
  if (!cursor) return 0
  return cursor === END ? store.lastPlace(app.db, team_id) : rules.placeOf(cursor, loc)
}

export type LoggedEvent = EventEnvelope & { cursor: string }

/**
 * Events after a place, and the place to go on from. Only numbered events are read, and numbers are given after the commit,
 * so nothing can turn up later before a place that was read.
 */
export async function readLog(app: App, team_id: string, { after, limit, ...filter }: Filter & { after: number; limit: number }) {
  // Read before the events: whatever has a place up to there is seen by the reading that follows.
  const last = await store.lastPlace(app.db, team_id)
  const rows = last > after ? await store.eventsAfter(app.db, { team_id, after, limit, bytes: PAGE_BYTES, ...filter }) : []
  const team = rows.length ? await teamSealingKey(app, team_id) : undefined
  const events = rows.map((row) => opened(team as Key, team_id, row))
  return { events, place: rows.at(-1)?.no ?? Math.max(after, last) }
}

type Key = Awaited<ReturnType<typeof teamSealingKey>>

function opened(
  team: Key,
  team_id: string,
  { no, id, event_type, user_id, created_at, sealed, key_id, wrapped }: store.LogRow,
): LoggedEvent {
  const key = user_id && key_id && wrapped ? unwrap(team, { team_id, user_id }, { id: key_id, wrapped }) : team
  const { client_user_id, data, ...left } = openEvent(key, id, sealed)
  return { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at, ...left, cursor: rules.cursorOf(no) }
}

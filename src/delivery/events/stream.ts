import { setTimeout as pause } from 'node:timers/promises'
import type { Position } from '../../contract/delivery/log-rows.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { SECOND } from '../../platform/time.ts'
import { type Filter, type LoggedEnvelope, positionAfter, readLog } from './log.ts'
import * as rules from './rules.ts'

const POLL_EVERY_MS = SECOND / 4
const KEEP_ALIVE_EVERY_MS = 15 * SECOND
const PAGE_SIZE = 50
/** Clients wait this long before they reconnect. */
const RECONNECT_AFTER_MS = SECOND

type StreamQuery = Filter & { after?: string | null | undefined; last_event_id?: string | null | undefined }

/** The team's log as server-sent events, from a position until `app.signal` aborts. */
export async function streamEvents(app: App, { team_id }: TeamCaller, { after, last_event_id, ...filter }: StreamQuery) {
  rules.checkEventTypes(filter.event_type, ['query', 'event_type'])
  const position = last_event_id
    ? await positionAfter(app, team_id, last_event_id, ['header', 'last-event-id'])
    : await positionAfter(app, team_id, after)
  return followLog(app, team_id, filter, position)
}

/** Reads a page only after the previous one was consumed, so a slow client holds one page in memory. */
async function* followLog(app: App, team_id: string, filter: Filter, after: Position) {
  const signal = app.signal ?? new AbortController().signal
  let position = after
  let lastSentAt = app.wall()
  yield `retry: ${RECONNECT_AFTER_MS}\n\n`
  while (!signal.aborted) {
    const page = await readLog(app, team_id, { ...filter, after: position, limit: PAGE_SIZE })
    for (const event of page.events) {
      if (signal.aborted) return
      yield frame(event)
    }
    const moved = page.position.no > position.no || page.position.at > position.at
    position = page.position
    if (page.events.length) lastSentAt = app.wall()
    else if (Date.parse(app.wall()) - Date.parse(lastSentAt) >= KEEP_ALIVE_EVERY_MS) {
      lastSentAt = app.wall()
      yield keepAlive(position)
    }
    if (!moved) await pause(POLL_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

const frame = ({ cursor, ...event }: LoggedEnvelope) => `id: ${cursor}\nevent: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`

/** A message without data triggers no event in the client, but it advances the client's cursor past filtered events. */
const keepAlive = (position: Position) => `: still here\nid: ${rules.cursorOf(position)}\n\n`

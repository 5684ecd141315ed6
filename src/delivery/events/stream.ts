import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { SECOND } from '../../platform/time.ts'
import { type Filter, type LoggedEvent, positionAfter, readLog } from './log.ts'
import * as rules from './rules.ts'

/** How often the end of the log is polled. */
const LOOK_EVERY = SECOND / 4
const ALIVE_EVERY = 15 * SECOND
const PAGE = 50
/** How long a client waits before it reconnects. */
const BACK_AFTER = SECOND

type Start = Filter & { after?: string | null | undefined; last_event_id?: string | null | undefined }

/** The team's log as server-sent events, from a position until `app.signal` aborts. */
export async function streamEvents(app: App, { team_id }: TeamCaller, { after, last_event_id, ...filter }: Start) {
  const place = last_event_id
    ? await positionAfter(app, team_id, last_event_id, ['header', 'last-event-id'])
    : await positionAfter(app, team_id, after)
  return follow(app, team_id, filter, place)
}

/** Reads a page only after the previous one was consumed, so a slow client holds one page in memory. */
async function* follow(app: App, team_id: string, filter: Filter, after: number) {
  const ends = app.signal ?? new AbortController().signal
  let place = after
  let alive = app.wall()
  yield `retry: ${BACK_AFTER}\n\n`
  while (!ends.aborted) {
    const page = await readLog(app, team_id, { ...filter, after: place, limit: PAGE })
    for (const event of page.events) {
      if (ends.aborted) return
      yield framed(event)
    }
    const moved = page.place > place
    place = page.place
    if (page.events.length) alive = app.wall()
    else if (Date.parse(app.wall()) - Date.parse(alive) >= ALIVE_EVERY) {
      alive = app.wall()
      yield stillHere(place)
    }
    if (!moved) await pause(LOOK_EVERY, undefined, { signal: ends }).catch(() => {})
  }
}

const framed = ({ cursor, ...event }: LoggedEvent) => `id: ${cursor}\nevent: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`

/** A message without data triggers no event in the client, but it advances the client's cursor past filtered events. */
const stillHere = (place: number) => `: still here\nid: ${rules.cursorOf(place)}\n\n`

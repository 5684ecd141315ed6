import type { EventEnvelope } from '../../contract/delivery/event.ts'
import { type App, onReplica, wakeAfterCommit } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { isLockTimeout } from '../../platform/db/errors.ts'
import { inParallel } from '../../platform/in-parallel.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { SECOND } from '../../platform/time.ts'
import { type EventPayload, openEventText } from './emit.ts'
import * as rules from './rules.ts'
import { checkEventTypes } from './rules-event-types.ts'
import * as store from './store.ts'

export { searchUnnumbered } from './store.ts'

/** Events of a team numbered in one batch. */
const NUMBER_LIMIT = 1000
/** Teams numbered at the same time. */
const TEAMS_AT_ONCE = 4
/** Wake-ups name the teams, so a search finds only events of processes whose wake-ups do not arrive. */
const FIND_EVERY_MS = SECOND
/** A page ends early rather than exceed this size in memory. The query limits the encrypted size, and the reader the decompressed one. */
const PAGE_BYTES = 8 * 1024 * 1024
const END = 'end'

/** Numbers committed events, one batch for each team, so that a busy team does not delay the others. Returns whether there may be more. */
export async function numberEvents(app: App, teams = new Set<string>()) {
  await findTeams(app, teams)
  await inParallel([...teams], TEAMS_AT_ONCE, async (team_id) => {
    teams.delete(team_id)
    const { numbered, receivers } = await store.numberEvents(app.db, team_id, NUMBER_LIMIT).catch(nothingIfLocked)
    if (numbered === 0) await store.restartIfClockWentBack(app.db, team_id)
    if (numbered === NUMBER_LIMIT) teams.add(team_id)
    wakeAfterCommit(app, team_id, receivers)
  })
  return teams.size > 0
}

/** Another transaction holds locks on events of the team. The next run finds them again, and the other teams do not wait. */
function nothingIfLocked(error: unknown) {
  if (!isLockTimeout(error)) throw error
  return { numbered: 0, receivers: [] }
}

const nextSearch = declareCache(() => ({ at: 0 }))

/** Adds the teams with events to number. The search reads all of these events, so while teams are known it takes at most a tenth of the time. */
async function findTeams(app: App, teams: Set<string>) {
  const search = nextSearch(app)
  const startedAt = performance.now()
  if (teams.size && startedAt < search.at) return
  for (const team_id of await store.listTeamsToNumber(app.db)) teams.add(team_id)
  const endedAt = performance.now()
  search.at = endedAt + Math.max(FIND_EVERY_MS, 10 * (endedAt - startedAt))
}

export type Filter = { event_type?: string[] | null | undefined; user_id?: string | null | undefined; order_id?: string | null | undefined }

type Query = Filter & { after?: string | null | undefined; limit: number }

/** Lists the team's log after a cursor, oldest first. */
export async function listEvents(app: App, { team_id }: TeamCaller, { after, limit, ...filter }: Query) {
  checkEventTypes(filter.event_type, ['query', 'event_type'])
  const { events, position } = await readLog(app, team_id, { ...filter, limit, after: await positionAfter(app, team_id, after) })
  return { events, next_cursor: rules.cursorOf(position) }
}

/** The position of a reader's cursor. The end is read from the primary, because a replica could be behind what the reader has seen. */
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
export const readEntries = async (app: App, team_id: string, query: LogQuery & { deliverable?: boolean }) =>
  (await onReplica(app, (app) => readEntriesFrom(app, team_id, query))) ?? { entries: [], position: await endBefore(app, team_id, query) }

/**
 * The position of a reader beyond the end of the log. A failover can lose the end, and its numbers are used again, so the
 * reader goes back to the end. On a replica that is further behind, the position stays.
 */
const endBefore = async ({ db }: App, team_id: string, { after }: LogQuery) => Math.min(after, await store.findLastPosition(db, team_id))

/** Undefined if the position is beyond the end. */
async function readEntriesFrom(app: App, team_id: string, { after, ...query }: LogQuery & { deliverable?: boolean }) {
  // Most readers wait at the end of the log, and finding that out takes less time than planning a query of all its partitions.
  const end = await store.findLastPosition(app.db, team_id)
  if (end < after) return undefined
  if (end === after) return { entries: [], position: after }
  const { last, rows } = await store.listEventsAfter(app.db, { team_id, after, bytes: PAGE_BYTES, ...query })
  const team = rows.length ? await teamSealingKey(app, team_id) : undefined
  const entries: LogEntry[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes >= PAGE_BYTES) break
    const { event, size } = openEnvelope(team as Key, team_id, row)
    entries.push({ position: row.no, key: row.key, event })
    bytes += size
  }
  return { entries, position: entries.at(-1)?.position ?? Math.max(after, last) }
}

type Key = Awaited<ReturnType<typeof teamSealingKey>>

function openEnvelope(
  team: Key,
  team_id: string,
  { id, event_type, user_id, created_at, sealed, key_id, wrapped }: store.LogRow,
): { event: EventEnvelope; size: number } {
  const key = user_id && key_id && wrapped ? unwrap(team, { team_id, user_id }, { id: key_id, wrapped }) : team
  const text = openEventText(key, id, sealed)
  const { client_user_id, data, ...rest } = JSON.parse(text) as EventPayload
  return { event: { event_type, data, team_id, user_id, client_user_id, event_id: id, created_at, ...rest }, size: text.length }
}

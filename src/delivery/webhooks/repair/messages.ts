import type { App, AppInTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { cursorAt, type PageQuery, pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { changeAtEnd } from '../../events/change-log.ts'
import { presentFormat } from '../../formats/rules.ts'
import { findFormats } from '../../formats/settings.ts'
import { COUNT_LIMIT, positionsOf, segmentsOf } from '../backlog.ts'
import { requireWebhook, type WebhookPath } from '../management/actions.ts'
import { nextAttemptAt } from '../rules-health.ts'
import { isMessage, keyBesideOrder, keyOf, versionAt } from '../sending/rules-filters.ts'
import { lockWebhook, updateWebhook, type WebhookRow } from '../store.ts'
import * as backlog from '../store-backlog.ts'
import * as positions from '../store-positions.ts'
import * as store from './store-messages.ts'

type Query = PageQuery & { no?: number | null | undefined }

/** Lists pending messages in the order of the log: parked ones, and those that the cursor has not reached. */
export async function listWebhookMessages(app: App, caller: ManagementCaller, path: WebhookPath, { limit, next_cursor, no }: Query) {
  const webhook = await requireWebhook(app, caller, path)
  if (no) {
    const data = (await listPending(app, webhook, no - 1, 1)).found.filter(({ sequence }) => sequence === no)
    return { data, next_cursor: null, position: await describePosition(app, webhook, no) }
  }
  const page = pageAfter(next_cursor, limit, isPosition)
  const { found, upto_no } = await listPending(app, webhook, Number(page.after?.at ?? 0), limit + 1)
  const { rows, next_cursor: next } = pageOf(found, page, ({ sequence, event_id }) => ({ at: String(sequence), id: event_id }))
  const examined = upto_no === null ? null : cursorAt({ at: String(upto_no), id: webhook.id })
  return { data: rows, next_cursor: next ?? examined }
}

/** Pending messages after a position. Unless the rest was examined too, `upto_no` is the last position that was. */
async function listPending(app: App, webhook: WebhookRow, after_no: number, limit: number) {
  const { messages, upto_no } = await listUnread(app, webhook, after_no, limit)
  const all = [...(await listParked(app, webhook, after_no, limit)), ...messages]
  const found = all.filter(({ sequence }) => upto_no === null || sequence <= upto_no)
  return { found: found.toSorted((a, b) => a.sequence - b.sequence).slice(0, limit), upto_no }
}

const isPosition = (text: string) => /^\d{1,15}$/.test(text)

async function listParked({ db }: App, webhook: WebhookRow, after_no: number, limit: number) {
  const rows = await backlog.listParkedAfter(db, webhook.team_id, webhook.id, after_no, limit)
  return rows.map(({ attempts, behind, retry_at, parked_key, ...event }) => ({
    ...presentPending(event, parked_key),
    attempts: behind === 0 ? attempts : 0,
    behind,
    next_try_at: behind === 0 ? nextAttemptAt(webhook, retry_at) : null,
  }))
}

async function listUnread({ db, wall }: App, webhook: WebhookRow, after_no: number, limit: number) {
  const { team_id, id: webhook_id } = webhook
  const [position] = await positionsOf(db, team_id, [webhook])
  if (!position) return { messages: [], upto_no: null }
  const { cursor } = position
  const { events, upto_no } = await readUnread(db, team_id, position, after_no, limit)
  const queues = events.map(({ queue }) => queue)
  const parked = await positions.countParked(db, { team_id, webhook_id }, queues)
  const [waiting] = cursor.retry_at === null ? [] : (await readUnread(db, team_id, position, cursor.after_no, 1)).events
  const messages = events.map((event) => {
    const behind = parked.get(event.queue) ?? 0
    const isWaiting = event.no === waiting?.no
    return {
      ...presentPending(event, event.queue),
      attempts: isWaiting ? cursor.attempts : 0,
      behind,
      next_try_at: behind || (waiting && !isWaiting) ? null : nextAttemptAt(webhook, waiting ? cursor.retry_at : wall()),
    }
  })
  return { messages, upto_no }
}

type UnreadPosition = Awaited<ReturnType<typeof positionsOf>>[number]

/** Messages that the cursor has not reached, with their queues. If 10,000 events hold too few of them, `upto_no` is the last of these. */
async function readUnread(db: App['db'], team_id: string, { cursor, versions }: UnreadPosition, after_no: number, limit: number) {
  const events: (backlog.PendingEvent & { queue: string })[] = []
  let budget = COUNT_LIMIT
  for (const segment of segmentsOf(cursor, versions, after_no)) {
    const found = await backlog.listSegment(db, team_id, segment, limit - events.length, budget)
    events.push(...found.map((event) => ({ ...event, queue: keyOf(segment.filter.ordering, event) })))
    if (events.length >= limit) break
    const { examined, upto_no } = await backlog.countSegment(db, team_id, segment, budget)
    budget -= examined
    if (budget === 0) return { events, upto_no }
  }
  return { events, upto_no: null }
}

const presentPending = ({ id, event_type, no, created_at }: backlog.PendingEvent, key: string) => ({
  event_id: id,
  event_type,
  key,
  sequence: no,
  created_at,
})

/** What became of the message at a position of the log, for a receiver that misses it. */
async function describePosition({ db }: App, webhook: WebhookRow, no: number) {
  const { team_id, id: webhook_id } = webhook
  const [position] = await positionsOf(db, team_id, [webhook])
  const event = await store.findEventAt(db, team_id, no)
  const parked = await positions.findParked(db, team_id, webhook_id, no)
  const outcome = event && (await store.findLastOutcome(db, { team_id, webhook_id }, event.id))
  return { sequence: no, state: stateOf(), event_id: event?.id ?? null }

  function stateOf() {
    if (!position || no > position.cursor.end_no) return 'not_a_message'
    const { cursor, versions } = position
    if (!event) return 'gone'
    if (parked) return event.isKept ? 'parked' : 'gone'
    const isUnread = no > cursor.after_no && !cursor.done.includes(no)
    if (isUnread && isMessage(versionAt(versions, no), event)) return event.isKept ? 'pending' : 'gone'
    if (outcome === 'delivered' || outcome === 'exhausted') return outcome
    return event.isKept || !isMessage(versionAt(versions, no), event) ? 'not_a_message' : 'gone'
  }
}

/** A manual retry overrides the pause of a failing webhook until its next failure. */
export async function retryWebhookMessage(app: App, caller: ManagementCaller, path: WebhookPath & { event_id: string }) {
  await requireWebhook(app, caller, path)
  return changeAtEnd(app, path.team_id, async (app) => {
    const { event_id, team_id, webhook_id } = path
    const webhook = await requireWebhook(app, caller, path, lockWebhook)
    if (webhook.disabled_at) throw problem('WEBHOOK_DISABLED', 'The webhook is disabled, so nothing is sent to it. Enable it first.')
    const event = await store.findEvent(app.db, team_id, event_id)
    if (!event)
      throw problem('EVENT_NOT_FOUND', 'No such event in this team, or it is past retention. GET /events lists the events that are kept.')
    const { action, behind } = await retryEvent(app, webhook, event)
    if (webhook.paused_until) await updateWebhook(app.db, team_id, webhook_id, { paused_until: null })
    return { event_id, action, sequence: event.no, behind }
  })
}

async function retryEvent(app: AppInTransaction, webhook: WebhookRow, event: store.EventRow) {
  const { team_id, id: webhook_id } = webhook
  const now = app.wall()
  const cursor = await positions.lockCursor(app.db, team_id, webhook_id)
  const parked = await positions.findParked(app.db, team_id, webhook_id, event.no)
  if (parked) {
    await positions.retryParkedNow(app.db, team_id, webhook_id, parked.key, now)
    return { action: 'retried', behind: parked.behind }
  }
  const [position] = await positionsOf(app.db, team_id, [webhook])
  const version = versionAt(position?.versions ?? [], event.no)
  const isUnread = event.no > cursor.after_no && !cursor.done.includes(event.no)
  if (isUnread && isMessage(version, event)) {
    await positions.retryCursorNow(app.db, team_id, webhook_id, now)
    return { action: 'retried', behind: 0 }
  }
  const key = keyBesideOrder(version.ordering, event)
  const { format } = presentFormat(await findFormats(app, team_id, webhook_id))
  await positions.parkMessage(app.db, { team_id, webhook_id, key, format }, event, now)
  return { action: 'resent', behind: (await positions.findParked(app.db, team_id, webhook_id, event.no))?.behind ?? 0 }
}

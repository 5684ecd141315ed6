import { type App, inTransaction, wakeAfterCommit } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { requireWebhook } from '../management/actions.ts'
import { nextAttemptAt } from '../rules-health.ts'
import { updateWebhook, type WebhookRow } from '../store.ts'
import { enqueueEvents } from '../store-queue.ts'
import * as store from './store-messages.ts'

type Path = { team_id: string; webhook_id: string }
type Query = { limit: number; next_cursor?: string | null | undefined }

export async function listWebhookMessages(app: App, caller: ManagementCaller, path: Path, { limit, next_cursor }: Query) {
  const webhook = await requireWebhook(app, caller, path)
  const page = pageAfter(next_cursor, limit, isPosition)
  const found = await store.listPending(app.db, path, limit, page.after && positionOf(page.after.at))
  const { rows, next_cursor: next } = pageOf(found, page, (message) => ({ at: textOf(message), id: message.event_id }))
  return { data: rows.map((message) => ({ ...message, next_try_at: nextAttemptOf(webhook, message) })), next_cursor: next }
}

/** Sixteen digits of microseconds last until the year 2286. Lane and message numbers have at most nineteen. */
const isPosition = (text: string) => /^\d{1,16}\/\d{1,19}\/\d{1,18}$/.test(text)

const textOf = ({ run_us, lane_id, sequence }: store.PendingMessage) => `${run_us}/${lane_id}/${sequence}`

function positionOf(text: string): store.ListPosition {
  const [run_us, lane_id = '0', n] = text.split('/')
  return { run_us: Number(run_us), lane_id, n: Number(n) }
}

const nextAttemptOf = (webhook: WebhookRow, { behind, run_at }: store.PendingMessage) =>
  behind > 0 ? null : nextAttemptAt(webhook, run_at)

/** A manual retry overrides the pause of a failing webhook until its next failure. */
export const retryWebhookMessage = (app: App, caller: ManagementCaller, path: Path & { event_id: string }) =>
  inTransaction(app, async (app) => {
    const { event_id, team_id } = path
    const webhook = await requireWebhook(app, caller, path)
    if (webhook.disabled_at) throw problem('WEBHOOK_DISABLED', 'The webhook is disabled, so nothing is sent to it. Enable it first.')
    const pending = await store.findPending(app.db, path, event_id)
    const { lane_id, sequence, behind } = pending ?? (await resend(app, path))
    await store.retryLaneNow(app.db, path, lane_id, app.wall())
    if (webhook.paused_until) await updateWebhook(app.db, team_id, webhook.id, { paused_until: null })
    wakeAfterCommit(app, team_id, [webhook.id])
    return { event_id, action: pending ? 'retried' : 'resent', sequence, behind }
  })

/** Appends the event to the end of its queue. It becomes visible when the transaction commits. */
async function resend(app: App, path: Path & { event_id: string }) {
  const event = await store.findEvent(app.db, path.team_id, path.event_id)
  if (!event)
    throw problem('EVENT_NOT_FOUND', 'No such event in this team, or it is past retention. GET /events lists the events that are kept.')
  await enqueueEvents(app.db, path.team_id, path.webhook_id, [event])
  return (await store.findPending(app.db, path, path.event_id)) as store.PendingMessage
}

import { randomUUID } from 'node:crypto'
import { exampleOf } from '../../../contract/events.ts'
import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { postOnce } from '../../../platform/outbound/send.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { requireEventType } from '../../events/catalog.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import { presentAttempt } from '../repair/attempts.ts'
import { afterAttempt } from '../rules.ts'
import { attemptOf, headersOfMessage, signatureOf } from '../sending/contents.ts'
import { logAttempt } from '../sending/store-cursors.ts'
import { requireWebhook, type WebhookPath } from './actions.ts'

/** Sends an example once, without retries. It is not in the log, so its sequence is 0. */
export async function sendWebhookExample(app: App, caller: ManagementCaller, path: WebhookPath, name: string) {
  const webhook = await requireWebhook(app, caller, path)
  const event_type = requireEventType(name)
  const { team_id } = path
  const endpoint = (await endpointsOf(app, team_id, [{ webhook_id: webhook.id }])).get(webhook.id) as Endpoint
  const at = app.wall()
  const event_id = randomUUID()
  const message = { event_id, event_type, team_id, user_id: null, event_at: null, no: null, previous: null, key: 'example' }
  const body = JSON.stringify(exampleOf(event_type, { team_id, event_id, created_at: app.now() }))
  const signature = signatureOf(endpoint, message, body, at)
  const headers = { ...endpoint.headers, ...headersOfMessage(message, signature, at) }
  // The process that handles the request may not deliver webhooks, so it has no sender of its own.
  const outcome = await postOnce(policyOf(app.config), { url: endpoint.url, headers, body })
  const verdict = afterAttempt({ attempts: 1, outcome, at, random: 0, schedule: [] })
  const attempt = attemptOf(await teamSealingKey(app, team_id), endpoint, message, { attempt: 1, at, outcome, verdict, signature, body })
  await logAttempt(app.db, attempt)
  return presentAttempt(attempt)
}

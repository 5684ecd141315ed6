import { randomUUID } from 'node:crypto'
import type { EventEnvelope } from '../../../contract/delivery/event.ts'
import type { ThinEvent } from '../../../contract/delivery/formats.ts'
import { type EventName, exampleOf } from '../../../contract/events.ts'
import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { policyOf } from '../../../platform/outbound/address.ts'
import { postOnce } from '../../../platform/outbound/send.ts'
import { open } from '../../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { requireEventType } from '../../events/catalog.ts'
import { thinText } from '../../formats/body.ts'
import { presentFormat } from '../../formats/rules.ts'
import { findFormats } from '../../formats/settings.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import { presentAttempt } from '../repair/attempts.ts'
import { findExampleAttempt } from '../repair/store-attempts.ts'
import { afterAttempt } from '../rules.ts'
import { type AttemptContents, attemptAssociatedData, attemptOf, headersOfMessage, signatureOf } from '../sending/contents.ts'
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
  const body = await bodyOfExample(app, webhook.id, exampleOf(event_type, { team_id, event_id, created_at: app.now() }), at)
  const signature = signatureOf(endpoint, message, body, at)
  const headers = { ...endpoint.headers, ...headersOfMessage(message, signature, at) }
  // The process that handles the request may not deliver webhooks, so it has no sender of its own.
  const outcome = await postOnce(policyOf(app.config), { url: endpoint.url, headers, body })
  const verdict = afterAttempt({ attempts: 1, outcome, at, random: 0, schedule: [] })
  const attempt = attemptOf(await teamSealingKey(app, team_id), endpoint, message, { attempt: 1, at, outcome, verdict, signature, body })
  await logAttempt(app.db, attempt)
  return presentAttempt(attempt)
}

/** Only the format `full` has the data. The ticket of an example has the time of its attempt. */
async function bodyOfExample(app: App, destination: string, example: EventEnvelope, at: string) {
  const { format, include_client_user_id } = presentFormat(await findFormats(app, example.team_id, destination))
  if (format === 'full') return JSON.stringify(example)
  const source = { ...example, order_id: null, destination, no: 0, logged_at: at }
  return thinText(app, source, include_client_user_id ? example.client_user_id : undefined)
}

/** The event of a thin example, which is stored nowhere else than in its attempt. */
export async function findExample(app: App, path: { team_id: string; webhook_id: string }, event_id: string, at: string) {
  const { team_id } = path
  const attempt = await findExampleAttempt(app.db, path, event_id, at)
  if (!attempt?.sealed) return undefined
  const { body = '' } = open<AttemptContents>(await teamSealingKey(app, team_id), attemptAssociatedData(attempt.id), attempt.sealed)
  const { created_at } = JSON.parse(body) as ThinEvent
  return exampleOf(attempt.event_type as EventName, { team_id, event_id, created_at })
}

import { isId } from '../../contract/common.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { loadWebhookCaller } from '../../tenants/keys/authenticate.ts'
import { readTicket } from '../formats/ticket.ts'
import { endpointsOf } from '../webhooks/endpoints.ts'
import { verify } from '../webhooks/sign.ts'

type Headers = Record<string, string | string[] | undefined>

/** Whether a request has the signature headers of a webhook message. */
export const isSigned = (headers: Headers) => ['svix-signature', 'webhook-signature'].some((name) => headers[name] !== undefined)

/**
 * Identifies the receiver of a ticket by its signature with the secret of the webhook. Every refusal is the same, so a stranger does
 * not learn which webhooks exist.
 */
export async function authenticateTicket(app: App, ticket: string, headers: Headers): Promise<TeamCaller> {
  const { team_id = '', destination = '' } = readTicket(ticket) ?? {}
  const secrets = await listSecrets(app, team_id, destination)
  const isVerified = secrets.some((secret) => verify(secret, headers, ticket, app.wall()) === 'verified')
  const caller = isVerified ? await loadWebhookCaller(app, team_id, destination) : undefined
  if (caller) return caller
  throw problem(
    'INVALID_TICKET_SIGNATURE',
    'The signature is wrong or older than 5 minutes. Sign webhook-id.webhook-timestamp.ticket with the secret of the webhook, or send a team API key in x-service-api-key.',
  )
}

/** The secrets as they are now, because they may just have been rotated. A destination of a pipeline has none. */
async function listSecrets(app: App, team_id: string, destination: string) {
  if (!isId(destination)) return []
  const webhook = (await endpointsOf(app, team_id, [{ webhook_id: destination }])).get(destination)
  return webhook && !webhook.inbox ? webhook.secrets : []
}

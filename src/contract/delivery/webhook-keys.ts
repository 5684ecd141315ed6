import { z } from 'zod'
import { Id, Nothing } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { noWebhook, WebhookPath, webhookRoot, webhooks } from './webhooks.ts'

const PublicJwk = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: Safe,
    kid: Safe.meta({ description: 'The same key as Standard Webhooks writes it.', example: 'whpk_…' }),
    use: z.literal('sig'),
    alg: z.literal('EdDSA'),
  })
  .meta({ id: 'PublicJwk' })

export const webhookKeyEndpoints = {
  rotateWebhookKey: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/keys/rotate`,
    status: 204,
    summary: 'Change the ed25519 key; the old one signs along for 24 hours',
    params: WebhookPath,
    returns: Nothing,
    refusals: { 400: 'The webhook signs with its secret alone.', ...noWebhook },
  }),
  getWebhookJwks: endpoint({
    auth: 'none',
    tag: 'Webhooks',
    method: 'get',
    path: '/webhooks/{webhook_id}/jwks.json',
    summary: 'The public keys of a webhook',
    subjects: {},
    description: 'Those that sign now, the newest first: what a receiver needs to verify `v1a` signatures, and nothing that could sign.',
    params: z.object({ webhook_id: Id }),
    returns: z.object({ keys: z.array(PublicJwk) }).meta({ id: 'Jwks' }),
    refusals: { 404: 'No such webhook, or it signs with its secret alone.' },
  }),
}

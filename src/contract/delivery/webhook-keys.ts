import { z } from 'zod'
import { Id, NoContent } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { noWebhook, WebhookPath, webhookRoot, webhooks } from './webhooks.ts'

const PublicJwk = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: Safe,
    kid: Safe.meta({ description: 'The key in the format of Standard Webhooks.', example: 'whpk_…' }),
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
    summary: 'Rotate the Ed25519 key of a webhook',
    description: 'For 24 hours Assay signs messages with both the new and the old key.',
    params: WebhookPath,
    returns: NoContent,
    refusals: { 400: 'The webhook has no Ed25519 key, because `asymmetric` is false.', ...noWebhook },
  }),
  getWebhookJwks: endpoint({
    auth: 'none',
    tag: 'Webhooks',
    method: 'get',
    path: '/webhooks/{webhook_id}/jwks.json',
    summary: 'List the public keys of a webhook',
    subjects: {},
    description: 'Returns the public keys that verify `v1a` signatures as a JSON Web Key Set, newest first. Needs no credential.',
    params: z.object({ webhook_id: Id }),
    returns: z.object({ keys: z.array(PublicJwk) }).meta({ id: 'Jwks' }),
    refusals: { 404: 'No such webhook, or it has no Ed25519 key.' },
  }),
}

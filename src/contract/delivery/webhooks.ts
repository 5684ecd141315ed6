import { z } from 'zod'
import { Cursor, Environment, Id, Instant, Nothing } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { EventPattern } from './event.ts'

export const orderings = ['per_key', 'strict', 'unordered'] as const

const TeamPath = z.object({ org_id: Id, team_id: Id, env: Environment })
export const WebhookPath = TeamPath.extend({ webhook_id: Id })

const Url = z
  .string()
  .min(1)
  .max(2048, 'Must have at most 2048 characters.')
  .meta({ format: 'uri', example: 'https://example.com/webhooks' })
const Rate = z.int().min(1).max(10_000).describe('Messages a second at most.')
const Filter = z
  .array(EventPattern)
  .max(200)
  .describe('Event types; a type may end in *. What no event type matches is refused. Null or absent takes all.')
const Ordering = z
  .enum(orderings)
  .describe('per_key: the messages about one order or user resource in their order; strict: all of them; unordered: each on its own.')
const Headers = z.record(z.string(), z.string()).describe('At most 50, each of at most 4,096 visible ASCII characters.')

export const NewWebhook = z
  .object({
    url: Url,
    description: z.string().max(1000).nullish().describe('Default empty.'),
    rate_limit: Rate.nullish(),
    disabled: z.boolean().nullish().describe('Default false. A disabled webhook is sent nothing and loses nothing.'),
    filter_types: Filter.nullish(),
    secret: z.string().max(200).nullish().describe('whsec_ and 24 to 75 bytes in base64; made when absent.'),
    ordering: Ordering.nullish().describe('Default per_key.'),
    asymmetric: z.boolean().nullish().describe('Default false. Signs with an ed25519 key too (v1a), whose public part is published.'),
  })
  .meta({ id: 'NewWebhook' })

export const WebhookPatch = z
  .object({
    url: Url.nullish(),
    description: z.string().max(1000).nullish(),
    rate_limit: Rate.nullish().describe('Null takes the limit away.'),
    disabled: z.boolean().nullish(),
    filter_types: Filter.nullish().describe('Null takes every type.'),
    ordering: Ordering.nullish(),
    asymmetric: z.boolean().nullish().describe('False takes its ed25519 keys away at once.'),
  })
  .meta({ id: 'WebhookPatch' })

const Webhook = z
  .object({
    id: Id,
    description: Safe.nullable(),
    rate_limit: z.int().nullable(),
    url: Safe,
    disabled: z.boolean().nullable(),
    disabled_because: Safe.nullable().describe('Why we disabled it: gone (410) or failing for days. Null when you did.'),
    filter_types: z.array(Safe).nullable(),
    ordering: Safe.meta({ 'x-extensible-enum': orderings }),
    public_key: Safe.nullable().describe('whpk_ and an ed25519 key that verifies v1a signatures; null unless it is asymmetric.'),
    created_at: Instant,
    updated_at: Instant,
    waiting: z.int().describe('Messages that wait to be delivered.'),
    next_try_at: Instant.nullable(),
    failures: z.int().describe('Failures in a row.'),
    failing_since: Instant.nullable(),
  })
  .meta({ id: 'Webhook' })

/** What all rows about webhooks share. */
export const webhooks = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Webhooks', subjects: {} } as const
const root = '/v1/org/{org_id}/team/{team_id}/{env}/webhook'
export const webhookRoot = `${root}/{webhook_id}` as const
export const noWebhook = { 404: 'No such webhook of the team.' }

export const webhookEndpoints = {
  listWebhooks: endpoint({
    ...webhooks,
    method: 'get',
    path: root,
    summary: 'List the webhooks of a team',
    params: TeamPath,
    query: z.object({ limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }),
    returns: z.object({ data: z.array(Webhook), next_cursor: Safe.nullable() }).meta({ id: 'WebhookList' }),
  }),
  createWebhook: endpoint({
    ...webhooks,
    method: 'post',
    path: root,
    summary: 'Create a webhook',
    subjects: { id: 'result.id' },
    params: TeamPath,
    body: NewWebhook,
    returns: Webhook,
    refusals: { 400: 'The address cannot be sent to, or the secret is none.' },
  }),
  getWebhook: endpoint({
    ...webhooks,
    method: 'get',
    path: webhookRoot,
    summary: 'Get a webhook',
    params: WebhookPath,
    returns: Webhook,
    refusals: noWebhook,
  }),
  patchWebhook: endpoint({
    ...webhooks,
    method: 'patch',
    path: webhookRoot,
    summary: 'Change, disable or enable a webhook',
    params: WebhookPath,
    body: WebhookPatch,
    returns: Webhook,
    refusals: { 400: 'The address cannot be sent to.', ...noWebhook },
  }),
  deleteWebhook: endpoint({
    ...webhooks,
    method: 'delete',
    path: webhookRoot,
    status: 204,
    summary: 'Delete a webhook with everything that waits for it',
    params: WebhookPath,
    returns: Nothing,
    refusals: noWebhook,
  }),
  getWebhookHeaders: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/headers`,
    summary: 'Get the headers that are sent along',
    params: WebhookPath,
    returns: z.object({ headers: z.record(Safe, Safe), sensitive: z.array(Safe) }).meta({ id: 'WebhookHeaders' }),
    refusals: noWebhook,
  }),
  putWebhookHeaders: endpoint({
    ...webhooks,
    method: 'put',
    path: `${webhookRoot}/headers`,
    status: 204,
    summary: 'Replace the headers that are sent along',
    description: 'Values of headers that look like credentials, or are named in sensitive, are never answered again.',
    params: WebhookPath,
    body: z.object({ headers: Headers, sensitive: z.array(z.string().max(128)).max(50).nullish() }).meta({ id: 'NewWebhookHeaders' }),
    returns: Nothing,
    refusals: { 400: 'A header that we set ourselves.', ...noWebhook },
  }),
  getWebhookSecret: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/secret`,
    summary: 'Get the secret that signs',
    params: WebhookPath,
    returns: z.object({ key: Safe }).meta({ id: 'WebhookSecret' }),
    refusals: noWebhook,
  }),
  rotateWebhookSecret: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/secret/rotate`,
    status: 204,
    summary: 'Change the secret; the old one signs along for 24 hours',
    params: WebhookPath,
    body: z
      .object({ key: z.string().max(200).nullish().describe('Made when absent.') })
      .meta({ id: 'RotateWebhookSecret' })
      .nullish(),
    returns: Nothing,
    refusals: { 400: 'The secret is none.', ...noWebhook },
  }),
}

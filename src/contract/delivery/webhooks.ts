import { z } from 'zod'
import { Cursor, Environment, Id, Instant, NoContent } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { EventPattern } from './event.ts'
import { FormatInput, FormatSettings } from './formats.ts'

const orderings = ['per_key', 'strict', 'unordered'] as const

const TeamPath = z.object({ org_id: Id, team_id: Id, env: Environment })
export const WebhookPath = TeamPath.extend({ webhook_id: Id })

const Url = z
  .string()
  .min(1)
  .max(2048, 'Must have at most 2048 characters.')
  .meta({ format: 'uri', example: 'https://example.com/webhooks' })
const Rate = z.int().min(1).max(10_000).describe('The maximum number of messages per second.')
const Filter = z
  .array(EventPattern)
  .min(1, 'Name at least one event type, or send null for all.')
  .max(500)
  .describe('The event types to receive. A type can end in *. Null or absent means all. A filter that matches no type is rejected.')
const Ordering = z
  .enum(orderings)
  .describe('per_key: in order per lab order, user or user resource. strict: all messages in order. unordered: each message independently.')
const Headers = z.record(z.string(), z.string()).describe('At most 50 headers, with values of at most 4,096 visible ASCII characters.')

export const NewWebhook = z
  .object({
    url: Url,
    description: z.string().max(1000).nullish().describe('Default: empty.'),
    rate_limit: Rate.nullish(),
    disabled: z.boolean().nullish().describe('Default false. True pauses delivery, and messages stay pending.'),
    filter_types: Filter.nullish(),
    secret: z.string().max(200).nullish().describe('`whsec_` followed by 24 to 75 bytes in base64. Generated if absent.'),
    ordering: Ordering.nullish().describe('Default per_key.'),
    ...FormatInput,
    asymmetric: z.boolean().nullish().describe('Default false. True adds an Ed25519 signature (v1a) and publishes the public key.'),
  })
  .meta({ id: 'NewWebhook' })

export const WebhookPatch = z
  .object({
    url: Url.nullish(),
    description: z.string().max(1000).nullish(),
    rate_limit: Rate.nullish().describe('Null removes the limit.'),
    disabled: z.boolean().nullish(),
    filter_types: Filter.nullish().describe('Null means all event types.'),
    ordering: Ordering.nullish(),
    ...FormatInput,
    asymmetric: z.boolean().nullish().describe('False deletes the Ed25519 keys immediately.'),
  })
  .meta({ id: 'WebhookPatch' })

const Webhook = z
  .object({
    id: Id,
    description: Safe.nullable(),
    rate_limit: z.int().nullable(),
    url: Safe,
    disabled: z.boolean().nullable(),
    disabled_because: Safe.nullable().describe(
      'Why Assay disabled the webhook: gone (it responded with 410) or failing (for 5 days). Null otherwise.',
    ),
    filter_types: z.array(Safe).nullable(),
    ordering: Safe.meta({ 'x-extensible-enum': orderings }),
    ...FormatSettings,
    public_key: Safe.nullable().describe(
      '`whpk_` followed by the Ed25519 key that verifies v1a signatures. Null if `asymmetric` is false.',
    ),
    created_at: Instant,
    updated_at: Instant,
    waiting: z.int().describe('The number of pending messages, counted up to 10,000.'),
    waiting_at_least: z.boolean().describe('True if more messages can be pending than were counted.'),
    next_try_at: Instant.nullable().describe('When Assay makes the next attempt.'),
    failures: z.int().describe('The number of failures in a row.'),
    failing_since: Instant.nullable(),
  })
  .meta({ id: 'Webhook' })

export const webhooks = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Webhooks', subjects: {}, grantsAccess: true } as const
const root = '/v1/org/{org_id}/team/{team_id}/{env}/webhook'
export const webhookRoot = `${root}/{webhook_id}` as const
export const noWebhook = { 404: 'No such webhook in the team.' }

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
    description: 'The webhook receives new events. To send it earlier ones, start a replay.',
    params: TeamPath,
    body: NewWebhook,
    returns: Webhook,
    refusals: { 400: 'The URL is not allowed, the secret is not valid, or the team has too many webhooks.' },
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
    summary: 'Update a webhook',
    description:
      'Changes only the fields that you send. Set `disabled` to pause or resume delivery. New values of filter_types, ordering and format apply to events after the change.',
    params: WebhookPath,
    body: WebhookPatch,
    returns: Webhook,
    refusals: { 400: 'The URL is not allowed.', ...noWebhook },
  }),
  deleteWebhook: endpoint({
    ...webhooks,
    method: 'delete',
    path: webhookRoot,
    status: 204,
    summary: 'Delete a webhook',
    description: 'Pending messages and jobs of the webhook are deleted with it.',
    params: WebhookPath,
    returns: NoContent,
    refusals: noWebhook,
  }),
  getWebhookHeaders: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/headers`,
    summary: 'Get the custom headers of a webhook',
    description: 'Values of sensitive headers are left out.',
    params: WebhookPath,
    returns: z.object({ headers: z.record(Safe, Safe), sensitive: z.array(Safe) }).meta({ id: 'WebhookHeaders' }),
    refusals: noWebhook,
  }),
  putWebhookHeaders: endpoint({
    ...webhooks,
    method: 'put',
    path: `${webhookRoot}/headers`,
    status: 204,
    summary: 'Set the custom headers of a webhook',
    description:
      'Replaces all custom headers. Assay never returns the values of headers that look like credentials or that you list in `sensitive`.',
    params: WebhookPath,
    body: z.object({ headers: Headers, sensitive: z.array(z.string().max(128)).max(50).nullish() }).meta({ id: 'NewWebhookHeaders' }),
    returns: NoContent,
    refusals: { 400: 'Assay sets one of the headers itself.', ...noWebhook },
  }),
  getWebhookSecret: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/secret`,
    summary: 'Get the signing secret of a webhook',
    params: WebhookPath,
    returns: z.object({ key: Safe }).meta({ id: 'WebhookSecret' }),
    refusals: noWebhook,
  }),
  rotateWebhookSecret: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/secret/rotate`,
    status: 204,
    summary: 'Rotate the signing secret of a webhook',
    description: 'For 24 hours Assay signs messages with both the new and the old secret.',
    params: WebhookPath,
    body: z
      .object({
        key: z.string().max(200).nullish().describe('The new secret: `whsec_` followed by 24 to 75 bytes in base64. Generated if absent.'),
      })
      .meta({ id: 'RotateWebhookSecret' })
      .nullish(),
    returns: NoContent,
    refusals: { 400: 'The secret is not valid.', ...noWebhook },
  }),
}

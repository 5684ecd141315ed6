import { z } from 'zod'
import { DayIn, Environment, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'
import { supportedDestinations } from './pipelines.ts'

const Disclosure = z
  .object({
    day: safe(z.string().meta({ format: 'date' })).describe('In UTC.'),
    destination: openEnum(['webhook', ...supportedDestinations]),
    webhook_id: Id.nullable().describe('Null for a destination of the pipeline.'),
    receiver: Safe.describe('The host of the webhook or the broker, or the project and the topic, at that time.'),
    event_type: Safe,
    messages: z.int().describe('The number of messages with personal fields. Every attempt that reached the receiver counts.'),
    fields: z
      .array(z.object({ field: Safe, count: z.int() }).meta({ id: 'DisclosedField' }))
      .describe('The personal fields, with the number of messages in which they had a value.'),
  })
  .meta({ id: 'Disclosure' })

export const disclosureEndpoints = {
  listDisclosures: endpoint({
    auth: 'management',
    plan: 'scale',
    scope: 'team',
    tag: 'Webhooks',
    subjects: {},
    exact: true,
    method: 'get',
    path: '/v1/org/{org_id}/team/{team_id}/{env}/disclosures',
    summary: 'List disclosures',
    description:
      'Counts which personal fields webhooks and pipeline destinations received, by day, destination and event type. Contains no personal data. Assay keeps the counts for 6 years.',
    params: z.object({ org_id: Id, team_id: Id, env: Environment }),
    query: z.object({
      from: DayIn.describe('The first day, in UTC.'),
      to: DayIn.nullish().describe('The last day. Default: today.'),
      limit: z.int().min(1).max(500).default(100),
      next_cursor: Text(2000).nullish().describe('The next_cursor of the previous page.'),
    }),
    returns: z
      .object({
        known_from: Instant.describe('Assay has counted since then. It knows nothing about earlier messages.'),
        data: z.array(Disclosure),
        next_cursor: Safe.nullable(),
      })
      .meta({ id: 'DisclosureList' }),
  }),
}

import { z } from 'zod'
import { Cursor, Environment, Id, Instant, openEnum, Region, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { FormatInput, FormatSettings } from './formats.ts'

export const destinations = ['cloud_pubsub', 'rabbitmq', 'svix', 'azure_amqp'] as const
/** The destinations that Assay can publish to. */
export const supportedDestinations = ['cloud_pubsub', 'rabbitmq'] as const

export type Destination = (typeof destinations)[number]
export type SupportedDestination = (typeof supportedDestinations)[number]

export const isSupported = (name: string): name is SupportedDestination => supportedDestinations.some((supported) => supported === name)

/** Follows Google's rules for project IDs. A domain-scoped project starts with the domain and a colon. */
export const ProjectId = z
  .string()
  .regex(
    /^([a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,4}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
    'Must be a project ID: 6 to 30 lower-case letters, digits and hyphens, starting with a letter and not ending with a hyphen.',
  )

const TopicId = z
  .string()
  .regex(
    /^(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/,
    'Must be a topic ID without its project: 3 to 255 letters, digits and - _ . ~ + %, starting with a letter and not with goog.',
  )

const DeploymentPath = z.object({ org_id: Id, env: Environment, region: Region })
const Destination = z.enum(destinations)
const Teams = z.array(Id).min(1, 'Send at least one team.').max(100)

const Unsupported = z.looseObject({}).nullish().describe('Not supported. The error names an alternative.')

export const UpsertPipelines = z
  .object({
    team_ids: Teams,
    push_historical_data: z
      .boolean()
      .nullish()
      .describe('True: a new destination starts with the oldest stored event. False: it receives new events only. Default false.'),
    provider_raw_data: z.boolean().nullish().describe('Only false is supported.'),
    preferences: z
      .object({ preferred: Destination, enabled: z.array(Destination).max(10) })
      .meta({ id: 'PipelinePreferencesInput' })
      .nullish()
      .describe(
        'Each destination in `enabled` receives every event. Other destinations are paused and their events stay pending. `preferred` has no effect. Default: the destinations that you send are enabled.',
      ),
    rabbitmq: z
      .object({
        uri: Text(2048).meta({ example: 'amqps://assay:secret@broker.example.com/health' }),
        exchange: Text(255).refine((text) => new TextEncoder().encode(text).length <= 255, 'Must have at most 255 bytes.'),
        ...FormatInput,
      })
      .meta({ id: 'RabbitMqDestinationInput' })
      .nullish()
      .describe('The broker. A `uri` with masked credentials, as in responses, keeps the stored one.'),
    cloud_pubsub: z
      .object({
        project: ProjectId.meta({ example: 'harbor-events' }),
        topic: TopicId.meta({ example: 'health' }),
        message_ordering: z
          .boolean()
          .describe('True adds an ordering key to messages, so that subscriptions can preserve the order per key.'),
        ...FormatInput,
      })
      .meta({ id: 'PubSubDestinationInput' })
      .nullish()
      .describe('A Google Cloud Pub/Sub topic, in a project that the operator allows with PUBSUB_PROJECTS.'),
    svix: Unsupported,
    azure_amqp: Unsupported,
    event_type_prefixes: z
      .array(z.string().regex(/^[a-z0-9_.]{1,100}$/, 'Must be the prefix of an event type, such as daily.data. or labtest.order.'))
      .max(200)
      .nullish()
      .describe('Publishes only event types with one of these prefixes. An empty list removes the filter.'),
  })
  .meta({ id: 'UpsertPipelines' })

const PipelineDestination = z
  .object({
    destination: openEnum(supportedDestinations),
    delivered: z.int().describe('The number of events that the destination confirmed.'),
    last_delivered_at: Instant.nullable(),
    lag: z.int().describe('The number of pending events, counted up to 10,000.'),
    failures: z.int().describe('The number of failures in a row.'),
    failing_since: Instant.nullable(),
    last_error: z
      .object({ code: Safe, message: Safe, at: Instant })
      .meta({ id: 'PipelineError' })
      .nullable()
      .describe('Why publishing fails. Null while it succeeds.'),
    next_try_at: Instant.nullable().describe('When Assay makes the next attempt.'),
    created_at: Instant,
  })
  .meta({ id: 'PipelineDestination' })

const Pipeline = z
  .object({
    team_id: Id,
    push_historical_data: z.boolean(),
    provider_raw_data: z.boolean(),
    preferences: z
      .object({ preferred: openEnum(destinations), enabled: z.array(openEnum(destinations)) })
      .meta({ id: 'PipelinePreferences' }),
    cloud_pubsub: z
      .object({ project: Safe, topic: Safe, message_ordering: z.boolean(), ...FormatSettings })
      .meta({ id: 'PubSubDestination' })
      .nullable(),
    rabbitmq: z
      .object({ uri: Safe.describe('User and password are masked.'), exchange: Safe, ...FormatSettings })
      .meta({ id: 'RabbitMqDestination' })
      .nullable(),
    svix: z.null(),
    azure_amqp: z.null(),
    event_type_prefixes: z.array(Safe).nullable(),
    destinations: z.array(PipelineDestination).describe('The state of each destination. Each has its own position in the event log.'),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Pipeline' })

const pipelines = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Pipelines', subjects: {}, grantsAccess: true } as const
const path = '/v1/org/{org_id}/team_etl_pipelines/{env}/{region}'

export const pipelineEndpoints = {
  listPipelines: endpoint({
    ...pipelines,
    method: 'get',
    path,
    summary: 'List pipelines',
    description: 'Returns the pipeline of each team with the state of its destinations.',
    params: DeploymentPath,
    query: z.object({ team_id: Id.nullish(), next_cursor: Cursor }),
    returns: z.object({ pipelines: z.array(Pipeline), next_cursor: Safe.nullable() }).meta({ id: 'PipelineList' }),
  }),
  upsertPipelines: endpoint({
    ...pipelines,
    method: 'post',
    path,
    summary: 'Create or update pipelines',
    subjects: { team_id: 'body.team_ids[]' },
    description:
      'Applies to all teams in team_ids, or to none if one fails. Absent and null fields keep their values. Use `preferences.enabled` to pause and resume destinations.',
    params: DeploymentPath,
    body: UpsertPipelines,
    returns: z.array(Pipeline),
    refusals: { 400: 'A destination is missing, not supported or not allowed.', 404: 'No such team.' },
  }),
  deletePipelines: endpoint({
    ...pipelines,
    method: 'delete',
    path,
    summary: 'Delete pipelines',
    subjects: { team_id: 'query.team_id' },
    description: 'Returns the deleted pipelines.',
    params: DeploymentPath,
    query: z.object({ team_id: Teams }),
    returns: z.array(Pipeline),
  }),
}

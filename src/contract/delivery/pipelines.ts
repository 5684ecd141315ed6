import { z } from 'zod'
import { Cursor, Environment, Id, Instant, openEnum, Region, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

export const destinations = ['cloud_pubsub', 'rabbitmq', 'svix', 'azure_amqp'] as const
/** Those that events are published to. */
export const outlets = ['cloud_pubsub', 'rabbitmq'] as const

export type Destination = (typeof destinations)[number]
export type OutletName = (typeof outlets)[number]

/** By the rules of Google; a project of a domain begins with its name and a colon. */
export const ProjectId = z
  .string()
  .regex(
    /^([a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,4}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
    'Must be the id of a project: 6 to 30 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen.',
  )

const TopicId = z
  .string()
  .regex(
    /^(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/,
    'Must be the id of a topic, without its project: 3 to 255 letters, digits and - _ . ~ + %, beginning with a letter and not with goog.',
  )

const DeploymentPath = z.object({ org_id: Id, env: Environment, region: Region })
const Destination = z.enum(destinations)
const Teams = z.array(Id).min(1, 'Name at least one team.').max(100)

const Unsupported = z.looseObject({}).nullish().describe('Not supported; it is refused with what to use instead.')

export const UpsertPipelines = z
  .object({
    team_ids: Teams,
    push_historical_data: z
      .boolean()
      .nullish()
      .describe(
        'A destination that is new begins with the oldest event that is kept, instead of with what happens from now on. Default false.',
      ),
    provider_raw_data: z.boolean().nullish().describe('Only false is supported.'),
    preferences: z
      .object({ preferred: Destination, enabled: z.array(Destination).max(10) })
      .meta({ id: 'PipelinePreferencesInput' })
      .nullish()
      .describe(
        'Each destination in `enabled` gets every event. Those that are left out are paused; what happens meanwhile waits. `preferred` changes nothing. Default: what is sent is enabled.',
      ),
    rabbitmq: z
      .object({
        uri: Text(2048).meta({ example: 'amqps://assay:secret@broker.example.com/health' }),
        exchange: Text(255).refine((text) => new TextEncoder().encode(text).length <= 255, 'Must have at most 255 bytes.'),
      })
      .meta({ id: 'RabbitMqDestinationInput' })
      .nullish()
      .describe('The broker. A `uri` as it is answered, with the credentials hidden, stands for the one that is kept.'),
    cloud_pubsub: z
      .object({
        project: ProjectId.meta({ example: 'harbour-events' }),
        topic: TopicId.meta({ example: 'health' }),
        message_ordering: z
          .boolean()
          .describe('Whether messages get an ordering key, so that subscriptions can keep the order of each key.'),
      })
      .meta({ id: 'PubSubDestinationInput' })
      .nullish()
      .describe('A topic of Google Cloud Pub/Sub, in a project that the operator opened with PUBSUB_PROJECTS.'),
    svix: Unsupported,
    azure_amqp: Unsupported,
    event_type_prefixes: z
      .array(z.string().regex(/^[a-z0-9_.]{1,100}$/, 'Must be the beginning of an event type, such as daily.data. or labtest.order.'))
      .max(200)
      .nullish()
      .describe('Only event types that begin with one of these. An empty list takes every type again.'),
  })
  .meta({ id: 'UpsertPipelines' })

const PipelineDestination = z
  .object({
    destination: openEnum(outlets),
    delivered: z.int().describe('Events that were confirmed.'),
    last_delivered_at: Instant.nullable(),
    lag: z.int().describe('Events that wait; counted up to 10000.'),
    failures: z.int().describe('Failures in a row.'),
    failing_since: Instant.nullable(),
    last_error: z
      .object({ code: Safe, message: Safe, at: Instant })
      .meta({ id: 'PipelineError' })
      .nullable()
      .describe('Why nothing gets through; null while it does.'),
    next_try_at: Instant.nullable(),
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
    cloud_pubsub: z.object({ project: Safe, topic: Safe, message_ordering: z.boolean() }).meta({ id: 'PubSubDestination' }).nullable(),
    rabbitmq: z
      .object({ uri: Safe.describe('User and password are hidden.'), exchange: Safe })
      .meta({ id: 'RabbitMqDestination' })
      .nullable(),
    svix: z.null(),
    azure_amqp: z.null(),
    event_type_prefixes: z.array(Safe).nullable(),
    destinations: z.array(PipelineDestination).describe('How each destination is doing; each has a place of its own in the log.'),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Pipeline' })

const pipelines = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Pipelines', subjects: {} } as const
const path = '/v1/org/{org_id}/team_etl_pipelines/{env}/{region}'

export const pipelineEndpoints = {
  listPipelines: endpoint({
    ...pipelines,
    method: 'get',
    path,
    summary: 'List the pipelines of teams',
    params: DeploymentPath,
    query: z.object({ team_id: Id.nullish(), next_cursor: Cursor }),
    returns: z.object({ pipelines: z.array(Pipeline), next_cursor: Safe.nullable() }).meta({ id: 'PipelineList' }),
  }),
  upsertPipelines: endpoint({
    ...pipelines,
    method: 'post',
    path,
    summary: 'Make, change, pause or resume the pipelines of teams',
    subjects: { team_id: 'body.team_ids[]' },
    description: 'A field that is absent or null stays as it is. All teams get what is sent, or none.',
    params: DeploymentPath,
    body: UpsertPipelines,
    returns: z.array(Pipeline),
    refusals: { 400: 'A destination that is not supported, missing, or may not be sent to.', 404: 'No such team.' },
  }),
  deletePipelines: endpoint({
    ...pipelines,
    method: 'delete',
    path,
    summary: 'Delete the pipelines of teams',
    subjects: { team_id: 'query.team_id' },
    description: 'Answers those that there were.',
    params: DeploymentPath,
    query: z.object({ team_id: Teams }),
    returns: z.array(Pipeline),
  }),
}

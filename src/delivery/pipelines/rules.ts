import { type Destination, destinations, type SupportedDestination, supportedDestinations } from '../../contract/delivery/pipelines.ts'
import { problem } from '../../platform/problem.ts'

/** A RabbitMQ exchange. The URI contains the user name and password. */
export type RabbitMq = { uri: string; exchange: string }
export type PubSub = { project: string; topic: string; message_ordering: boolean }
export type DestinationSettings = { rabbitmq: RabbitMq; cloud_pubsub: PubSub }

type PipelineBody = {
  push_historical_data?: boolean | null | undefined
  provider_raw_data?: boolean | null | undefined
  preferences?: { preferred: Destination; enabled: Destination[] } | null | undefined
  event_type_prefixes?: string[] | null | undefined
} & { [D in Destination]?: unknown }

type Settings = { push_historical_data: boolean; preferred: string; enabled: string[]; event_type_prefixes: string[] | null }

/** A new pipeline with default settings. */
export const newPipeline: Settings = { push_historical_data: false, preferred: 'rabbitmq', enabled: [], event_type_prefixes: null }

/**
 * Merges the request into the stored settings: absent or null fields stay, and an empty list of prefixes means every type.
 * A new destination is enabled, unless preferences say which ones are.
 */
export function settingsFrom(body: PipelineBody, stored: Settings, existing: string[]): Settings {
  checkSupported(body)
  const { push_historical_data, preferences, event_type_prefixes: prefixes } = body
  const added = requestedDestinations(body).filter((name) => !existing.includes(name))
  const enabled = [...new Set<string>(preferences?.enabled ?? [...stored.enabled, ...added])]
  checkExisting(enabled, [...existing, ...added])
  return {
    push_historical_data: push_historical_data ?? stored.push_historical_data,
    preferred: preferences?.preferred ?? (existing.length ? stored.preferred : (added[0] as SupportedDestination)),
    enabled,
    event_type_prefixes: prefixes ? (prefixes.length ? [...new Set(prefixes)] : null) : stored.event_type_prefixes,
  }
}

/** The destinations in the request. */
export const requestedDestinations = (body: PipelineBody) => supportedDestinations.filter((name) => body[name])

const usage: Record<SupportedDestination, string> = {
  rabbitmq: 'rabbitmq with uri and exchange',
  cloud_pubsub: 'cloud_pubsub with project, topic and message_ordering',
}

const remedies: Record<Exclude<Destination, SupportedDestination>, string> = {
  svix: 'Leave svix out. Webhooks deliver independently of pipelines: manage them at /v1/org/{org_id}/team/{team_id}/{env}/webhook.',
  azure_amqp: `Azure Event Hubs is not supported. Send ${usage.rabbitmq}, or ${usage.cloud_pubsub}.`,
}

/** Rejects destinations that Assay does not support instead of accepting and never serving them. */
function checkSupported(body: PipelineBody) {
  const { preferences } = body
  const requested = [
    ...(preferences ? [preferences.preferred, ...preferences.enabled] : []),
    ...destinations.filter((destination) => body[destination]),
  ]
  for (const destination of requested)
    if (destination in remedies)
      throw problem('DESTINATION_NOT_SUPPORTED', remedies[destination as keyof typeof remedies], {
        destination,
        supported: supportedDestinations,
      })
  if (body.provider_raw_data)
    throw problem(
      'RAW_DATA_NOT_PUSHED',
      'Leave provider_raw_data out. Pipelines do not push raw provider data. Read the raw summaries instead.',
    )
}

function checkExisting(enabled: string[], existing: string[]) {
  if (!existing.length)
    throw problem('DESTINATION_REQUIRED', `The team has no pipeline yet. Send ${usage.rabbitmq}, ${usage.cloud_pubsub}, or both.`)
  const destination = enabled.find((name) => !existing.includes(name)) as SupportedDestination | undefined
  if (destination)
    throw problem(
      'DESTINATION_REQUIRED',
      `The pipeline does not have ${destination}. Send ${usage[destination]}, or leave it out of preferences.enabled.`,
      { destination },
    )
}

/** Pipelines publish to topics with the deployment's identity, so the operator decides which projects are allowed. */
export function checkProject({ project }: Pick<PubSub, 'project'>, allowed: string[]) {
  if (isProjectAllowed(project, allowed)) return
  throw problem('PUBSUB_PROJECT_REFUSED', 'Pipelines cannot publish to this project. Ask the operator to add it to PUBSUB_PROJECTS.', {
    project,
  })
}

export const isProjectAllowed = (project: string, allowed: string[]) => allowed.includes('*') || allowed.includes(project)

/** The host of a broker, or a project and its topic. */
export const receiverOf = ({ rabbitmq, cloud_pubsub }: Partial<DestinationSettings>) =>
  rabbitmq ? (/@([^/?#@]+)/.exec(rabbitmq.uri)?.[1] ?? '') : `${cloud_pubsub?.project}/${cloud_pubsub?.topic}`

/** The type prefixes as patterns for reading the log. */
export const patternsOf = (prefixes: string[] | null) => prefixes?.map((prefix) => `${prefix}*`) ?? null

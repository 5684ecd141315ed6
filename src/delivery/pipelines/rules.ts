import { type Destination, destinations, type SupportedDestination, supportedDestinations } from '../../contract/delivery/pipelines.ts'
import { problem } from '../../platform/problem.ts'

/** A RabbitMQ exchange. The URI contains the user name and password. */
export type RabbitMq = { uri: string; exchange: string }
export type PubSub = { project: string; topic: string; message_ordering: boolean }
export type DestinationSettings = { rabbitmq: RabbitMq; cloud_pubsub: PubSub }

type Sent = {
  push_historical_data?: boolean | null | undefined
  provider_raw_data?: boolean | null | undefined
  preferences?: { preferred: Destination; enabled: Destination[] } | null | undefined
  event_type_prefixes?: string[] | null | undefined
} & { [D in Destination]?: unknown }

type Settings = { push_historical_data: boolean; preferred: string; enabled: string[]; event_type_prefixes: string[] | null }

/** A new pipeline with default settings. */
export const fresh: Settings = { push_historical_data: false, preferred: 'rabbitmq', enabled: [], event_type_prefixes: null }

/**
 * Merges the request into the stored settings: absent or null fields stay, and an empty list of prefixes means every type.
 * A new destination is enabled, unless preferences say which ones are.
 */
export function settingsFrom(sent: Sent, kept: Settings, has: string[]): Settings {
  checkSupported(sent)
  const { push_historical_data, preferences, event_type_prefixes: prefixes } = sent
  const added = given(sent).filter((name) => !has.includes(name))
  const enabled = [...new Set<string>(preferences?.enabled ?? [...kept.enabled, ...added])]
  checkThere(enabled, [...has, ...added])
  return {
    push_historical_data: push_historical_data ?? kept.push_historical_data,
    preferred: preferences?.preferred ?? (has.length ? kept.preferred : (added[0] as SupportedDestination)),
    enabled,
    event_type_prefixes: prefixes ? (prefixes.length ? [...new Set(prefixes)] : null) : kept.event_type_prefixes,
  }
}

/** The destinations in the request. */
export const given = (sent: Sent) => supportedDestinations.filter((name) => sent[name])

const wanted: Record<SupportedDestination, string> = {
  rabbitmq: 'rabbitmq with uri and exchange',
  cloud_pubsub: 'cloud_pubsub with project, topic and message_ordering',
}

const instead: Record<Exclude<Destination, SupportedDestination>, string> = {
  svix: 'Leave svix out. Webhooks deliver independently of pipelines: manage them at /v1/org/{org_id}/team/{team_id}/{env}/webhook.',
  azure_amqp: `Azure Event Hubs is not supported yet; send ${wanted.rabbitmq}, or ${wanted.cloud_pubsub}.`,
}

/** Rejects destinations that Assay does not support instead of accepting and never serving them. */
function checkSupported(sent: Sent) {
  const { preferences } = sent
  const named = [
    ...(preferences ? [preferences.preferred, ...preferences.enabled] : []),
    ...destinations.filter((destination) => sent[destination]),
  ]
  for (const destination of named)
    if (destination in instead)
      throw problem('DESTINATION_NOT_SUPPORTED', instead[destination as keyof typeof instead], {
        destination,
        supported: supportedDestinations,
      })
  if (sent.provider_raw_data)
    throw problem('RAW_DATA_NOT_PUSHED', 'Leave provider_raw_data out. Raw provider data is not pushed; read the raw summaries instead.')
}

function checkThere(enabled: string[], has: string[]) {
  if (!has.length)
    throw problem('DESTINATION_REQUIRED', `The team has no pipeline yet: send ${wanted.rabbitmq}, ${wanted.cloud_pubsub}, or both.`)
  const destination = enabled.find((name) => !has.includes(name)) as SupportedDestination | undefined
  if (destination)
    throw problem(
      'DESTINATION_REQUIRED',
      `The pipeline does not have ${destination}: send ${wanted[destination]}, or leave it out of preferences.enabled.`,
      { destination },
    )
}

/** Topics are published with the deployment's identity, so the operator decides which projects are allowed. */
export function checkProject({ project }: Pick<PubSub, 'project'>, allowed: string[]) {
  if (isProjectOpen(project, allowed)) return
  throw problem('PUBSUB_PROJECT_REFUSED', 'Pipelines cannot publish to this project. Ask the operator to add it to PUBSUB_PROJECTS.', {
    project,
  })
}

export const isProjectOpen = (project: string, allowed: string[]) => allowed.includes('*') || allowed.includes(project)

/** The type prefixes as patterns for reading the log. */
export const patternsOf = (prefixes: string[] | null) => prefixes?.map((prefix) => `${prefix}*`) ?? null

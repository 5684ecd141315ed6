import { type Destination, destinations, type SupportedDestination, supportedDestinations } from '../../contract/delivery/pipelines.ts'
import { problem } from '../../platform/problem.ts'

/** Where events go. The URI has user and password in it. */
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

/** A pipeline before anything was sent. */
export const fresh: Settings = { push_historical_data: false, preferred: 'rabbitmq', enabled: [], event_type_prefixes: null }

/**
 * What is sent over what is kept: what is absent or null stays; no prefixes at all take every type. A destination that the pipeline
 * did not have is enabled with it, unless preferences say which are.
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

/** The destinations that are sent. */
export const given = (sent: Sent) => supportedDestinations.filter((name) => sent[name])

const wanted: Record<SupportedDestination, string> = {
  rabbitmq: 'rabbitmq with uri and exchange',
  cloud_pubsub: 'cloud_pubsub with project, topic and message_ordering',
}

const instead: Record<Exclude<Destination, SupportedDestination>, string> = {
  svix: 'Webhooks deliver beside pipelines already: manage them at /v1/org/{org_id}/team/{team_id}/{env}/webhook and leave svix out.',
  azure_amqp: `Azure Event Hubs is not supported yet; send ${wanted.rabbitmq}, or ${wanted.cloud_pubsub}.`,
}

/** What cannot be delivered is refused, rather than taken and never sent. */
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
    throw problem('RAW_DATA_NOT_PUSHED', 'Raw data of providers is not pushed; leave provider_raw_data out and read the raw summaries.')
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

/** Whoever sends a topic publishes by the identity of the deployment, so the operator says where. */
export function checkProject({ project }: Pick<PubSub, 'project'>, allowed: string[]) {
  if (isProjectOpen(project, allowed)) return
  throw problem(
    'PUBSUB_PROJECT_REFUSED',
    'Pipelines may not publish to this project; whoever operates the service can add it to PUBSUB_PROJECTS.',
    { project },
  )
}

export const isProjectOpen = (project: string, allowed: string[]) => allowed.includes('*') || allowed.includes(project)

/** Types that begin so, as the log is asked for them. */
export const patternsOf = (prefixes: string[] | null) => prefixes?.map((prefix) => `${prefix}*`) ?? null

import { destinations } from '../contract/pipelines.ts'
import { problem } from '../problem.ts'

type Destination = (typeof destinations)[number]
type Preferences = { preferred: Destination; enabled: Destination[] }

/** Where a RabbitMQ pipeline goes; sealed, because the URI has user and password in it. */
export type RabbitMq = { uri: string; exchange: string }

type Sent = {
  push_historical_data?: boolean | null | undefined
  provider_raw_data?: boolean | null | undefined
  preferences?: Preferences | null | undefined
  event_type_prefixes?: string[] | null | undefined
} & { [D in Destination]?: unknown }

type Settings = { push_historical_data: boolean; preferred: string; enabled: string[]; event_type_prefixes: string[] | null }

const fresh: Settings = { push_historical_data: false, preferred: 'rabbitmq', enabled: ['rabbitmq'], event_type_prefixes: null }

/** What is sent over what is kept: what is absent or null stays; no prefixes at all take every type. */
export function settingsFrom(sent: Sent, kept: Settings = fresh): Settings {
  checkSupported(sent)
  const { push_historical_data, preferences, event_type_prefixes: prefixes } = sent
  return {
    push_historical_data: push_historical_data ?? kept.push_historical_data,
    preferred: preferences?.preferred ?? kept.preferred,
    enabled: [...new Set<string>(preferences?.enabled ?? kept.enabled)],
    event_type_prefixes: prefixes ? (prefixes.length ? [...new Set(prefixes)] : null) : kept.event_type_prefixes,
  }
}

const instead = {
  svix: 'Webhooks deliver beside pipelines already: manage them at /v1/org/{org_id}/team/{team_id}/{env}/webhook and leave svix out.',
  cloud_pubsub: 'Google Cloud Pub/Sub is not supported yet; send rabbitmq with uri and exchange.',
  azure_amqp: 'Azure Event Hubs is not supported yet; send rabbitmq with uri and exchange.',
}

/** What cannot be delivered is refused, rather than taken and never sent. */
function checkSupported(sent: Sent) {
  const named = [...(sent.preferences ? [sent.preferences.preferred, ...sent.preferences.enabled] : []), ...given(sent)]
  const refused = named.find((name) => name !== 'rabbitmq')
  if (refused) throw problem('DESTINATION_NOT_SUPPORTED', instead[refused], { destination: refused, supported: ['rabbitmq'] })
  if (sent.provider_raw_data)
    throw problem('RAW_DATA_NOT_PUSHED', 'Raw data of providers is not pushed; leave provider_raw_data out and read the raw summaries.')
}

const given = (sent: Sent) => destinations.filter((name) => sent[name])

export function checkDestination(rabbitmq: RabbitMq | null | undefined): RabbitMq {
  if (rabbitmq) return rabbitmq
  throw problem('DESTINATION_REQUIRED', 'The team has no pipeline yet: send rabbitmq with the uri of a broker and an exchange.')
}

/** Types that begin so, as the log is asked for them. */
export const patternsOf = (prefixes: string[] | null) => prefixes?.map((prefix) => `${prefix}*`) ?? null

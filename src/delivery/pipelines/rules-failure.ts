import { SECOND } from '../../platform/time.ts'

/** Failure codes and their messages. The codes are stable and shown on the pipeline. */
export const failures = {
  dns: 'The host name could not be resolved. Check the host.',
  forbidden_address:
    'The host resolves to an address that is not public. Use a public host, or ask the operator to allow the network in WEBHOOK_ALLOWED_NETWORKS, or a loopback address with WEBHOOK_ALLOW_LOOPBACK=true.',
  uri_refused: 'The deployment no longer allows this URI. Send another one.',
  project_refused: 'Pipelines can no longer publish to the project. Ask the operator to add it to PUBSUB_PROJECTS.',
  refused: 'The host refused the connection. Check the host and port.',
  unreachable: 'The network has no route to the host. Check the host and the network of the deployment.',
  timeout: 'The destination did not respond in time. Check that it is running.',
  tls: 'The TLS handshake failed. The host must offer TLS 1.2 or newer and a valid certificate.',
  protocol: 'The server speaks neither AMQP 0-9-1 nor the Pub/Sub protocol. Check the host and port.',
  login: 'The broker rejected the user name and password. Send a URI with the right ones.',
  credentials: "Google issued no token or rejected it. The operator must set up the service's credentials.",
  vhost: 'The broker has no such virtual host, or the user has no access to it.',
  exchange_missing: 'The exchange does not exist. Declare it on the broker.',
  topic_missing: 'The topic does not exist. Create it in the project.',
  forbidden: 'Permission denied. Allow the broker user to write to the exchange, or the service account to publish to the topic.',
  unroutable: 'No queue is bound for the event. Bind one with the event type as its routing key, or narrow event_type_prefixes.',
  nacked: 'The broker rejected the event. Check whether a queue is full.',
  rejected: 'The topic rejected the event because of its schema or a policy. Change the topic.',
  quota: 'The project has used up its Pub/Sub quota. Raise the quota, or wait until it resets.',
  blocked: 'The broker has blocked publishing because it is low on memory or disk space. Free some on the broker.',
  unavailable: 'Pub/Sub is temporarily unavailable. Assay retries.',
  too_large: 'The event is larger than the destination allows, or the exchange rejected its properties.',
  closed: 'The destination closed the connection. Assay reconnects and retries.',
  failed: 'Publishing failed for an unknown reason. Assay retries.',
} as const

export type Failure = keyof typeof failures

const isFailure = (code: string): code is Failure => code in failures

type ErrorLike = { code?: unknown; message?: string }

const byCode: [RegExp, Failure][] = [
  [/^(DNS_FAILED|ENOTFOUND|EAI_AGAIN)$/, 'dns'],
  [/^FORBIDDEN_ADDRESS$/, 'forbidden_address'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/, 'timeout'],
  [/^(ERR_TLS|ERR_SSL|CERT_|EPROTO$|UNABLE_TO_|.*SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/, 'tls'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_DESTROYED|320)$/, 'closed'],
  [/^HPE_/, 'protocol'],
  [/^403$/, 'forbidden'],
  [/^404$/, 'exchange_missing'],
  [/^406$/, 'too_large'],
]

/** amqplib reports handshake and confirm failures by message only, without a code. */
const byMessage: [RegExp, Failure][] = [
  [/^Handshake terminated by server: 403/, 'login'],
  [/^Handshake terminated by server: 530|^Expected ConnectionOpenOk/, 'vhost'],
  [/ETIMEDOUT$/, 'timeout'],
  [/message nacked/, 'nacked'],
  [/[Cc]hannel closed|Channel ended|closed abruptly|Unexpected close|Heartbeat timeout|Connection closed/, 'closed'],
  [/^Response does not match the HTTP/, 'protocol'],
  [/^(Expected|Invalid|Frame|Server frameMax|SASL|Wasn't expecting)/, 'protocol'],
]

export function failureOf({ code, message = '' }: ErrorLike): Failure {
  const text = String(code ?? '')
  if (isFailure(text)) return text
  return (byCode.find(([pattern]) => pattern.test(text)) ?? byMessage.find(([pattern]) => pattern.test(message)))?.[1] ?? 'failed'
}

const byStatus: Record<number, Failure> = {
  400: 'rejected',
  401: 'credentials',
  403: 'forbidden',
  404: 'topic_missing',
  408: 'timeout',
  413: 'too_large',
  429: 'quota',
  499: 'unavailable',
}

/** The failure behind a Pub/Sub status, or undefined if Pub/Sub stored the event. */
export const failureOfStatus = (status: number): Failure | undefined =>
  status === 200 ? undefined : (byStatus[status] ?? (status >= 500 ? 'unavailable' : 'protocol'))

/** Waits after 1, 2, 3… consecutive failures. The last one repeats, because the destination may recover at any time. */
export const waits = [1 * SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND]

/** Each wait grows by up to a fifth at random, so that publishers do not reconnect to a broker together. */
const JITTER = 0.2

/** `random` is from 0 to 1. */
export function retryAt(failures: number, at: string, random: number) {
  const wait = waits[Math.min(failures, waits.length) - 1] as number
  return new Date(Date.parse(at) + Math.round(wait * (1 + JITTER * random))).toISOString()
}

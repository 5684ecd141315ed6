const SECOND = 1000

/** Why publishing fails and what to do about it. The names are stable and shown on the pipeline. */
export const failures = {
  dns: 'The host has no address.',
  forbidden_address: 'The host resolves to an address that Assay must not connect to.',
  uri_refused: 'The URI is no longer allowed by the deployment. Send another one.',
  project_refused: 'Pipelines can no longer publish to the project. Ask the operator to add it to PUBSUB_PROJECTS.',
  refused: 'The host refused the connection. Check the host and port.',
  unreachable: 'The network has no route to the host.',
  timeout: 'No answer came in time.',
  tls: 'The TLS handshake failed: TLS 1.2 or newer and a certificate valid for the host are required.',
  protocol: 'The server speaks neither AMQP 0-9-1 nor the Pub/Sub protocol.',
  login: 'The broker rejected the user name and password. Send a URI with the right ones.',
  credentials: "Google issued no token or rejected it. The operator must set up the service's credentials.",
  vhost: 'The broker has no such virtual host, or the user has no access to it.',
  exchange_missing: 'The exchange does not exist. Declare it on the broker.',
  topic_missing: 'The topic does not exist. Create it in the project.',
  forbidden: 'Permission denied. Allow the broker user to write to the exchange, or the service account to publish to the topic.',
  unroutable: 'No queue takes the event: bind one for its type as the routing key, or narrow event_type_prefixes.',
  nacked: 'The broker refused to keep the event, as a full queue does.',
  rejected: 'The topic does not take the event, because of its schema or a policy; change the topic.',
  quota: 'The quota of the project is used up; raise it, or wait.',
  blocked: 'The broker takes nothing at present, because it is short of memory or disk.',
  unavailable: 'Pub/Sub has a disturbance.',
  too_large: 'The event is larger than the other side takes, or the exchange refuses its properties.',
  closed: 'The other side ended the connection.',
  failed: 'Any other failure.',
} as const

export type Failure = keyof typeof failures

export const isFailure = (code: string): code is Failure => code in failures

type Fault = { code?: unknown; message?: string }

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

/** The library has words only for what happens while a connection is made, and for confirms. */
const byWords: [RegExp, Failure][] = [
  [/^Handshake terminated by server: 403/, 'login'],
  [/^Handshake terminated by server: 530|^Expected ConnectionOpenOk/, 'vhost'],
  [/ETIMEDOUT$/, 'timeout'],
  [/message nacked/, 'nacked'],
  [/[Cc]hannel closed|Channel ended|closed abruptly|Unexpected close|Heartbeat timeout|Connection closed/, 'closed'],
  [/^Response does not match the HTTP/, 'protocol'],
  [/^(Expected|Invalid|Frame|Server frameMax|SASL|Wasn't expecting)/, 'protocol'],
]

export function failureOf({ code, message = '' }: Fault): Failure {
  const known = String(code ?? '')
  if (isFailure(known)) return known
  return (byCode.find(([pattern]) => pattern.test(known)) ?? byWords.find(([pattern]) => pattern.test(message)))?.[1] ?? 'failed'
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

/** What a status of Pub/Sub means; undefined where the event was taken. */
export const failureOfStatus = (status: number): Failure | undefined =>
  status === 200 ? undefined : (byStatus[status] ?? (status >= 500 ? 'unavailable' : 'protocol'))

/** Waits after the first failure in a row, the second… The last one is repeated: the other side may come back at any time. */
export const waits = [1 * SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND]

/** Up to a fifth longer, so that those that a broker shut out together do not come back together. */
const JITTER = 0.2

/** `random` is from 0 to 1. */
export function retryAt(failures: number, at: string, random: number) {
  const wait = waits[Math.min(failures, waits.length) - 1] as number
  return new Date(Date.parse(at) + Math.round(wait * (1 + JITTER * random))).toISOString()
}

const SECOND = 1000

/** Why nothing gets through, and what to do about it; stable, shown on the pipeline. */
export const failures = {
  dns: 'The host of the broker has no address.',
  forbidden_address: 'The host of the broker has an address that pipelines must not reach.',
  uri_refused: 'The URI is not one that pipelines may go to any more; send another one.',
  refused: 'Nothing listens at the host and port, or it refused the connection.',
  unreachable: 'The network knows no way to the broker.',
  timeout: 'The broker did not answer in time.',
  tls: 'No connection could be made that is encrypted with TLS 1.2 or newer and has a certificate that is valid for the host.',
  protocol: 'What answers is not a broker that speaks AMQP 0-9-1.',
  login: 'The broker refused user and password; send a URI with the right ones.',
  vhost: 'The broker has no such virtual host, or the user may not use it.',
  exchange_missing: 'The exchange does not exist; declare it on the broker.',
  forbidden: 'The user may not write to the exchange; give it the permission.',
  unroutable: 'No queue takes the event: bind one for its type as the routing key, or narrow event_type_prefixes.',
  nacked: 'The broker refused to keep the event, as a full queue does.',
  blocked: 'The broker takes nothing at present, because it is short of memory or disk.',
  too_large: 'The event is larger than the broker takes, or the exchange refuses its properties.',
  closed: 'The broker ended the connection.',
  failed: 'Any other failure.',
} as const

export type Failure = keyof typeof failures

export const isFailure = (code: string): code is Failure => code in failures

type Fault = { code?: unknown; message?: string }

const byCode: [RegExp, Failure][] = [
  [/^DNS_FAILED$/, 'dns'],
  [/^FORBIDDEN_ADDRESS$/, 'forbidden_address'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^ETIMEDOUT$/, 'timeout'],
  [/^(ERR_TLS|ERR_SSL|CERT_|EPROTO$|UNABLE_TO_|.*SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/, 'tls'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|320)$/, 'closed'],
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
  [/^(Expected|Invalid|Frame|Server frameMax|SASL|Wasn't expecting)/, 'protocol'],
]

export function failureOf({ code, message = '' }: Fault): Failure {
  const known = String(code ?? '')
  if (isFailure(known)) return known
  return (byCode.find(([pattern]) => pattern.test(known)) ?? byWords.find(([pattern]) => pattern.test(message)))?.[1] ?? 'failed'
}

/** Waits after the first failure in a row, the second… The last one is repeated: a broker may come back at any time. */
export const waits = [1 * SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, 60 * SECOND]

/** Up to a fifth longer, so that those that a broker shut out together do not come back together. */
const JITTER = 0.2

/** `random` is from 0 to 1. */
export function retryAt(failures: number, at: string, random: number) {
  const wait = waits[Math.min(failures, waits.length) - 1] as number
  return new Date(Date.parse(at) + Math.round(wait * (1 + JITTER * random))).toISOString()
}

/** Why a delivery failed; stable, shown with every attempt. */
export const failures = {
  status: 'The receiver answered with something else than 2xx.',
  redirect: 'The receiver answered with 3xx; redirects are not followed.',
  timeout: 'No answer began within the time limit.',
  too_slow: 'The answer began but did not end within the time limit.',
  dns: 'The host has no address.',
  forbidden_address: 'The host has an address that webhooks must not reach.',
  url_refused: 'The URL is not one that webhooks may go to any more.',
  refused: 'The receiver refused the connection.',
  unreachable: 'The network knows no way to the receiver.',
  reset: 'The connection ended before the answer did.',
  tls: 'No connection could be made that is encrypted with TLS 1.2 or newer and has a certificate that is valid for the host.',
  bad_response: 'The answer was not HTTP.',
  bad_header: 'A header of the webhook cannot be sent.',
  aborted: 'We stopped before the answer; it is sent again.',
  failed: 'Any other failure.',
} as const

export type Failure = keyof typeof failures

export type Outcome = {
  ok: boolean
  status: number | null
  error: Failure | null
  retry_after_ms: number | null
  response_headers: Record<string, string>
  response_body: Buffer
  truncated: boolean
  /** Since the start: when the connection was there, when the status came, when all was over. */
  ms: { connected: number | null; answered: number | null; total: number }
}

/** Of what never went over the network. */
export const outcomeWithoutExchange = (status: number | null, error: Failure | null): Outcome => ({
  ok: error === null,
  status,
  error,
  retry_after_ms: null,
  response_headers: {},
  response_body: Buffer.alloc(0),
  truncated: false,
  ms: { connected: null, answered: null, total: 0 },
})

export function failureOfStatus(status: number): Failure | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

const byCode: [RegExp, Failure][] = [
  [/^FORBIDDEN_ADDRESS$/, 'forbidden_address'],
  [/^DNS_FAILED$/, 'dns'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, 'reset'],
  [/^(ERR_TLS|ERR_SSL|CERT_|EPROTO$|UNABLE_TO_|.*SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH)/, 'tls'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/, 'bad_response'],
  [/^UND_ERR_(DESTROYED|CLOSED|ABORTED)$/, 'aborted'],
  [/^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|UND_ERR_REQ_)/, 'bad_header'],
]

export const failureOfCode = (code: string): Failure => byCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed'

const LONGEST_MS = 7 * 24 * 3600 * 1000

/** Retry-After as seconds or as an HTTP date; nonsense counts as absent. */
export function retryAfterMs(text: string | undefined, now: string) {
  if (!text) return null
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2}, .+ GMT$/.test(text)
      ? Date.parse(text) - Date.parse(now)
      : Number.NaN
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), LONGEST_MS)
}

/** Why a request failed. The names are stable and shown with every attempt. */
export const failures = {
  status: 'The receiver responded with a status other than 2xx.',
  redirect: 'The receiver responded with 3xx. Redirects are not followed.',
  timeout: 'No response started within the time limit.',
  too_slow: 'The response started but did not finish within the time limit.',
  dns: 'The host name does not resolve to an address.',
  forbidden_address: 'The host resolves to an address that Assay must not connect to.',
  url_refused: 'The URL is no longer allowed by the deployment.',
  refused: 'The receiver refused the connection.',
  unreachable: 'The network has no route to the receiver.',
  reset: 'The connection closed before the response was complete.',
  tls: 'The TLS handshake failed: TLS 1.2 or newer and a certificate valid for the host are required.',
  bad_response: 'The response was not valid HTTP.',
  bad_header: 'A header of the webhook is not valid HTTP.',
  aborted: 'Assay stopped before the response arrived. The message is sent again.',
  failed: 'The request failed for an unknown reason.',
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
  /** Milliseconds from the start to the open connection, to the status, and to the end. */
  ms: { connected: number | null; answered: number | null; total: number }
}

/** The outcome of a request that never left the process. */
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

const MAX_WAIT_MS = 7 * 24 * 3600 * 1000

/** Reads Retry-After as seconds or as an HTTP date. An invalid value counts as absent. */
export function retryAfterMs(text: string | undefined, now: string) {
  if (!text) return null
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]{2}, .+ GMT$/.test(text)
      ? Date.parse(text) - Date.parse(now)
      : Number.NaN
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), MAX_WAIT_MS)
}

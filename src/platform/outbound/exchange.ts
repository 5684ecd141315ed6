import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { type Failure, failureOfCode, failureOfStatus, type Outcome, retryAfterMs } from './outcome.ts'

const MAX_BODY = 64 * 1024

type Request = { method?: string; path: string; headers: Record<string, string>; body?: string | Buffer | null }

/** How much of the response to keep. */
export type Limits = { maxBytes?: number; keptHeaders?: string[] }

/** Sends one request and returns its outcome. One time limit covers waiting, connecting, status and body. */
export function exchange(
  pool: Dispatcher,
  request: Request,
  timeoutMs: number,
  { maxBytes = MAX_BODY, keptHeaders = storedHeaders }: Limits = {},
) {
  return new Promise<Outcome>((resolve) => {
    const response = newResponse(maxBytes)
    let open = true
    let controller: Dispatcher.DispatchController | undefined

    function settle(failure: Failure | null) {
      if (!open) return
      open = false
      clearTimeout(timer)
      resolve(outcomeOf(response, failure, keptHeaders))
    }
    function abort(failure: Failure | null) {
      settle(failure)
      controller?.abort(finished)
    }
    const timer = setTimeout(() => abort(response.status === null ? 'timeout' : 'too_slow'), timeoutMs)

    pool.dispatch(
      { ...request, method: (request.method ?? 'POST') as Dispatcher.HttpMethod, body: request.body ?? null },
      {
        onRequestStart(started) {
          controller = started
          // The time limit passed while connecting, so nothing may be sent anymore.
          if (!open) return started.abort(finished)
          response.connected = elapsedMs(response)
        },
        onResponseStart(_, status, headers) {
          // Informational responses such as 103 Early Hints are not the response.
          if (status < 200) return
          Object.assign(response, { status, headers, answered: elapsedMs(response) })
        },
        onResponseData(_, chunk) {
          if (!appendChunk(response, chunk)) abort(failureOfStatus(response.status as number))
        },
        onResponseEnd: () => settle(failureOfStatus(response.status as number)),
        onResponseError: (_, error) => settle(failureOfCode(codeOf(error))),
      },
    )
  })
}

const finished = new Error('The exchange has ended.')

type Response = ReturnType<typeof newResponse>

const newResponse = (maxBytes: number) => ({
  maxBytes,
  started: performance.now(),
  connected: null as number | null,
  answered: null as number | null,
  status: null as number | null,
  headers: {} as IncomingHttpHeaders,
  chunks: [] as Buffer[],
  size: 0,
  truncated: false,
})

const elapsedMs = ({ started }: Response) => Math.round(performance.now() - started)

/** Returns false when the limit cut the chunk. */
function appendChunk(response: Response, chunk: Buffer) {
  const part = chunk.subarray(0, response.maxBytes - response.size)
  response.chunks.push(part)
  response.size += part.length
  response.truncated = part.length < chunk.length
  return !response.truncated
}

function outcomeOf(response: Response, error: Failure | null, kept: string[]): Outcome {
  const { status, connected, answered, truncated } = response
  const response_headers = pickHeaders(response.headers, kept)
  return {
    ok: error === null,
    status,
    error,
    retry_after_ms: error === null ? null : retryAfterMs(response_headers['retry-after'], new Date().toISOString()),
    response_headers,
    response_body: Buffer.concat(response.chunks),
    truncated,
    ms: { connected, answered, total: elapsedMs(response) },
  }
}

/** Response headers that help to debug. Cookies and others are not stored. */
const storedHeaders = ['content-type', 'content-length', 'date', 'location', 'retry-after', 'server', 'x-request-id']

const pickHeaders = (headers: IncomingHttpHeaders, kept: string[]) =>
  Object.fromEntries(kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name]).slice(0, 500)]])))

/** Some errors of undici's parser have no code. */
const codeOf = (error: Error & { code?: unknown }) => (typeof error.code === 'string' ? error.code : error.name)

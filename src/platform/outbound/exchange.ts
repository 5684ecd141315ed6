import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { type Failure, failureOfCode, failureOfStatus, type Outcome, retryAfterMs } from './outcome.ts'

const MAX_BODY = 64 * 1024

export type Request = { path: string; headers: Record<string, string>; body: string | Buffer }

/** Sends one request and returns its outcome. One time limit covers waiting, connecting, status and body. */
export function exchange(pool: Dispatcher, request: Request, timeoutMs: number) {
  return new Promise<Outcome>((resolve) => {
    const answer = newAnswer()
    let open = true
    let controller: Dispatcher.DispatchController | undefined

    function settle(failure: Failure | null) {
      if (!open) return
      open = false
      clearTimeout(timer)
      resolve(outcomeOf(answer, failure))
    }
    function cut(failure: Failure | null) {
      settle(failure)
      controller?.abort(over)
    }
    const timer = setTimeout(() => cut(answer.status === null ? 'timeout' : 'too_slow'), timeoutMs)

    pool.dispatch(
      { method: 'POST', ...request },
      {
        onRequestStart(started) {
          controller = started
          // The time limit passed while connecting, so nothing may be sent anymore.
          if (!open) return started.abort(over)
          answer.connected = since(answer)
        },
        onResponseStart(_, status, headers) {
          // Informational responses such as 103 Early Hints are not the response.
          if (status < 200) return
          Object.assign(answer, { status, headers, answered: since(answer) })
        },
        onResponseData(_, chunk) {
          if (!keep(answer, chunk)) cut(failureOfStatus(answer.status as number))
        },
        onResponseEnd: () => settle(failureOfStatus(answer.status as number)),
        onResponseError: (_, error) => settle(failureOfCode(codeOf(error))),
      },
    )
  })
}

const over = new Error('The exchange is over.')

type Answer = ReturnType<typeof newAnswer>

const newAnswer = () => ({
  started: performance.now(),
  connected: null as number | null,
  answered: null as number | null,
  status: null as number | null,
  headers: {} as IncomingHttpHeaders,
  chunks: [] as Buffer[],
  size: 0,
  truncated: false,
})

const since = ({ started }: Answer) => Math.round(performance.now() - started)

/** Returns false when the limit cut the chunk. */
function keep(answer: Answer, chunk: Buffer) {
  const kept = chunk.subarray(0, MAX_BODY - answer.size)
  answer.chunks.push(kept)
  answer.size += kept.length
  answer.truncated = kept.length < chunk.length
  return !answer.truncated
}

function outcomeOf(answer: Answer, error: Failure | null): Outcome {
  const { status, connected, answered, truncated } = answer
  const response_headers = keptHeaders(answer.headers)
  return {
    ok: error === null,
    status,
    error,
    retry_after_ms: error === null ? null : retryAfterMs(response_headers['retry-after'], new Date().toISOString()),
    response_headers,
    response_body: Buffer.concat(answer.chunks),
    truncated,
    ms: { connected, answered, total: since(answer) },
  }
}

/** Response headers that help to debug. Cookies and others are not stored. */
const kept = ['content-type', 'content-length', 'date', 'location', 'retry-after', 'server', 'x-request-id']

const keptHeaders = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name]).slice(0, 500)]])))

/** Some errors of undici's parser have no code. */
const codeOf = (error: Error & { code?: unknown }) => (typeof error.code === 'string' ? error.code : error.name)

import type { Request, ResponseBody, Row } from './endpoint.ts'
import { type EndpointName, type Endpoints, endpoints } from './index.ts'

export type Reply = { status: number; headers: Headers; body: unknown }
type RequestParts = { params?: object; query?: object; body?: unknown; headers?: Record<string, string> }

export type Client = {
  [N in EndpointName]: (
    ...input: {} extends Request<Endpoints[N]>
      ? [parts?: Request<Endpoints[N]> & WithHeaders]
      : [parts: Request<Endpoints[N]> & WithHeaders]
  ) => Promise<ResponseBody<Endpoints[N]>>
}
type WithHeaders = { headers?: Record<string, string> }

/** A typed client with one method per endpoint. Its errors have `status` and `detail`. */
export function createClient(baseUrl: string, headers: Record<string, string>): Client {
  const call = async (row: Row, parts: RequestParts) => {
    const reply = await sendRequest(baseUrl, row, { ...parts, headers: { ...headers, ...parts.headers } })
    if (reply.status < 300) return reply.body
    const detail = (reply.body as { detail?: unknown } | undefined)?.detail
    throw Object.assign(new Error(`${row.method.toUpperCase()} ${row.path} returned ${reply.status}`), {
      status: reply.status,
      detail,
      headers: reply.headers,
    })
  }
  const calls = Object.entries(endpoints).map(([name, row]) => [name, (parts: RequestParts = {}) => call(row, parts)])
  return Object.fromEntries(calls)
}

/** Sends one request and returns the response, even if its status is an error. */
export async function sendRequest(baseUrl: string, row: Row, parts: RequestParts): Promise<Reply> {
  const hasBody = parts.body !== undefined
  const response = await fetch(baseUrl + pathOf(row.path, parts.params) + queryOf(parts.query), {
    method: row.method.toUpperCase(),
    // A form sets its media type itself, because that contains the boundary of its parts.
    headers: { ...(hasBody && !row.multipart ? { 'content-type': 'application/json' } : {}), ...parts.headers },
    ...(hasBody ? { body: row.multipart ? formOf(parts.body as object) : JSON.stringify(parts.body) } : {}),
  })
  const { status, headers: responseHeaders } = response
  if (row.media === 'text/event-stream' && status < 300) return { status, headers: responseHeaders, body: response.body }
  if (row.media && status < 300) return { status, headers: responseHeaders, body: new Uint8Array(await response.arrayBuffer()) }
  const text = await response.text()
  return { status, headers: responseHeaders, body: text ? JSON.parse(text) : undefined }
}

function formOf(fields: object) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    for (const item of [value].flat())
      if (item !== undefined && item !== null) form.append(name, item instanceof Blob ? item : String(item))
  return form
}

const pathOf = (path: string, params: object = {}) =>
  Object.entries(params).reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(String(value))), path)

function queryOf(query: object = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((item) => [name, item] as const))
  const text = pairs
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return text.length ? `?${text.join('&')}` : ''
}

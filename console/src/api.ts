import { rows } from 'virtual:rows'
import type { Client } from '../../src/contract/client.ts'
import { observable } from './observable.ts'

export type ApiError = Error & { status: number; detail: unknown; error_type?: string }
type RequestInput = { params?: object; query?: object; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }

/** Sent as `x-assay-team` with every request. */
export const selectedTeam = observable<string | null>(null)

/** Counts requests rejected because the session ended. */
export const sessionEndings = observable(0)

/** One method per endpoint, typed by the contract. The build supplies the paths. */
// A proxy has no type, so the cast gives it the client's.
export const api = new Proxy({} as Client, {
  get:
    (_, name: string) =>
    (input: RequestInput = {}) =>
      callEndpoint(name, input),
})

let isBackground = false

export const isInBackground = () => isBackground

/** Marks requests that `work` starts synchronously as background requests, which do not extend the session. */
export function inBackground<T>(work: () => T): T {
  isBackground = true
  try {
    return work()
  } finally {
    isBackground = false
  }
}

async function callEndpoint(name: string, input: RequestInput) {
  const response = await sendRequest(name, input)
  const media = rows[name]?.[2]
  if (response.ok && media) return new Uint8Array(await response.arrayBuffer())
  const text = await response.text()
  const body = text ? parseJson(text) : undefined
  if (response.ok && text && body === undefined)
    throw newApiError(response.status, 'The response did not come from Assay. Check your network or proxy.', name)
  if (response.ok) return body
  throw errorFromBody(response.status, body)
}

/** Returns the raw response, for streams. */
export async function sendRequest(name: string, input: RequestInput = {}): Promise<Response> {
  const [method, path] = rows[name] ?? []
  if (!method || !path) throw newApiError(0, 'This version of Assay does not have this endpoint.', name)
  const response = await fetch(buildPath(path, input.params) + buildQuery(input.query), {
    method: method.toUpperCase(),
    headers: buildHeaders(input),
    credentials: 'same-origin',
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    ...(input.signal ? { signal: input.signal } : {}),
  }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error
    throw newApiError(0, 'Could not reach the service. Check that it is running, then try again.', name)
  })
  if (response.status === 401 && (await isSessionOver(response))) sessionEndings.set(sessionEndings.get() + 1)
  return response
}

/** A wrong password also gives 401, but the session goes on. */
async function isSessionOver(response: Response) {
  const { error_type } = errorFromBody(401, parseJson(await response.clone().text()))
  return error_type === 'SESSION_ENDED' || error_type === 'MISSING_SESSION'
}

const buildHeaders = ({ headers, body }: RequestInput) => ({
  'x-assay-console': '1',
  ...(isBackground ? { 'x-assay-background': '1' } : {}),
  ...(selectedTeam.get() ? { 'x-assay-team': selectedTeam.get() as string } : {}),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...headers,
})

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const newApiError = (status: number, message: string, detail: unknown, error_type?: string): ApiError =>
  Object.assign(new Error(message), { status, detail, ...(error_type ? { error_type } : {}) })

type Detail = { error_type?: string; error_message?: string }
type Issue = { loc?: (string | number)[]; msg?: string }

function errorFromBody(status: number, body: unknown): ApiError {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return newApiError(status, detail, detail)
  if (Array.isArray(detail))
    return newApiError(status, (detail as Issue[]).map(({ loc, msg }) => `${(loc ?? []).slice(1).join('.')}: ${msg}`).join(' '), detail)
  const { error_type, error_message } = (detail ?? {}) as Detail
  return newApiError(status, error_message ?? `The request failed with status ${status}.`, detail, error_type)
}

/** Maps the errors of a 422 by field path. */
export function fieldErrors(error: unknown): Record<string, string> {
  const { detail } = (error ?? {}) as ApiError
  if (!Array.isArray(detail)) return {}
  return Object.fromEntries((detail as Issue[]).map(({ loc = [], msg = '' }) => [loc.slice(1).join('.'), msg]))
}

const buildPath = (path: string, params: object = {}) =>
  Object.entries(params).reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(String(value))), path)

function buildQuery(query: object = {}) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) if (item !== undefined && item !== null && item !== '') search.append(name, String(item))
  const text = search.toString()
  return text ? `?${text}` : ''
}

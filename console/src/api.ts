import { rows } from 'virtual:rows'
import type { Client } from '../../src/contract/client.ts'
import { store } from './observable.ts'

export type Failure = Error & { status: number; detail: unknown; error_type?: string }
type Sent = { params?: object; query?: object; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }

/** The team that data routes are about. */
export const chosenTeam = store<string | null>(null)

/** How often a call was refused because the session is over. */
export const sessionEnded = store(0)

/** Every endpoint by its name, typed by the contract; paths come from its table at build time. */
// A proxy has no type of its own.
export const api = new Proxy({} as Client, {
  get:
    (_, name: string) =>
    (sent: Sent = {}) =>
      call(name, sent),
})

let isByItself = false

export const isAskedByItself = () => isByItself

/** What `work` asks for at once is marked as asked by the page itself: it keeps nobody signed in. */
export function byItself<T>(work: () => T): T {
  isByItself = true
  try {
    return work()
  } finally {
    isByItself = false
  }
}

async function call(name: string, sent: Sent) {
  const response = await ask(name, sent)
  const media = rows[name]?.[2]
  if (response.ok && media === 'application/pdf') return new Uint8Array(await response.arrayBuffer())
  const text = await response.text()
  const body = text ? parsed(text) : undefined
  if (response.ok && text && body === undefined) throw failure(response.status, 'Something else answered in place of the service.', name)
  if (response.ok) return body
  throw failureOf(response.status, body)
}

/** The answer itself, for what comes in pieces. */
export async function ask(name: string, sent: Sent = {}): Promise<Response> {
  const [method, path] = rows[name] ?? []
  if (!method || !path) throw failure(0, 'This version of the service has no such endpoint.', name)
  const response = await fetch(pathOf(path, sent.params) + queryOf(sent.query), {
    method: method.toUpperCase(),
    headers: headersOf(sent),
    credentials: 'same-origin',
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
    ...(sent.signal ? { signal: sent.signal } : {}),
  }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error
    throw failure(0, 'The service cannot be reached. Check that it runs, then try again.', name)
  })
  if (response.status === 401 && (await isOver(response))) sessionEnded.set(sessionEnded.get() + 1)
  return response
}

/** A wrong password is refused with 401 too, and ends nothing. */
async function isOver(response: Response) {
  const { error_type } = failureOf(401, parsed(await response.clone().text()))
  return error_type === 'SESSION_ENDED' || error_type === 'MISSING_SESSION'
}

const headersOf = ({ headers, body }: Sent) => ({
  'x-assay-console': '1',
  ...(isByItself ? { 'x-assay-background': '1' } : {}),
  ...(chosenTeam.get() ? { 'x-assay-team': chosenTeam.get() as string } : {}),
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...headers,
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const failure = (status: number, message: string, detail: unknown, error_type?: string): Failure =>
  Object.assign(new Error(message), { status, detail, ...(error_type ? { error_type } : {}) })

type Detail = { error_type?: string; error_message?: string }
type Issue = { loc?: (string | number)[]; msg?: string }

/** What went wrong, in words for people: texts of the service name the field and the remedy already. */
function failureOf(status: number, body: unknown): Failure {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return failure(status, detail, detail)
  if (Array.isArray(detail))
    return failure(status, (detail as Issue[]).map(({ loc, msg }) => `${(loc ?? []).slice(1).join('.')}: ${msg}`).join(' '), detail)
  const { error_type, error_message } = (detail ?? {}) as Detail
  return failure(status, error_message ?? `The service answered ${status}.`, detail, error_type)
}

/** The complaints of a 422, by the path of their field. */
export function fieldProblems(error: unknown): Record<string, string> {
  const { detail } = (error ?? {}) as Failure
  if (!Array.isArray(detail)) return {}
  return Object.fromEntries((detail as Issue[]).map(({ loc = [], msg = '' }) => [loc.slice(1).join('.'), msg]))
}

const pathOf = (path: string, params: object = {}) =>
  Object.entries(params).reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(String(value))), path)

function queryOf(query: object = {}) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== '') search.append(name, String(one))
  const text = search.toString()
  return text ? `?${text}` : ''
}

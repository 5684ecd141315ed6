import type { App } from '../app.ts'
import type { Row } from '../contract/endpoint.ts'

// biome-ignore lint/suspicious/noExplicitAny: the table of handlers is typed row by row; here a row and its handler meet by name.
export type AnyHandler = (app: App, caller: any, input: any) => Promise<unknown>
export type Route = { name: string; row: Row; handler: AnyHandler }

export type Incoming = {
  request_id: string
  headers: Record<string, string | string[] | undefined>
  params: Record<string, string>
  query: unknown
  body: unknown
}

/** What goes into the audit log: the endpoint and the ids it was about, never a value that a patient gave. */
export function deed({ name }: Route, incoming: Incoming, result: unknown, status: number) {
  const { org_id: _, env: __, region: ___, ...ids } = incoming.params
  const user = subjectUser(incoming, result)
  const named = { ...(user ? { user_id: user } : {}), ...ids }
  const safe = Object.entries(named).filter(([, id]) => uuid.test(id))
  return {
    action: name,
    subject: safe.map(([name, id]) => `${name}:${id.toLowerCase()}`).join(' ') || undefined,
    status,
    request_id: incoming.request_id,
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whose data a request is about. */
export function subjectUser({ params, query, body }: Pick<Incoming, 'params' | 'query' | 'body'>, result?: unknown) {
  const places = [params, query, body, result] as ({ user_id?: unknown } | undefined | null)[]
  return places.map((place) => place?.user_id).find((id): id is string => typeof id === 'string' && uuid.test(id))
}

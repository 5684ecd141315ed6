import type { Row } from '../contract/endpoint.ts'
import type { AppInRequest } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import type { Mask } from '../tenants/sessions/rules-masking.ts'
import type { parseInput } from './input.ts'

// biome-ignore lint/suspicious/noExplicitAny: the table of handlers is typed row by row; here a row and its handler meet by name.
export type AnyHandler = (app: AppInRequest, caller: any, input: any) => Promise<unknown>
export type Route = {
  name: string
  row: Row
  handler: AnyHandler
  /** Hides what is personal in a response; undefined where nothing is. */
  mask: Mask | undefined
}

export type Headers = Record<string, string | string[] | undefined>

/** A request on its way: what is known of it so far. */
export type Visit = {
  route: Route
  request_id: string
  headers: Headers
  address: string
  params: Record<string, string>
  caller?: Caller | undefined
  /** Of a stream: the caller has gone, or we stop. */
  signal?: AbortSignal | undefined
  /** The session that the answer hands to the browser; null takes it away. */
  session?: string | null
  /** What the contract read; fields that it does not know are not in it. */
  input?: ReturnType<typeof parseInput>
}

const NAMED_AT_MOST = 50

/** What goes into the audit log: the endpoint and the ids it was about, never a value that a patient gave. */
export function deed(visit: Visit, status: number, result?: unknown) {
  const { org_id: _, env: __, region: ___, ...ids } = visit.params
  const { api_key_id, order_id } = (visit.input?.query ?? {}) as { api_key_id?: unknown; order_id?: unknown }
  const listed = usersIn(result)
  const named = {
    user_id: [subjectUser(visit, result), ...listed.slice(0, NAMED_AT_MOST)],
    ...ids,
    api_key_id,
    id: (result as { id?: unknown } | undefined)?.id,
    order_id: ids['order_id'] ?? order_id ?? orderIn(result)?.id,
  }
  const subjects = Object.entries(named).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter(isId)
      .map((id) => `${name}:${id.toLowerCase()}`),
  )
  if (listed.length > NAMED_AT_MOST) subjects.push(`users:${listed.length}`)
  const { route, request_id } = visit
  return { action: route.name, subject: subjects.join(' ') || undefined, status, request_id, team_id: subjectTeam(visit, result) }
}

/** Whose order it was that a lab worked on; every other caller has a team or an organisation of its own. */
function subjectTeam({ caller }: Visit, result: unknown) {
  const { team_id } = (result ?? {}) as { team_id?: unknown }
  return caller?.kind === 'lab' && isId(team_id) ? team_id : undefined
}

/** Whose data a request is about. */
export function subjectUser({ params, input }: Visit, result?: unknown) {
  const places = [params, input?.query, input?.body, result, orderIn(result)] as ({ user_id?: unknown } | undefined | null)[]
  return places.map((place) => place?.user_id).find(isId)
}

/** The order that an answer wraps. */
const orderIn = (result: unknown) => (result as { order?: { id?: unknown; user_id?: unknown } } | undefined)?.order

/** Whom a list shows. */
function usersIn(result: unknown) {
  const lists = (result ?? {}) as { users?: unknown; orders?: unknown; events?: unknown }
  const list = Array.isArray(result) ? result : (lists.users ?? lists.orders ?? lists.events)
  return Array.isArray(list) ? list.map((one) => (one as { user_id?: unknown } | null)?.user_id).filter(isId) : []
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isId = (value: unknown): value is string => typeof value === 'string' && uuid.test(value)

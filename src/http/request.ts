import type { Row } from '../contract/endpoint.ts'
import type { AppInRequest } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import type { Mask } from '../tenants/sessions/rules-masking.ts'
import type { DeprecatedInput } from './deprecation.ts'
import type { parseInput } from './input.ts'
import { describeSubjects, firstOf, type Subjects } from './subjects.ts'

// biome-ignore lint/suspicious/noExplicitAny: the table of handlers is typed row by row; here a row and its handler meet by name.
export type AnyHandler = (app: AppInRequest, caller: any, input: any) => Promise<unknown>
export type Route = {
  name: string
  row: Row
  handler: AnyHandler
  /** Hides what is personal in a response; undefined where nothing is. */
  mask: Mask | undefined
  subjects: Subjects
  deprecatedInputs: DeprecatedInput[]
}

export type Headers = Record<string, string | string[] | undefined>

/** A request on its way: what is known of it so far. */
export type RequestState = {
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

/** What goes into the audit log: the endpoint and the ids it was about. */
export function auditEntry(visit: RequestState, status: number, result?: unknown) {
  const { route, request_id } = visit
  const found = route.subjects(visit, result)
  return { action: route.name, subject: describeSubjects(found), status, request_id, team_id: subjectTeam(visit, found) }
}

/** Whose order it was that a lab worked on; every other caller has a team or an organisation of its own. */
const subjectTeam = ({ caller }: RequestState, found: ReturnType<Subjects>) =>
  caller?.kind === 'lab' ? firstOf(found, 'team_id') : undefined

/** Whose data a request is about. */
export const subjectUser = (visit: RequestState, result?: unknown) => firstOf(visit.route.subjects(visit, result), 'user_id')

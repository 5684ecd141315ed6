import type { Row } from '../contract/endpoint.ts'
import type { AppInRequest } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import type { Share } from '../platform/shares/share.ts'
import type { Mask } from '../tenants/people/sessions/rules-masking.ts'
import type { DeprecatedInput } from './deprecation.ts'
import type { parseInput } from './input.ts'
import { describeSubjects, firstId, type Subjects } from './subjects.ts'

// biome-ignore lint/suspicious/noExplicitAny: HandlersOf types each handler by its row; the table looks them up by name.
export type AnyHandler = (app: AppInRequest, caller: any, input: any) => Promise<unknown>
export type Route = {
  name: string
  row: Row
  handler: AnyHandler
  /** Masks the personal data in a response; undefined if the response has none. */
  mask: Mask | undefined
  subjects: Subjects
  deprecatedInputs: DeprecatedInput[]
}

export type Headers = Record<string, string | string[] | undefined>

/** The state of a request, filled in as it passes each step. */
export type RequestState = {
  route: Route
  request_id: string
  headers: Headers
  address: string
  params: Record<string, string>
  caller?: Caller | undefined
  /** Aborts a stream when its client disconnects or the server stops. */
  signal?: AbortSignal | undefined
  /** The session cookie to set in the response; null clears it. */
  session?: string | null
  /** The device cookie to set in the response. */
  device?: string
  /** The body no longer counts as in flight. Set once the body is read. */
  releaseBody?: () => void
  /** The parsed input, without fields that the contract does not name. */
  input?: ReturnType<typeof parseInput>
}

/** A team is an owner, and its keys and users are members. Without a team, the owner is what identifies the caller best. */
export function shareOf({ caller, address }: RequestState): Share {
  if (!caller) return { owner: address, member: '' }
  if (caller.kind === 'lab') return { owner: `lab ${caller.lab_id}`, member: caller.key_id }
  const owner = ('team_id' in caller && caller.team_id) || caller.org_id
  const member = ('user_id' in caller && caller.user_id) || ('key_id' in caller && caller.key_id) || ''
  return { owner, member }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null outside the endpoint table: documentation, console files, health and metrics. */
    state: RequestState | null
  }
}

/** Builds the audit entry: the endpoint and the IDs of its subjects. */
export function auditEntry(state: RequestState, status: number, result?: unknown) {
  const { route, request_id } = state
  const found = route.subjects(state, result)
  return { action: route.name, subject: describeSubjects(found), status, request_id, team_id: subjectTeam(state, found) }
}

/** A lab belongs to no team, so its audit entries take the team from the order. */
const subjectTeam = ({ caller }: RequestState, found: ReturnType<Subjects>) =>
  caller?.kind === 'lab' ? firstId(found, 'team_id') : undefined

export const subjectUser = (state: RequestState, result?: unknown) => firstId(state.route.subjects(state, result), 'user_id')

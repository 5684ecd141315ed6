import type { z } from 'zod'
import type { Deprecation } from './deprecation.ts'

type Auth = 'team' | 'management' | 'lab' | 'link' | 'session' | 'none'

/** The location of IDs: the request, the result of the action before the response is shaped, or the caller. `[]` means each entry. */
type IdLocation = `path.${string}` | `query.${string}` | `body.${string}` | `result${string}` | 'caller.user_id'

/** Locations of IDs, by their name in the audit log. */
type Subjects = Readonly<Record<string, IdLocation | readonly IdLocation[]>>

export type Row = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  /** Other paths of the same endpoint. */
  aliases?: readonly string[]
  auth: Auth
  tag: string
  summary: string
  description?: string
  /** For management rows: `org` needs an Org Management Key, `team` also accepts a Team Management Key of that team. */
  scope?: 'org' | 'team'
  /** Only for the organization of the operator (`OPERATOR_ORG_ID`). */
  operator?: true
  /** Available only to organizations on the `scale` plan. */
  plan?: 'scale'
  /** A closed beta, available only to teams that the operator enabled for this name. */
  beta?: string
  /** The Junction API responds with 400 to a team that is not enabled for this beta. Others get 403. */
  betaStatus?: 400
  /** Exists in the sandbox only. Elsewhere the path is unknown. */
  sandbox?: true
  /** Also accepts the sign-in token of the user in the request. */
  userToken?: true
  /** Also accepts a signature with the secret of the webhook that the ticket in the path names. */
  webhookSignature?: true
  /** A read that is not a GET. Read-only keys can call it. */
  reads?: true
  /** A read of public data that concerns no person. It writes an audit row only if it is rejected. */
  unaudited?: true
  /** Needs no credential, but accepts requests only from the console. */
  console?: true
  /** Adds a `Deprecation` header to every response. */
  deprecated?: Deprecation
  /** Accepts X-Idempotency-Key. */
  idempotent?: true
  /**
   * Grants access or subscribes to data. Unknown fields of the query and the body are refused: a misspelled one would grant more.
   * The credential is read from the database.
   */
  grantsAccess?: true
  /** Allows a body as large as several images. */
  largeBody?: true
  /** The body is multipart/form-data instead of JSON. */
  multipart?: true
  /** The tokens of a fixed rate that a request takes. Default 1. A long period takes more. */
  cost?: number
  /** The response can have thousands of entries. A team reads two of them at a time. */
  largeResponse?: true
  /** The media type instead of JSON. `returns` is then bytes, or an endless stream of text. */
  media?: 'application/pdf' | 'application/octet-stream' | 'text/event-stream'
  /** Detects the media type of a response from its bytes. */
  mediaOf?: (bytes: Uint8Array) => string
  /** A 204 response has no body. */
  status?: 200 | 202 | 204
  /** The response can wait for clouds. Such a request takes no turn, because it would keep that of one that works. */
  waitsForClouds?: true
  /** Whether the sources that the request asked are still at work after the response, which then is 202. */
  isStillRunning?: (result: unknown) => boolean
  /** The IDs of the people and resources that the request reads, changes or creates. The audit log records them and every ID in the path. */
  subjects: Subjects
  params?: z.ZodObject
  query?: z.ZodObject
  /** Headers besides the credential, in lower case. */
  headers?: z.ZodObject
  body?: z.ZodType
  returns: z.ZodType
  /** Documented errors besides 401, 403 and 422: status → meaning. */
  refusals?: Record<number, string>
}

export const endpoint = <const R extends Row>(row: R): R => row

/** What the rows for the operator of the deployment have in common. */
export const ofOperator = { auth: 'management', scope: 'org', operator: true, plan: 'scale', tag: 'Console', grantsAccess: true } as const

type ParsedPart<S> = S extends z.ZodType ? z.output<S> : undefined
type RawPart<S> = S extends z.ZodType ? z.input<S> : undefined

/** The input of a handler: validated, with defaults. */
export type Input<R extends Row> = {
  params: ParsedPart<R['params']>
  query: ParsedPart<R['query']>
  body: ParsedPart<R['body']>
} & (R extends {
  headers: infer H
}
  ? { headers: ParsedPart<H> }
  : unknown)

/** The result of a handler. The HTTP layer drops fields that the row does not define. */
export type Output<R extends Row> = z.input<R['returns']>

/** The response that a client reads. */
export type ResponseBody<R extends Row> = z.output<R['returns']>

type DefinedParts<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] }
type WithOptionalQuery<T> =
  DefinedParts<T> extends { query: infer Q }
    ? Omit<DefinedParts<T>, 'query'> & ({} extends Q ? { query?: Q } : { query: Q })
    : DefinedParts<T>

/** The request that a client sends. */
export type Request<R extends Row> = WithOptionalQuery<{
  params: RawPart<R['params']>
  query: RawPart<R['query']>
  body: RawPart<R['body']>
}>

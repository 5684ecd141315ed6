import type { z } from 'zod'
import type { Deprecation } from './deprecation.ts'

type Auth = 'team' | 'management' | 'lab' | 'link' | 'session' | 'none'

/** Where ids are: in the request, in what the action gives back (before the response is shaped), or with the caller. `[]` is each of a list. */
type Place = `path.${string}` | `query.${string}` | `body.${string}` | `result${string}` | 'caller.user_id'

/** By the name that they have in the audit log. */
export type Subjects = Readonly<Record<string, Place | readonly Place[]>>

export type Row = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  /** Other spellings of the path that answer the same. */
  aliases?: readonly string[]
  auth: Auth
  tag: string
  summary: string
  description?: string
  /** Management rows: `org` needs an Org Management Key; `team` also takes a Team Management Key of that team. */
  scope?: 'org' | 'team'
  /** Answers only for organisations on the top plan. */
  plan?: 'scale'
  /** A closed beta: answers only for teams that the operator enabled for this name. */
  beta?: string
  /** Exists in the sandbox only; elsewhere the path is unknown. */
  sandbox?: true
  /** Also takes the sign-in token of the user that the request is about. */
  userToken?: true
  /** A read although it is not a GET, so a read-only key may call it. */
  reads?: true
  /** A read of what is the same whoever asks, and about nobody: it leaves no audit row, unless it is refused. */
  unaudited?: true
  /** Needs no credential, but comes from the console itself only. */
  console?: true
  /** Every response then carries a `Deprecation` header. */
  deprecated?: Deprecation
  /** Takes X-Idempotency-Key. */
  idempotent?: true
  /** Carries images or samples: the body may be as large as several images. */
  largeBody?: true
  /** What is answered instead of JSON; `returns` is then bytes, or pieces of text that come until the caller or we end it. */
  media?: 'application/pdf' | 'text/event-stream'
  /** 204 answers have no body. */
  status?: 200 | 204
  /** Whether the work goes on after the answer, which then is 202. */
  goesOn?: (answer: unknown) => boolean
  /** Whose data the request reads or changes, and what it creates. The audit log names it, and every id in the path. */
  subjects: Subjects
  params?: z.ZodObject
  query?: z.ZodObject
  /** Headers that say more than who calls, in lower case. */
  headers?: z.ZodObject
  body?: z.ZodType
  returns: z.ZodType
  /** Documented refusals besides 401, 403 and 422: status → what it means. */
  refusals?: Record<number, string>
}

/** One row of the API. */
export const endpoint = <const R extends Row>(row: R): R => row

type Part<S> = S extends z.ZodType ? z.output<S> : undefined
type Sent<S> = S extends z.ZodType ? z.input<S> : undefined

/** What a handler gets: validated, defaults filled in. */
export type Input<R extends Row> = { params: Part<R['params']>; query: Part<R['query']>; body: Part<R['body']> } & (R extends {
  headers: infer H
}
  ? { headers: Part<H> }
  : unknown)

/** What a handler gives back; fields that the row does not name are dropped at the edge. */
export type Output<R extends Row> = z.input<R['returns']>

/** What a client reads. */
export type Answer<R extends Row> = z.output<R['returns']>

type Present<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] }
type Loose<T> =
  Present<T> extends { query: infer Q } ? Omit<Present<T>, 'query'> & ({} extends Q ? { query?: Q } : { query: Q }) : Present<T>

/** What a client sends. */
export type Request<R extends Row> = Loose<{ params: Sent<R['params']>; query: Sent<R['query']>; body: Sent<R['body']> }>

import type { ProblemKind } from '../contract/errors/kinds.ts'
import { type ErrorName, errorTypes } from '../contract/errors.ts'
import type { Fault } from '../contract/faults.ts'

type Fields = Record<string, unknown>
type Detail = string | Fault[] | ({ error_type: string; error_message: string } & Fields)

/** Every expected failure. Clients receive `detail` unchanged; `contract/errors/kinds.ts` maps the kind to a status. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly detail: Detail
  /** Body fields next to `detail`, for endpoints where the Junction API has them there. */
  readonly bodyFields: Fields
  /** The seconds after which a retry can succeed. */
  retryAfterS?: number

  constructor(kind: ProblemKind, detail: Detail, bodyFields: Fields = {}) {
    super(messageOf(detail))
    this.name = 'Problem'
    this.kind = kind
    this.detail = detail
    this.bodyFields = bodyFields
  }
}

function messageOf(detail: Detail) {
  if (typeof detail === 'string') return detail
  return Array.isArray(detail) ? detail.map((fault) => fault.msg).join(' ') : detail.error_message
}

type KindOf<N extends ErrorName> = (typeof errorTypes)[N]['kind']
type LimitName = { [N in ErrorName]: KindOf<N> extends 'too_many' ? N : never }[ErrorName]

/** A problem with a stable `error_type` and a sentence that says what to do. `fields` are added to `detail`. */
export const problem = (error_type: Exclude<ErrorName, LimitName>, error_message: string, fields: Fields = {}, bodyFields: Fields = {}) =>
  new Problem(errorTypes[error_type].kind, { error_type, error_message, ...fields }, bodyFields)

/** The problem of an exceeded limit. The response has the seconds as Retry-After. */
export const tooMany = (error_type: LimitName, error_message: string, retryAfterS: number) =>
  Object.assign(new Problem(errorTypes[error_type].kind, { error_type, error_message }), {
    retryAfterS: Math.max(1, Math.ceil(retryAfterS)),
  })

/** A problem of an endpoint where `detail` is text in the Junction API. The stable `error_type` is next to it. */
export const textProblem = (error_type: ErrorName, message: string) => new Problem(errorTypes[error_type].kind, message, { error_type })

/** A validation error: the shape is right and a value is wrong. `loc` begins with body, query, path or header. */
export const invalid = (loc: Fault['loc'], msg: string, type: Fault['type'] = 'value_error') => new Problem('invalid', [{ type, loc, msg }])

/** An error in the setup or in a command, in one line for the operator. */
export const setupProblem = (error_message: string, error_type = 'SETUP') => new Problem('failed', { error_type, error_message })

/** The type and the message of a problem, for an operator. */
export const reasonOfProblem = ({ detail, message }: Problem) => ({
  type: (detail as { error_type?: string }).error_type ?? 'REFUSED',
  message,
})

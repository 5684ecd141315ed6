import { type ErrorName, errorTypes, type ProblemKind } from '../contract/errors.ts'
import type { Fault } from '../contract/faults.ts'

type Fields = Record<string, unknown>
type Detail = string | Fault[] | ({ error_type: string; error_message: string } & Fields)

/** The one way to fail on purpose. `detail` is exactly what the caller reads; `contract/errors.ts` maps the kind to a status. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly detail: Detail
  /** Fields that stand beside `detail` where the public interface has them there. */
  readonly beside: Fields

  constructor(kind: ProblemKind, detail: Detail, beside: Fields = {}) {
    super(textOf(detail))
    this.name = 'Problem'
    this.kind = kind
    this.detail = detail
    this.beside = beside
  }
}

function textOf(detail: Detail) {
  if (typeof detail === 'string') return detail
  return Array.isArray(detail) ? detail.map((fault) => fault.msg).join(' ') : detail.error_message
}

/** A problem by its stable `error_type`, with a sentence that says what to do; `more` goes into `detail`. */
export const problem = (error_type: ErrorName, error_message: string, more: Fields = {}, beside: Fields = {}) =>
  new Problem(errorTypes[error_type].kind, { error_type, error_message, ...more }, beside)

/** The same where the public interface has `detail` as text; the stable type stands beside it. */
export const textProblem = (error_type: ErrorName, message: string) => new Problem(errorTypes[error_type].kind, message, { error_type })

/** A request of the right shape whose value is wrong; `loc` begins with body, query, path or header. */
export const invalid = (loc: Fault['loc'], msg: string, type: Fault['type'] = 'value_error') => new Problem('invalid', [{ type, loc, msg }])

/** A refusal to start: one line for the operator. */
export const setupProblem = (error_message: string, error_type = 'SETUP') => new Problem('failed', { error_type, error_message })

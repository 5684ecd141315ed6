import { type ErrorName, errorTypes, type ProblemKind } from './contract/errors.ts'

/** One place of a request that is wrong: `loc` names it, `msg` says what to send instead. It never repeats the value. */
export type Fault = { type: string; loc: (string | number)[]; msg: string }

export type Detail = string | Fault[] | ({ error_type: string; error_message: string } & Record<string, unknown>)

/** The one way to fail on purpose. `detail` is exactly what the caller reads; `http/problems.ts` maps the kind to a status. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly detail: Detail
  /** Fields that stand beside `detail` where the public interface has them there. */
  readonly beside: Record<string, unknown>

  constructor(kind: ProblemKind, detail: Detail, beside: Record<string, unknown> = {}) {
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

/** A problem by its stable `error_type`, with a sentence that says what to do. */
export const problem = (error_type: ErrorName, error_message: string, more: Record<string, unknown> = {}) =>
  new Problem(errorTypes[error_type].kind, { error_type, error_message, ...more })

/** A refusal to start: one line for the operator. */
export const setupProblem = (error_message: string, error_type = 'SETUP') => new Problem('failed', { error_type, error_message })

/** Why a request fails. The kind alone decides the HTTP status. */
export type ProblemKind =
  | 'invalid'
  | 'refused'
  | 'not_found'
  | 'wrong_method'
  | 'unauthenticated'
  | 'forbidden'
  | 'conflict'
  | 'gone'
  | 'too_large'
  | 'unsupported'
  | 'misdirected'
  | 'too_many'
  | 'failed'
  | 'unavailable'

export const statusOf: Record<ProblemKind, number> = {
  invalid: 422,
  refused: 400,
  not_found: 404,
  wrong_method: 405,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported: 415,
  misdirected: 421,
  too_many: 429,
  failed: 500,
  unavailable: 503,
}

/** An `error_type`. The kind sets its status, and the documentation prints `meaning` and `remedy`. */
export type ErrorType = { kind: ProblemKind; meaning: string; remedy: string }

/** Checks the rows of one topic and keeps their names as literal types. */
export const errors = <const T extends Record<string, ErrorType>>(rows: T): T => rows

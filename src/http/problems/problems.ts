import { statusOf } from '../../contract/errors/kinds.ts'
import { isDatabaseUnavailable, isStatementTimeout, isUserErased } from '../../platform/db/errors.ts'
import { Problem, problem } from '../../platform/problem.ts'

export const statusOfProblem = ({ kind }: Problem) => statusOf[kind]

export const bodyOf = ({ detail, bodyFields }: Problem) => ({ ...bodyFields, detail })

const unexpectedProblem = () =>
  problem(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Retry the request. If it keeps failing, give your operator the X-Request-Id.',
  )

/** Maps every error to the problem that the caller reads. Unexpected errors become a 500 and a log line. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isDatabaseUnavailable(error)) return problem('DATABASE_UNAVAILABLE', 'The database is unavailable right now. Retry in a few seconds.')
  if (isStatementTimeout(error))
    return problem('DATABASE_UNAVAILABLE', 'Conflict: other requests are changing the same resource. Retry in a few seconds.')
  if (isUserErased(error)) return problem('USER_NOT_FOUND', 'This user no longer exists in the team.')
  return fromFramework(error) ?? unexpectedProblem()
}

/** Maps the errors that Fastify raises before a handler runs. */
function fromFramework(error: unknown) {
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (statusCode === 413) return problem('BODY_TOO_LARGE', 'The form is too large. Send shorter values.')
  if (statusCode === 415) return unsupportedType()
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return badUrl()
  if (statusCode && statusCode < 500) return problem('BAD_REQUEST', 'The request is not valid HTTP.')
  return undefined
}

const badUrl = () => problem('BAD_URL', 'The URL is malformed, or a path segment is too long. Percent-encode the path and the query.')

export const unsupportedType = () => problem('UNSUPPORTED_CONTENT_TYPE', 'Send JSON with Content-Type: application/json.')

import { statusOf } from '../../contract/errors.ts'
import { isDatabaseAway, isStatementTimeout, isUserGone } from '../../platform/db/open.ts'
import { Problem, problem } from '../../platform/problem.ts'

export const statusOfProblem = ({ kind }: Problem) => statusOf[kind]

export const bodyOf = ({ detail, beside }: Problem) => ({ ...beside, detail })

const unexpected = () =>
  problem('INTERNAL_ERROR', 'Something went wrong on our side. Send the request again; if it stays, give your operator the X-Request-Id.')

/** Every error as the problem its caller reads. What was not thrown on purpose becomes a 500 and a log line. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isDatabaseAway(error))
    return problem('DATABASE_UNAVAILABLE', 'The database cannot be reached right now; send the request again in a few seconds.')
  if (isStatementTimeout(error))
    return problem(
      'DATABASE_UNAVAILABLE',
      'The database took too long, maybe for others who change the same; send the request again in a few seconds.',
    )
  if (isUserGone(error)) return problem('USER_NOT_FOUND', 'There is no such user in this team any more.')
  return fromFramework(error) ?? unexpected()
}

/** The errors that the HTTP server itself raises before a handler runs. */
function fromFramework(error: unknown) {
  const { code, statusCode } = error as { code?: string; statusCode?: number }
  if (statusCode === 413)
    return problem(
      'BODY_TOO_LARGE',
      'The body is larger than this route takes: 30 MiB for orders and pushed data, 1 MiB for everything else. Send less at once.',
    )
  if (statusCode === 415) return problem('UNSUPPORTED_CONTENT_TYPE', 'Send JSON with Content-Type: application/json.')
  if (code === 'FST_ERR_BAD_URL' || code === 'FST_ERR_MAX_PARAM_LENGTH') return badUrl()
  if (statusCode && statusCode < 500) return problem('BAD_REQUEST', 'The request is not well formed HTTP.')
  return undefined
}

const badUrl = () => problem('BAD_URL', 'The address is not well formed, or a part of it is too long.')

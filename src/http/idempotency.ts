import type { App } from '../platform/app.ts'
import { invalid, Problem } from '../platform/problem.ts'
import { claimLease, type IdempotencyLease, type Outcome } from '../tenants/idempotency/actions.ts'
import { bodyOf, statusOfProblem } from './problems/problems.ts'
import { type RequestState, subjectUser } from './request.ts'

/** Executes once for each X-Idempotency-Key and answers every repetition with the first outcome. */
export async function withIdempotency(
  app: App,
  visit: RequestState,
  execute: (turn?: IdempotencyLease) => Promise<Outcome>,
): Promise<Outcome & { replayed?: boolean }> {
  const { caller, route, input } = visit
  if (!route.row.idempotent || caller?.kind !== 'team') return execute()
  const { key, keep } = headersOf(visit)
  if (key === undefined) return execute()
  // As the contract reads it, so that the order of fields and the fields it does not know make no difference.
  const claimed = await claimLease(app, { team_id: caller.team_id, operation: route.name, key, request: input })
  if ('outcome' in claimed) return { ...claimed.outcome, replayed: true }
  return execute(claimed.turn).catch(async (error) => {
    if (keep === 'all' && isOutcome(error)) await claimed.turn.keep(app, outcomeOf(error), subjectUser(visit))
    else await claimed.turn.release()
    throw error
  })
}

const outcomeOf = (problem: Problem) => ({ status: statusOfProblem(problem), body: bodyOf(problem) })

/** A refusal is an outcome like any other, kept after its rollback; a wrong request or a failure of ours is not. */
const isOutcome = (error: unknown): error is Problem => error instanceof Problem && keptKinds.has(error.kind)

const keptKinds = new Set<Problem['kind']>(['refused', 'not_found', 'forbidden', 'conflict'])

function headersOf({ headers }: RequestState) {
  const key = headers['x-idempotency-key'] as string | undefined
  const error = headers['x-idempotency-error'] as string | undefined
  const wrong = (name: string, msg: string) => invalid(['header', name], msg)
  if (key !== undefined && !/^.{1,255}$/.test(key)) throw wrong('X-Idempotency-Key', 'Must have 1 to 255 characters.')
  if (error !== undefined && error !== 'no-cache') throw wrong('X-Idempotency-Error', 'The only allowed value is no-cache.')
  return { key, keep: error ? ('successes' as const) : ('all' as const) }
}

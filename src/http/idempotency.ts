import type { App } from '../platform/app.ts'
import { invalid, Problem } from '../platform/problem.ts'
import { claimLease, type IdempotencyLease, type Outcome } from '../tenants/idempotency/actions.ts'
import { bodyOf, statusOfProblem } from './problems/problems.ts'
import { type RequestState, subjectUser } from './request.ts'

/** Executes once for each X-Idempotency-Key and replays the first outcome for every repeated request. */
export async function withIdempotency(
  app: App,
  state: RequestState,
  execute: (lease?: IdempotencyLease) => Promise<Outcome>,
): Promise<Outcome & { replayed?: boolean }> {
  const { caller, route, input } = state
  if (!route.row.idempotent || caller?.kind !== 'team') return execute()
  const { key, storesRefusals } = headersOf(state)
  if (key === undefined) return execute()
  // The request is fingerprinted after parsing, so field order and unknown fields make no difference.
  const claim = await claimLease(app, { team_id: caller.team_id, operation: route.name, key, request: input })
  if ('outcome' in claim) return { ...claim.outcome, replayed: true }
  return execute(claim.lease).catch(async (error) => {
    if (storesRefusals && isStorable(error)) await claim.lease.storeOutcome(app, refusalOutcome(error), subjectUser(state))
    else await claim.lease.release()
    throw error
  })
}

const refusalOutcome = (problem: Problem) => ({ status: statusOfProblem(problem), body: bodyOf(problem) })

/** A refusal is stored like a success, after its rollback. An invalid request or an internal error is not stored. */
const isStorable = (error: unknown): error is Problem => error instanceof Problem && storedKinds.has(error.kind)

const storedKinds = new Set<Problem['kind']>(['refused', 'not_found', 'forbidden', 'conflict'])

function headersOf({ headers }: RequestState) {
  const key = headers['x-idempotency-key'] as string | undefined
  const error = headers['x-idempotency-error'] as string | undefined
  const invalidHeader = (name: string, msg: string) => invalid(['header', name], msg)
  if (key !== undefined && !/^.{1,255}$/.test(key)) throw invalidHeader('X-Idempotency-Key', 'Send 1 to 255 characters.')
  if (error !== undefined && error !== 'no-cache') throw invalidHeader('X-Idempotency-Error', 'The only allowed value is no-cache.')
  return { key, storesRefusals: !error }
}

import type { App, Caller } from '../app.ts'
import { claimTurn, type Outcome, type Turn } from '../idempotency/actions.ts'
import { Problem } from '../problem.ts'
import { bodyOf, statusOfProblem } from './problems.ts'
import { type Incoming, type Route, subjectUser } from './request.ts'

/** Executes once for each X-Idempotency-Key and answers every repetition with the first outcome. */
export async function withIdempotency(
  app: App,
  { name, row }: Route,
  caller: Caller | undefined,
  incoming: Incoming,
  input: unknown,
  execute: (turn?: Turn) => Promise<Outcome>,
): Promise<Outcome & { replayed?: boolean }> {
  if (!row.idempotent || caller?.kind !== 'team') return execute()
  const { key, keep } = headersOf(incoming)
  if (key === undefined) return execute()
  // As the contract reads it, so that the order of fields and the fields it does not know make no difference.
  const claimed = await claimTurn(app, { team_id: caller.team_id, operation: name, key, request: input })
  if ('outcome' in claimed) return { ...claimed.outcome, replayed: true }
  return execute(claimed.turn).catch((error) => settleFailure(app, claimed.turn, incoming, keep, error))
}

/** A refusal is an outcome like any other, kept after its rollback; a wrong request or a failure of ours is not. */
async function settleFailure(app: App, turn: Turn, incoming: Incoming, keep: 'all' | 'successes', error: unknown): Promise<never> {
  if (!(error instanceof Problem) || keep === 'successes' || !keptKinds.has(error.kind)) await turn.release()
  else await turn.keep(app, { status: statusOfProblem(error), body: bodyOf(error) }, subjectUser(incoming))
  throw error
}

const keptKinds = new Set<Problem['kind']>(['refused', 'not_found', 'forbidden', 'conflict'])

function headersOf({ headers }: Incoming) {
  const key = headers['x-idempotency-key'] as string | undefined
  const error = headers['x-idempotency-error'] as string | undefined
  const wrong = (name: string, msg: string) => new Problem('invalid', [{ type: 'value_error', loc: ['header', name], msg }])
  if (key !== undefined && !/^.{1,255}$/.test(key)) throw wrong('X-Idempotency-Key', 'Must have 1 to 255 characters.')
  if (error !== undefined && error !== 'no-cache') throw wrong('X-Idempotency-Error', 'The only allowed value is no-cache.')
  return { key, keep: error ? ('successes' as const) : ('all' as const) }
}

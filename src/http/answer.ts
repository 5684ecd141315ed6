import type { App, Caller } from '../app.ts'
import { inTransaction, later } from '../app.ts'
import { type AuditBatch, auditRow, recordChange } from '../audit/actions.ts'
import type { Outcome, Turn } from '../idempotency/actions.ts'
import { authenticate, checkGates, checkPath } from './authenticate.ts'
import { withIdempotency } from './idempotency.ts'
import { checkText, parseInput } from './input.ts'
import { bodyOf, problemOf, statusOfProblem } from './problems.ts'
import { deed, type Incoming, type Route, subjectUser } from './request.ts'

export type Answered = Outcome & { caller?: Caller | undefined; replayed?: boolean; error?: unknown }

/** One request from credential to answer: authenticate, validate, execute, shape, audit. */
export async function answer(app: App, audit: AuditBatch, route: Route, incoming: Incoming): Promise<Answered> {
  let caller: Caller | undefined
  try {
    caller = await authenticate(app, route.row, incoming.headers)
    checkGates(route.row, caller)
    checkText('path', incoming.params)
    checkText('query', incoming.query)
    const input = parseInput(route.row, incoming)
    checkPath(app, caller, input.params as Incoming['params'] | undefined)
    const outcome = await withIdempotency(app, route, caller, incoming, input, (turn) =>
      execute(appFor(app, caller), audit, { route, caller, incoming, input, turn }),
    )
    if (outcome.replayed && caller) await audit(auditRow(app, caller, deed(route, incoming, outcome.body, outcome.status)))
    return { ...outcome, caller }
  } catch (error) {
    const problem = problemOf(error)
    const status = statusOfProblem(problem)
    if (caller && status < 500) await audit(auditRow(app, caller, deed(route, incoming, undefined, status)))
    return { status, body: bodyOf(problem), caller, error }
  }
}

/** The domain clock of a team is real time plus its offset. */
const appFor = (app: App, caller: Caller | undefined): App =>
  caller?.kind === 'team' && caller.clock_offset_ms ? { ...app, now: () => later(app.wall(), caller.clock_offset_ms) } : app

type Work = { route: Route; caller: Caller | undefined; incoming: Incoming; input: ReturnType<typeof parseInput>; turn?: Turn | undefined }

async function execute(app: App, audit: AuditBatch, { route, caller, incoming, input, turn }: Work): Promise<Outcome> {
  const { row, handler } = route
  const status = row.status ?? 200
  const shaped = (result: unknown): Outcome => ({ status, body: row.returns.parse(result) })
  if (!caller) return shaped(await handler(app, caller, input))
  const auditOf = (result: unknown) => auditRow(app, caller, deed(route, incoming, result, status))
  if (row.method === 'get' || row.reads) {
    const result = await handler(app, caller, input)
    await audit(auditOf(result))
    return shaped(result)
  }
  let committed = false
  const beforeCommit = async (inside: App, result: unknown) => {
    await recordChange(inside, auditOf(result))
    await turn?.keep(inside, shaped(result), subjectUser(incoming, result))
    committed = true
  }
  const inside = { ...app, beforeCommit }
  const result = await handler(inside, caller, input)
  if (!committed) await inTransaction(inside, async () => result)
  return shaped(result)
}

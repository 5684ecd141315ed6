import type { App, AppInRequest, HttpRequest } from '../platform/app.ts'
import { inTransaction, onTeamClock } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { isLostLease } from '../platform/db/request-rows.ts'
import { type AuditBatch, auditRow } from '../tenants/audit/actions.ts'
import type { AuditRead } from '../tenants/audit/reads.ts'
import { type IdempotencyLease, leaseLost, type Outcome } from '../tenants/idempotency/actions.ts'
import { sessionIn } from '../tenants/sessions/rules.ts'
import { checkNotMasked } from '../tenants/sessions/rules-masking.ts'
import { checkPath, checkUser } from './authenticate.ts'
import { withIdempotency } from './idempotency.ts'
import { checkText, parseInput } from './input.ts'
import { auditEntry, type RequestState, subjectUser } from './request.ts'

type Sent = { params: unknown; query: unknown; body: unknown; headers: unknown }

export type Audits = { audit: AuditBatch; auditRead: AuditRead }

/** A request whose caller is known: validate, execute once, shape, audit. What is refused is thrown. */
export async function respond(app: App, audits: Audits, visit: RequestState, sent: Sent): Promise<Outcome & { replayed?: boolean }> {
  const { caller, route } = visit
  checkText('path', sent.params)
  checkText('query', sent.query)
  visit.input = parseInput(route.row, sent)
  checkPath(app, caller, visit.input.params as RequestState['params'] | undefined)
  checkUser(caller, subjectUser(visit))
  if (isUnrevealed(caller)) checkNotMasked(visit.input.body)
  const inside = { ...onCallersClock(app, caller), signal: visit.signal, request: requestOf(app, visit) }
  const outcome = await withIdempotency(app, visit, (turn) => execute(inside, audits, visit, turn))
  if (outcome.replayed && caller) await audits.audit(auditRow(app, caller, auditEntry(visit, outcome.status, outcome.body)))
  return route.mask && !route.row.media && isUnrevealed(caller) ? { ...outcome, body: route.mask(outcome.body) } : outcome
}

/** Whether personal data is masked for the caller: at the console, until the caller gives a reason to reveal it. */
export const isUnrevealed = (caller: Caller | undefined) =>
  Boolean(caller && caller.kind !== 'session' && 'console' in caller && caller.console && !caller.console.reason)

const requestOf = ({ config }: App, visit: RequestState): HttpRequest => ({
  address: visit.address,
  request_id: visit.request_id,
  session: sessionIn(config, visit.headers),
  keepSession: (secret) => {
    visit.session = secret
  },
})

const onCallersClock = (app: App, caller: Caller | undefined): App =>
  caller && 'clock_offset_ms' in caller ? onTeamClock(app, caller) : app

async function execute(app: AppInRequest, { auditRead }: Audits, visit: RequestState, turn?: IdempotencyLease): Promise<Outcome> {
  const { caller, input } = visit
  const { row, handler } = visit.route
  const status = row.status ?? 200
  const shaped = (result: unknown): Outcome => ({ status: row.isStillRunning?.(result) ? 202 : status, body: row.returns.parse(result) })
  if (!caller) return shaped(await handler(app, caller, input))
  const auditOf = (result: unknown) => auditRow(app, caller, auditEntry(visit, status, result))
  if (row.method === 'get' || row.reads) {
    const result = await handler(app, caller, input)
    if (!row.unaudited) await auditRead(caller, auditOf(result))
    return shaped(result)
  }
  let outcome: Outcome | undefined
  const requestRows: NonNullable<App['requestRows']> = async (inside, result, user) => {
    outcome = shaped(result)
    return { audit: auditOf(result), kept: await turn?.row(inside, outcome, subjectUser(visit, result), user) }
  }
  const inside = { ...app, requestRows }
  try {
    const result = await handler(inside, caller, input)
    return outcome ?? (await inTransaction(inside, async () => result).then(shaped))
  } catch (error) {
    throw isLostLease(error) ? leaseLost() : error
  }
}

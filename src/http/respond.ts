import type { z } from 'zod'
import { type App, type AppInRequest, type HttpRequest, inTransaction, onTeamClock } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { retryRead } from '../platform/db/errors.ts'
import { isLostLease } from '../platform/db/rows/request-rows.ts'
import { textOf } from '../platform/results/json-text.ts'
import { longList, withArrays, withArraysInSlices } from '../platform/results/long-list.ts'
import { isShaped } from '../platform/results/shaped.ts'
import { type AuditBatch, auditRow } from '../tenants/audit/actions.ts'
import type { AuditRead } from '../tenants/audit/reads.ts'
import { type IdempotencyLease, leaseLost, type Outcome } from '../tenants/idempotency/actions.ts'
import { deviceTokenIn, sessionSecretIn } from '../tenants/people/sessions/rules.ts'
import { checkNotMasked } from '../tenants/people/sessions/rules-masking.ts'
import { checkPath, checkUser } from './authenticate.ts'
import { responseJson } from './body/response-json.ts'
import { withIdempotency } from './idempotency.ts'
import { checkText, parseInput, type RawInput } from './input.ts'
import { auditEntry, type RequestState, subjectUser } from './request.ts'

export type Auditors = { audit: AuditBatch; auditRead: AuditRead }

/** Executes a request when it is the turn of its team. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** `json` is set unless the body is bytes, a stream or missing. */
type ReadyResponse = Outcome & { json?: string | Buffer; replayed?: boolean }

/**
 * Validates a request and executes its action once. Before the response leaves, its audit row is committed: with the change, or together
 * with the rows of other requests if it is a read or a replay. A refusal is thrown, and `refuse` audits it.
 */
export async function respond(
  app: App,
  context: Auditors & { inItsTurn: InTurn },
  state: RequestState,
  raw: RawInput,
): Promise<ReadyResponse> {
  const { audit, auditRead, inItsTurn } = context
  const { caller, route } = state
  checkText(raw.params, 'path')
  checkText(raw.query, 'query')
  state.input = parseInput(route.row, raw)
  checkPath(app, route.row, caller, state.input.params as RequestState['params'] | undefined)
  checkUser(caller, subjectUser(state))
  if (mustMask(caller)) checkNotMasked(state.input.body)
  const requestApp = { ...withCallerClock(app, caller), signal: state.signal, request: httpRequest(app, state) }
  if (!caller) return ready(state, outcomeOf(app, state, await inItsTurn(() => route.handler(requestApp, caller, state.input))))
  if (route.row.method === 'get' || route.row.reads) return inItsTurn(() => read(requestApp, auditRead, caller, state))
  const outcome = await withIdempotency(app, state, (lease) => inItsTurn(() => write(requestApp, caller, state, lease)))
  if (outcome.replayed) await audit(auditRow(app, caller, auditEntry(state, outcome.status, outcome.body)))
  return ready(state, outcome)
}

/** The response is written while its audit row commits. */
async function read(app: AppInRequest, auditRead: AuditRead, caller: Caller, state: RequestState): Promise<ReadyResponse> {
  const { input, route } = state
  const result = await retryRead(() => route.handler(app, caller, input))
  const audited = route.row.unaudited ? undefined : auditRead(caller, auditOf(app, caller, state, result))
  const writeResponse = async () => {
    if (route.row.largeResponse) await statementsSent()
    return ready(state, outcomeOf(app, state, result))
  }
  const [response] = await Promise.all([writeResponse(), audited])
  return response
}

/** Statements of this turn of the event loop are sent at its end. Work before that would delay them. */
const statementsSent = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

/** The audit row and the outcome for a repeated request commit with the change. */
async function write(app: AppInRequest, caller: Caller, state: RequestState, lease?: IdempotencyLease): Promise<Outcome> {
  const { input, route } = state
  let outcome: Outcome | undefined
  const requestRows: NonNullable<App['requestRows']> = async (transaction, result, user) => {
    outcome = outcomeOf(app, state, result)
    const stored = await lease?.end(transaction, outcome, subjectUser(state, result), user)
    return { audit: auditOf(app, caller, state, result), outcome: stored }
  }
  const writing = { ...app, requestRows }
  try {
    const result = await route.handler(writing, caller, input)
    // An action that wrote nothing has not committed the rows of the request yet.
    if (!outcome) await inTransaction(writing, async () => result)
    return outcome as unknown as Outcome
  } catch (error) {
    throw isLostLease(error) ? leaseLost() : error
  }
}

const auditOf = (app: App, caller: Caller, state: RequestState, result: unknown) =>
  auditRow(app, caller, auditEntry(state, state.route.row.status ?? 200, result))

function outcomeOf(app: App, state: RequestState, result: unknown): Outcome {
  const { row } = state.route
  return { status: row.isStillRunning?.(result) ? 202 : (row.status ?? 200), body: shapeResult(app, state, result) }
}

/** Masks a response if the caller must not see personal data, and writes its JSON. */
async function ready(state: RequestState, outcome: Outcome): Promise<ReadyResponse> {
  const { row, mask } = state.route
  if (row.media) return outcome
  const body = mask && mustMask(state.caller) ? mask(await withArraysInSlices(outcome.body)) : outcome.body
  return body === undefined || body === null ? outcome : { ...outcome, body, json: textOf(body) ?? (await responseJson(row, body)) }
}

/** The console masks personal data until the request gives a reason to reveal it. */
export const mustMask = (caller: Caller | undefined) =>
  Boolean(caller && caller.kind !== 'session' && 'console' in caller && caller.console && !caller.console.reason)

const httpRequest = ({ config }: App, state: RequestState): HttpRequest => ({
  address: state.address,
  request_id: state.request_id,
  session: sessionSecretIn(config, state.headers),
  setSession: (secret) => {
    state.session = secret
  },
  device: deviceTokenIn(config, state.headers),
  setDevice: (token) => {
    state.device = token
  },
})

const withCallerClock = (app: App, caller: Caller | undefined): App =>
  caller && 'clock_offset_ms' in caller ? onTeamClock(app, caller) : app

/** Drops the fields that the contract does not declare. A result marked as `shaped` has none. */
function shapeResult({ checksShapes }: App, { route: { name, row } }: RequestState, result: unknown): unknown {
  const hasShape = isShaped(result)
  if (hasShape && !checksShapes) return result
  if (row.largeResponse && !hasShape)
    return shapeEntries(row.returns as z.ZodObject<Record<string, z.ZodArray<z.ZodType>>>, result as Lists)
  const whole = row.largeResponse ? withArrays(result) : result
  const shaped = row.returns.parse(whole)
  if (!hasShape) return shaped
  if (JSON.stringify(shaped) !== JSON.stringify(whole))
    throw new Error(`The result of ${name} is marked as \`shaped\`, but does not have the shape of its response.`)
  return result
}

type Lists = Record<string, unknown[]>

/** Shapes the entries of long lists one at a time, when they are written. */
const shapeEntries = ({ shape }: z.ZodObject<Record<string, z.ZodArray<z.ZodType>>>, lists: Lists) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, { element }]) => [
      name,
      longList(
        () => lists[name] ?? [],
        (entry) => element.parse(entry),
      ),
    ]),
  )

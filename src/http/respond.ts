import type { z } from 'zod'
import type { Row } from '../contract/endpoint.ts'
import { type App, type AppInRequest, type HttpRequest, inTransaction, onTeamClock } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { retryRead } from '../platform/db/errors.ts'
import { isLostLease } from '../platform/db/rows/request-rows.ts'
import { isShaped, lateJsonOf } from '../platform/shares/late-json.ts'
import { longList, withArrays, withArraysInSlices } from '../platform/shares/long-list.ts'
import { inTurn, type Turns } from '../platform/shares/turns.ts'
import { type AuditBatch, auditRow } from '../tenants/audit/actions.ts'
import type { AuditRead } from '../tenants/audit/reads.ts'
import { type IdempotencyLease, leaseLost, type Outcome } from '../tenants/idempotency/actions.ts'
import { deviceTokenIn, sessionSecretIn } from '../tenants/sessions/rules.ts'
import { checkNotMasked } from '../tenants/sessions/rules-masking.ts'
import { checkPath, checkUser } from './authenticate.ts'
import { afterSending, type ResponseJson, responseJson } from './body/response-json.ts'
import { withIdempotency } from './idempotency.ts'
import { checkText, parseInput, type RawInput } from './input.ts'
import { auditEntry, type RequestState, shareOf, subjectUser } from './request.ts'

export type RouteContext = { audit: AuditBatch; auditRead: AuditRead; turns: Turns }

/** `json` is the body as JSON, if it is ready. */
type Response = Outcome & { json?: ResponseJson | undefined; replayed?: boolean }

/** Validates, executes once, shapes and audits a request. A refusal is thrown. */
export async function respond(app: App, context: RouteContext, state: RequestState, raw: RawInput): Promise<Response> {
  const { caller, route } = state
  checkText(raw.params, 'path')
  checkText(raw.query, 'query')
  state.input = parseInput(route.row, raw)
  checkPath(app, route.row, caller, state.input.params as RequestState['params'] | undefined)
  checkUser(caller, subjectUser(state))
  if (mustMask(caller)) checkNotMasked(state.input.body)
  const requestApp = { ...withCallerClock(app, caller), signal: state.signal, request: httpRequest(app, state) }
  const run = (lease?: IdempotencyLease) => execute(requestApp, context, state, lease)
  // A request that waits for clouds would keep the turn of one that works.
  const inOrder = route.row.isStillRunning ? run : (lease?: IdempotencyLease) => inTurn(context.turns, shareOf(state), () => run(lease))
  const outcome = await withIdempotency(app, state, inOrder)
  if (outcome.replayed && caller) await context.audit(auditRow(app, caller, auditEntry(state, outcome.status, outcome.body)))
  return isMasked(state) ? { ...outcome, body: route.mask?.(await withArraysInSlices(outcome.body)) } : outcome
}

const isMasked = ({ caller, route }: RequestState) => Boolean(route.mask) && !route.row.media && mustMask(caller)

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

async function execute(app: AppInRequest, { auditRead }: RouteContext, state: RequestState, lease?: IdempotencyLease): Promise<Response> {
  const { caller, input } = state
  const { row, handler } = state.route
  const status = row.status ?? 200
  const shape = (result: unknown): Outcome => ({
    status: row.isStillRunning?.(result) ? 202 : status,
    body: shapeResult(app, state, result),
  })
  if (!caller) return shape(await handler(app, caller, input))
  const auditOf = (result: unknown) => auditRow(app, caller, auditEntry(state, status, result))
  if (row.method === 'get' || row.reads) {
    const result = await retryRead(() => handler(app, caller, input))
    const audited = row.unaudited ? undefined : auditRead(caller, auditOf(result))
    const write = async () => {
      if (row.long || lateJsonOf(result)) await afterSending()
      return withJson(state, shape(result))
    }
    // The response is written while the audit row commits.
    const [response] = await Promise.all([write(), audited])
    return response
  }
  let outcome: Outcome | undefined
  const requestRows: NonNullable<App['requestRows']> = async (transaction, result, user) => {
    outcome = shape(result)
    return { audit: auditOf(result), outcome: await lease?.buildRow(transaction, outcome, subjectUser(state, result), user) }
  }
  const writing = { ...app, requestRows }
  try {
    const result = await handler(writing, caller, input)
    return outcome ?? (await inTransaction(writing, async () => result).then(shape))
  } catch (error) {
    throw isLostLease(error) ? leaseLost() : error
  }
}

/** Writes the JSON of a response, unless it still has to be masked or is none. */
async function withJson(state: RequestState, outcome: Outcome): Promise<Response> {
  const { row } = state.route
  if (row.media || isMasked(state) || outcome.body === null || typeof outcome.body !== 'object') return outcome
  return { ...outcome, json: await responseJson(row, outcome.body) }
}

/** Drops the fields that the contract does not declare. A result marked as `shaped` has none. */
function shapeResult({ checksShapes }: App, state: RequestState, result: unknown): unknown {
  const { name, row } = state.route
  const late = lateJsonOf(result)
  const hasShape = isShaped(result)
  if (hasShape && !checksShapes) return late && isMasked(state) ? JSON.parse(late()) : result
  if (row.long && !hasShape) return shapeEntries(row.returns as z.ZodObject<Record<string, z.ZodArray<z.ZodType>>>, result as Lists)
  const text = late?.()
  const whole = text === undefined ? withArraysIfLong(row, result) : JSON.parse(text)
  const shaped = row.returns.parse(whole)
  if (hasShape && JSON.stringify(shaped) !== (text ?? JSON.stringify(whole)))
    throw new Error(`The result of ${name} is marked as \`shaped\`, but does not have the shape of its response.`)
  return shaped
}

const withArraysIfLong = ({ long }: Row, result: unknown) => (long ? withArrays(result) : result)

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

import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { headerDeprecation } from '../contract/deprecation.ts'
import type { App } from '../platform/app.ts'
import { retryRead } from '../platform/db/errors.ts'
import { runForShare, runRequestForShare } from '../platform/shares/share.ts'
import { inTurn, LONG_READ_LIMITS, newTurns } from '../platform/shares/turns.ts'
import { type AuditBatch, auditRow, newAuditBatch } from '../tenants/audit/actions.ts'
import { newReadAuditor } from '../tenants/audit/reads.ts'
import { spendTokens } from '../tenants/rates/limiter.ts'
import { costOf } from '../tenants/rates/rules.ts'
import { deviceCookie, sessionCookie } from '../tenants/sessions/rules.ts'
import { maskOf } from '../tenants/sessions/rules-masking.ts'
import { authenticate, checkGates, expectedCaller, usesDeprecatedHeader } from './authenticate.ts'
import { responseJson } from './body/response-json.ts'
import type { Siblings } from './connections/siblings.ts'
import { type Streams, sendChunks, trackStreams } from './connections/stream.ts'
import { announceDeprecation, findUsedDeprecation, listDeprecatedInputs } from './deprecation.ts'
import { isServed, type Table } from './endpoint-table.ts'
import { problemOf, statusOfProblem } from './problems/problems.ts'
import { sendProblem } from './problems/refuse.ts'
import { type AnyHandler, auditEntry, type RequestState, type Route, shareOf } from './request.ts'
import { confirm, type RouteContext, respond } from './respond.ts'
import { subjectsOf } from './subjects.ts'

/** Fits four images of 5 MB in base64 and the JSON around them. */
export const LARGE_BODY = 30 * 1024 * 1024

export function mountTable(app: App, server: FastifyInstance, table: Table, siblings?: Siblings) {
  server.decorateRequest('state', null)
  const audit = newAuditBatch(app)
  const shared = { audit, auditRead: newReadAuditor(app, audit), turns: newTurns(), streams: trackStreams(server, siblings) }
  const longReads = newTurns(LONG_READ_LIMITS)
  for (const [name, row] of Object.entries(table.endpoints)) {
    if (!isServed(app, row)) continue
    const handler = table.handlers[name] as AnyHandler
    const mask = maskOf(row.returns)
    const route: Route = { name, row, handler, mask, subjects: subjectsOf(row), deprecatedInputs: listDeprecatedInputs(row) }
    for (const url of [row.path, ...(row.aliases ?? [])].map(urlOf))
      server.route({
        method: row.method.toUpperCase(),
        url,
        config: { template: row.path },
        ...(row.largeBody ? { bodyLimit: LARGE_BODY } : {}),
        onRequest: (request, reply) => admit(app, route, request, reply),
        handler: (request, reply) => {
          const share = shareToConfirm(request.state as RequestState)
          const work = () => runRequestForShare(share, () => handle(app, shared, request, reply))
          return row.long ? inTurn(longReads, share, () => (reply.raw.destroyed ? abandon(reply) : work())) : work()
        },
        errorHandler: (error, request, reply) => refuse(app, audit, error, request, reply),
      })
  }
}

/** A read is confirmed before it is audited, and whatever writes before it writes. */
function shareToConfirm(state: RequestState) {
  const confirmed = state.checked && state.route.row.method !== 'get' ? confirm(state) : undefined
  confirmed?.catch(() => {})
  return { ...shareOf(state), confirmed }
}

/** The client left while its request was pending. */
const abandon = async (reply: FastifyReply) => reply.hijack()

const urlOf = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

/** Checks the credential and the gates before the body is read, so a request without a key costs no parsing. */
async function admit(app: App, route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { id: request_id, headers } = request
  const state: RequestState = { route, request_id, headers, address: request.ip, params: request.params as Record<string, string> }
  request.state = state
  reply.raw.once('close', () => state.releaseBody?.())
  reply.header('cache-control', 'no-store')
  announceDeprecation(reply, route.row.deprecated ?? (usesDeprecatedHeader(route.row, headers) ? headerDeprecation : undefined))
  const checked = retryRead(() => authenticate(app, route.row, headers))
  const expected = expectedCaller(app, route.row, headers)
  if (expected) {
    // The response waits for it.
    checked.catch(() => {})
    state.caller = expected
    state.checked = checked
    return
  }
  state.caller = await checked
  await checkCaller(app, state, request, reply)
}

/** Checks the rates of the caller, and what the caller may use. */
async function checkCaller(app: App, { route, caller }: RequestState, request: FastifyRequest, reply: FastifyReply) {
  const rates = await spendTokens(app, caller, () => costOf(route.row, request.query as Record<string, unknown>, app.wall()))
  if (rates) {
    reply.headers(rates.headers)
    if (rates.refusal) throw rates.refusal
  }
  checkGates(route, caller)
}

/** Responds to a request. One that started before its key was checked starts again if the caller is not the expected one. */
async function respondOnceChecked(app: App, context: RouteContext, request: FastifyRequest, reply: FastifyReply) {
  const state = request.state as RequestState
  const { caller: expected, checked } = state
  if (!checked) return respond(app, context, state, request)
  try {
    return await respond(app, context, state, request)
  } catch (error) {
    // A refusal of the key comes first, and has no caller.
    state.caller = undefined
    state.caller = await checked
    state.checked = undefined
    await checkCaller(app, state, request, reply)
    if (isDeepStrictEqual(state.caller, expected)) throw error
    return runForShare(shareOf(state), () => respond(app, context, state, request))
  }
}

type Shared = RouteContext & { streams: Streams }

async function handle(app: App, { streams, ...context }: Shared, request: FastifyRequest, reply: FastifyReply) {
  const state = request.state as RequestState
  const { media, mediaOf } = state.route.row
  announceDeprecation(reply, findUsedDeprecation(state.route.deprecatedInputs, request))
  if (media === 'text/event-stream') state.signal = await streams.open(state, reply)
  const { status, body, json, replayed } = await respondOnceChecked(app, context, request, reply)
  if (state.session !== undefined) reply.header('set-cookie', sessionCookie(app.config, state.headers, state.session))
  if (state.device) reply.header('set-cookie', deviceCookie(app.config, state.headers, state.device))
  if (replayed) reply.header('x-idempotency-replayed', 'true')
  if (media === 'text/event-stream') return sendChunks(app, state, body as AsyncIterable<string>, reply)
  if (media) {
    const bytes = Buffer.from(body as Uint8Array)
    return reply
      .code(status)
      .type(mediaOf?.(bytes) ?? media)
      .send(bytes)
  }
  if (typeof body === 'string') return reply.code(status).type('application/json').send(JSON.stringify(body))
  if (body === null || typeof body !== 'object') return reply.code(status).send(body)
  return reply
    .code(status)
    .type(JSON_TYPE)
    .send(json ?? (await responseJson(state.route.row, body)))
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Audits the refusal of an authenticated caller before it is sent. */
async function refuse(app: App, audit: AuditBatch, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { state } = request
  if (state?.checked)
    try {
      state.caller = await state.checked
    } catch (refusal) {
      // A refusal of the key comes before any other.
      return sendProblem(app, refusal, request, reply)
    }
  const status = statusOfProblem(problemOf(error))
  if (!state?.caller || status >= 500) return sendProblem(app, error, request, reply)
  const response = await audit(auditRow(app, state.caller, auditEntry(state, status))).then(
    () => error,
    (unaudited) => unaudited,
  )
  return sendProblem(app, response, request, reply)
}

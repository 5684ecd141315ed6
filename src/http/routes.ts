import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { headerDeprecation } from '../contract/deprecation.ts'
import type { Row } from '../contract/endpoint.ts'
import type { App } from '../platform/app.ts'
import { retryRead } from '../platform/db/errors.ts'
import { runAsActive } from '../platform/shares/share.ts'
import { inTurn, LONG_READS, newTurns, type Turns } from '../platform/shares/turns.ts'
import { type AuditBatch, auditRow, newAuditBatch } from '../tenants/audit/actions.ts'
import { newReadAuditor } from '../tenants/audit/reads.ts'
import { deviceCookie, sessionCookie } from '../tenants/people/sessions/rules.ts'
import { maskOf } from '../tenants/people/sessions/rules-masking.ts'
import { spendTokens } from '../tenants/rates/limiter.ts'
import { costOf } from '../tenants/rates/rules.ts'
import { authenticate, checkGates, usesDeprecatedHeader } from './authenticate.ts'
import type { Siblings } from './connections/siblings.ts'
import { type Streams, sendChunks, trackStreams } from './connections/stream.ts'
import { announceDeprecation, findUsedDeprecation, listDeprecatedInputs } from './deprecation.ts'
import { isServed, type Table } from './endpoint-table.ts'
import { problemOf, statusOfProblem } from './problems/problems.ts'
import { sendProblem } from './problems/send.ts'
import { type AnyHandler, auditEntry, type RequestState, type Route, shareOf } from './request.ts'
import { type Auditors, type InTurn, respond } from './respond.ts'
import { subjectsOf } from './subjects.ts'

/** Fits four images of 5 MB in base64 and the JSON around them. */
export const LARGE_BODY = 30 * 1024 * 1024

type Context = Auditors & { turns: Turns; longReads: Turns; streams: Streams }

export function mountTable(app: App, server: FastifyInstance, table: Table, siblings?: Siblings) {
  server.decorateRequest('state', null)
  const audit = newAuditBatch(app)
  const auditors = { audit, auditRead: newReadAuditor(app, audit) }
  const context = { ...auditors, turns: newTurns(), longReads: newTurns(LONG_READS), streams: trackStreams(server, siblings) }
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
        // Between the two, the parser that `server.ts` registers reads the body.
        handler: (request, reply) => handle(app, context, request, reply),
        errorHandler: (error, request, reply) => refuse(app, audit, error, request, reply),
      })
  }
}

const urlOf = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

/** Checks the credential and the gates before the body is read, so a request without a key costs no parsing. */
async function admit(app: App, route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { id: request_id, headers } = request
  const state: RequestState = { route, request_id, headers, address: request.ip, params: request.params as Record<string, string> }
  request.state = state
  reply.raw.once('close', () => state.releaseBody?.())
  reply.header('cache-control', 'no-store')
  announceDeprecation(reply, route.row.deprecated ?? (usesDeprecatedHeader(route.row, headers) ? headerDeprecation : undefined))
  const caller = await retryRead(() => authenticate(app, route.row, headers, state.params))
  state.caller = caller
  const rates = await spendTokens(app, caller, () => costOf(route.row, request.query as Record<string, unknown>, app.wall()))
  if (rates) {
    reply.headers(rates.headers)
    if (rates.refusal) throw rates.refusal
  }
  checkGates(route, caller)
}

/** A request that was pending when its client left is not executed. */
const clientLeft = new Error('The client left.')

async function handle(app: App, context: Context, request: FastifyRequest, reply: FastifyReply) {
  const state = request.state as RequestState
  const { row, deprecatedInputs } = state.route
  announceDeprecation(reply, findUsedDeprecation(deprecatedInputs, request))
  if (row.media === 'text/event-stream') state.signal = await context.streams.open(state, reply)
  const share = shareOf(state)
  const turns = row.waitsForClouds ? undefined : row.largeResponse ? context.longReads : context.turns
  const inItsTurn: InTurn = (work) =>
    turns ? inTurn(turns, share, () => (reply.raw.destroyed ? Promise.reject(clientLeft) : work())) : work()
  const response = await runAsActive(share, () => respond(app, { ...context, inItsTurn }, state, request))
  const { status, body, json, replayed } = response
  if (state.session !== undefined) reply.header('set-cookie', sessionCookie(app.config, state.headers, state.session))
  if (state.device) reply.header('set-cookie', deviceCookie(app.config, state.headers, state.device))
  if (replayed) reply.header('x-idempotency-replayed', 'true')
  if (row.media === 'text/event-stream') return sendChunks(app, state, body as AsyncIterable<string>, reply)
  if (row.media) return sendBytes(reply.code(status), row, Buffer.from(body as Uint8Array))
  return json === undefined ? reply.code(status).send() : reply.code(status).type('application/json; charset=utf-8').send(json)
}

const sendBytes = (reply: FastifyReply, { media, mediaOf }: Row, bytes: Buffer) =>
  reply.type(mediaOf?.(bytes) ?? (media as string)).send(bytes)

/** Audits the refusal of an authenticated caller before it is sent. */
async function refuse(app: App, audit: AuditBatch, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (error === clientLeft) return reply.hijack()
  const { state } = request
  const status = statusOfProblem(problemOf(error))
  if (!state?.caller || status >= 500) return sendProblem(app, error, request, reply)
  const response = await audit(auditRow(app, state.caller, auditEntry(state, status))).then(
    () => error,
    (unaudited) => unaudited,
  )
  return sendProblem(app, response, request, reply)
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { headerDeprecation } from '../contract/deprecation.ts'
import type { App } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { type AuditBatch, auditBatch, auditRow } from '../tenants/audit/actions.ts'
import { auditReads } from '../tenants/audit/reads.ts'
import { cookieOf } from '../tenants/sessions/rules.ts'
import { maskOf } from '../tenants/sessions/rules-masking.ts'
import { authenticate, checkGates, usedDeprecatedHeader } from './authenticate.ts'
import { announceDeprecation, deprecatedInputs, usedDeprecation } from './deprecation.ts'
import { isServed, type Table } from './endpoint-table.ts'
import { problemOf, statusOfProblem } from './problems/problems.ts'
import { sendProblem } from './problems/refuse.ts'
import { type AnyHandler, auditEntry, type RequestState, type Route } from './request.ts'
import { type Audits, respond } from './respond.ts'
import { openStreams, type Streams, sendPieces } from './stream.ts'
import { subjectsOf } from './subjects.ts'

/** Four images of 5 MB in base64, and what is around them. */
const LARGE_BODY = 30 * 1024 * 1024

const visits = new WeakMap<FastifyRequest, RequestState>()

export const callerOf = (request: FastifyRequest): Caller | undefined => visits.get(request)?.caller

/** Mounts every row that exists here. */
export function mountTable(app: App, server: FastifyInstance, table: Table) {
  const audit = auditBatch(app)
  const shared = { audit, auditRead: auditReads(app, audit), streams: openStreams(server) }
  for (const [name, row] of Object.entries(table.endpoints)) {
    if (!isServed(app, row)) continue
    const handler = table.handlers[name] as AnyHandler
    const mask = maskOf(row.returns)
    const route: Route = { name, row, handler, mask, subjects: subjectsOf(row), deprecatedInputs: deprecatedInputs(row) }
    for (const path of [row.path, ...(row.aliases ?? [])])
      server.route({
        method: row.method.toUpperCase(),
        url: path.replace(/\{(\w+)\}/g, ':$1'),
        config: { template: row.path },
        ...(row.largeBody ? { bodyLimit: LARGE_BODY } : {}),
        onRequest: (request, reply) => admit(app, route, request, reply),
        handler: (request, reply) => give(app, shared, request, reply),
        errorHandler: (error, request, reply) => refuse(app, audit, error, request, reply),
      })
  }
}

/** Credential and gates come before the body is read: whoever has no key costs no parsing. */
async function admit(app: App, route: Route, request: FastifyRequest, reply: FastifyReply) {
  const { id: request_id, headers } = request
  const visit: RequestState = { route, request_id, headers, address: request.ip, params: request.params as Record<string, string> }
  visits.set(request, visit)
  reply.header('cache-control', 'no-store')
  announceDeprecation(reply, route.row.deprecated ?? (usedDeprecatedHeader(route.row, headers) ? headerDeprecation : undefined))
  visit.caller = await authenticate(app, route.row, headers)
  checkGates(route, visit.caller)
}

type Shared = Audits & { streams: Streams }

async function give(app: App, { streams, ...audits }: Shared, request: FastifyRequest, reply: FastifyReply) {
  const visit = visits.get(request) as RequestState
  const { media } = visit.route.row
  announceDeprecation(reply, usedDeprecation(visit.route.deprecatedInputs, request))
  if (media === 'text/event-stream') visit.signal = streams.open(visit, reply)
  const { status, body, replayed } = await respond(app, audits, visit, request)
  if (visit.session !== undefined) reply.header('set-cookie', cookieOf(app.config, visit.headers, visit.session))
  if (replayed) reply.header('x-idempotency-replayed', 'true')
  if (media === 'text/event-stream') return sendPieces(app, visit, body as AsyncIterable<string>, reply)
  if (media)
    return reply
      .code(status)
      .type(media)
      .send(Buffer.from(body as Uint8Array))
  if (typeof body === 'string') return reply.code(status).type('application/json').send(JSON.stringify(body))
  return reply.code(status).send(body)
}

/** What a known caller was refused is audited like what it was given. */
async function refuse(app: App, audit: AuditBatch, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const visit = visits.get(request)
  const status = statusOfProblem(problemOf(error))
  if (!visit?.caller || status >= 500) return sendProblem(app, error, request, reply)
  const failed = await audit(auditRow(app, visit.caller, auditEntry(visit, status))).then(
    () => error,
    (unaudited) => unaudited,
  )
  return sendProblem(app, failed, request, reply)
}

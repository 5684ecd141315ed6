import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { App, Caller } from '../app.ts'
import { auditBatch } from '../audit/actions.ts'
import type { Row } from '../contract/endpoint.ts'
import { endpoints } from '../contract/index.ts'
import { safeError } from '../log.ts'
import { problem } from '../problem.ts'
import { answer } from './answer.ts'
import { usedDeprecatedHeader } from './authenticate.ts'
import { handlers } from './handlers.ts'
import { parseJson } from './input.ts'
import type { Metrics } from './metrics.ts'
import { mountPages } from './pages.ts'
import { bodyOf, problemOf, statusOfProblem } from './problems.ts'
import type { AnyHandler, Route } from './request.ts'

const BODY_LIMIT = 1024 * 1024
const ID_LENGTH = 2048
/** RFC 9745: the day from which X-Service-Org-Key counts as deprecated, 2025-04-01. */
const ORG_KEY_DEPRECATED = '@1743465600'

export type Table = { endpoints: Record<string, Row>; handlers: Record<string, AnyHandler> }

/** The server with every row of the table mounted. */
export async function buildServer(app: App, metrics: Metrics, table: Table = { endpoints, handlers }) {
  const server = Fastify({
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: ID_LENGTH },
    forceCloseConnections: 'idle',
    genReqId: (request) => sane(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => sendProblem(app, error, request, reply),
    // Node answers a missing Host itself, without a body; `checkHost` does it in JSON.
    http: { requireHostHeader: false },
    clientErrorHandler: refuseBytes,
  })
  // An expectation may be ignored; Node would answer it without a body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) => parseJson(bytes))
  server.setErrorHandler((error, request, reply) => sendProblem(app, error, request, reply))
  server.setNotFoundHandler((request, reply) => sendUnknown(app, table, request, reply))
  watch(app, server, metrics)
  letGo(server)
  await mountPages(app, server, metrics)
  mountTable(app, server, table)
  return server
}

const clientErrors: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Answers bytes that never became a request. */
function refuseBytes({ code }: { code?: string }, socket: Socket) {
  if (!socket.writable) return
  const body = JSON.stringify(bodyOf(malformed()))
  const head = [
    `HTTP/1.1 ${clientErrors[code ?? ''] ?? '400 Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const malformed = () => problem('BAD_REQUEST', 'The request is not well formed HTTP, or its headers are too large.')

function mountTable(app: App, server: FastifyInstance, table: Table) {
  const audit = auditBatch(app)
  for (const [name, row] of Object.entries(table.endpoints)) {
    if (!isHere(app, row)) continue
    const route: Route = { name, row, handler: table.handlers[name] as AnyHandler }
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const { id, headers, params, query, body } = request
      const answered = await answer(app, audit, route, { request_id: id, headers, params: params as Record<string, string>, query, body })
      callers.set(request, answered.caller)
      if (answered.error && answered.status >= 500)
        app.log.error({ request_id: id, route: row.path, err: safeError(answered.error) }, 'request failed')
      if (answered.replayed) reply.header('x-idempotency-replayed', 'true')
      if (usedDeprecatedHeader(row, headers)) reply.header('deprecation', ORG_KEY_DEPRECATED).header('link', '</docs>; rel="deprecation"')
      if (answered.status === 503) reply.header('retry-after', '2')
      return reply.code(answered.status).header('cache-control', 'no-store').send(answered.body)
    }
    for (const path of [row.path, ...(row.aliases ?? [])])
      server.route({ method: row.method.toUpperCase(), url: fastifyPath(path), handler, config: { template: row.path } })
  }
}

/** A worker answers no row, and rows of the sandbox exist there only. */
const isHere = ({ config }: App, row: Row) => config.ROLE !== 'worker' && (!row.sandbox || config.ENVIRONMENT === 'sandbox')

const fastifyPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

/** Who made a request, for its log line. */
const callers = new WeakMap<FastifyRequest, Caller | undefined>()

function logged(caller: Caller | undefined) {
  if (!caller) return {}
  const { kind, org_id, key_id } = caller
  return { caller: kind, org_id, key_id, ...(caller.kind === 'team' ? { team_id: caller.team_id } : {}) }
}

function sendProblem(app: App, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const found = problemOf(error)
  const status = statusOfProblem(found)
  if (status >= 500) app.log.error({ request_id: request.id, err: safeError(error) }, 'request failed')
  return reply.code(status).header('x-request-id', request.id).send(bodyOf(found))
}

function sendUnknown(app: App, table: Table, request: FastifyRequest, reply: FastifyReply) {
  const path = request.url.split('?')[0] as string
  const methods = Object.values(table.endpoints)
    .filter((row) => isHere(app, row))
    .filter((row) => new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}/?$`).test(path))
    .map((row) => row.method.toUpperCase())
  if (!methods.length)
    return sendProblem(app, problem('UNKNOWN_PATH', 'There is nothing at this address; /docs lists every one.'), request, reply)
  const allowed = [...new Set(methods)].join(', ')
  return sendProblem(app, problem('UNKNOWN_METHOD', `This address takes ${allowed} only.`), request, reply.header('allow', allowed))
}

const sane = (id: string | string[] | undefined) => (typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined)

/** RFC 9112 §3.2: a request without a Host, or with one that is none, is refused. */
function checkHost({ raw }: FastifyRequest) {
  const { host } = raw.headers
  if (host === undefined ? raw.httpVersion !== '1.0' : !URL.canParse(`http://${host}`)) throw malformed()
}

/** While we stop, the answer to a request in flight ends its connection too; a client that keeps it open would delay us for a minute. */
function letGo(server: FastifyInstance) {
  let closing = false
  server.addHook('preClose', async () => {
    closing = true
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
}

/** One log line and one measurement for each answer, by route template. */
function watch(app: App, server: FastifyInstance, metrics: Metrics) {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    checkHost(request)
  })
  server.addHook('onResponse', async (request, reply) => {
    const route = (request.routeOptions.config as { template?: string }).template ?? request.routeOptions.url ?? 'unknown'
    const seconds = reply.elapsedTime / 1000
    metrics.requests.observe({ method: request.method, route, status: reply.statusCode }, seconds)
    app.log.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ...logged(callers.get(request)),
      },
      'answered',
    )
  })
}

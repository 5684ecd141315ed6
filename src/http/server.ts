import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { endpoints } from '../contract/index.ts'
import { type App, appOf, type Service } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { SECOND } from '../platform/time.ts'
import type { Table } from './endpoint-table.ts'
import { handlers } from './handlers.ts'
import { inflate } from './inflate.ts'
import { parseJson } from './input.ts'
import type { Metrics } from './metrics/metrics.ts'
import { mountPages } from './pages/pages.ts'
import { malformed, refuseBytes, sendProblem, sendUnknown } from './problems/refuse.ts'
import { callerOf, mountTable } from './routes.ts'

const BODY_LIMIT = 1024 * 1024
const ID_LENGTH = 2048
const HEADER_LIMIT = 64 * 1024
/** How long a client may take to send its request. */
const REQUEST_WITHIN = 30 * SECOND
/** How long requests in flight may take to end when we stop. */
const END_WITHIN = 10 * SECOND

/** `ready`: whether the start has come to its end. */
type Options = { table?: Table | undefined; ready?: () => boolean }

/** The server with every row of the table mounted. */
export async function buildServer(
  service: Service,
  metrics: Metrics,
  { table = { endpoints, handlers }, ready = () => true }: Options = {},
) {
  const app = appOf(service)
  const server = Fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_WITHIN,
    // Anybody could make an address up; only what a proxy of ours says is believed.
    trustProxy: app.config.TRUST_PROXY.length > 0 && app.config.TRUST_PROXY,
    routerOptions: { maxParamLength: ID_LENGTH },
    forceCloseConnections: 'idle',
    genReqId: (request) => sane(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => sendProblem(app, error, request, reply),
    // Node answers a missing Host itself, without a body; `checkHost` does it in JSON.
    // Five hundred ids fit into an address.
    http: { requireHostHeader: false, maxHeaderSize: HEADER_LIMIT },
    clientErrorHandler: refuseBytes,
  })
  // An expectation may be ignored; Node would answer it without a body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
    parseJson(await inflate(request, bytes)),
  )
  server.setErrorHandler((error, request, reply) => sendProblem(app, error, request, reply))
  server.setNotFoundHandler((request, reply) => sendUnknown(app, table, request, reply))
  watch(app, server, metrics)
  letGo(server)
  await mountPages(app, server, metrics, ready)
  mountTable(app, server, table)
  return server
}

const sane = (id: string | string[] | undefined) => (typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined)

/** RFC 9112 §3.2: a request without a Host, or with one that is none, is refused. */
function checkHost({ raw }: FastifyRequest) {
  const { host } = raw.headers
  if (host === undefined ? raw.httpVersion !== '1.0' : !URL.canParse(`http://${host}`)) throw malformed()
}

/**
 * While we stop, the answer to a request in flight ends its connection too: a client that keeps it open would delay us for a minute.
 * One that never finishes its request is cut off.
 */
function letGo(server: FastifyInstance) {
  let closing = false
  server.addHook('preClose', async () => {
    closing = true
    setTimeout(() => server.server.closeAllConnections(), END_WITHIN).unref()
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
    const { method, id: request_id } = request
    const route = (request.routeOptions.config as { template?: string }).template ?? request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    metrics.requests.observe({ method, route, status }, reply.elapsedTime / 1000)
    app.log.info({ request_id, method, route, status, ms: Math.round(reply.elapsedTime), ...logged(callerOf(request)) }, 'answered')
  })
}

function logged(caller: Caller | undefined) {
  if (!caller) return {}
  if (caller.kind === 'lab') return { caller: caller.kind, lab_id: caller.lab_id, key_id: caller.key_id }
  const session = 'console' in caller && caller.console && { session_id: caller.console.session_id }
  const key = caller.kind === 'session' ? {} : { key_id: caller.key_id }
  const team = 'team_id' in caller && caller.team_id ? { team_id: caller.team_id } : {}
  return { caller: caller.kind, org_id: caller.org_id, ...key, ...session, ...team }
}

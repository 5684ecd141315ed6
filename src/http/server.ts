import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { endpoints } from '../contract/index.ts'
import { type App, appOf, type Service } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { runForShare } from '../platform/shares/share.ts'
import { SECOND } from '../platform/time.ts'
import { knownCallers } from '../tenants/keys/known-callers.ts'
import { newBodiesInFlight } from './body/in-flight.ts'
import { readBody, readForm } from './body/read-body.ts'
import { closeConnectionsOnStop } from './connections/close-on-stop.ts'
import type { Siblings } from './connections/siblings.ts'
import { limitUnfinished } from './connections/unfinished.ts'
import type { Table } from './endpoint-table.ts'
import { handlers } from './handlers.ts'
import { newHostCheck } from './hosts.ts'
import type { Metrics } from './metrics/metrics.ts'
import { mountPages } from './pages/pages.ts'
import { refuseMalformed, sendNotFound, sendProblem } from './problems/send.ts'
import { mountTable } from './routes.ts'

export const BODY_LIMIT = 1024 * 1024
export const MAX_PARAM_LENGTH = 2048
export const HEADER_LIMIT = 64 * 1024
/** The time for the whole request, and for its headers. */
export const REQUEST_TIMEOUT_MS = 30 * SECOND
export const HEADERS_TIMEOUT_MS = 10 * SECOND
/** How often Node looks for connections that exceed these times. */
const TIMEOUT_CHECK_MS = 2 * SECOND

/** `isReady` returns false until the start is complete. */
type Options = { table?: Table | undefined; isReady?: () => boolean; siblings?: Siblings | undefined }

export async function buildServer(
  service: Service,
  metrics: Metrics,
  { table = { endpoints, handlers }, isReady = () => true, siblings }: Options = {},
) {
  const app = appOf(service)
  // Before the process listens to wake-ups.
  service.receivers['caller changed'] = knownCallers(service).forget
  const server = Fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A client can forge X-Forwarded-For, so only proxies in TRUST_PROXY may set the address.
    trustProxy: app.config.TRUST_PROXY.length > 0 && app.config.TRUST_PROXY,
    // Clients join paths in their own ways, so a slash at the end changes nothing.
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    // A request that arrives on an open connection while the server closes is still handled.
    return503OnClosing: false,
    genReqId: (request) => validRequestId(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => sendProblem(app, error, request, reply),
    // Node refuses a missing Host without a body; `newHostCheck` refuses it in JSON. The header limit fits a URL with 500 IDs.
    http: {
      requireHostHeader: false,
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    clientErrorHandler: refuseMalformed,
  })
  // A server may ignore an unknown Expect header; Node would refuse it without a body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  limitUnfinished(server.server)
  server.removeAllContentTypeParsers()
  const inFlight = newBodiesInFlight()
  server.addContentTypeParser('application/json', (request: FastifyRequest, sent: IncomingMessage) => readBody(inFlight, request, sent))
  server.addContentTypeParser('multipart/form-data', (request: FastifyRequest, sent: IncomingMessage) => readForm(inFlight, request, sent))
  server.setErrorHandler((error, request, reply) => sendProblem(app, error, request, reply))
  prepareRequests(app, server)
  observeResponses(app, server, metrics)
  refuseUnknown(app, server, table)
  const drain = closeConnectionsOnStop(server)
  await mountPages(app, server, metrics, { isReady, siblings })
  mountTable(app, server, table, siblings)
  return { server, drain }
}

const validRequestId = (id: string | string[] | undefined) => (typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined)

/** Until the caller is known, a request works for its address. */
function prepareRequests(app: App, server: FastifyInstance) {
  const checkHost = newHostCheck(app.config)
  const isHttps = app.config.PUBLIC_URL?.startsWith('https:')
  server.addHook('onRequest', (request, _reply, done) => runForShare({ owner: request.ip, member: '' }, done))
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer')
    // Once a browser has used the https URL, it does not use http for this host again.
    if (isHttps) reply.header('strict-transport-security', 'max-age=31536000')
    checkHost(request.raw)
  })
}

/** Logs and measures each response by its route template, because a URL may hold a user's ID. */
function observeResponses(app: App, server: FastifyInstance, metrics: Metrics) {
  server.addHook('onResponse', async (request, reply) => {
    const { method, id: request_id } = request
    const route = (request.routeOptions.config as { template?: string }).template ?? request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    metrics.requests.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, reply.elapsedTime / 1000)
    app.log.info(
      { request_id, method, route, status, ms: Math.round(reply.elapsedTime), ...callerFields(request.state?.caller) },
      'request completed',
    )
  })
}

/** Responds before the body is read, because Fastify checks the body of an unknown path like any other. */
function refuseUnknown(app: App, server: FastifyInstance, table: Table) {
  server.setNotFoundHandler((request, reply) => sendNotFound(app, table, request, reply))
  server.addHook('onRequest', async (request, reply) => (request.is404 ? sendNotFound(app, table, request, reply) : undefined))
}

function callerFields(caller: Caller | undefined) {
  if (!caller) return {}
  if (caller.kind === 'lab') return { caller: caller.kind, lab_id: caller.lab_id, key_id: caller.key_id }
  const session = 'console' in caller && caller.console && { session_id: caller.console.session_id }
  const key = caller.kind === 'session' ? {} : { key_id: caller.key_id }
  const team = 'team_id' in caller && caller.team_id ? { team_id: caller.team_id } : {}
  return { caller: caller.kind, org_id: caller.org_id, ...key, ...session, ...team }
}

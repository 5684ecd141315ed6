import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Row } from '../../contract/endpoint.ts'
import { findNotOffered } from '../../contract/not-offered.ts'
import { listAlternatives } from '../../contract/wording.ts'
import type { App } from '../../platform/app.ts'
import { safeError } from '../../platform/log.ts'
import { problem } from '../../platform/problem.ts'
import { isServed, type Table } from '../endpoint-table.ts'
import { bodyOf, problemOf, statusOfProblem } from './problems.ts'

/** A database that fails over is usually back within seconds. */
const UNAVAILABLE_S = 2

/** Sends an error as a problem. Unexpected errors are logged without values. */
export function sendProblem({ log }: App, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = problemOf(error)
  const status = statusOfProblem(refusal)
  const { error_type } = refusal.detail as { error_type?: string }
  if (status === 503) log.warn({ request_id: request.id, error_type, code: (error as { code?: string }).code }, 'service unavailable')
  else if (status >= 500) log.error({ request_id: request.id, err: safeError(error) }, 'request failed')
  const retryAfterS = refusal.retryAfterS ?? (status === 503 ? UNAVAILABLE_S : undefined)
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS))
  return reply.code(status).header('x-request-id', request.id).send(bodyOf(refusal))
}

/** Responds with 404 for an unknown path or one that is not offered, and with 405 for an unknown method. */
export function sendNotFound(app: App, table: Table, request: FastifyRequest, reply: FastifyReply) {
  const path = (request.url.split('?')[0] as string).replace(/(?<=.)\/$/, '')
  const notOffered = findNotOffered(path)
  if (notOffered)
    return sendProblem(
      app,
      problem('ROUTE_NOT_OFFERED', `Assay does not offer this endpoint of the Junction API. ${notOffered.instead}`),
      request,
      reply,
    )
  const rows = Object.values(table.endpoints).filter((row) => matchesPath(row, path))
  const methods = rows.filter((row) => isServed(app, row)).map((row) => row.method.toUpperCase())
  if (!methods.length) return sendProblem(app, notFoundProblem(rows), request, reply)
  const allowed = [...new Set(methods)].sort()
  const refusal = problem('UNKNOWN_METHOD', `This path accepts only ${listAlternatives(allowed)}. /docs/reference lists every endpoint.`)
  return sendProblem(app, refusal, request, reply.header('allow', allowed.join(', ')))
}

const matchesPath = ({ path, aliases = [] }: Row, requestPath: string) =>
  [path, ...aliases].some((template) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(requestPath))

function notFoundProblem(rows: Row[]) {
  if (rows.some((row) => row.sandbox)) return problem('UNKNOWN_PATH', 'This path exists in a sandbox only.')
  return problem('UNKNOWN_PATH', 'No such path. /docs/reference lists every endpoint.')
}

export const malformedRequest = () => problem('BAD_REQUEST', 'The request is not valid HTTP, or its headers are too large.')

const clientErrors: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Responds to bytes that are not an HTTP request. */
export function refuseMalformed({ code }: { code?: string }, socket: Socket) {
  if (!socket.writable) return
  const body = JSON.stringify(bodyOf(malformedRequest()))
  const head = [
    `HTTP/1.1 ${clientErrors[code ?? ''] ?? '400 Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

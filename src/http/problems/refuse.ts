import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Row } from '../../contract/endpoint.ts'
import { findNotOffered } from '../../contract/not-offered.ts'
import type { App } from '../../platform/app.ts'
import { safeError } from '../../platform/log.ts'
import { problem } from '../../platform/problem.ts'
import { isServed, type Table } from '../endpoint-table.ts'
import { bodyOf, problemOf, statusOfProblem } from './problems.ts'

/** Answers an error as the problem that it is; what was not meant is logged, without values. */
export function sendProblem({ log }: App, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const found = problemOf(error)
  const status = statusOfProblem(found)
  if (status === 503) log.warn({ request_id: request.id, code: (error as { code?: string }).code }, found.message)
  else if (status >= 500) log.error({ request_id: request.id, err: safeError(error) }, 'request failed')
  if (status === 503) reply.header('retry-after', '2')
  return reply.code(status).header('x-request-id', request.id).send(bodyOf(found))
}

/** No route matches the path, or none for the method. */
export function sendUnknown(app: App, table: Table, request: FastifyRequest, reply: FastifyReply) {
  const path = request.url.split('?')[0] as string
  const rows = Object.values(table.endpoints).filter((row) => isAt(row, path))
  const methods = rows.filter((row) => isServed(app, row)).map((row) => row.method.toUpperCase())
  if (!methods.length) return sendProblem(app, nothingAt(path, rows), request, reply)
  const allowed = [...new Set(methods)].join(', ')
  return sendProblem(app, problem('UNKNOWN_METHOD', `This path accepts ${allowed} only.`), request, reply.header('allow', allowed))
}

const isAt = ({ path, aliases = [] }: Row, sent: string) =>
  [path, ...aliases].some((known) => new RegExp(`^${known.replace(/\{\w+\}/g, '[^/]+')}$`).test(sent))

/** Explains a missing path: a route of the public interface that Assay does not offer, or one that exists in the sandbox only. */
function nothingAt(path: string, rows: Row[]) {
  const absent = findNotOffered(path)
  if (absent) return problem('ROUTE_NOT_OFFERED', `This route of the public interface is not offered here. ${absent.instead}`)
  if (rows.some((row) => row.sandbox)) return problem('UNKNOWN_PATH', 'This path exists in a sandbox only.')
  return problem('UNKNOWN_PATH', 'No such path. /docs/reference lists every endpoint.')
}

export const malformed = () => problem('BAD_REQUEST', 'The request is not valid HTTP, or its headers are too large.')

const clientErrors: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Responds to bytes that are not an HTTP request. */
export function refuseBytes({ code }: { code?: string }, socket: Socket) {
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

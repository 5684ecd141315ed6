import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SECOND } from '../../platform/time.ts'

/** After this time a stopping server closes connections whose request is still incomplete. */
const SHUTDOWN_TIMEOUT_MS = 10 * SECOND
/** Idle connections stay open for this long while a server drains. A client could be about to use one. */
const DRAIN_MS = 2 * SECOND

/**
 * Closes each connection with its last response while the server stops. Idle keep-alive connections would delay the stop by a
 * minute. The returned function drains: connections that are in use end with their next response, and requests still arrive.
 */
export function closeConnectionsOnStop(server: FastifyInstance) {
  const connections = new Set<Socket>()
  let closing = false
  server.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.addHook('preClose', async () => {
    closing = true
    setTimeout(() => server.server.closeAllConnections(), SHUTDOWN_TIMEOUT_MS).unref()
  })
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  return async () => {
    closing = true
    const ended = Promise.all([...connections].map((socket) => new Promise((done) => socket.once('close', done))))
    await Promise.race([ended, pause(DRAIN_MS, undefined, { ref: false })])
  }
}

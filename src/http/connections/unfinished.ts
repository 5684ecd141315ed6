import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Connections of one address whose request has not arrived completely, in one process. More than browsers and proxies need. */
export const MAX_UNFINISHED_PER_ADDRESS = 256

/**
 * Bounds the connections of each address that have not sent a complete request: new ones, and those in the middle of a body.
 * A new connection over the limit closes the oldest of them, so a client that opens many and sends nothing harms only itself.
 */
export function limitUnfinished(server: Server, limit = MAX_UNFINISHED_PER_ADDRESS) {
  const byAddress = new Map<string, Set<Socket>>()

  const add = (socket: Socket) => {
    const address = socket.remoteAddress
    if (address === undefined) return
    const sockets = byAddress.get(address) ?? new Set()
    byAddress.set(address, sockets)
    sockets.add(socket)
    const [oldest] = sockets.size > limit ? sockets : []
    oldest?.destroy()
  }
  const finish = (socket: Socket, address = socket.remoteAddress) => {
    const sockets = address === undefined ? undefined : byAddress.get(address)
    if (!sockets?.delete(socket) || sockets.size) return
    byAddress.delete(address as string)
  }

  server.on('connection', (socket) => {
    // The address is unknown once the connection is closed.
    const address = socket.remoteAddress
    add(socket)
    socket.once('close', () => finish(socket, address))
  })
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    if (!hasBody(request)) return finish(socket)
    add(socket)
    request.once('close', () => finish(socket))
  })
}

const hasBody = ({ headers }: IncomingMessage) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

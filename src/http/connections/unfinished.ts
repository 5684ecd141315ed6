import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../tenants/people/sessions/rules.ts'

/** Connections whose request has not arrived completely, in one process. A network has more than browsers and proxies need. */
export const MAX_UNFINISHED_PER_NETWORK = 256
export const MAX_UNFINISHED_PER_PROCESS = 4096

/**
 * Bounds the connections that have not sent a complete request: new ones, and those in the middle of a body. A new connection over
 * the limit closes the oldest of its network, so a client that opens many and sends nothing harms only itself. Gap 353.
 */
export function limitUnfinished(server: Server, limits = { ofNetwork: MAX_UNFINISHED_PER_NETWORK, ofProcess: MAX_UNFINISHED_PER_PROCESS }) {
  /** The address is unknown once a connection is closed. */
  const networks = new WeakMap<Socket, string>()
  const byNetwork = new Map<string, Set<Socket>>()
  const all = new Set<Socket>()

  const add = (socket: Socket) => {
    const network = networks.get(socket)
    if (network === undefined) return
    const sockets = byNetwork.get(network) ?? new Set()
    byNetwork.set(network, sockets)
    closeOldest(sockets.add(socket), limits.ofNetwork)
    closeOldest(all.add(socket), limits.ofProcess)
  }
  const closeOldest = (sockets: Set<Socket>, limit: number) => {
    const [oldest] = sockets.size > limit ? sockets : []
    if (!oldest) return
    finish(oldest)
    oldest.destroy()
  }
  const finish = (socket: Socket) => {
    if (!all.delete(socket)) return
    const network = networks.get(socket) as string
    const sockets = byNetwork.get(network)
    sockets?.delete(socket)
    if (!sockets?.size) byNetwork.delete(network)
  }

  server.on('connection', (socket) => {
    if (socket.remoteAddress !== undefined) networks.set(socket, networkOf(socket.remoteAddress))
    add(socket)
    socket.once('close', () => finish(socket))
  })
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    if (!hasBody(request)) return finish(socket)
    add(socket)
    request.once('close', () => finish(socket))
  })
}

const hasBody = ({ headers }: IncomingMessage) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

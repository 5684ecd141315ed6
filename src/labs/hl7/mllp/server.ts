import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { MINUTE, SECOND } from '../../../platform/time.ts'
import { limits } from '../codec/rules-message.ts'
import { deframer, frame } from './rules-framing.ts'

/** What a server does with a message: it sends answers, perhaps later, and can close the connection. */
export type MllpAnswer = { answers: Uint8Array[]; delayMs?: number; closes?: boolean }

type Listening = {
  host: string
  port: number
  handle(message: Buffer): MllpAnswer | Promise<MllpAnswer>
  /** With `ca`, the sender needs a certificate of this authority. */
  tls?: { cert: Buffer; key: Buffer; ca?: Buffer | undefined } | undefined
  /** Whether the sender may connect. With TLS, it is asked before the handshake and after it. */
  isAllowed?(socket: Socket | TLSSocket): boolean
}

/** Each connection can hold one message of the greatest size. */
export const MAX_MLLP_CONNECTIONS = 32
/** How long a message may pause before its end. Between messages, a connection can stay open. */
const STALLED_MS = MINUTE
const HANDSHAKE_MS = 10 * SECOND

/** Listens for MLLP connections. Messages of a connection are answered one after another. */
export async function listenMllp({ host, port, handle, tls, isAllowed = () => true }: Listening) {
  const sockets = new Set<Socket>()
  const server = newServer(tls, (socket) => {
    // A connection that breaks has lost nothing: the sender repeats a message without an answer.
    socket.on('error', () => socket.destroy())
    if (!isAllowed(socket)) return void socket.destroy()
    sockets.add(socket.setKeepAlive(true, MINUTE).setNoDelay(true))
    socket.on('close', () => sockets.delete(socket))
    serve(socket, handle).catch(() => socket.destroy())
  })
  // Strangers must not occupy the connections with handshakes that never end.
  if (tls) server.on('connection', (socket) => isAllowed(socket) || socket.destroy())
  server.maxConnections = MAX_MLLP_CONNECTIONS
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function newServer(tls: Listening['tls'], onConnection: (socket: Socket) => void): Server {
  if (!tls) return createServer(onConnection)
  const { ca, ...own } = tls
  const authority = ca ? { ca, requestCert: true, rejectUnauthorized: true } : {}
  return createTlsServer({ ...own, ...authority, handshakeTimeout: HANDSHAKE_MS, minVersion: 'TLSv1.2' }, onConnection)
}

/** A message over the limit or another fault ends the connection. Reading pauses while an answer is pending. */
async function serve(socket: Socket, handle: Listening['handle']) {
  const { push, isInside } = deframer(limits.bytes)
  socket.setTimeout(STALLED_MS, () => isInside() && socket.destroy())
  for await (const chunk of socket)
    for (const message of push(chunk as Buffer)) {
      const { answers, delayMs, closes } = await handle(message)
      if (delayMs) await sleep(delayMs, undefined, { ref: false })
      // A sender that does not read its answers gets no more of them.
      for (const answer of answers) await new Promise((resolve) => socket.write(frame(answer), resolve))
      if (closes) return socket.destroy()
    }
}

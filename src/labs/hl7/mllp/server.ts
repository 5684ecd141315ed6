import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { MINUTE, SECOND } from '../../../platform/time.ts'
import { limits } from '../codec/rules-message.ts'
import { newPlaces, type Places } from './places.ts'
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
  /** How long a message may take from its first byte to its last. Between messages, a connection can stay open. */
  messageMs?: number
}

/** Each connection can hold one message of the greatest size. */
export const MAX_MLLP_CONNECTIONS = 32
/** A connection in its handshake needs no memory for a message. */
const MAX_HANDSHAKES = 32
export const MLLP_MESSAGE_MS = 2 * MINUTE
const HANDSHAKE_MS = 10 * SECOND

/** Listens for MLLP connections. Messages of a connection are answered one after another. */
export async function listenMllp({ host, port, handle, tls, isAllowed = () => true, messageMs = MLLP_MESSAGE_MS }: Listening) {
  const places = newPlaces(MAX_MLLP_CONNECTIONS)
  const server = newServer(tls, (socket) => {
    // A connection that breaks has lost nothing: the sender repeats a message without an answer.
    socket.on('error', () => socket.destroy())
    if (!isAllowed(socket) || !places.take(socket)) return void socket.destroy()
    socket.setKeepAlive(true, MINUTE).setNoDelay(true)
    serve(socket, { handle, messageMs, places }).catch(() => socket.destroy())
  })
  // Strangers must not occupy the connections with handshakes that never end.
  if (tls) server.on('connection', (socket) => isAllowed(socket) || socket.destroy())
  server.maxConnections = MAX_MLLP_CONNECTIONS + MAX_HANDSHAKES
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      places.closeAll()
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

type Serving = Required<Pick<Listening, 'handle' | 'messageMs'>> & { places: Places }

/** A message over the limit or another fault ends the connection. Reading pauses while an answer is pending. */
async function serve(socket: Socket, { handle, messageMs, places }: Serving) {
  const { push, isInside } = deframer(limits.bytes)
  let deadline: NodeJS.Timeout | undefined
  socket.on('close', () => clearTimeout(deadline))
  for await (const chunk of socket) {
    const messages = push(chunk as Buffer)
    if (messages.length) deadline = void clearTimeout(deadline)
    for (const message of messages) {
      places.setBusy(socket)
      const { answers, delayMs, closes } = await handle(message)
      // A sender that does not read its answers gets no more of them, and can lose its place.
      places.setIdle(socket)
      if (delayMs) await sleep(delayMs, undefined, { ref: false })
      for (const answer of answers) await new Promise((resolve) => socket.write(frame(answer), resolve))
      if (closes) return socket.destroy()
    }
    if (!isInside()) continue
    places.setBusy(socket)
    deadline ??= setTimeout(() => socket.destroy(), messageMs)
  }
}

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../codec/rules-message.ts'
import { deframer, frame } from './rules-framing.ts'

/** What a server does with a message: it sends answers, perhaps later, and can close the connection. */
export type MllpAnswer = { answers: Uint8Array[]; delayMs?: number; closes?: boolean }

type Listening = { host: string; port: number; handle(message: Buffer): MllpAnswer }

/** Listens for MLLP connections. Messages of a connection are answered one after another. */
export async function listenMllp({ host, port, handle }: Listening) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A connection that breaks has lost nothing: the sender repeats a message without an answer.
    socket.on('error', () => socket.destroy())
    serve(socket, handle).catch(() => socket.destroy())
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A message over the limit or another fault ends the connection. Reading pauses while an answer is pending. */
async function serve(socket: Socket, handle: Listening['handle']) {
  const push = deframer(limits.bytes)
  for await (const chunk of socket)
    for (const message of push(chunk as Buffer)) {
      const { answers, delayMs, closes } = handle(message)
      if (delayMs) await sleep(delayMs, undefined, { ref: false })
      for (const answer of answers) socket.write(frame(answer))
      if (closes) return socket.destroy()
    }
}

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

type Received = { path: string; headers: IncomingHttpHeaders; body: string }
export type Behavior = (response: ServerResponse) => unknown

/** The behaviors of a receiver. */
const always = {
  ok: (response) => response.end('thanks'),
  gone: (response) => response.writeHead(410).end(),
  redirectToMetadata: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  reset: (response) => response.socket?.resetAndDestroy(),
  hangUp: (response) => response.socket?.destroy(),
  hangUpInBody: (response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.socket?.destroy())
  },
  neverResponds: () => {},
  neverEndsHeaders: (response) => response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: '),
  slowDrip: (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  },
  endless: (response) => pour(response.writeHead(200), Number.POSITIVE_INFINITY),
  oversizedHeaders: (response) => response.writeHead(200, { 'x-large': 'x'.repeat(100_000) }).end(),
  notHttp: (response) => response.socket?.end('220 smtp.example.com ESMTP\r\n'),
  earlyHints: (response) => {
    response.writeEarlyHints({ link: '</x.css>; rel=preload' })
    response.writeHead(204).end()
  },
  earlyHintsOnly: (response) => response.writeEarlyHints({ link: '</x.css>; rel=preload' }),
} satisfies Record<string, Behavior>

export const faults = {
  ...always,
  status: (status: number, headers: Record<string, string> = {}, body = ''): Behavior => {
    return (response) => response.writeHead(status, headers).end(body)
  },
  /** Sends a body as fast as the connection allows. */
  bodyOf: (bytes: number): Behavior => {
    return (response) => pour(response.writeHead(200, { 'content-length': String(bytes) }), bytes)
  },
}

const chunk = Buffer.alloc(64 * 1024, 'x')

function pour(response: ServerResponse, left: number) {
  while (left > 0 && !response.destroyed) {
    const part = left < chunk.length ? chunk.subarray(0, left) : chunk
    left -= part.length
    if (!response.write(part)) return void response.once('drain', () => pour(response, left))
  }
  response.end()
}

/** Starts a local receiver that records its requests. With a certificate it uses TLS. */
export async function openReceiver(behavior: Behavior = faults.ok, tls?: ServerOptions) {
  const received: Received[] = []
  const waiting: (() => void)[] = []
  const connections = { opened: 0, open: new Set<Socket>() }
  let behave = behavior
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {})
    const body = await text(request)
    received.push({ path: request.url ?? '', headers: request.headers, body })
    for (const wake of waiting.splice(0)) wake()
    behave(response)
  }
  const server = tls ? createSecureServer(tls, listener) : createServer(listener)
  server.on('connection', (socket: Socket) => {
    connections.opened++
    connections.open.add(socket.on('error', () => {}).on('close', () => connections.open.delete(socket)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    received,
    /** Waits until `count` messages have arrived. */
    async waitForMessages(count: number) {
      while (received.length < count) await new Promise<void>((done) => waiting.push(done))
      return received
    },
    connections,
    behave: (next: Behavior) => {
      behave = next
    },
    async close() {
      server.close()
      server.closeAllConnections()
      for (const socket of connections.open) socket.destroy()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

async function text(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

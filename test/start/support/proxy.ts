import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { reservePort } from '../../support/ports.ts'

/** A proxy in front of PostgreSQL that a test can close and reopen. */
export async function startProxy(database: string) {
  const target = new URL(database)
  const folder = target.searchParams.get('host')
  const [host, at] = [target.hostname, Number(target.port || 5432)]
  const connectToDatabase = () => (folder ? connect(`${folder}/.s.PGSQL.${at}`) : connect(at, host))
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let isFrozen = false
  const port = await reservePort()

  const open = async () => {
    server = createServer((incoming) => {
      join(incoming, connectToDatabase(), sockets)
      if (isFrozen) freeze()
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const freeze = () => {
    isFrozen = true
    for (const socket of sockets) socket.pause()
  }
  const close = () => {
    server?.close()
    for (const socket of sockets) socket.destroy()
  }
  await open()
  onTestFinished(close)
  target.searchParams.delete('host')
  target.host = `127.0.0.1:${port}`
  return {
    url: target.href,
    open,
    close,
    /** Keeps the connections open but forwards nothing. */
    freeze,
    thaw: () => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}

function join(incoming: Socket, outgoing: Socket, sockets: Set<Socket>) {
  for (const [from, to] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ] as const) {
    sockets.add(from)
    from.on('data', (bytes) => to.write(bytes))
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
}

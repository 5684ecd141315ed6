import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { reservePort } from './ports.ts'

type Pair = { incoming: Socket; outgoing: Socket; isMuted: boolean }

/** A TCP relay in front of PostgreSQL: an address that can move to another server, stop responding, or disappear. */
export async function openRelay(database: string) {
  const port = await reservePort()
  const pairs = new Set<Pair>()
  let target = new URL(database)
  let server: Server | undefined
  let isFrozen = false
  let mutedBy: string | undefined
  let [accepted, answered] = [0, 0]
  let [roundTrips, isRequesting] = [0, false]

  const open = async () => {
    server = createServer((incoming) => {
      accepted++
      const pair = { incoming, outgoing: connectTo(target), isMuted: false }
      pairs.add(pair)
      forward(pair)
      if (isFrozen) pause(pair)
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const forward = (pair: Pair) => {
    const { incoming, outgoing } = pair
    incoming.on('data', (bytes) => {
      if (mutedBy && bytes.includes(mutedBy)) pair.isMuted = true
      if (!isRequesting) roundTrips++
      isRequesting = true
      outgoing.write(bytes)
    })
    outgoing.on('data', (bytes) => {
      isRequesting = false
      if (!pair.isMuted) incoming.write(bytes)
    })
    outgoing.once('data', () => answered++)
    for (const socket of [incoming, outgoing]) socket.on('error', () => {}).on('close', () => end(pair))
  }
  const end = (pair: Pair) => {
    pairs.delete(pair)
    pair.incoming.destroy()
    pair.outgoing.destroy()
  }
  const cut = () => pairs.forEach(end)
  await open()

  const url = new URL(database)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    port,
    open,
    /** Ends the connections and refuses new ones. */
    close() {
      server?.close()
      cut()
    },
    /** Refuses new connections. */
    refuse: () => server?.close(),
    /** The number of connections so far, and of those that the server answered. */
    accepted: () => accepted,
    answered: () => answered,
    /** How often the client sent something after a response, on all connections together. */
    roundTrips: () => roundTrips,
    /** Ends the connections. New ones work. */
    cut,
    /** Ends the connections. New ones lead to another server. */
    move(database: string) {
      target = new URL(database)
      cut()
    },
    /** Keeps the connections open but forwards nothing. */
    freeze() {
      isFrozen = true
      pairs.forEach(pause)
    },
    thaw() {
      isFrozen = false
      for (const { incoming, outgoing } of pairs) for (const socket of [incoming, outgoing]) socket.resume()
    },
    /** Drops every response on connections that send this text from now on. Their statements still run. */
    loseResponsesTo(text: string | undefined) {
      mutedBy = text
    },
  }
}

export type Relay = Awaited<ReturnType<typeof openRelay>>

function connectTo({ hostname, port, searchParams }: URL) {
  const folder = searchParams.get('host')
  return folder ? connect(`${folder}/.s.PGSQL.${port || 5432}`) : connect(Number(port || 5432), hostname)
}

function pause({ incoming, outgoing }: Pair) {
  incoming.pause()
  outgoing.pause()
}

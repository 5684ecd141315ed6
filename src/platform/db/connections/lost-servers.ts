import { connect, type Socket } from 'node:net'
import type pg from 'pg'
import { SECOND } from '../../time.ts'
import type { Host } from './hosts.ts'

const TICK_MS = SECOND

/** In ticks. A busy server may be slow, but it sends something on one of its connections. */
const defaultLimits = { suspectAfter: 3, lostAfter: 5 }

/** The parts of the driver that show whether a connection waits for a response, and whether one arrives. */
type Client = pg.Client & { readyForQuery: boolean; connection: { stream: Socket } }

type Options = {
  /** The open connections. */
  open: Set<pg.Client>
  /** With several hosts: whether another one accepts writes instead of this one. */
  hasMoved?: ((host: Host) => Promise<boolean>) | undefined
  /** Connections to a lost server were ended. */
  onLost(count: number): void
  /** For tests. */
  limits?: typeof defaultLimits
}

/**
 * Ends connections to a server that disappeared without closing them, such as a machine that lost power. The operating system
 * would wait about 15 minutes.
 */
export function startLostServerChecks(options: Options) {
  const checks = lostServerChecks(options)
  let isStopped = false
  // An immediate runs after the process has read the responses that have arrived, even if it was blocked for a while.
  const schedule = () => setTimeout(() => setImmediate(tick), TICK_MS).unref()
  const tick = () => {
    if (isStopped) return
    checks.check()
    schedule()
  }
  schedule()
  return {
    stop() {
      isStopped = true
      checks.end()
    },
  }
}

type Silence = { ticks: number; probe?: Probe }

/**
 * If statements wait and nothing arrives from an address, a probe opens another connection to it, because a statement may just
 * be slow. The connections end only if the probe gets no response, or if another host became the primary. The checks count
 * ticks instead of time, so that a process that was blocked or suspended does not mistake its own pause for a lost server.
 */
export function lostServerChecks({ open, hasMoved, onLost, limits: { suspectAfter, lostAfter } = defaultLimits }: Options) {
  const received = new WeakMap<Client, number>()
  const silences = new Map<string, Silence>()

  function hasReceived(client: Client) {
    const { bytesRead } = client.connection.stream
    const isNew = received.get(client) !== bytesRead
    received.set(client, bytesRead)
    return isNew
  }

  function endSilence(address: string) {
    silences.get(address)?.probe?.end()
    silences.delete(address)
  }

  function checkAddress(address: string, clients: Client[]) {
    const hasResponse = clients.filter(hasReceived).length > 0
    if (hasResponse || clients.every(({ readyForQuery }) => readyForQuery)) return endSilence(address)
    const silence: Silence = silences.get(address) ?? { ticks: 0 }
    silences.set(address, silence)
    silence.ticks++
    const { ticks, probe } = silence
    const isDue = ticks >= suspectAfter && (ticks - suspectAfter) % lostAfter === 0
    if (probe?.hasMoved() || (isDue && probe && !probe.hasResponse())) {
      endSilence(address)
      for (const { connection } of clients) connection.stream.destroy(lostError())
      onLost(clients.length)
    } else if (isDue) {
      probe?.end()
      silence.probe = startProbe(clients[0] as Client, hasMoved)
    }
  }

  return {
    check() {
      const byAddress = Map.groupBy(open as Set<Client>, ({ host, port }) => `${host}:${port}`)
      for (const address of silences.keys()) if (!byAddress.has(address)) endSilence(address)
      for (const [address, clients] of byAddress) checkAddress(address, clients)
    },
    end: () => [...silences.keys()].forEach(endSilence),
  }
}

type Probe = ReturnType<typeof startProbe>

/** The request for encryption. Servers and poolers respond to it first, even if they have no free connections. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Other errors count as responses: the machine refuses the connection, or only its name does not resolve. */
const isUnreachable = ({ code = '' }: NodeJS.ErrnoException) =>
  ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'].includes(code)

function startProbe({ host, port }: Host, hasMoved?: Options['hasMoved']) {
  let [response, moved] = [false, false]
  const respond = () => {
    response = true
  }
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket
    .on('data', respond)
    .on('end', respond)
    .on('error', (error) => isUnreachable(error) || respond())
    .unref()
    .write(SSL_REQUEST)
  hasMoved?.({ host, port }).then((is) => {
    moved = is
  })
  return { hasResponse: () => response, hasMoved: () => moved, end: () => socket.destroy() }
}

const lostError = () => Object.assign(new Error('The database server does not respond'), { code: 'ETIMEDOUT' })

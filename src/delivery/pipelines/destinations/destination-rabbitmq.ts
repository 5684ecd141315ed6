import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChannelModel, type ConfirmChannel, connect, type Message as ReturnedMessage } from 'amqplib'
import { isForbidden } from '../../../platform/outbound/address.ts'
import { errorWithCode, guardedLookup } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Failure } from '../rules-failure.ts'
import type { Broker } from '../uri.ts'
import { type Destination, type OutboundOptions, withTimeout } from './destination.ts'
import type { Message } from './message.ts'

const CONNECT_TIMEOUT_MS = 10 * SECOND
const CONFIRM_TIMEOUT_MS = 30 * SECOND
const CLOSE_TIMEOUT_MS = SECOND
/** A broker that sends nothing for two of these intervals counts as dead. */
const HEARTBEAT_SECONDS = 10
/** Brokers send replies and returned events, which need no larger buffer. */
const MAX_FRAME_BYTES = 1024 * 1024

/** A broker connection with publisher confirms. The stop signal closes it. */
export async function openRabbitMq(
  broker: Broker,
  exchange: string,
  outbound: OutboundOptions,
  signal?: AbortSignal,
): Promise<Destination> {
  const abort = new AbortController()
  const deadline = AbortSignal.any([AbortSignal.timeout(CONNECT_TIMEOUT_MS), ...(signal ? [signal] : [])])
  const giveUp = () => abort.abort()
  deadline.addEventListener('abort', giveUp)
  if (deadline.aborted) giveUp()
  try {
    const connection = await connectTo(broker, outbound, abort.signal)
    // A connection error also rejects the pending confirms, which report it. Without a listener it would end the process.
    connection.on('error', () => {})
    return destinationOn(connection, await connection.createConfirmChannel(), exchange, abort)
  } catch (error) {
    abort.abort()
    throw deadline.aborted ? errorWithCode('timeout' satisfies Failure) : error
  } finally {
    deadline.removeEventListener('abort', giveUp)
  }
}

function connectTo(
  { secure, hostname, port, username, password, vhost }: Broker,
  { policy, resolve, ca }: OutboundOptions,
  signal: AbortSignal,
) {
  if (isIP(hostname) && isForbidden(hostname, policy)) throw errorWithCode('FORBIDDEN_ADDRESS')
  const target = { protocol: secure ? 'amqps' : 'amqp', hostname, port, username, password, vhost }
  const tls = { minVersion: 'TLSv1.2' as const, rejectUnauthorized: true, ...(ca && { ca }) }
  // The library's types omit the signal, which Node accepts for both kinds of socket.
  const socket = {
    lookup: guardedLookup(policy, resolve),
    signal,
    noDelay: true,
    ...(secure && tls),
    clientProperties: { product: 'Assay' },
  }
  return connect({ ...target, heartbeat: HEARTBEAT_SECONDS, maxFrameSize: MAX_FRAME_BYTES }, socket)
}

function destinationOn(connection: ChannelModel, channel: ConfirmChannel, exchange: string, abort: AbortController): Destination {
  const returned = new Set<string>()
  let fault: unknown
  let isOpen = true
  let isBlocked = false
  channel.on('error', (error) => {
    fault = error
  })
  // An unroutable message is returned before it is confirmed.
  channel.on('return', ({ properties }: ReturnedMessage) => returned.add(String(properties.messageId)))
  channel.on('close', () => {
    isOpen = false
  })
  connection.on('blocked', () => {
    isBlocked = true
  })
  connection.on('unblocked', () => {
    isBlocked = false
  })

  const publishAndConfirm = (message: Message) =>
    new Promise<void>((resolve, reject) => {
      channel.publish(exchange, message.event_type, message.content, propertiesOf(message), (error) => {
        if (returned.delete(message.event_id)) reject(errorWithCode('unroutable' satisfies Failure))
        else if (error) reject(fault ?? error)
        else resolve()
      })
    })

  const publish = (message: Message) =>
    withTimeout(CONFIRM_TIMEOUT_MS, publishAndConfirm(message), () => (isBlocked ? 'blocked' : 'timeout'))

  /** The library waits forever for a broker that is gone. */
  async function close() {
    const timeout = pause(CLOSE_TIMEOUT_MS, undefined, { signal: abort.signal }).catch(() => {})
    await Promise.race([connection.close().catch(() => {}), timeout])
    abort.abort()
  }

  return { isOpen: () => isOpen, publish, close }
}

/** Content-Type and Content-Encoding are set as AMQP properties and also as headers, where Junction clients expect them. */
const propertiesOf = ({ event_id, event_type, timestamp, content_type, gzipped }: Message) => ({
  mandatory: true,
  persistent: true,
  messageId: event_id,
  type: event_type,
  timestamp,
  appId: 'assay',
  contentType: content_type,
  ...(gzipped && { contentEncoding: 'gzip' }),
  headers: { 'Content-Type': content_type, ...(gzipped && { 'Content-Encoding': 'gzip' }) },
})

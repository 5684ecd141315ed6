import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChannelModel, type ConfirmChannel, connect, type Message as Returned } from 'amqplib'
import { isForbidden } from '../../../platform/outbound/address.ts'
import { errorWithCode, guardedLookup } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Failure } from '../rules-failure.ts'
import type { Broker } from '../uri.ts'
import { type Destination, type OutboundOptions, within } from './destination.ts'
import type { Message } from './message.ts'

const CONNECT_WITHIN = 10 * SECOND
const CONFIRM_WITHIN = 30 * SECOND
const CLOSE_WITHIN = SECOND
/** A broker that sends nothing for two of these intervals counts as dead. */
const HEARTBEAT_SECONDS = 10
/** Brokers send replies and returned events, which need no larger buffer. */
const MAX_FRAME = 1024 * 1024

/** A broker connection with publisher confirms. The stop signal closes it. */
export async function openRabbitMq(broker: Broker, exchange: string, reach: OutboundOptions, ends?: AbortSignal): Promise<Destination> {
  const cut = new AbortController()
  const late = AbortSignal.any([AbortSignal.timeout(CONNECT_WITHIN), ...(ends ? [ends] : [])])
  const giveUp = () => cut.abort()
  late.addEventListener('abort', giveUp)
  if (late.aborted) giveUp()
  try {
    const connection = await connectTo(broker, reach, cut.signal)
    // A connection error also rejects the pending confirms, which report it. Without a listener it would end the process.
    connection.on('error', () => {})
    return outletOn(connection, await connection.createConfirmChannel(), exchange, cut)
  } catch (error) {
    cut.abort()
    throw late.aborted ? errorWithCode('timeout' satisfies Failure) : error
  } finally {
    late.removeEventListener('abort', giveUp)
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
  return connect({ ...target, heartbeat: HEARTBEAT_SECONDS, maxFrameSize: MAX_FRAME }, socket)
}

function outletOn(connection: ChannelModel, channel: ConfirmChannel, exchange: string, cut: AbortController): Destination {
  const returned = new Set<string>()
  let fault: unknown
  let isOpen = true
  let isBlocked = false
  channel.on('error', (error) => {
    fault = error
  })
  // An unroutable message is returned before it is confirmed.
  channel.on('return', ({ properties }: Returned) => returned.add(String(properties.messageId)))
  channel.on('close', () => {
    isOpen = false
  })
  connection.on('blocked', () => {
    isBlocked = true
  })
  connection.on('unblocked', () => {
    isBlocked = false
  })

  const confirmed = (message: Message) =>
    new Promise<void>((resolve, reject) => {
      channel.publish(exchange, message.event_type, message.content, propertiesOf(message), (error) => {
        if (returned.delete(message.event_id)) reject(errorWithCode('unroutable' satisfies Failure))
        else if (error) reject(fault ?? error)
        else resolve()
      })
    })

  const publish = (message: Message) => within(CONFIRM_WITHIN, confirmed(message), () => (isBlocked ? 'blocked' : 'timeout'))

  /** The library waits forever for a broker that is gone. */
  async function close() {
    const late = pause(CLOSE_WITHIN, undefined, { signal: cut.signal }).catch(() => {})
    await Promise.race([connection.close().catch(() => {}), late])
    cut.abort()
  }

  return { isOpen: () => isOpen, publish, close }
}

/** Content-Type and Content-Encoding are set as AMQP properties and also as headers, where the public interface has them. */
const propertiesOf = ({ event_id, event_type, timestamp, gzipped }: Message) => ({
  mandatory: true,
  persistent: true,
  messageId: event_id,
  type: event_type,
  timestamp,
  appId: 'assay',
  contentType: 'application/json',
  ...(gzipped && { contentEncoding: 'gzip' }),
  headers: { 'Content-Type': 'application/json', ...(gzipped && { 'Content-Encoding': 'gzip' }) },
})

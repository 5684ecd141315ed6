import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { atEnd } from './at-end.ts'

type Fields = Record<string, unknown>
type Definitions = Record<string, number> & {
  decode(id: number, payload: Buffer): Fields
  encodeMethod(id: number, channel: number, fields: Fields): Buffer
  encodeProperties(id: number, channel: number, size: number, fields: Fields): Buffer
}

const require = createRequire(import.meta.url)
// The package exports its client only, and its tables of the protocol fit a broker as well.
const amqp = require(join(dirname(require.resolve('amqplib')), 'lib/defs.js')) as Definitions

const [METHOD, HEADER, BODY] = [1, 2, 3]
const FRAME_OVERHEAD = 8
const PROTOCOL_HEADER_BYTES = 8

export type Published = { tag: number; exchange: string; routingKey: string; mandatory: boolean; properties: Fields; content: Buffer }

/** What a broker answers to a message: confirm it, refuse it, or return it as unroutable and confirm it. Without an answer, it stays silent. */
type Answer = 'ack' | 'nack' | 'return' | undefined

/** A broker that speaks as much AMQP 0-9-1 as a publisher needs, and keeps what it received. */
export async function startAmqpBroker(answer: (message: Published) => Answer) {
  const published: Published[] = []
  const methods: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    serve(socket, { published, methods, answer })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => server.close())
  const { port } = server.address() as AddressInfo
  /** Ends every connection without answering what is in flight. */
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { uri: `amqp://assay:secret@127.0.0.1:${port}`, published, methods, hangUp }
}

type Broker = { published: Published[]; methods: string[]; answer: (message: Published) => Answer }

function serve(socket: Socket, broker: Broker) {
  const send = (name: string, channel: number, fields: Fields = {}) =>
    socket.write(amqp.encodeMethod(amqp[name] as number, channel, fields))
  const replies: Record<string, (channel: number) => void> = {
    ConnectionStartOk: () => send('ConnectionTune', 0, { channelMax: 0, frameMax: 131_072, heartbeat: 0 }),
    ConnectionOpen: () => send('ConnectionOpenOk', 0),
    ConnectionClose: () => send('ConnectionCloseOk', 0),
    ChannelOpen: (channel) => send('ChannelOpenOk', channel),
    ChannelClose: (channel) => send('ChannelCloseOk', channel),
    ConfirmSelect: (channel) => send('ConfirmSelectOk', channel),
  }
  let tag = 0
  let current: (Omit<Published, 'content'> & { size: number; pieces: Buffer[] }) | undefined

  function receive(channel: number) {
    if (!current) return
    const { size, pieces, ...rest } = current
    const content = Buffer.concat(pieces)
    if (content.length < size) return
    current = undefined
    const message = { ...rest, content }
    broker.published.push(message)
    const decided = broker.answer(message)
    if (decided === 'return') {
      send('BasicReturn', channel, { replyCode: 312, replyText: 'NO_ROUTE', exchange: message.exchange, routingKey: message.routingKey })
      socket.write(amqp.encodeProperties(amqp['BasicProperties'] as number, channel, size, message.properties))
      socket.write(frame(BODY, channel, content))
    }
    if (decided) send(decided === 'nack' ? 'BasicNack' : 'BasicAck', channel, { deliveryTag: message.tag })
  }

  function handle(type: number, channel: number, payload: Buffer) {
    if (type === METHOD) {
      const id = payload.readUInt32BE()
      const name = nameOf(id)
      broker.methods.push(name)
      replies[name]?.(channel)
      if (name !== 'BasicPublish') return
      const { exchange, routingKey, mandatory } = amqp.decode(id, payload.subarray(4)) as Pick<
        Published,
        'exchange' | 'routingKey' | 'mandatory'
      >
      current = { tag: ++tag, exchange, routingKey, mandatory, properties: {}, size: 0, pieces: [] }
    } else if (type === HEADER && current) {
      current.size = Number(payload.readBigUInt64BE(4))
      current.properties = amqp.decode(amqp['BasicProperties'] as number, payload.subarray(12))
      receive(channel)
    } else if (type === BODY && current) {
      current.pieces.push(payload)
      receive(channel)
    }
  }

  let pending: Buffer = Buffer.alloc(0)
  let isOpen = false
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    pending = Buffer.concat([pending, bytes])
    if (!isOpen) {
      if (pending.length < PROTOCOL_HEADER_BYTES) return
      pending = pending.subarray(PROTOCOL_HEADER_BYTES)
      isOpen = true
      send('ConnectionStart', 0, {
        versionMajor: 0,
        versionMinor: 9,
        serverProperties: {},
        mechanisms: Buffer.from('PLAIN'),
        locales: Buffer.from('en_US'),
      })
    }
    while (pending.length >= FRAME_OVERHEAD && pending.length >= pending.readUInt32BE(3) + FRAME_OVERHEAD) {
      const end = pending.readUInt32BE(3) + FRAME_OVERHEAD
      handle(pending.readUInt8(), pending.readUInt16BE(1), pending.subarray(FRAME_OVERHEAD - 1, end - 1))
      pending = pending.subarray(end)
    }
  })
}

const nameOf = (id: number) => Object.keys(amqp).find((name) => amqp[name] === id && /^[A-Z]\w+$/.test(name)) ?? String(id)

function frame(type: number, channel: number, payload: Buffer) {
  const head = Buffer.alloc(7)
  head.writeUInt8(type, 0)
  head.writeUInt16BE(channel, 1)
  head.writeUInt32BE(payload.length, 3)
  return Buffer.concat([head, payload, Buffer.from([0xce])])
}

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { frame } from '../../src/labs/hl7/mllp/rules-framing.ts'
import { listenMllp, MAX_MLLP_CONNECTIONS } from '../../src/labs/hl7/mllp/server.ts'
import { eventually } from '../support/process.ts'

/** A port of a lab that repeats each message as its answer. */
async function labPort({ messageMs, handle }: Partial<Parameters<typeof listenMllp>[0]> = {}) {
  const echo = (message: Buffer) => ({ answers: [message] })
  const listening = await listenMllp({ host: '127.0.0.1', port: 0, handle: handle ?? echo, ...(messageMs && { messageMs }) })
  onTestFinished(() => listening[Symbol.asyncDispose]())
  return listening.port
}

async function open(port: number) {
  const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function answerTo(socket: Socket, text: string) {
  socket.write(frame(Buffer.from(text)))
  const [answer] = await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })
  return String(answer).slice(1, -2)
}

/** After the answer to the first message, the connection is in the middle of the second one. */
const wholeAndHalf = Buffer.concat([frame(Buffer.from('MSH|whole')), Buffer.from('\x0bhalf')])

/** The server may reset the connection, because the client is still writing. */
const closing = async (socket: Socket) => socket.destroyed || new Promise((closed) => void socket.resume().once('close', closed))

/** Takes every place, one after the other. */
async function takeAllPlaces(port: number) {
  const sockets: Socket[] = []
  for (let i = 0; i < MAX_MLLP_CONNECTIONS; i++) {
    const socket = await open(port)
    await answerTo(socket, `MSH|${i}`)
    sockets.push(socket)
  }
  return sockets
}

test('a message that trickles in never keeps its connection past the deadline', async () => {
  const socket = await open(await labPort({ messageMs: 300 }))
  socket.write('\x0bMSH|')
  const drip = setInterval(() => socket.write('\x0bx'), 20)
  onTestFinished(() => clearInterval(drip))
  await closing(socket)
})

test('a connection stays open between messages, and each message has a deadline of its own', async () => {
  const socket = await open(await labPort({ messageMs: 300 }))
  const until = performance.now() + 700
  for (let i = 0; performance.now() < until; i++) expect(await answerTo(socket, `MSH|${i}`)).toBe(`MSH|${i}`)
})

test('the longest idle connection yields to a new one', async () => {
  const port = await labPort()
  const [first, second, ...others] = (await takeAllPlaces(port)) as [Socket, Socket, ...Socket[]]
  expect(await answerTo(first, 'MSH|again')).toBe('MSH|again')

  const newcomer = await open(port)

  await closing(second)
  expect(await answerTo(newcomer, 'MSH|new')).toBe('MSH|new')
  for (const socket of [first, ...others]) expect(await answerTo(socket, 'MSH|kept')).toBe('MSH|kept')
})

test('a connection in the middle of a message does not yield', async () => {
  const { promise: handled, resolve: release } = Promise.withResolvers<void>()
  let pending = 0
  const port = await labPort({
    handle: async (message) => {
      if (String(message) === 'slow') {
        pending++
        await handled
      }
      return { answers: [message] }
    },
  })
  const [first, second, third] = (await takeAllPlaces(port)) as [Socket, Socket, Socket]
  first.write(frame(Buffer.from('slow')))
  second.write(wholeAndHalf)
  await once(second, 'data')
  await eventually(() => pending === 1)

  expect(await answerTo(await open(port), 'MSH|new')).toBe('MSH|new')

  await closing(third)
  second.write('\x1c\r')
  expect(String((await once(second, 'data'))[0])).toBe('\x0bhalf\x1c\r')
  release()
  expect(String((await once(first, 'data'))[0])).toBe('\x0bslow\x1c\r')
})

test('a new connection is refused while every other one is in the middle of a message', async () => {
  const port = await labPort()
  const sockets = await takeAllPlaces(port)
  for (const socket of sockets) socket.write(wholeAndHalf)
  for (const socket of sockets) await once(socket, 'data')

  await closing(await open(port))
})

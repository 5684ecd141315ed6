import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { limitUnfinished, MAX_UNFINISHED_PER_NETWORK } from '../../src/http/connections/unfinished.ts'
import { eventually } from '../support/process.ts'
import { world } from '../support/world.ts'

const w = await world()
const { hostname, port } = new URL(w.base)

async function open(text = '', localAddress = '127.0.0.1') {
  const socket = connect({ host: hostname, port: Number(port), localAddress }).on('error', () => {})
  await once(socket, 'connect')
  if (text) socket.write(text)
  return socket
}

const isOpen = (socket: Socket) => !socket.destroyed && socket.readyState === 'open'

/** The server responds on another connection after it has seen all of these. */
const countOpen = async (sockets: Socket[]) => {
  for (const socket of sockets) socket.resume()
  await w.api.listUsers()
  return sockets.filter(isOpen).length
}

test.each([
  ['that send nothing', ''],
  ['that stop in the headers', 'GET /v2/user HTTP/1.1\r\nHost: localhost'],
  [
    'that stop in the body',
    `POST /v2/user HTTP/1.1\r\nHost: localhost\r\nX-Service-Api-Key: ${w.team_api_key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  ],
])('an address has a limited number of connections %s', async (_, text) => {
  const sockets: Socket[] = []
  for (let i = 0; i < MAX_UNFINISHED_PER_NETWORK + 40; i++) sockets.push(await open(text))
  await eventually(async () => (await countOpen(sockets)) <= MAX_UNFINISHED_PER_NETWORK)
  expect(sockets.slice(-100).every(isOpen)).toBe(true)
  for (const socket of sockets) socket.destroy()
})

test('a connection that has sent its request stays open, however many others are half open', async () => {
  const request = `GET /v2/user HTTP/1.1\r\nHost: localhost\r\nX-Service-Api-Key: ${w.team_api_key}\r\n\r\n`
  const first = await open(request)
  const [response] = await once(first, 'data')
  expect(String(response)).toMatch(/^HTTP\/1.1 200/)
  const idle = await Promise.all(Array.from({ length: MAX_UNFINISHED_PER_NETWORK + 20 }, () => open()))
  await eventually(async () => (await countOpen(idle)) <= MAX_UNFINISHED_PER_NETWORK)
  first.write(request)
  const [again] = await once(first, 'data')
  expect(String(again)).toMatch(/^HTTP\/1.1 200/)
  for (const socket of [first, ...idle]) socket.destroy()
})

/** A server whose connections come from any address. */
function limitedServer(ofNetwork: number, ofProcess: number) {
  const server = new EventEmitter()
  limitUnfinished(server as Server, { ofNetwork, ofProcess })
  return (remoteAddress: string) => {
    const socket = Object.assign(new PassThrough(), { remoteAddress })
    server.emit('connection', socket)
    return socket
  }
}

test('the addresses of an IPv6 network share its connections', () => {
  const accept = limitedServer(3, 100)
  const neighbor = accept('2001:db8:0:2::1')
  const sockets = Array.from({ length: 8 }, (_, i) => accept(`2001:db8:0:1:${i}::${i}`))
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, true, false, false, false])
  expect(neighbor.destroyed).toBe(false)
})

test('many networks together have a limited number of connections in a process', () => {
  const accept = limitedServer(3, 10)
  const sockets = Array.from({ length: 25 }, (_, i) => accept(`192.0.2.${i}`))
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual(sockets.map((_, i) => i < 15))
})

test('connections that are closed make room for others', async () => {
  const accept = limitedServer(100, 2)
  const [first, second] = [accept('192.0.2.1'), accept('192.0.2.1')]
  second.destroy()
  await once(second, 'close')
  accept('192.0.2.2')
  expect(first.destroyed).toBe(false)
})

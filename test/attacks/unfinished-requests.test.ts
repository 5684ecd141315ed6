import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { MAX_UNFINISHED_PER_ADDRESS } from '../../src/http/connections/unfinished.ts'
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
  ['that stop in the headers', 'GET /v2/user HTTP/1.1\r\nHost: assay'],
  [
    'that stop in the body',
    `POST /v2/user HTTP/1.1\r\nHost: assay\r\nX-Service-Api-Key: ${w.team_api_key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  ],
])('an address has a limited number of connections %s', async (_, text) => {
  const sockets: Socket[] = []
  for (let i = 0; i < MAX_UNFINISHED_PER_ADDRESS + 40; i++) sockets.push(await open(text))
  await eventually(async () => (await countOpen(sockets)) <= MAX_UNFINISHED_PER_ADDRESS)
  expect(sockets.slice(-100).every(isOpen)).toBe(true)
  for (const socket of sockets) socket.destroy()
})

test('a connection that has sent its request stays open, however many others are half open', async () => {
  const request = `GET /v2/user HTTP/1.1\r\nHost: assay\r\nX-Service-Api-Key: ${w.team_api_key}\r\n\r\n`
  const first = await open(request)
  const [response] = await once(first, 'data')
  expect(String(response)).toMatch(/^HTTP\/1.1 200/)
  const idle = await Promise.all(Array.from({ length: MAX_UNFINISHED_PER_ADDRESS + 20 }, () => open()))
  await eventually(async () => (await countOpen(idle)) <= MAX_UNFINISHED_PER_ADDRESS)
  first.write(request)
  const [again] = await once(first, 'data')
  expect(String(again)).toMatch(/^HTTP\/1.1 200/)
  for (const socket of [first, ...idle]) socket.destroy()
})

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { expect, test } from 'vitest'
import { isDatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { atEnd } from '../support/at-end.ts'
import { emptyDatabase } from '../support/world.ts'

/** The URL of a server that handles connections in this way. */
async function serverThat(handle: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    handle(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => server.close(done))
  })
  return `postgres://assay@127.0.0.1:${(server.address() as AddressInfo).port}/assay`
}

const connectTo = async (connectionString: string) => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 50 })
  client.on('error', () => {})
  await client.connect()
}

test.each([
  ['never responds', () => {}],
  ['hangs up', (socket: Socket) => socket.end()],
  ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
])('a server that %s is unavailable', async (_, handle) => {
  const url = await serverThat(handle)
  for (const connect of [() => connectTo(url), () => new pg.Pool({ connectionString: url, connectionTimeoutMillis: 50 }).query('select 1')])
    expect(await connect().then(String, isDatabaseUnavailable)).toBe(true)
})

test('a server that does not answer a query in time is unavailable', async () => {
  const client = new pg.Client({ connectionString: await emptyDatabase(), query_timeout: 50 })
  await client.connect()
  expect(await client.query('select pg_sleep(60)').then(String, isDatabaseUnavailable)).toBe(true)
  await client.end()
})

test('an error of a statement does not make the server unavailable', async () => {
  const client = new pg.Client({ connectionString: await emptyDatabase() })
  await client.connect()
  expect(await client.query('select 1 / 0').then(String, isDatabaseUnavailable)).toBe(false)
  await client.end()
})

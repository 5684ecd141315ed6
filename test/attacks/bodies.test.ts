import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { eventually } from '../support/process.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

const w = await world()
const user_id = await aUser(w.api)
const path = `/v2/timeseries/${user_id}/heartrate`

/** A push whose list has this many of these entries, compressed about a thousandfold. */
const bomb = (entry: string, count: number) => gzipSync(`{"provider":"manual","data":[${`${entry},`.repeat(count - 1)}${entry}]}`)

const push = (body: Buffer, credential: Record<string, string> = { 'x-service-api-key': w.team_api_key }) =>
  sendRaw(w.base + path, 'POST', { body, headers: { 'content-encoding': 'gzip', ...credential } })

const asUser = async () => ({ authorization: `Bearer ${(await w.api.createUserToken({ params: { user_id } })).sign_in_token}` })

const tooLarge = { status: 413, body: { detail: { error_type: 'BODY_TOO_LARGE' } } }

test('eight bodies of nine million empty samples, sent with the token of a user, are refused', async () => {
  const user = await asUser()
  const body = bomb('{}', 9_000_000)
  expect(body.length).toBeLessThan(100_000)
  for (const response of await Promise.all(Array.from({ length: 8 }, () => push(body, user)))) expect(response).toMatchObject(tooLarge)
})

test('the token of a user sends at most 1 MiB, also once decompressed', async () => {
  const user = await asUser()
  expect(await push(spaces(1024 * 1024), user)).toMatchObject(tooLarge)
  expect(await push(spaces(1024 * 1024))).toMatchObject({ status: 200 })
  expect(await push(spaces(1000), user)).toMatchObject({ status: 200 })
})

test.each([
  ['14 million integers', bomb('1', 14_000_000)],
  ['nine million empty samples', bomb('{}', 9_000_000)],
  ['many lists of many samples', bomb(`[${'{},'.repeat(99_999)}{}]`, 50)],
  ['more than 30 MiB of spaces', gzipSync(`{"provider":"manual","data":[]${' '.repeat(31 * 1024 * 1024)}}`)],
])('a body of %s is refused while it arrives', async (_, body) => {
  expect(await push(body)).toMatchObject(tooLarge)
})

test('a client that disconnects in the middle of a body is not reported as a database outage', async () => {
  const request_id = `dropped-${process.pid}`
  const { hostname, port } = new URL(w.base)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', `X-Service-Api-Key: ${w.team_api_key}`, `X-Request-Id: ${request_id}`]
  socket.write(`${head.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"provider":`)
  // The response to a later request shows that the server has read this one.
  await w.api.listUsers()
  socket.destroy()
  const row = await eventually(() =>
    w.app.db
      .selectFrom('audit_outbox')
      .select('status')
      .where('chain_id', '=', w.team_id)
      .where('request_id', '=', request_id)
      .executeTakeFirst(),
  )
  expect(row.status).toBe(400)
})

type Held = { length: number; team_api_key?: string; localAddress?: string }

/** Sends the beginning of a body, and keeps the connection open. `response` is the refusal of this body, if there is one. */
async function hold(start: string, { length, team_api_key = w.team_api_key, localAddress = '127.0.0.1' }: Held) {
  const { hostname, port } = new URL(w.base)
  // A refused body can be cut off.
  const socket = connect({ host: hostname, port: Number(port), localAddress }).on('error', () => {})
  await once(socket, 'connect')
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', `X-Service-Api-Key: ${team_api_key}`, 'Content-Type: application/json']
  const response = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n${start}`)
  return { socket, response }
}

const startLarge = (bytes: number) => hold(`{"provider":"manual","data":[]${' '.repeat(bytes)}`, { length: 30 * 1024 * 1024 })

const spaces = (bytes: number) => gzipSync(`{"provider":"manual","data":[]${' '.repeat(bytes)}}`)

test('a credential with large bodies in flight is asked to wait, until they are done or their clients are gone', async () => {
  const started = await Promise.all([startLarge(29 * 1024 * 1024), startLarge(29 * 1024 * 1024)])
  const large = () => push(spaces(20 * 1024 * 1024))
  const refusal = async () => {
    const { status, headers, text } = await large()
    return status === 429 ? `retry-after: ${headers.get('retry-after')} ${text}` : undefined
  }
  // There is room for two of the three bodies. The one that needs more memory first when there is none is refused.
  const refused = await eventually(() => Promise.race([...started.map(({ response }) => response), refusal()]))
  expect(refused).toMatch(/retry-after: 1\s/i)
  expect(refused).toContain('"error_type":"TOO_MUCH_IN_FLIGHT"')
  for (const { socket } of started) socket.destroy()
  await eventually(async () => (await large()).status === 200)
})

test('large bodies of refused requests, unknown paths and endpoints without a body do not stay in flight', async () => {
  // Objects count more than their bytes, so that ten such bodies are more than a credential may have in flight.
  const objects = `${'{},'.repeat(190_000)}{}`
  const headers = { 'x-service-api-key': w.team_api_key }
  for (let i = 0; i < 10; i++) {
    expect((await sendRaw(`${w.base}/nowhere`, 'POST', { body: `[${objects}]`, headers })).status).toBe(404)
    expect((await sendRaw(`${w.base}/v2/user/${newUuid()}`, 'DELETE', { body: `[${objects}]`, headers })).status).toBe(404)
    expect((await sendRaw(w.base + path, 'POST', { body: `[${objects}`, headers })).status).toBe(422)
  }
  expect((await push(spaces(20 * 1024 * 1024))).status).toBe(200)
})

const tooMuch = { status: 429, body: { detail: { error_type: 'TOO_MUCH_IN_FLIGHT' } } }

test('a credential with hundreds of short bodies in flight is asked to wait, and others are not', async () => {
  const other = await w.tenant()
  const start = `{"provider":"manual","data":[]${' '.repeat(250_000)}`
  // An address has fewer connections in the middle of a body.
  const addresses = Array.from({ length: 280 }, (_, i) => `127.0.0.${1 + (i % 2)}`)
  const held = await Promise.all(addresses.map((localAddress) => hold(start, { length: 255_000, localAddress })))
  const send = (key: string) =>
    sendRaw(`${w.base}/v2/user`, 'POST', { body: `{${' '.repeat(250_000)}}`, headers: { 'x-service-api-key': key } })
  const refused = await eventually(async () => {
    const response = await send(w.team_api_key)
    return response.status === 429 ? response : undefined
  })
  expect(refused).toMatchObject(tooMuch)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await send(other.team_api_key)).status).toBe(422)
  for (const { socket } of held) socket.destroy()
  await eventually(async () => (await send(w.team_api_key)).status === 422)
})

test('a process with large bodies of several credentials in flight asks one of them to wait', async () => {
  const [first, second, third] = await Promise.all([w.tenant(), w.tenant(), w.tenant()])
  const list = `[${'{},'.repeat(189_999)}{}]`
  // Two of them are nearly all that a credential may have in flight, and four all that a process may have.
  const start = `[${Array(5).fill(list).join(',')},`
  const held = await Promise.all(
    [first, first, second, second, third].map(({ team_api_key }) => hold(start, { length: 30 * 1024 * 1024, team_api_key })),
  )
  const refused = await Promise.race(held.map(({ response }) => response))
  expect(refused).toMatch(/^HTTP\/1.1 429 /)
  expect(refused).toMatch(/retry-after: 1\s/i)
  expect(refused).toContain('"error_type":"TOO_MUCH_IN_FLIGHT"')
  for (const { socket } of held) socket.destroy()
  await eventually(async () => (await push(spaces(20 * 1024 * 1024))).status === 200)
})

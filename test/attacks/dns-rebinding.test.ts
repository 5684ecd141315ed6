import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { replica, world } from '../support/world.ts'

const w = await world({ env: { PUBLIC_URL: 'https://Tide.Harbor.example:8443/assay' } })

/** Sends a request with these lines after the first one, and returns the status and the body. */
async function get(lines: string[], { base = w.base, path = '/health', version = '1.1' } = {}) {
  const { hostname, port } = new URL(base)
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) })
  socket.write([`GET ${path} HTTP/${version}`, ...lines, 'Connection: close', '', ''].join('\r\n'))
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  await once(socket, 'end')
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body }
}

describe('a service on a loopback address', () => {
  test.each([
    'localhost',
    'localhost:8080',
    'LocalHost:1',
    'localhost.',
    '127.0.0.1',
    '127.0.0.1:9000',
    '127.8.9.10',
    '[::1]',
    '[::1]:8080',
    '[0:0:0:0:0:0:0:1]',
    'tide.harbor.example',
    'tide.harbor.example:8443',
    'TIDE.harbor.Example.:80',
  ])('accepts the host %s', async (host) => {
    expect(await get([`Host: ${host}`])).toMatchObject({ status: 200 })
  })

  test.each([
    'rebound.example',
    'rebound.example:8080',
    'localhost.rebound.example',
    '127.0.0.1.rebound.example',
    'rebound.localhost',
    'harbor.example',
    'x.tide.harbor.example',
    '192.0.2.1',
    '0.0.0.0',
    '[::]',
    '[2001:db8::1]:8080',
    '[::ffff:192.0.2.1]',
    'assay',
  ])('refuses the host %s with 421 and names the remedy', async (host) => {
    for (const path of ['/health', '/v2/user', '/console/', '/docs/', '/metrics', '/nowhere']) {
      const { status, head, body } = await get([`Host: ${host}`, `X-Service-Api-Key: ${w.team_api_key}`], { path })
      expect({ path, status }).toEqual({ path, status: 421 })
      expect(head.toLowerCase()).toContain('content-type: application/json')
      expect(JSON.parse(body).detail).toMatchObject({
        error_type: 'UNKNOWN_HOST',
        error_message: expect.stringMatching(/localhost.*PUBLIC_URL/),
      })
      expect(body).not.toContain(host)
    }
  })

  test.each([
    ['a user name', 'rebound.example@localhost'],
    ['a path', 'localhost/rebound.example'],
    ['a fragment', 'localhost#rebound.example'],
    ['a space', 'localhost rebound.example'],
    ['no name', ''],
    ['an unfinished IPv6 address', '[::1'],
  ])('refuses a host with %s as malformed', async (_, host) => {
    expect(await get([`Host: ${host}`])).toMatchObject({ status: 400 })
  })

  test('refuses a missing host, except in HTTP/1.0, which no browser uses', async () => {
    expect(await get([])).toMatchObject({ status: 400 })
    expect(await get([], { version: '1.0' })).toMatchObject({ status: 200 })
    expect(await get(['Host: rebound.example'], { version: '1.0' })).toMatchObject({ status: 421 })
  })

  test('refuses streams and upgrades for another host', async () => {
    const stream = [`X-Service-Api-Key: ${w.team_api_key}`, 'Accept: text/event-stream']
    expect(await get(['Host: rebound.example', ...stream], { path: '/events/stream' })).toMatchObject({ status: 421 })
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    expect(await get(['Host: rebound.example', ...upgrade])).toMatchObject({ status: 421 })
  })

  test('ignores a forwarded host, which a page could set', async () => {
    expect(await get(['Host: rebound.example', 'X-Forwarded-Host: localhost', 'Forwarded: host=localhost'])).toMatchObject({ status: 421 })
  })
})

test.each(['::1', 'localhost', '127.0.0.2'])('a service on %s accepts no other host either', async (HOST) => {
  const { base } = await replica({ env: { HOST } })
  expect(await get(['Host: rebound.example'], { base })).toMatchObject({ status: 421 })
  expect(await get(['Host: tide.harbor.example'], { base })).toMatchObject({ status: 421 })
  expect(await get(['Host: localhost'], { base })).toMatchObject({ status: 200 })
})

test('a service that others can reach leaves the host to its proxy', async () => {
  const { base } = await replica({ env: { HOST: '0.0.0.0' } })
  expect(await get(['Host: rebound.example'], { base })).toMatchObject({ status: 200 })
})

import type { ServerOptions } from 'node:https'
import { createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parseCidr, strictPolicy } from '../../src/platform/outbound/address.ts'
import { exchange } from '../../src/platform/outbound/exchange.ts'
import { openPools } from '../../src/platform/outbound/pools.ts'
import { openSender, type Settings } from '../../src/platform/outbound/send.ts'
import { newCertificate } from '../support/certificate.ts'
import { reservePort } from '../support/ports.ts'
import { eventually } from '../support/process.ts'
import { type Behavior, faults, openReceiver } from '../support/receiver.ts'

const loopback = { https_only: false, allow_loopback: true, allowed: [] }
const message = { headers: { 'svix-id': 'msg_1' }, body: '{"event_type":"labtest.order.created"}' }
const short = { timeoutMs: 300 }

async function receiver(behavior?: Behavior, tls?: ServerOptions) {
  const opened = await openReceiver(behavior, tls)
  onTestFinished(opened.close)
  return opened
}

function sender(settings: Partial<Settings> = {}) {
  const opened = openSender({ policy: loopback, ...settings })
  onTestFinished(opened.close)
  return opened
}

afterEach(() => vi.unstubAllEnvs())

describe('receiver behavior', () => {
  test('reports a 200 as delivered, with the response', async () => {
    const { url, received } = await receiver(faults.status(200, { 'content-type': 'text/plain', 'set-cookie': 'secret=1' }, 'thanks'))
    const outcome = await sender().post({ url: `${url}?team=1`, ...message })
    expect(outcome).toEqual({
      ok: true,
      status: 200,
      error: null,
      retry_after_ms: null,
      response_headers: { 'content-type': 'text/plain', date: expect.any(String) },
      response_body: Buffer.from('thanks'),
      truncated: false,
      ms: { connected: expect.any(Number), answered: expect.any(Number), total: expect.any(Number) },
    })
    expect(received).toMatchObject([
      {
        path: '/hook?team=1',
        body: message.body,
        headers: { 'svix-id': 'msg_1', 'content-type': 'application/json', 'content-length': String(message.body.length) },
      },
    ])
  })

  test.each<[string, Behavior, object]>([
    ['204', faults.status(204), { ok: true, status: 204, error: null }],
    ['early hints, then 204', faults.earlyHints, { ok: true, status: 204, error: null }],
    ['299', faults.status(299), { ok: true, status: 299, error: null }],
    ['300', faults.status(300), { ok: false, status: 300, error: 'redirect' }],
    ['304', faults.status(304), { ok: false, status: 304, error: 'redirect' }],
    ['400', faults.status(400), { ok: false, status: 400, error: 'status' }],
    ['410', faults.gone, { ok: false, status: 410, error: 'status' }],
    ['500 with a body', faults.status(500, {}, 'oops'), { ok: false, status: 500, error: 'status', response_body: Buffer.from('oops') }],
    ['503 with Retry-After', faults.status(503, { 'retry-after': '120' }), { ok: false, status: 503, retry_after_ms: 120_000 }],
    ['200 with Retry-After', faults.status(200, { 'retry-after': '120' }), { ok: true, retry_after_ms: null }],
    ['a reset', faults.reset, { ok: false, status: null, error: 'reset' }],
    ['a closed connection', faults.hangUp, { ok: false, status: null, error: 'reset' }],
    ['a body cut off', faults.hangUpInBody, { ok: false, status: 200, error: 'reset', response_body: Buffer.from('half') }],
    ['another protocol', faults.notHttp, { ok: false, status: null, error: 'bad_response' }],
    ['100 kB of headers', faults.oversizedHeaders, { ok: false, status: null, error: 'bad_response' }],
  ])('maps %s to its outcome', async (_, behavior, expected) => {
    const { url, received } = await receiver(behavior)
    expect(await sender().post({ url, ...message })).toMatchObject(expected)
    expect(received).toHaveLength(1)
  })

  test.each<[string, Behavior, object]>([
    ['never responds', faults.neverResponds, { status: null, error: 'timeout' }],
    ['sends only early hints', faults.earlyHintsOnly, { status: null, error: 'timeout' }],
    ['never ends its headers', faults.neverEndsHeaders, { status: null, error: 'timeout' }],
  ])('gives up on a receiver that %s and closes the connection', async (_, behavior, expected) => {
    const { url, connections } = await receiver(behavior)
    expect(await sender(short).post({ url, ...message })).toMatchObject({ ok: false, ...expected })
    await eventually(() => connections.open.size === 0)
  })

  test('gives up on a receiver that drips its body, and closes the connection', async () => {
    const { url, connections } = await receiver(faults.slowDrip)
    const outcome = await sender({ timeoutMs: 2000 }).post({ url, ...message })
    expect(outcome).toMatchObject({ ok: false, status: 200, error: 'too_slow' })
    await eventually(() => connections.open.size === 0)
  })

  test('times out when a receiver accepts TCP but never starts TLS', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await eventually(() => silent.listening)
    const { port } = silent.address() as { port: number }
    const outcome = await sender(short).post({ url: `https://127.0.0.1:${port}/`, ...message })
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'timeout', ms: { connected: null, answered: null } })
  })

  test.each([
    ['a body of 1 GiB', faults.bodyOf(2 ** 30)],
    ['an endless body', faults.endless],
  ])('reads %s only up to 64 KiB', async (_, behavior) => {
    const { url, connections } = await receiver(behavior)
    const { response_body, ...outcome } = await sender().post({ url, ...message })
    expect(outcome).toMatchObject({ ok: true, status: 200, error: null, truncated: true })
    expect(response_body.length).toBe(65_536)
    await eventually(() => connections.open.size === 0)
  })

  test('reads a body of exactly 64 KiB completely and keeps the connection', async () => {
    const { url, connections } = await receiver(faults.bodyOf(65_536))
    const { post } = sender({ connections: 1 })
    for (let i = 0; i < 2; i++) {
      const { response_body, truncated } = await post({ url, ...message })
      expect([response_body.length, truncated]).toEqual([65_536, false])
    }
    expect(connections.opened).toBe(1)
  })

  test('reports a redirect to a metadata address without following it', async () => {
    const { url, received } = await receiver(faults.redirectToMetadata)
    expect(await sender().post({ url, ...message })).toMatchObject({
      ok: false,
      status: 302,
      error: 'redirect',
      response_headers: { location: 'http://169.254.169.254/latest/meta-data/' },
    })
    expect(received).toHaveLength(1)
  })

  test('reports a refused connection', async () => {
    const url = `http://127.0.0.1:${await reservePort()}/`
    expect(await sender().post({ url, ...message })).toMatchObject({ ok: false, status: null, error: 'refused' })
  })

  test('converts a Retry-After date to a delay from now', async () => {
    const { url } = await receiver(faults.status(429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }))
    const { retry_after_ms } = await sender().post({ url, ...message })
    expect(retry_after_ms).toBeGreaterThan(3_500_000)
    expect(retry_after_ms).toBeLessThanOrEqual(3_600_000)
  })
})

describe('sender behavior', () => {
  test('does not send a request that timed out during the DNS lookup', async () => {
    const { port, received } = await receiver()
    const name = Promise.withResolvers<string[]>()
    const pools = openPools({ policy: loopback, resolve: () => name.promise, connectTimeoutMs: 15_000, connections: 1, maxOrigins: 1 })
    onTestFinished(pools.close)
    const pool = pools.poolOf(`http://hooks.example.com:${port}`)
    expect(await exchange(pool, { path: '/', ...message, body: 'late' }, 50)).toMatchObject({ error: 'timeout' })
    const next = exchange(pool, { path: '/', ...message, body: 'next' }, 15_000)
    name.resolve(['127.0.0.1'])
    expect(await next).toMatchObject({ ok: true })
    expect(received.map(({ body }) => body)).toEqual(['next'])
  })

  test.each([
    ['x-a', 'b\r\nhost: evil'],
    ['x a', 'b'],
    ['Host', 'elsewhere.example.com'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '1'],
    ['expect', '100-continue'],
  ])('rejects the header %s', async (name, value) => {
    const { url, received } = await receiver()
    expect(await sender().post({ url, ...message, headers: { [name]: value } })).toMatchObject({ ok: false, error: 'bad_header' })
    expect(received).toEqual([])
  })

  test('replaces a default header with a custom one, whatever its case', async () => {
    const { url, received } = await receiver()
    await sender().post({ url, ...message, headers: { 'User-Agent': 'Mine/2', 'X-My-Token': 'abc' } })
    expect(received[0]?.headers).toMatchObject({ 'user-agent': 'Mine/2', 'x-my-token': 'abc' })
  })

  test('aborts open requests on close and sends nothing afterwards', async () => {
    const { url, received, connections } = await receiver(faults.neverResponds)
    const { post, close, origins } = sender()
    const waiting = post({ url, ...message })
    await eventually(() => received.length === 1)
    await close()
    expect(await waiting).toMatchObject({ ok: false, status: null, error: 'aborted' })
    expect(await post({ url, ...message })).toMatchObject({ ok: false, error: 'aborted' })
    expect([received.length, connections.opened, origins()]).toEqual([1, 1, 0])
  })
})

describe('addresses', () => {
  const requestTo = (port: number) => ({ url: `http://hooks.example.com:${port}/`, ...message })

  test.each([
    ['a private address', ['10.0.0.5']],
    ['a metadata address', ['169.254.169.254']],
    ['an allowed and a private address', ['127.0.0.1', '192.168.1.1']],
    ['an allowed and a private IPv6 address', ['127.0.0.1', 'fd00::1']],
    ['an IPv4-mapped address', ['::ffff:127.0.0.1']],
    ['an invalid address', ['not an address']],
  ])('does not connect to a host that resolves to %s', async (_, addresses) => {
    const { port, connections } = await receiver()
    const outcome = await sender({ resolve: async () => addresses }).post(requestTo(port))
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'forbidden_address' })
    expect(connections.opened).toBe(0)
  })

  test('resolves a host once per connection and connects to the checked address', async () => {
    const { port, received } = await receiver()
    const resolutions = [['127.0.0.1'], ['169.254.169.254']]
    const resolve = vi.fn(async () => resolutions.shift() ?? [])
    const { post } = sender({ resolve, connections: 1 })
    expect(await post(requestTo(port))).toMatchObject({ ok: true })
    expect(await post(requestTo(port))).toMatchObject({ ok: true })
    expect([received.length, resolve.mock.calls.length]).toEqual([2, 1])
  })

  test('resolves and checks a host again for a new connection', async () => {
    const { port, received } = await receiver((response) => response.writeHead(200, { connection: 'close' }).end())
    const resolutions = [['127.0.0.1'], ['169.254.169.254']]
    const { post } = sender({ resolve: async () => resolutions.shift() ?? [] })
    expect(await post(requestTo(port))).toMatchObject({ ok: true })
    expect(await post(requestTo(port))).toMatchObject({ ok: false, error: 'forbidden_address' })
    expect(received).toHaveLength(1)
  })

  test.each([
    ['no address', async () => []],
    [
      'an error',
      async () => {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      },
    ],
  ])('reports a DNS failure when the name server returns %s', async (_, resolve) => {
    const { port } = await receiver()
    expect(await sender({ resolve }).post(requestTo(port))).toMatchObject({ ok: false, error: 'dns' })
  })

  test.each([
    ['http://127.0.0.1:8080/', { ...strictPolicy, https_only: false }, 'forbidden_address'],
    ['https://[::1]/', strictPolicy, 'forbidden_address'],
    ['https://10.1.2.3/', strictPolicy, 'forbidden_address'],
    ['http://hooks.example.com/', strictPolicy, 'url_refused'],
    ['https://hooks.example.com:25/', strictPolicy, 'url_refused'],
    ['no url', strictPolicy, 'url_refused'],
  ])('rejects %s under a stricter policy without a DNS lookup', async (url, policy, error) => {
    const resolve = vi.fn(async () => ['127.0.0.1'])
    expect(await sender({ policy, resolve }).post({ url, ...message })).toMatchObject({ ok: false, status: null, error })
    expect(resolve).not.toHaveBeenCalled()
  })

  test('checks an IP address in the URL at connection time too', async () => {
    const { port, connections } = await receiver()
    const options = { policy: strictPolicy, resolve: async () => [], connectTimeoutMs: 15_000, connections: 1, maxOrigins: 1 }
    const pools = openPools(options)
    onTestFinished(pools.close)
    const outcome = await exchange(pools.poolOf(`http://127.0.0.1:${port}`), { path: '/', ...message }, 15_000)
    expect(outcome).toMatchObject({ ok: false, error: 'forbidden_address' })
    expect(connections.opened).toBe(0)
  })

  test('connects only to the networks the operator allows', async () => {
    const { port } = await receiver()
    const policy = { ...strictPolicy, https_only: false, allowed: [parseCidr('127.0.0.0/30')] }
    expect(await sender({ policy, resolve: async () => ['127.0.0.1'] }).post(requestTo(port))).toMatchObject({ ok: true })
    expect(await sender({ policy, resolve: async () => ['127.0.0.9'] }).post(requestTo(port))).toMatchObject({ error: 'forbidden_address' })
  })

  test('resolves localhost without a DNS lookup', async () => {
    const { port } = await receiver()
    expect(await sender().post({ url: `http://localhost:${port}/`, ...message })).toMatchObject({ ok: true })
  })
})

describe('TLS', () => {
  const good = newCertificate(['hooks.example.com', '127.0.0.1'])
  const resolve = async () => ['127.0.0.1']
  const requestTo = (port: number) => ({ url: `https://hooks.example.com:${port}/`, ...message })

  test('accepts a trusted certificate for the host', async () => {
    const { port, url, received } = await receiver(faults.ok, good)
    const { post } = sender({ policy: { ...loopback, https_only: true }, resolve, ca: good.cert })
    expect(await post(requestTo(port))).toMatchObject({ ok: true, status: 200 })
    expect(await post({ url, ...message })).toMatchObject({ ok: true, status: 200 })
    expect(received).toHaveLength(2)
  })

  test.each<[string, ServerOptions, string | undefined]>([
    ['is not trusted', good, undefined],
    ['is for another host', newCertificate(['elsewhere.example.com']), 'own'],
    ['has expired', newCertificate(['hooks.example.com'], -1), 'own'],
    ['is served over TLS 1.1 only', { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, 'own'],
  ])('rejects a certificate that %s', async (_, tls, trust) => {
    const { port, received } = await receiver(faults.ok, tls)
    const { post } = sender({ resolve, ...(trust && { ca: String(tls.cert) }) })
    expect(await post(requestTo(port))).toMatchObject({ ok: false, status: null, error: 'tls' })
    expect(received).toEqual([])
  })

  test('ignores NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { port } = await receiver(faults.ok, good)
    expect(await sender({ resolve }).post(requestTo(port))).toMatchObject({ ok: false, error: 'tls' })
  })

  test('reports a TLS error for a receiver without TLS', async () => {
    const { port } = await receiver()
    expect(await sender({ resolve }).post(requestTo(port))).toMatchObject({ ok: false, error: 'tls' })
  })
})

describe('connections', () => {
  test('reuses a connection for the next delivery, even after a failure', async () => {
    const { url, connections, behave } = await receiver()
    const { post } = sender({ connections: 1 })
    await post({ url, ...message })
    behave(faults.status(500))
    await post({ url, ...message })
    behave(faults.ok)
    await post({ url, ...message })
    expect(connections.opened).toBe(1)
  })

  test('opens a new connection when the receiver closed the previous one', async () => {
    const { url, connections } = await receiver()
    const { post } = sender({ connections: 1 })
    for (let i = 0; i < 3; i++) {
      expect(await post({ url, ...message })).toMatchObject({ ok: true })
      for (const socket of connections.open) socket.destroy()
      await eventually(() => connections.open.size === 0)
      // The sender sees the end of the connection in the next turn of the event loop. A request before that would be lost.
      await setImmediate()
    }
    expect(connections.opened).toBe(3)
  })

  test('delivers while other requests to the same receiver hang', async () => {
    const { url, behave, received } = await receiver(faults.neverResponds)
    const { post, close } = sender()
    const stuck = Array.from({ length: 20 }, () => post({ url, ...message }))
    await eventually(() => received.length === 20)
    behave(faults.ok)
    expect(await post({ url, ...message })).toMatchObject({ ok: true })
    await close()
    expect((await Promise.all(stuck)).map(({ error }) => error)).toEqual(Array(20).fill('aborted'))
  })

  test('closes the least recently used origin beyond the limit after its open requests finish', async () => {
    const receivers = await Promise.all([receiver(), receiver(), receiver()])
    const held: (() => void)[] = []
    const [first, second, third] = receivers as [(typeof receivers)[0], (typeof receivers)[0], (typeof receivers)[0]]
    first.behave((response) => void held.push(() => response.end()))
    const { post, origins } = sender({ maxOrigins: 2 })
    const waiting = post({ url: first.url, ...message })
    await eventually(() => held.length === 1)
    await post({ url: second.url, ...message })
    await post({ url: third.url, ...message })
    expect(origins()).toBe(2)
    held[0]?.()
    expect(await waiting).toMatchObject({ ok: true })
    await eventually(() => first.connections.open.size === 0)
    expect([second.connections.open.size, third.connections.open.size]).toEqual([1, 1])
  })

  test('ignores proxy environment variables', async () => {
    const proxy = await receiver()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    const { url, received } = await receiver()
    expect(await sender().post({ url, ...message })).toMatchObject({ ok: true })
    expect([received.length, proxy.connections.opened]).toEqual([1, 0])
  })
})

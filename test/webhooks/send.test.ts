import type { ServerOptions } from 'node:https'
import { createServer } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { cidr, strictPolicy } from '../../src/platform/outbound/address.ts'
import { exchange } from '../../src/platform/outbound/exchange.ts'
import { openPools } from '../../src/platform/outbound/pools.ts'
import { openSender, type Settings } from '../../src/platform/outbound/send.ts'
import { newCertificate } from '../support/certificate.ts'
import { eventually } from '../support/process.ts'
import { type Behaviour, faults, openReceiver } from '../support/receiver.ts'

const loopback = { https_only: false, allow_loopback: true, allowed: [] }
const message = { headers: { 'svix-id': 'msg_1' }, body: '{"event_type":"labtest.order.created"}' }
const short = { timeoutMs: 300 }

async function receiver(behaviour?: Behaviour, tls?: ServerOptions) {
  const opened = await openReceiver(behaviour, tls)
  onTestFinished(opened.close)
  return opened
}

function sender(settings: Partial<Settings> = {}) {
  const opened = openSender({ policy: loopback, ...settings })
  onTestFinished(opened.close)
  return opened
}

afterEach(() => vi.unstubAllEnvs())

describe('what a receiver does becomes an outcome', () => {
  test('200: delivered, with the answer', async () => {
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

  test.each<[string, Behaviour, object]>([
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
    ['another protocol', faults.noHttp, { ok: false, status: null, error: 'bad_response' }],
    ['100 kB of headers', faults.manyHeaders, { ok: false, status: null, error: 'bad_response' }],
  ])('%s', async (_, behaviour, expected) => {
    const { url, received } = await receiver(behaviour)
    expect(await sender().post({ url, ...message })).toMatchObject(expected)
    expect(received).toHaveLength(1)
  })

  test.each<[string, Behaviour, object]>([
    ['never answers', faults.neverAnswers, { status: null, error: 'timeout' }],
    ['never says more than early hints', faults.earlyHintsOnly, { status: null, error: 'timeout' }],
    ['never ends its headers', faults.neverEndsHeaders, { status: null, error: 'timeout' }],
    ['drips its body', faults.slowDrip, { status: 200, error: 'too_slow' }],
  ])('one that %s is given up, and its connection with it', async (_, behaviour, expected) => {
    const { url, connections } = await receiver(behaviour)
    expect(await sender(short).post({ url, ...message })).toMatchObject({ ok: false, ...expected })
    await eventually(() => connections.open.size === 0)
  })

  test('one that never takes the connection further than TCP is given up', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await eventually(() => silent.listening)
    const { port } = silent.address() as { port: number }
    const outcome = await sender(short).post({ url: `https://127.0.0.1:${port}/`, ...message })
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'timeout', ms: { connected: null, answered: null } })
  })

  test.each([
    ['1 GB', faults.bodyOf(2 ** 30)],
    ['an endless body', faults.endless],
  ])('%s is read up to 64 kB and no further', async (_, behaviour) => {
    const { url, connections } = await receiver(behaviour)
    const { response_body, ...outcome } = await sender().post({ url, ...message })
    expect(outcome).toMatchObject({ ok: true, status: 200, error: null, truncated: true })
    expect(response_body.length).toBe(65_536)
    await eventually(() => connections.open.size === 0)
  })

  test('exactly 64 kB is all of it, and the connection is kept', async () => {
    const { url, connections } = await receiver(faults.bodyOf(65_536))
    const { post } = sender({ connections: 1 })
    for (let i = 0; i < 2; i++) {
      const { response_body, truncated } = await post({ url, ...message })
      expect([response_body.length, truncated]).toEqual([65_536, false])
    }
    expect(connections.opened).toBe(1)
  })

  test('a redirect to a metadata address is reported and not followed', async () => {
    const { url, received } = await receiver(faults.redirectToMetadata)
    expect(await sender().post({ url, ...message })).toMatchObject({
      ok: false,
      status: 302,
      error: 'redirect',
      response_headers: { location: 'http://169.254.169.254/latest/meta-data/' },
    })
    expect(received).toHaveLength(1)
  })

  test('nobody listens', async () => {
    const { url, close } = await openReceiver()
    await close()
    expect(await sender().post({ url, ...message })).toMatchObject({ ok: false, status: null, error: 'refused' })
  })

  test('Retry-After as a date counts from now', async () => {
    const { url } = await receiver(faults.status(429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }))
    const { retry_after_ms } = await sender().post({ url, ...message })
    expect(retry_after_ms).toBeGreaterThan(3_500_000)
    expect(retry_after_ms).toBeLessThanOrEqual(3_600_000)
  })
})

describe('what we do ourselves becomes an outcome too', () => {
  test('time runs out while the name is looked up: it is not sent afterwards', async () => {
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
  ])('the header %s cannot be sent', async (name, value) => {
    const { url, received } = await receiver()
    expect(await sender().post({ url, ...message, headers: { [name]: value } })).toMatchObject({ ok: false, error: 'bad_header' })
    expect(received).toEqual([])
  })

  test('a header that is set replaces ours, whatever its case', async () => {
    const { url, received } = await receiver()
    await sender().post({ url, ...message, headers: { 'User-Agent': 'Mine/2', 'X-My-Token': 'abc' } })
    expect(received[0]?.headers).toMatchObject({ 'user-agent': 'Mine/2', 'x-my-token': 'abc' })
  })

  test('the sender was closed: what was under way ends, and nothing is sent any more', async () => {
    const { url, received, connections } = await receiver(faults.neverAnswers)
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
  const named = (port: number) => ({ url: `http://hooks.example.com:${port}/`, ...message })

  test.each([
    ['private', ['10.0.0.5']],
    ['metadata', ['169.254.169.254']],
    ['one good, one private', ['127.0.0.1', '192.168.1.1']],
    ['one good, one private over IPv6', ['127.0.0.1', 'fd00::1']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['nonsense', ['not an address']],
  ])('a name that leads to %s is not called', async (_, addresses) => {
    const { port, connections } = await receiver()
    const outcome = await sender({ resolve: async () => addresses }).post(named(port))
    expect(outcome).toMatchObject({ ok: false, status: null, error: 'forbidden_address' })
    expect(connections.opened).toBe(0)
  })

  test('rebinding: the address that was judged is the one that is called, and the name is asked once', async () => {
    const { port, received } = await receiver()
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const resolve = vi.fn(async () => answers.shift() ?? [])
    const { post } = sender({ resolve, connections: 1 })
    expect(await post(named(port))).toMatchObject({ ok: true })
    expect(await post(named(port))).toMatchObject({ ok: true })
    expect([received.length, resolve.mock.calls.length]).toEqual([2, 1])
  })

  test('rebinding: a later connection is judged anew', async () => {
    const { port, received } = await receiver((response) => response.writeHead(200, { connection: 'close' }).end())
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const { post } = sender({ resolve: async () => answers.shift() ?? [] })
    expect(await post(named(port))).toMatchObject({ ok: true })
    expect(await post(named(port))).toMatchObject({ ok: false, error: 'forbidden_address' })
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
  ])('a name server that gives %s', async (_, resolve) => {
    const { port } = await receiver()
    expect(await sender({ resolve }).post(named(port))).toMatchObject({ ok: false, error: 'dns' })
  })

  test.each([
    ['http://127.0.0.1:8080/', { ...strictPolicy, https_only: false }, 'forbidden_address'],
    ['https://[::1]/', strictPolicy, 'forbidden_address'],
    ['https://10.1.2.3/', strictPolicy, 'forbidden_address'],
    ['http://hooks.example.com/', strictPolicy, 'url_refused'],
    ['https://hooks.example.com:25/', strictPolicy, 'url_refused'],
    ['no url', strictPolicy, 'url_refused'],
  ])('%s under a policy that became stricter', async (url, policy, error) => {
    const resolve = vi.fn(async () => ['127.0.0.1'])
    expect(await sender({ policy, resolve }).post({ url, ...message })).toMatchObject({ ok: false, status: null, error })
    expect(resolve).not.toHaveBeenCalled()
  })

  test('an address in the URL is judged at the connection too', async () => {
    const { port, connections } = await receiver()
    const reach = { policy: strictPolicy, resolve: async () => [], connectTimeoutMs: 1000, connections: 1, maxOrigins: 1 }
    const pools = openPools(reach)
    onTestFinished(pools.close)
    const outcome = await exchange(pools.poolOf(`http://127.0.0.1:${port}`), { path: '/', ...message }, 1000)
    expect(outcome).toMatchObject({ ok: false, error: 'forbidden_address' })
    expect(connections.opened).toBe(0)
  })

  test('a network that the operator opened', async () => {
    const { port } = await receiver()
    const policy = { ...strictPolicy, https_only: false, allowed: [cidr('127.0.0.0/30')] }
    expect(await sender({ policy, resolve: async () => ['127.0.0.1'] }).post(named(port))).toMatchObject({ ok: true })
    expect(await sender({ policy, resolve: async () => ['127.0.0.9'] }).post(named(port))).toMatchObject({ error: 'forbidden_address' })
  })

  test('localhost is this machine without asking anybody', async () => {
    const { port } = await receiver()
    expect(await sender().post({ url: `http://localhost:${port}/`, ...message })).toMatchObject({ ok: true })
  })
})

describe('TLS', () => {
  const good = newCertificate(['hooks.example.com', '127.0.0.1'])
  const resolve = async () => ['127.0.0.1']
  const named = (port: number) => ({ url: `https://hooks.example.com:${port}/`, ...message })

  test('a certificate for the host, by somebody we trust', async () => {
    const { port, url, received } = await receiver(faults.ok, good)
    const { post } = sender({ policy: { ...loopback, https_only: true }, resolve, ca: good.cert })
    expect(await post(named(port))).toMatchObject({ ok: true, status: 200 })
    expect(await post({ url, ...message })).toMatchObject({ ok: true, status: 200 })
    expect(received).toHaveLength(2)
  })

  test.each<[string, ServerOptions, string | undefined]>([
    ['nobody vouches for', good, undefined],
    ['is for another host', newCertificate(['elsewhere.example.com']), 'own'],
    ['has expired', newCertificate(['hooks.example.com'], -1), 'own'],
    ['comes with TLS 1.1 only', { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, 'own'],
  ])('a certificate that %s', async (_, tls, trust) => {
    const { port, received } = await receiver(faults.ok, tls)
    const { post } = sender({ resolve, ...(trust && { ca: String(tls.cert) }) })
    expect(await post(named(port))).toMatchObject({ ok: false, status: null, error: 'tls' })
    expect(received).toEqual([])
  })

  test('no switch of the environment makes us trust everybody', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { port } = await receiver(faults.ok, good)
    expect(await sender({ resolve }).post(named(port))).toMatchObject({ ok: false, error: 'tls' })
  })

  test('a receiver without TLS', async () => {
    const { port } = await receiver()
    expect(await sender({ resolve }).post(named(port))).toMatchObject({ ok: false, error: 'tls' })
  })
})

describe('connections', () => {
  test('are kept from one delivery to the next, after a failure too', async () => {
    const { url, connections, behave } = await receiver()
    const { post } = sender({ connections: 1 })
    await post({ url, ...message })
    behave(faults.status(500))
    await post({ url, ...message })
    behave(faults.ok)
    await post({ url, ...message })
    expect(connections.opened).toBe(1)
  })

  test('one that the receiver closed meanwhile costs no delivery', async () => {
    const { url, connections } = await receiver()
    const { post } = sender({ connections: 1 })
    for (let i = 0; i < 3; i++) {
      expect(await post({ url, ...message })).toMatchObject({ ok: true })
      for (const socket of connections.open) socket.destroy()
      await eventually(() => connections.open.size === 0)
    }
    expect(connections.opened).toBe(3)
  })

  test('one that a receiver holds up does not hold up its others', async () => {
    const { url, behave, received } = await receiver(faults.neverAnswers)
    const { post, close } = sender()
    const stuck = Array.from({ length: 20 }, () => post({ url, ...message }))
    await eventually(() => received.length === 20)
    behave(faults.ok)
    expect(await post({ url, ...message })).toMatchObject({ ok: true })
    await close()
    expect((await Promise.all(stuck)).map(({ error }) => error)).toEqual(Array(20).fill('aborted'))
  })

  test('origins beyond the bound are let go, the one used longest ago first, and what it has under way ends well', async () => {
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

  test('a proxy of the environment is not used', async () => {
    const proxy = await receiver()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`)
    const { url, received } = await receiver()
    expect(await sender().post({ url, ...message })).toMatchObject({ ok: true })
    expect([received.length, proxy.connections.opened]).toEqual([1, 0])
  })
})

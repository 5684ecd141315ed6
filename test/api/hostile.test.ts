import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { someInfo } from '../support/people.ts'
import { TIMEOUT_MS } from '../support/process.ts'
import { expectClientError, type RawRequest, sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, replica, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const send = (method: string, path: string, { headers, body }: RawRequest = {}) =>
  sendRaw(w.base + path, method, { headers: { 'x-service-api-key': w.team_api_key, ...headers }, ...(body === undefined ? {} : { body }) })

const post = (body: string | Buffer, headers: Record<string, string> = {}) => send('POST', '/v2/user', { body, headers })

const nestedArrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('a request body', () => {
  test.each<[string, string | Buffer, number]>([
    ['over the limit', JSON.stringify({ client_user_id: 'x'.repeat(1_100_000) }), 413],
    ['that is not JSON', 'client_user_id=5', 422],
    ['that is truncated', '{"client_user_id":"a', 422],
    ['with two documents', '{"client_user_id":"a"}{}', 422],
    ['that is empty', '', 422],
    ['that is blank', '  \n', 422],
    ['that is an array', '[]', 422],
    ['that is a string', '"a"', 422],
    ['that is null', 'null', 422],
    ['that is a number', '5', 422],
    ['that nests 100,000 arrays', nestedArrays(100_000), 422],
    ['that nests 100,000 arrays in an unknown field', `{"client_user_id":"deep","x":${nestedArrays(100_000)}}`, 422],
    ['that nests 100,000 objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 422],
    ['with NUL in a value', '{"client_user_id":"a\\u0000b"}', 422],
    ['with NUL in a key', '{"client_user_id":"nul-key","a\\u0000":1}', 422],
    ['with a raw NUL', '{"client_user_id":"a\0b"}', 422],
    ['with half a surrogate pair', '{"client_user_id":"a\\ud800b"}', 422],
    ['with bytes that are not UTF-8', Buffer.from('{"client_user_id":"a\xff\xfeb"}', 'latin1'), 422],
    ['with an overlong encoding', Buffer.from('{"client_user_id":"a\xc0\x80b"}', 'latin1'), 422],
    ['with a 10,000-character ID', JSON.stringify({ client_user_id: 'x'.repeat(10_000) }), 422],
  ])('%s is rejected', async (_, body, status) => {
    const response = await post(body)
    expectClientError(response)
    expect(response.status).toBe(status)
    const keyed = await post(body, { 'x-idempotency-key': 'hostile' })
    expect(keyed.status).toBe(status)
  })

  test('names the field that contains a NUL character', async () => {
    const { body } = await post('{"client_user_id":"u","x":[{"note":"a\\u0000b"}]}')
    expect(body).toMatchObject({ detail: [{ loc: ['body', 'x', 0, 'note'], msg: 'Text contains a NUL character. Remove it.' }] })
  })

  test.each([
    ['client_user_id=5', 'The body is not valid JSON.'],
    ['{\n  "client_user_id": secret\n}', 'The body is not valid JSON.'],
    ['{"client_user_id":"secret",}', 'The body is not valid JSON: check line 1, column 28.'],
    ['{"client_user_id":', 'The body is not valid JSON: it ends too early.'],
    [Buffer.from('{"client_user_id":"\xff"}', 'latin1'), 'The body is not valid JSON: it is not UTF-8.'],
    ['', 'A JSON body is required.'],
    ['[]', 'Must be an object.'],
    ['{"client_user_id":5}', 'Must be a string.'],
    ['{"client_user_id":"u","ingestion_start":"secret"}', 'Must be a date (YYYY-MM-DD) or a date-time, such as 2026-03-01T09:30:00Z.'],
  ])('gets an error message that does not echo it: %s', async (body, msg) => {
    expect((await post(body)).body.detail).toEqual([expect.objectContaining({ msg })])
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'nonsense',
    ';',
    'application/xml',
  ])('of type %s is rejected with 415', async (type) => {
    const response = await post('{"client_user_id":"typed"}', { 'content-type': type })
    expectClientError(response)
    expect(response.status).toBe(415)
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])('of type %s is accepted', async (type) => {
    expect((await post(JSON.stringify({ client_user_id: `typed ${type}` }), { 'content-type': type })).status).toBe(200)
  })

  test('with __proto__ or constructor keys does not pollute prototypes', async () => {
    const response = await post('{"client_user_id":"proto","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    expect(response.status).toBe(200)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expectClientError(await post('{"__proto__":{"client_user_id":"inherited"}}'))
  })

  test('may contain unknown fields, which are ignored', async () => {
    const response = await post('{"client_user_id":"extra","favorite_color":{"r":1},"user_id":"8a5f3c1e-0000-4000-8000-000000000000"}')
    expect(response.status).toBe(200)
    expect(response.text).not.toMatch(/favorite_color|8a5f3c1e/)
  })

  test('keeps control, escaped and non-Latin characters', async () => {
    const client_user_id = '𝄞 \u0001\u2028\ufeff "\\/ ñ 名'
    const created = await post(JSON.stringify({ client_user_id }))
    expect(created.body).toMatchObject({ client_user_id })
    expect((await send('GET', `/v2/user/resolve/${encodeURIComponent(client_user_id)}`)).text).toBe(created.text)
  })

  test('is optional only when the endpoint takes none', async () => {
    const response = await send('POST', '/sandbox/clock/reset')
    expect(response.status).toBe(200)
    expect((await send('POST', '/sandbox/clock/reset', { body: '' })).status).toBe(200)
    expectClientError(await send('POST', '/v2/user'))
  })
})

describe('a request without a key', () => {
  test.each<[string, string, string]>([
    ['not JSON', 'application/json', '{"client_user_id":'],
    ['of an unsupported type', 'text/plain', 'hello'],
    ['over the limit', 'application/json', JSON.stringify({ client_user_id: 'x'.repeat(1_100_000) })],
  ])('returns 401 before it reads a body that is %s', async (_, type, body) => {
    const response = await post(body, { 'content-type': type, 'x-service-api-key': '' })
    expectClientError(response)
    expect([response.status, response.body.detail]).toMatchObject([401, { error_type: 'MISSING_API_KEY' }])
  })
})

test('rejects a cursor with an impossible date', async () => {
  const next_cursor = Buffer.from(`2026-02-30T00:00:00.000Z ${newUuid()}`).toString('base64url')
  const { org_id } = w
  const calls = [
    w.admin.listTeams({ params: { org_id }, query: { next_cursor } }),
    w.admin.listManagementKeys({ params: { org_id }, query: { next_cursor } }),
    w.admin.listTeamKeys({ params: { org_id, env: 'sandbox', region: 'us' }, query: { next_cursor } }),
  ]
  for (const response of await Promise.all(calls.map(errorOf)))
    expect(response).toMatchObject({ status: 422, detail: [{ loc: ['query', 'next_cursor'] }] })
})

test.each<[string, string, RawRequest, number, string]>([
  ['a body over the limit', 'POST', { body: 'x'.repeat(1_100_000) }, 413, 'BODY_TOO_LARGE'],
  ['a body of an unsupported type', 'POST', { body: 'x', headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_CONTENT_TYPE'],
  ['a broken percent-encoding', 'GET', {}, 400, 'BAD_URL'],
])('%s gets its own error_type', async (_, method, sending, status, error_type) => {
  const response = await send(method, method === 'GET' ? '/v2/user/%zz' : '/v2/user', sending)
  expect(response).toMatchObject({ status, body: { detail: { error_type } } })
})

describe('a URL', () => {
  const id = '8a5f3c1e-0000-4000-8000-000000000000'
  test.each<[string, string, number]>([
    ['GET', '/v2/user/%00', 422],
    ['GET', `/v2/user/${id}%00`, 422],
    ['GET', '/v2/user/resolve/a%00b', 422],
    ['GET', '/v2/user?limit=%00', 422],
    ['GET', '/v2/user?unknown=%00', 422],
    ['GET', '/v2/user?%00=1', 422],
    ['GET', '/v2/user/%', 400],
    ['GET', '/v2/user/%zz', 400],
    ['GET', '/v2/user/%c3%28', 400],
    ['GET', '/v2/user/%ed%a0%80', 400],
    ['GET', '/v2/user/resolve/%ff', 400],
    ['GET', `/v2/user/${'a'.repeat(10_000)}`, 400],
    ['GET', `/v2/user/resolve/${'a'.repeat(10_000)}`, 400],
    ['GET', `/v2/user/resolve/${'a'.repeat(256)}`, 422],
    ['GET', `/v2/team/users/search?query_id=${'a'.repeat(10_000)}`, 422],
    ['POST', `/v2/user/undo_delete?user_id=${'a'.repeat(10_000)}`, 422],
    ['POST', `/v2/user/undo_delete?user_id=${id}&user_id=${id}`, 422],
    ['GET', '/v2/user?limit=1&limit=2', 422],
    ['GET', '/v2/user?limit=1e3', 422],
    ['GET', '/v2/user?limit=%', 422],
    ['GET', '/v2/user/__proto__', 422],
    ['GET', '/nowhere', 404],
    ['GET', '/v2/user/..%2f..%2fetc%2fpasswd', 422],
    ['PUT', '/v2/user', 405],
    ['OPTIONS', '/v2/user', 405],
    ['OPTIONS', '/nowhere', 404],
  ])('is rejected: %s %.60s', async (method, path, status) => {
    const response = await send(method, path)
    expectClientError(response)
    expect(response.status).toBe(status)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'limit%5B%5D', 'a%ff', '', 'limit%20'])(
    'may contain the unknown parameter "%s"',
    async (name) => {
      const [response, plain] = await Promise.all([send('GET', `/v2/user?${name}=1&limit=1`), send('GET', '/v2/user?limit=1')])
      expect([response.status, response.text]).toEqual([200, plain.text])
    },
  )

  test('returns the allowed methods with a 405', async () => {
    const { status, headers, body } = await send('DELETE', '/v2/user')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST'])
    expect(body.detail).toMatchObject({ error_type: 'UNKNOWN_METHOD', error_message: expect.stringContaining('GET or POST') })
    expect((await send('GET', '/nowhere')).body.detail).toMatchObject({ error_type: 'UNKNOWN_PATH' })
  })

  test('with invalid numbers gets one error per parameter', async () => {
    const { body } = await send('GET', '/v3/orders?page=0&size=many')
    expect(body.detail).toEqual([
      { type: 'too_small', loc: ['query', 'page'], msg: 'Must be at least 1.' },
      { type: 'type_error', loc: ['query', 'size'], msg: 'Must be a number.' },
    ])
  })

  test('can hold an ID of 255 multi-byte characters', async () => {
    const client_user_id = '名'.repeat(255)
    const created = await post(JSON.stringify({ client_user_id }))
    expect((await send('GET', `/v2/user/resolve/${encodeURIComponent(client_user_id)}`)).text).toBe(created.text)
  })

  test('accepts a user_id in upper case for reads and writes', async () => {
    const { user_id } = await w.api.createUser({ body: { client_user_id: 'in capitals' } })
    const params = { user_id: user_id.toUpperCase() }
    await w.api.patchUser({ params, body: { fallback_birth_date: '1961-07-23' } })
    await w.api.putUserInfo({ params, body: someInfo() })
    expect(await w.api.getUser({ params: { user_id } })).toMatchObject({ user_id, fallback_birth_date: { value: '1961-07-23' } })
    expect(await w.api.getUserInfo({ params: { user_id } })).toEqual(await w.api.getUserInfo({ params }))
  })

  test('returns the status and length of GET to HEAD, without a body', async () => {
    for (const path of ['/v2/user', '/v2/user/%00', '/v2/user/metrics', '/health']) {
      const [head, get] = await Promise.all([send('HEAD', path), send('GET', path)])
      expect([head.status, head.text]).toEqual([get.status, ''])
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
    }
    expect((await send('HEAD', '/nowhere')).status).toBe(404)
  })

  test('of a sandbox endpoint returns 404 in production', async () => {
    const production = await replica({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
    const response = await fetch(`${production.base}/sandbox/clock`)
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { detail: { error_type: 'UNKNOWN_PATH', error_message: 'This path exists in a sandbox only.' } },
    ])
  })

  test('of an endpoint that is not offered returns 404 with an alternative', async () => {
    const { status, body } = await send('POST', '/v2/link/code/create')
    expect([status, body.detail]).toEqual([
      404,
      {
        error_type: 'ROUTE_NOT_OFFERED',
        error_message: 'Assay does not offer this endpoint of the Junction API. Use POST /v2/link/token.',
      },
    ])
  })
})

describe('request headers', () => {
  test.each<[string, Record<string, string>, number]>([
    ['a 10,000-character key', { 'x-service-api-key': 'k'.repeat(10_000) }, 401],
    ['a key of high bytes', { 'x-service-api-key': 'sk_us_ÿþ' }, 401],
    ['a 10,000-character token', { 'x-service-api-key': '', authorization: `Bearer ${'t'.repeat(10_000)}` }, 401],
    ['a token without its scheme', { 'x-service-api-key': '', authorization: 'abc' }, 401],
    ['a 10,000-character idempotency key', { 'x-idempotency-key': 'k'.repeat(10_000) }, 422],
    ['an empty idempotency key', { 'x-idempotency-key': '' }, 422],
    ['an unknown idempotency policy', { 'x-idempotency-key': 'k', 'x-idempotency-error': 'sometimes' }, 422],
  ])('are rejected with %s', async (_, headers, status) => {
    const response = await post('{"client_user_id":"headed"}', headers)
    expectClientError(response)
    expect(response.status).toBe(status)
  })

  test.each(['abc-123', 'a', '01HXZ.trace:7_b', 'x'.repeat(128)])('keep the X-Request-Id %.20s', async (id) => {
    expect((await send('GET', '/v2/user', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id)
  })

  test.each(['', 'x'.repeat(129), 'two words', '<script>', 'zephyrine@example.org', 'ÿ', "a'b"])(
    'replace the X-Request-Id "%.20s"',
    async (id) => {
      const responses = await Promise.all(
        ['/v2/user', '/nowhere', '/v2/user/%', '/health'].map((path) => send('GET', path, { headers: { 'x-request-id': id } })),
      )
      for (const { headers } of responses) expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

describe('on a raw socket', () => {
  const get = 'GET /v2/user HTTP/1.1\r\nHost: localhost\r\n'
  test.each<[string, string, number]>([
    ['garbage', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', 400],
    ['an invalid method', 'FETCH /v2/user HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['an unsupported method', 'PURGE /v2/user HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 405],
    ['an invalid HTTP version', 'GET /v2/user HTTP/9.9\r\nHost: localhost\r\n\r\n', 400],
    ['a request without a host', 'GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['an HTTP/1.0 request without a host', 'GET /nowhere HTTP/1.0\r\n\r\n', 404],
    ['a header without a colon', `${get}nonsense\r\n\r\n`, 400],
    ['a header with NUL', `${get}x-a: a\0b\r\n\r\n`, 400],
    ['a huge header', `${get}x-a: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ['a huge URL', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
    ['two Content-Length headers', `POST /v2/user HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    [
      'Content-Length with chunked encoding',
      `POST /v2/user HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
    ],
    ['an invalid chunk', `POST /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['an unsupported Expect header', `${get}Expect: 200-maybe\r\nConnection: close\r\n\r\n`, 401],
    [
      'an absolute URL of another host',
      'GET http://elsewhere.example/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      404,
    ],
    ['an invalid host', 'GET /docs/ HTTP/1.1\r\nHost: a[b\r\nConnection: close\r\n\r\n', 400],
  ])('%s gets a JSON error', async (_, text, status) => {
    const response = await sendOnSocket(text)
    const [head = '', body = ''] = response.split('\r\n\r\n')
    expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head.toLowerCase()).toContain('content-type: application/json')
    expect(head.toLowerCase()).toMatch(/x-request-id: \S+/)
    expect(JSON.parse(body)).toHaveProperty('detail')
  })

  test('an invalid request gets the error_type BAD_REQUEST', async () => {
    expect(await sendOnSocket('nonsense\r\n\r\n')).toContain('"error_type":"BAD_REQUEST"')
  })

  test('the server is still ready afterward', async () => {
    expect((await send('GET', '/ready')).status).toBe(200)
  })
})

const sendOnSocket = (text: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(w.base).port), '127.0.0.1', () => socket.write(Buffer.from(text, 'latin1')))
    const chunks: Buffer[] = []
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no response')))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error) => (chunks.length ? resolve(Buffer.concat(chunks).toString()) : reject(error)))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })

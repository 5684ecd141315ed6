import { expect, test } from 'vitest'
import { rows } from '../../src/contract/index.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { oauthWorld } from '../support/oauth.ts'
import { aNewOrder, placeOrder } from '../support/orders.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

// One short attack per line of the OWASP API Security Top 10 (2023). Other files attack the same lines in depth.

const { w, source, connect } = await oauthWorld()
const other = await w.tenant({ org: 'Meadow Care', team: 'Meadow' })
const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })

type Credential = Record<string, string>
const keyOf = (team_api_key: string): Credential => ({ 'x-service-api-key': team_api_key })
const managementKeyOf = (management_key: string): Credential => ({ 'x-management-key': management_key })

async function send(method: string, path: string, headers: Credential, body?: unknown, { base }: { base: string } = w) {
  const { status, body: reply } = await sendRaw(base + path, method, {
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { error_type } = (reply.detail ?? {}) as { error_type?: string }
  return { status, error_type, reply }
}

const keysPath = `/v1/org/${w.org_id}/team_api_keys/sandbox/us`
const aKey = async (settings: object) =>
  (await w.admin.createTeamKey({
    params: { org_id: w.org_id, env: 'sandbox', region: 'us' },
    body: { label: 'attack', team_id: w.team_id, ...settings },
  })) as { id: string; value: string }

test('API1 broken object level authorization: the key of another team neither reads nor changes a patient or an order', async () => {
  const user_id = await aUser(w.api)
  const before = await placeOrder(w.api, 'walk_in_test', { user_id })
  const [user, order] = [{ params: { user_id } }, { params: { order_id: before.id } }]
  const stolen = [
    other.api.getUser(user),
    other.api.patchUser({ ...user, body: { fallback_time_zone: 'UTC' } }),
    other.api.deleteUser(user),
    other.api.getOrder(order),
    other.api.getResults(order),
    other.api.cancelOrder(order),
  ]
  for (const error of await Promise.all(stolen.map(errorOf))) expect(error).toMatchObject({ status: 404 })
  expect(await w.api.getOrder(order)).toEqual(before)
  expect((await w.api.getUser(user)).fallback_time_zone).toBeNull()
})

test('API2 broken authentication: an altered, unsigned or expired token is rejected', async () => {
  const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
  const list = (token: string) => send('GET', '/v2/user', { authorization: `Bearer ${token}` })
  expect((await list(access_token)).status).toBe(200)
  const altered = access_token.slice(0, -1) + (access_token.endsWith('x') ? 'y' : 'x')
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${part({ alg: 'none' })}.${part({ team_id: w.team_id, exp: 4102444800 })}.`
  for (const token of [altered, unsigned]) expect(await list(token)).toMatchObject({ status: 401, error_type: 'INVALID_ACCESS_TOKEN' })
  w.advanceTime(11 * MINUTE)
  expect((await list(access_token)).status).toBe(401)
})

test('API3 broken object property level authorization: a request cannot set the access or the team of a key', async () => {
  const { id, value } = await aKey({ read_only: true })
  const patch = (change: object) => send('PATCH', `${keysPath}/${id}`, managementKeyOf(w.management_key), change)
  for (const change of [{ read_only: false }, { team_id: other.team_id }, { expires_at: null }])
    expect(await patch({ label: 'renamed', ...change })).toMatchObject({ status: 422, reply: { detail: [{ type: 'unknown_field' }] } })
  expect(await patch({ label: 'renamed' })).toMatchObject({
    status: 200,
    reply: { label: 'renamed', read_only: true, team_id: w.team_id },
  })
  expect(await send('POST', '/v2/user', keyOf(value), { client_user_id: 'smuggled' })).toMatchObject({
    status: 403,
    error_type: 'READ_ONLY_KEY',
  })
})

test('API4 unrestricted resource consumption: no request gets a page or sends a body of any size', async () => {
  const key = keyOf(w.team_api_key)
  for (const path of ['/v2/user?limit=1000000000', '/v3/orders?size=1000000000', '/v3/lab_test?lab_test_limit=1000000000'])
    expect((await send('GET', path, key)).status, path).toBe(422)
  expect(await send('POST', '/v2/user', key, { client_user_id: 'x'.repeat(1024 * 1024) })).toMatchObject({
    status: 413,
    error_type: 'BODY_TOO_LARGE',
  })
})

test('API5 broken function level authorization: no credential calls the functions of another kind', async () => {
  const { lab_key } = await w.partnerLab(1)
  const { value: reader } = await aKey({ read_only: true })
  const user_id = await aUser(w.api)
  const { sign_in_token } = await w.api.createUserToken({ params: { user_id } })
  const user: Credential = { authorization: `Bearer ${sign_in_token}` }
  const teams = `/v1/org/${w.org_id}/team`
  for (const [name, status, path, credential] of [
    ['a team API key manages teams', 401, teams, { 'x-management-key': w.team_api_key }],
    ['a lab key manages teams', 401, teams, { 'x-management-key': lab_key }],
    ['a management key reads patients', 401, '/v2/user', keyOf(w.management_key)],
    ['a lab key reads patients', 401, '/v2/user', keyOf(lab_key)],
    ['a team API key reads the orders of a lab', 401, '/lab/v1/orders', { 'x-lab-key': w.team_api_key }],
    ['a patient lists patients', 403, '/v2/user', user],
  ] as const)
    expect((await send('GET', path, credential)).status, name).toBe(status)
  expect((await send('DELETE', `/v2/user/${user_id}`, keyOf(reader))).status).toBe(403)
  expect((await send('POST', '/v2/link/token', user, { user_id })).status).toBe(403)
})

test('API6 unrestricted access to sensitive business flows: a script that places orders is held to the rate of its key', async () => {
  const { value } = await aKey({ rate_limit: { requests_per_second: 1, burst: 3 } })
  const body = await aNewOrder(w.api)
  const placed = async () => (await w.api.listOrders({ query: { user_id: body.user_id } })).total
  const statuses: number[] = []
  w.stopTime()
  for (let i = 0; i < 8; i++) statuses.push((await send('POST', '/v3/order', keyOf(value), body)).status)
  w.resumeTime()
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  expect(await placed()).toBe(3)
})

test('API7 server side request forgery: no webhook and no broker has an internal address', async () => {
  const { org_id, team_id, admin } = production
  const hosts = ['169.254.169.254', '127.0.0.1', '10.0.0.1', '[::ffff:10.0.0.1]', '0x7f000001', '2130706433', '[fd00:ec2::254]']
  for (const host of hosts) {
    const webhook = admin.createWebhook({ params: { org_id, team_id, env: 'production' }, body: { url: `https://${host}/latest` } })
    expect(await errorOf(webhook), host).toMatchObject({ status: 400, detail: { error_type: 'WEBHOOK_URL_REFUSED' } })
    const broker = admin.upsertPipelines({
      params: { org_id, env: 'production', region: 'us' },
      body: { team_ids: [team_id], rabbitmq: { uri: `amqps://a:b@${host}/health`, exchange: 'events' } },
    })
    expect(await errorOf(broker), host).toMatchObject({ status: 400, detail: { error_type: 'BROKER_URI_REFUSED' } })
  }
})

test('API8 security misconfiguration: no response names the software, allows another origin or contains a stack trace', async () => {
  const attempts: [string, string][] = [
    ['OPTIONS', '/v2/user'],
    ['GET', '/v2/user'],
    ['GET', `/v2/user/${newUuid()}'--`],
    ['GET', '/v3/orders?page=select+1'],
    ['GET', '/nowhere/%zz'],
    ['POST', '/v3/order'],
  ]
  for (const [method, path] of attempts) {
    const body = method === 'POST' ? '{"user_id":' : undefined
    const headers = { ...keyOf(w.team_api_key), origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
    const response = await sendRaw(w.base + path, method, { headers, ...(body ? { body } : {}) })
    for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'access-control-allow-credentials'])
      expect(response.headers.get(name), `${name} of ${method} ${path}`).toBeNull()
    expect(response.text).not.toMatch(/node_modules|\bat .+:\d+:\d+|select .+ from|postgres/i)
  }
})

test('API9 improper inventory management: production serves no sandbox function and no unlisted path', async () => {
  const sandbox = rows.filter(([, row]) => row.sandbox)
  expect(sandbox.length).toBeGreaterThan(0)
  const key = keyOf(production.team_api_key)
  for (const [name, { method, path }] of sandbox) {
    const reply = await send(method.toUpperCase(), path.replace(/\{\w+\}/g, newUuid), key, undefined, production)
    expect(reply, name).toMatchObject({ status: 404, error_type: 'UNKNOWN_PATH' })
  }
  for (const path of ['/v0/user', '/v1/user', '/v4/order', '/debug', '/admin', '/graphql', '/.env', '/.git/config', '/internal/metrics'])
    expect(await send('GET', path, key, undefined, production), path).toMatchObject({ status: 404, error_type: 'UNKNOWN_PATH' })
  expect((await send('GET', '/v2/user', keyOf(w.team_api_key), undefined, production)).status).toBe(401)
})

test('API10 unsafe consumption of APIs: a compromised source connects nobody with a hostile response', async () => {
  for (const [status, body] of [
    [200, '<script>fetch("https://elsewhere.example")</script>'],
    [200, '{"access_token":{"$ne":null},"token_type":"Bearer"}'],
    [200, '{"__proto__":{"access_token":"stolen","token_type":"Bearer"}}'],
    [200, `{"access_token":"${'x'.repeat(3_000_000)}","token_type":"Bearer"}`],
    [302, ''],
  ] as const) {
    source.behavior.respondWith = { status, body }
    const { redirectParams, user_id } = await connect(w)
    source.behavior.respondWith = undefined
    expect(redirectParams, body.slice(0, 60)).toMatchObject({ state: 'error', error_type: 'provider_api_error' })
    expect(await w.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
  }
})

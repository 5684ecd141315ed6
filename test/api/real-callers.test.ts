import { describe, expect, test } from 'vitest'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { aPatient, placeOrder } from '../support/orders.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { aSample, push, pushSummary } from '../support/wearables.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()

const withoutIds = (path: string) => path.replace(/\{\w+\}/g, newUuid())

test('every API path works with a slash at its end', async () => {
  const rows = Object.values(endpoints as Record<string, Row>)
  expect(rows.length).toBeGreaterThan(150)
  for (const { method, path } of rows) {
    const url = w.base + withoutIds(path)
    // Without a credential, the refusal names the endpoint.
    const [plain, slashed] = [await sendRaw(url, method.toUpperCase()), await sendRaw(`${url}/`, method.toUpperCase())]
    expect([slashed.status, slashed.body], path).toEqual([plain.status, plain.body])
    expect((plain.body.detail as { error_type?: string } | undefined)?.error_type, path).not.toBe('UNKNOWN_PATH')
  }
})

test.each(['/health', '/ready', '/metrics', '/openapi.json', '/asyncapi.json', '/.well-known/jwks.json', '/docs', '/docs/orders'])(
  '%s works with a slash at its end',
  async (path) => {
    expect((await sendRaw(w.base + path, 'GET')).status).toBe(200)
    expect((await sendRaw(`${w.base}${path}/`, 'GET')).status).toBe(200)
  },
)

test('the link page with a slash at its end is that page', async () => {
  const { status, text } = await sendRaw(`${w.base}/link`, 'GET')
  expect(await sendRaw(`${w.base}/link/`, 'GET')).toMatchObject({ status, text })
  expect(text).toContain('<html')
})

test('a lab shop posts an order to /v3/order/', async () => {
  const request = { headers: { 'x-service-api-key': w.team_api_key }, body: '{}' }
  const [slashed, plain] = [await sendRaw(`${w.base}/v3/order/`, 'POST', request), await sendRaw(`${w.base}/v3/order`, 'POST', request)]
  expect(plain.status).toBe(422)
  expect(slashed.body).toEqual(plain.body)
})

test('a wrong method is named with and without a slash at the end', async () => {
  for (const path of ['/v3/order', '/v3/order/']) {
    const { status, headers } = await sendRaw(w.base + path, 'DELETE')
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST')
  }
})

test('empty query fields are ignored, except IDs and cursors', async () => {
  const get = (path: string) => sendRaw(w.base + path, 'GET', { headers: { 'x-service-api-key': w.team_api_key } })
  expect((await get('/v3/orders?start_date=&end_date=&page=&size=&status=&search_input=')).status).toBe(200)
  for (const query of ['limit=', 'limit', 'offset=&limit='])
    expect(await get(`/v2/user?${query}`)).toMatchObject({ status: 200, body: { limit: 100 } })
  for (const [path, name] of [
    ['/v3/orders', 'user_id'],
    ['/v3/orders', 'order_ids'],
    ['/events', 'after'],
    ['/v2/introspect/resources', 'next_cursor'],
  ])
    expect(await get(`${path}?${name}=`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: expect.arrayContaining(['query', name]) }] },
    })
})

test.each(['2031/03/01', '2031-03-01T23:30:00-05:00', '2031-03-01 00:00:00', '2031-03-01'])(
  'an order is held until %s, the day as it is written',
  async (activate_by) => {
    const order = await placeOrder(w.api, 'walk_in_test', { activate_by })
    expect(order.activate_by).toBe('2031-03-01')
  },
)

test.each(['2031/02/30', '2031/3/1', '2031-03/01', '2031-03-01Tnoon'])('%s is not a day', async (day) => {
  expect(await errorOf(w.api.createUser({ body: { client_user_id: 'day', fallback_birth_date: day } }))).toMatchObject({
    status: 422,
    detail: [{ loc: ['body', 'fallback_birth_date'] }],
  })
})

test('a list is filtered by days with slashes', async () => {
  const { status } = await sendRaw(`${w.base}/v3/orders?start_date=2026/01/01&end_date=2026/12/31`, 'GET', {
    headers: { 'x-service-api-key': w.team_api_key },
  })
  expect(status).toBe(200)
})

/** Each spelling of a time on 1 March, and the same time in UTC. */
const spellings = [
  ['2026-03-01T23:30:00-05:00', '2026-03-02T04:30:00.000Z'],
  ['2026-03-01T00:30:00+05:00', '2026-02-28T19:30:00.000Z'],
  ['2026-03-01T00:00:00', '2026-03-01T00:00:00.000Z'],
  ['2026-03-01 00:00:00', '2026-03-01T00:00:00.000Z'],
  ['2026/03/01 06:15', '2026-03-01T06:15:00.000Z'],
] as const

describe.each(spellings)('a period from %s', (spelling, time) => {
  const get = async (api_key: string, path: string, query: Record<string, string>) =>
    (await sendRaw(`${w.base}${path}?${new URLSearchParams(query)}`, 'GET', { headers: { 'x-service-api-key': api_key } })).body
  const moment = { start_date: spelling, end_date: spelling }

  test('selects the summaries of the day as it is written', async () => {
    const user_id = await aUser(w.api)
    for (const date of ['2026-02-28', '2026-03-01', '2026-03-02']) await pushSummary(w.api, user_id, 'activity', { day_summary: { date } })
    const path = `/v2/summary/activity/${user_id}`
    expect(await get(w.team_api_key, path, moment)).toMatchObject({ activity: [{ calendar_date: '2026-03-01' }] })
    expect(await get(w.team_api_key, `${path}/raw`, moment)).toMatchObject({ activity: [{ user_id }] })
  })

  test('selects the samples of that time', async () => {
    const user_id = await aUser(w.api)
    const samples = [...new Set(spellings.map(([, time]) => time))].map((start) => aSample(start, 61))
    await push(w.api, user_id, 'heartrate', samples)
    const { groups } = (await get(w.team_api_key, `/v2/timeseries/${user_id}/heartrate/grouped`, moment)) as {
      groups: Record<string, { data: { timestamp: string }[] }[]>
    }
    const found = Object.values(groups)
      .flat()
      .flatMap(({ data }) => data)
    expect(found.map(({ timestamp }) => new Date(timestamp).toISOString())).toEqual([time])
  })

  test('filters the list of orders', async () => {
    const { api, team_api_key } = await w.tenant()
    await placeOrder(api, 'walk_in_test')
    expect(await get(team_api_key, '/v3/orders', { start_date: spelling })).toMatchObject({ total: 1 })
    expect(await get(team_api_key, '/v3/orders', { end_date: spelling })).toMatchObject({ total: 0 })
  })
})

test('a plus sign of an offset that is not escaped in a URL is read as one', async () => {
  const user_id = await aUser(w.api)
  await pushSummary(w.api, user_id, 'activity', { day_summary: { date: '2026-03-01' } })
  const headers = { 'x-service-api-key': w.team_api_key }
  const { body } = await sendRaw(`${w.base}/v2/summary/activity/${user_id}?start_date=2026-03-01T00:30:00+05:00`, 'GET', { headers })
  expect(body).toMatchObject({ activity: [{ calendar_date: '2026-03-01' }] })
  expect((await sendRaw(`${w.base}/v3/orders?start_date=2026-03-01T00:30:00+05:00`, 'GET', { headers })).status).toBe(200)
})

test('the first Python client creates, finds and lists through its own paths', async () => {
  const headers = { 'x-service-api-key': w.team_api_key }
  const created = await sendRaw(`${w.base}/v2/user/key`, 'POST', { headers, body: '{"client_user_id":"python-1"}' })
  expect(created).toMatchObject({ status: 200, body: { client_user_id: 'python-1', team_id: w.team_id } })
  const { user_id } = created.body as { user_id?: string }
  expect((await sendRaw(`${w.base}/v2/user/key/python-1`, 'GET', { headers })).body).toEqual(created.body)
  await w.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id: user_id as string } })
  expect((await sendRaw(`${w.base}/v2/user/${user_id}/providers`, 'GET', { headers })).body).toEqual(
    await w.api.listConnections({ params: { user_id: user_id as string } }),
  )
})

const window = 'start_date=2026-03-01&end_date=2026-03-02'
const summaryReads = Object.values(endpoints as Record<string, Row>).filter(
  ({ method, path }) => method === 'get' && path.startsWith('/v2/summary/'),
)

test('every summary read can be limited to a provider', async () => {
  expect(summaryReads).toHaveLength(15)
  const user_id = await aUser(w.api)
  const read = (path: string, provider: string) =>
    sendRaw(`${w.base}${path.replace('{user_id}', user_id)}?${window}&provider=${provider}`, 'GET', {
      headers: { 'x-service-api-key': w.team_api_key },
    })
  for (const { path } of summaryReads) {
    expect(await read(path, 'tidemark'), path).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'provider'] }] } })
    for (const provider of ['', 'oura']) expect((await read(path, provider)).status, path).toBe(path.includes('profile') ? 404 : 200)
  }
})

test('a summary read with a provider returns only summaries of that provider', async () => {
  const user_id = await aUser(w.api)
  for (const provider of ['oura', 'fitbit'])
    await pushSummary(w.api, user_id, 'activity', { day_summary: { date: '2026-03-01' } }, { provider })
  const read = async (provider: string) =>
    (await w.api.listActivity({ params: { user_id }, query: { start_date: '2026-03-01', provider } })).activity.map(
      ({ source }) => source.slug,
    )
  expect(await read('oura')).toEqual(['oura'])
  expect((await read('')).sort()).toEqual(['fitbit', 'oura'])
})

test('an operation that Assay does not offer says so, even if its path is that of another one', async () => {
  const response = await sendRaw(`${w.base}/v2/user/${newUuid()}/create_portal_url`, 'POST', { body: '{"context":"launch"}' })
  expect(response).toMatchObject({ status: 404, body: { detail: { error_type: 'ROUTE_NOT_OFFERED' } } })
  expect(JSON.stringify(response.body)).toContain('POST /v2/link/token')
})

test.each(['GET', 'PUT', 'QUERY', 'PURGE'])(
  'a client that uses %s where it is not offered gets 405 before its body is read',
  async (method) => {
    for (const request of [{}, { body: '{' }, { body: 'x', headers: { 'content-type': 'text/plain' } }].slice(
      0,
      method === 'GET' ? 1 : 3,
    )) {
      const { status, headers, body } = await sendRaw(`${w.base}/v3/order`, method, request)
      expect([status, headers.get('allow'), body.detail]).toEqual([405, 'POST', expect.objectContaining({ error_type: 'UNKNOWN_METHOD' })])
    }
  },
)

test('an event type that does not exist is rejected with the nearest one, wherever events are filtered', async () => {
  const team = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const { id: webhook_id } = await w.admin.createWebhook({ params: team, body: { url: 'https://shop.example/hook' } })
  const params = { ...team, webhook_id }
  const msg = expect.stringContaining('Did you mean labtest.order.updated?')
  const rejected = async (call: Promise<unknown>, ...loc: (string | number)[]) =>
    expect(await errorOf(call)).toMatchObject({ status: 422, detail: [{ type: 'enum', loc, msg }] })
  const event_type = 'labtest.order.update'
  await rejected(w.api.listEvents({ query: { event_type: ['labtest.*', event_type] } }), 'query', 'event_type', 1)
  await rejected(w.admin.listWebhookAttempts({ params, query: { event_type } }), 'query', 'event_type')
  await rejected(
    w.admin.replayWebhook({ params, body: { from: '2026-03-01T00:00:00Z', event_types: [event_type] } }),
    ...['body', 'event_types', 0],
  )
  const stream = await sendRaw(`${w.base}/events/stream?event_type=${event_type}`, 'GET', {
    headers: { 'x-service-api-key': w.team_api_key },
  })
  expect(stream).toMatchObject({ status: 422, body: { detail: [{ type: 'enum', loc: ['query', 'event_type', 0], msg }] } })
})

test('the typed Java client gets null for demographics that an order did not give, if the team asks for it', async () => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const setStrict = (strict_enums: boolean | null) => admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { strict_enums } } })
  const given = { race: 'asian', ethnicity: null, sexual_orientation: null, gender_identity: null }
  const open = { race: 'asian', ethnicity: 'Not Specified', sexual_orientation: 'Not Specified', gender_identity: 'Not Specified' }
  await setStrict(true)
  const order = await placeOrder(api, 'walk_in_test', { patient_details: aPatient({ race: 'asian' }) })
  await w.runJobs()
  const shown = async () => [
    (await api.getOrder({ params: { order_id: order.id } })).patient_details,
    (await api.listOrders({ query: {} })).orders[0]?.patient_details,
    (await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: null })) && (await lastEvent()),
  ]
  const lastEvent = async () => {
    await w.runJobs()
    const { events } = await api.listEvents({ query: { event_type: ['labtest.order.*'], order_id: order.id, limit: 500 } })
    return (events.at(-1)?.data as { patient_details?: object } | undefined)?.patient_details
  }
  for (const details of [order.patient_details, ...(await shown())]) expect(details).toMatchObject(given)
  await setStrict(null)
  for (const details of (await shown()).slice(0, 2)) expect(details).toMatchObject(open)
})

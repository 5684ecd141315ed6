import { expect, test } from 'vitest'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { placeOrder } from '../support/orders.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()

/** Sends a request without a credential, which names the endpoint by its refusal. */
const refusalOf = async (method: string, path: string) => {
  const { status, body } = await sendRaw(w.base + path, method.toUpperCase())
  return { status, error_type: (body.detail as { error_type?: string })?.error_type }
}

test('every API path works with a slash at its end', async () => {
  const isOpen = ({ auth, path }: Row) => auth === 'none' || path.startsWith('/console')
  const rows = Object.values(endpoints as Record<string, Row>).filter((row) => !isOpen(row))
  expect(rows.length).toBeGreaterThan(150)
  for (const { method, path } of rows) {
    const url = path.replace(/\{\w+\}/g, newUuid())
    expect(await refusalOf(method, `${url}/`), path).toEqual(await refusalOf(method, url))
  }
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

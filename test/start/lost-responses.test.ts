import { expect, test } from 'vitest'
import { aNewOrder } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf } from '../support/world.ts'
import { startProxy } from './support/proxy.ts'
import { clientsOf, databaseWithCatalog, externalDatabase, startInProcess } from './support/start.ts'

/** A service behind a proxy that can lose the database's responses, and an order with an idempotency key. */
async function setUp() {
  const url = await databaseWithCatalog()
  const proxy = await startProxy(url)
  const env = externalDatabase(proxy.url, { ROLE: 'api' })
  const service = await startInProcess(env)
  const { api } = clientsOf(service, env['DATA_DIR'] as string)
  const body = await aNewOrder(api)
  const headers = { 'x-idempotency-key': newUuid() }
  const place = () => api.createOrder({ body, headers })
  const count = async (sql: string) => Number((await query<{ count: string }>(url, `select count(*) from ${sql}`))[0]?.count)
  /** Places the order. The response to this statement is lost after it wrote a row to the table. */
  const placeWithoutResponse = async (statement: string, table: string) => {
    proxy.loseResponsesTo(statement)
    const failed = errorOf(place())
    await eventually(async () => (await count(table)) === 1)
    proxy.loseResponsesTo(undefined)
    proxy.cut()
    expect(await failed).toMatchObject({ status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } })
  }
  return { place, placeWithoutResponse, count }
}

test('a retry of an order that was committed without a response returns this order', async () => {
  const { place, placeWithoutResponse, count } = await setUp()
  await placeWithoutResponse('place_orders', 'orders')
  const { order } = await place()
  expect(await count(`orders where id = '${order.id}'`)).toBe(1)
  expect(await count('orders')).toBe(1)
})

test('an idempotency key that was claimed without a response is released', async () => {
  const { place, placeWithoutResponse, count } = await setUp()
  await placeWithoutResponse('claim_key', 'idempotency_keys')
  await eventually(async () => (await count('idempotency_keys')) === 0)
  await place()
  expect(await count('orders')).toBe(1)
})

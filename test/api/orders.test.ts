import { expect, test } from 'vitest'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { world } from '../support/world.ts'

const w = await world()
const { api, runJobs } = w

test.each(methods)('a %s order is placed, dispatched and simulated to its results', async (method) => {
  const order = await placeOrder(api, method)
  expect(order.last_event.status).toBe(`received.${method}.ordered`)
  await runJobs()
  expect(statusesOf(await api.getOrder({ params: { order_id: order.id } }))).toEqual(['ordered', 'requisition_created'])
  expect(await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: undefined as never })).toBe('Success')
  const completed = await api.getOrder({ params: { order_id: order.id } })
  expect(completed.last_event.status).toBe(`completed.${method}.completed`)
  const results = await api.getResults({ params: { order_id: order.id } })
  expect(results.results.length).toBeGreaterThan(0)
})

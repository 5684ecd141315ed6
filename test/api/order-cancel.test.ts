import { beforeAll, describe, expect, test } from 'vitest'
import { lifecycle, type Method, methods, statusOfStep } from '../../src/contract/labs/lifecycle.ts'
import { advanceOrder } from '../../src/labs/orders/progress/advance.ts'
import { lockOrder } from '../../src/labs/orders/reading/present.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { eventsOf } from '../support/events.ts'
import { cancelLockWaits } from '../support/lock-waits.ts'
import { aNewOrder, aPatient, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { eventually } from '../support/process.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, app, team_id } = w

const cancel = (order_id: string) => api.cancelOrder({ params: { order_id } })
const get = (order_id: string) => api.getOrder({ params: { order_id } })
const simulate = (order_id: string, final_status?: string, delay?: number) =>
  api.simulateOrder({ params: { order_id }, query: { final_status, delay }, body: undefined as never })
const log: Awaited<ReturnType<typeof eventsOf>> = []
const orderEventsOf = async (order_id: string) => {
  log.push(...(await eventsOf(app, team_id, { after: log.at(-1)?.no })))
  return log.filter((event) => event.order_id === order_id)
}
const eventTypesOf = async (order_id: string) => (await orderEventsOf(order_id)).map(({ event_type }) => event_type)

/** The statuses at which a customer may cancel, written out independently of the lifecycle. */
const cancellable: Record<Method, string[]> = {
  walk_in_test: [
    'ordered',
    'requisition_created',
    'requisition_bypassed',
    'appointment_pending',
    'appointment_scheduled',
    'appointment_cancelled',
  ],
  at_home_phlebotomy: [
    'ordered',
    'requisition_created',
    'requisition_bypassed',
    'appointment_pending',
    'appointment_scheduled',
    'appointment_cancelled',
    'draw_completed',
  ],
  testkit: ['ordered', 'awaiting_registration', 'registered', 'requisition_created', 'requisition_bypassed'],
  on_site_collection: ['ordered', 'requisition_created', 'requisition_bypassed', 'draw_completed'],
}

const orderTestkit = async () => {
  const receiver_name = `${people[2].first_name} ${people[2].last_name}`
  const shipping_details = { receiver_name, ...anAddress(), phone_number: people[2].phone_number }
  const body = { user_id: await aUser(api), lab_test_id: await testId(api, 'heart-and-sugar-card'), shipping_details }
  return (await api.createTestkitOrder({ body })).order
}

let samples = 0
const importOrder = async (method: Method) => {
  const { user_id, order_set } = await aNewOrder(api, method)
  const patient_address = { receiver_name: '', ...anAddress() }
  const body = { user_id, order_set, patient_details: aPatient(), patient_address, sample_id: `IMPORTED-${++samples}` }
  return (await api.importOrder({ body: { ...body, billing_type: 'client_bill', collection_method: method } })).order
}

/** Leaves an order at `registered`; the sandbox lab would create the requisition in the same step. */
const registerTestkit = async () => {
  const { id } = await orderTestkit()
  await simulate(id, statusOfStep('testkit', 'awaiting_registration'))
  await inTransaction(app, async (app) => advanceOrder(app, await lockOrder(app, team_id, id), 'registered'))
  return get(id)
}

const orderCreators: Record<string, (method: Method) => Promise<{ id: string }>> = {
  requisition_bypassed: importOrder,
  awaiting_registration: orderTestkit,
  registered: registerTestkit,
}

/** Places an order and advances it to a status through the public API where possible. */
async function orderAt(method: Method, status: string) {
  const { id } = await (orderCreators[status] ?? placeOrder.bind(null, api))(method)
  const order = await get(id)
  if (order.last_event.status !== statusOfStep(method, status)) await simulate(id, statusOfStep(method, status))
  return get(id)
}

describe.each(methods)('%s', (method) => {
  const statuses = Object.keys(lifecycle[method])
  const ended = ['cancelled', 'do_not_process']

  test.each(statuses.filter((status) => cancellable[method].includes(status)))('cancels an order at %s', async (status) => {
    const before = await orderAt(method, status)
    expect(before.last_event.status).toBe(statusOfStep(method, status))
    const earlier = await eventTypesOf(before.id)
    const { order, ...reply } = await cancel(before.id)
    expect(reply).toEqual({ status: 'success', message: 'order cancelled' })
    expect(statusesOf(order)).toEqual([...statusesOf(before), 'cancelled'])
    expect(order).toMatchObject({
      status: 'cancelled',
      last_event: { id: before.last_event.id + 1, status: `cancelled.${method}.cancelled` },
    })
    expect(order.order_transaction).toMatchObject({ status: 'cancelled', orders: [{ low_level_status: 'cancelled' }] })
    expect(await get(order.id)).toEqual(order)
    expect(await eventTypesOf(order.id)).toEqual([...earlier, 'labtest.order.updated'])
    expect((await orderEventsOf(order.id)).at(-1)?.data).toEqual(order)
  })

  test.each(statuses.filter((status) => !cancellable[method].includes(status) && !ended.includes(status)))(
    'rejects cancellation at %s',
    async (status) => {
      const before = await orderAt(method, status)
      expect(before.last_event.status).toBe(statusOfStep(method, status))
      const earlier = await eventTypesOf(before.id)
      expect(await errorOf(cancel(before.id))).toMatchObject({ status: 400, detail: { error_type: 'ORDER_NOT_CANCELLABLE' } })
      expect(await get(before.id)).toEqual(before)
      expect(await eventTypesOf(before.id)).toEqual(earlier)
    },
  )

  test.each(statuses.filter((status) => ended.includes(status)))('returns the unchanged order at %s', async (status) => {
    const before = await orderAt(method, status)
    const earlier = await eventTypesOf(before.id)
    expect(await cancel(before.id)).toEqual({ order: before, status: 'success', message: 'order already cancelled' })
    expect(await get(before.id)).toEqual(before)
    expect(await eventTypesOf(before.id)).toEqual(earlier)
  })
})

test('cancels an order once for twenty concurrent requests', async () => {
  const { id } = await placeOrder(api)
  const replies = await Promise.all(Array.from({ length: 20 }, () => cancel(id)))
  expect(new Set(replies.map(({ order }) => JSON.stringify(order))).size).toBe(1)
  expect(replies.filter(({ message }) => message === 'order cancelled')).toHaveLength(1)
  expect(statusesOf(await get(id))).toEqual(['ordered', 'cancelled'])
  expect(await eventTypesOf(id)).toEqual(['labtest.order.created', 'labtest.order.updated'])
})

describe('work that stops on cancellation', () => {
  test('never sends a canceled scheduled order to the lab', async () => {
    const tenant = await w.tenant()
    const { id } = await placeOrder(tenant.api, 'walk_in_test', { activate_by: '2099-01-01' })
    const { order } = await tenant.api.cancelOrder({ params: { order_id: id } })
    expect(order).toMatchObject({
      activate_by: '2099-01-01',
      activate_at: null,
      last_event: { status: 'cancelled.walk_in_test.cancelled' },
    })
    await tenant.api.moveClock({ body: { now: '2099-01-03T00:00:00Z' } })
    await w.runJobs()
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'cancelled'])
  })

  test('never sends a canceled new order to the lab', async () => {
    const { id } = await placeOrder(api)
    await cancel(id)
    await w.runJobs()
    expect(statusesOf(await get(id))).toEqual(['ordered', 'cancelled'])
  })

  test('stops the remaining simulated steps', async () => {
    const tenant = await w.tenant()
    const params = { order_id: (await placeOrder(tenant.api, 'at_home_phlebotomy')).id }
    await tenant.api.simulateOrder({ params, query: { delay: 60 }, body: undefined as never })
    await tenant.api.moveClock({ body: { advance_seconds: 61 } })
    expect(statusesOf(await tenant.api.getOrder({ params }))).toEqual(['ordered', 'requisition_created', 'appointment_pending'])
    await tenant.api.cancelOrder({ params })
    await tenant.api.moveClock({ body: { advance_seconds: 86_400 } })
    await w.runJobs()
    expect(statusesOf(await tenant.api.getOrder({ params }))).toEqual([
      'ordered',
      'requisition_created',
      'appointment_pending',
      'cancelled',
    ])
    expect(await tenant.api.simulateOrder({ params, query: {}, body: undefined as never })).toBe('Success')
    expect(statusesOf(await tenant.api.getOrder({ params })).at(-1)).toBe('cancelled')
  })

  test('the automatic simulator skips a canceled order', async () => {
    const tenant = await w.tenant()
    const team = { org_id: tenant.org_id, team_id: tenant.team_id }
    await tenant.admin.patchTeam({ params: team, body: { sandbox: { simulator: 'auto' } } })
    const [canceled, active] = [await placeOrder(tenant.api), await placeOrder(tenant.api)]
    await w.runJobs()
    await tenant.api.cancelOrder({ params: { order_id: canceled.id } })
    await tenant.api.moveClock({ body: { advance_seconds: 60 * 86_400 } })
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: canceled.id } }))).toEqual([
      'ordered',
      'requisition_created',
      'cancelled',
    ])
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: active.id } })).at(-1)).toBe('completed')
  })
})

describe('order ownership', () => {
  let otherTeam: Awaited<ReturnType<typeof w.tenant>>
  beforeAll(async () => {
    otherTeam = await w.tenant()
  })
  test('returns 404 for an order of another team and for an unknown order', async () => {
    const { id } = await placeOrder(api)
    for (const order_id of [id, 'ffffffff-0000-4000-8000-000000000000'])
      expect(await errorOf(otherTeam.api.cancelOrder({ params: { order_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'ORDER_NOT_FOUND' },
      })
    expect(statusesOf(await get(id))).toEqual(['ordered'])
  })
})

test('returns 503 when the lock on an order cannot be taken in time', async () => {
  const { id } = await placeOrder(api)
  let response: ReturnType<typeof errorOf> | undefined
  await inTransaction(app, async (app) => {
    await lockOrder(app, team_id, id)
    response = errorOf(cancel(id))
    await eventually(async () => (await cancelLockWaits(w.url)).length > 0)
    expect(await response).toMatchObject({ status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } })
  })
  expect(statusesOf(await get(id))).toEqual(['ordered'])
})

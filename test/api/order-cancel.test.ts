import { beforeAll, describe, expect, test } from 'vitest'
import { lifecycle, type Method, methods, statusOfStep } from '../../src/contract/labs/lifecycle.ts'
import { advanceOrder } from '../../src/labs/orders/progress/advance.ts'
import { lockOrder } from '../../src/labs/orders/reading/present.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { query } from '../support/cluster.ts'
import { eventsOf } from '../support/events.ts'
import { aNewOrder, aPatient, aUser, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { eventually } from '../support/process.ts'
import { errorOf, world } from '../support/world.ts'

const here = await world()
const { api, app, team_id } = here

const cancel = (order_id: string) => api.cancelOrder({ params: { order_id } })
const get = (order_id: string) => api.getOrder({ params: { order_id } })
const simulate = (order_id: string, final_status?: string, delay?: number) =>
  api.simulateOrder({ params: { order_id }, query: { final_status, delay }, body: undefined as never })
const log: Awaited<ReturnType<typeof eventsOf>> = []
const told = async (order_id: string) => {
  log.push(...(await eventsOf(app, team_id, log.at(-1)?.seq)))
  return log.filter((event) => event.order_id === order_id)
}
const toldTypes = async (order_id: string) => (await told(order_id)).map(({ event_type }) => event_type)

/** Where the customer may still cancel, as the spec's reader knows it; everywhere else it is too late. */
const window: Record<Method, string[]> = {
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

const kit = async () => {
  const receiver_name = `${people[2].first_name} ${people[2].last_name}`
  const shipping_details = { receiver_name, ...anAddress(), phone_number: people[2].phone_number }
  const body = { user_id: await aUser(api), lab_test_id: await testId(api, 'heart-and-sugar-card'), shipping_details }
  return (await api.createTestkitOrder({ body })).order
}

let samples = 0
const imported = async (method: Method) => {
  const { user_id, order_set } = await aNewOrder(api, method)
  const patient_address = { receiver_name: '', ...anAddress() }
  const body = { user_id, order_set, patient_details: aPatient(), patient_address, sample_id: `IMPORTED-${++samples}` }
  return (await api.importOrder({ body: { ...body, billing_type: 'client_bill', collection_method: method } })).order
}

/** The lab writes the requisition in the moment of registering, so only here does an order rest at registered. */
const registered = async () => {
  const { id } = await kit()
  await simulate(id, statusOfStep('testkit', 'awaiting_registration'))
  await inTransaction(app, async (app) => advanceOrder(app, await lockOrder(app, team_id, id), 'registered'))
  return get(id)
}

const arrivals: Record<string, (method: Method) => Promise<{ id: string }>> = {
  requisition_bypassed: imported,
  awaiting_registration: kit,
  registered,
}

/** An order that rests at a step, brought there as customers bring it. */
async function resting(method: Method, low: string) {
  const { id } = await (arrivals[low] ?? placeOrder.bind(null, api))(method)
  const order = await get(id)
  if (order.last_event.status !== statusOfStep(method, low)) await simulate(id, statusOfStep(method, low))
  return get(id)
}

describe.each(methods)('%s', (method) => {
  const lows = Object.keys(lifecycle[method])
  const over = ['cancelled', 'do_not_process']

  test.each(lows.filter((low) => window[method].includes(low)))('can be cancelled at %s', async (low) => {
    const before = await resting(method, low)
    expect(before.last_event.status).toBe(statusOfStep(method, low))
    const earlier = await toldTypes(before.id)
    const { order, ...reply } = await cancel(before.id)
    expect(reply).toEqual({ status: 'success', message: 'order cancelled' })
    expect(statusesOf(order)).toEqual([...statusesOf(before), 'cancelled'])
    expect(order).toMatchObject({
      status: 'cancelled',
      last_event: { id: before.last_event.id + 1, status: `cancelled.${method}.cancelled` },
    })
    expect(order.order_transaction).toMatchObject({ status: 'cancelled', orders: [{ low_level_status: 'cancelled' }] })
    expect(await get(order.id)).toEqual(order)
    expect(await toldTypes(order.id)).toEqual([...earlier, 'labtest.order.updated'])
    expect((await told(order.id)).at(-1)?.data).toEqual(order)
  })

  test.each(lows.filter((low) => !window[method].includes(low) && !over.includes(low)))('can no longer be cancelled at %s', async (low) => {
    const before = await resting(method, low)
    expect(before.last_event.status).toBe(statusOfStep(method, low))
    const earlier = await toldTypes(before.id)
    expect(await errorOf(cancel(before.id))).toMatchObject({ status: 400, detail: { error_type: 'ORDER_NOT_CANCELLABLE' } })
    expect(await get(before.id)).toEqual(before)
    expect(await toldTypes(before.id)).toEqual(earlier)
  })

  test.each(lows.filter((low) => over.includes(low)))('is not cancelled once more at %s', async (low) => {
    const before = await resting(method, low)
    const earlier = await toldTypes(before.id)
    expect(await cancel(before.id)).toEqual({ order: before, status: 'success', message: 'order already cancelled' })
    expect(await get(before.id)).toEqual(before)
    expect(await toldTypes(before.id)).toEqual(earlier)
  })
})

test('twenty who cancel at once cancel it once, and all are told so', async () => {
  const { id } = await placeOrder(api)
  const replies = await Promise.all(Array.from({ length: 20 }, () => cancel(id)))
  expect(new Set(replies.map(({ order }) => JSON.stringify(order))).size).toBe(1)
  expect(replies.filter(({ message }) => message === 'order cancelled')).toHaveLength(1)
  expect(statusesOf(await get(id))).toEqual(['ordered', 'cancelled'])
  expect(await toldTypes(id)).toEqual(['labtest.order.created', 'labtest.order.updated'])
})

describe('what was going on stops', () => {
  test('an order that is held is never sent', async () => {
    const tenant = await here.tenant()
    const { id } = await placeOrder(tenant.api, 'walk_in_test', { activate_by: '2099-01-01' })
    const { order } = await tenant.api.cancelOrder({ params: { order_id: id } })
    expect(order).toMatchObject({
      activate_by: '2099-01-01',
      activate_at: null,
      last_event: { status: 'cancelled.walk_in_test.cancelled' },
    })
    await tenant.api.moveClock({ body: { now: '2099-01-03T00:00:00Z' } })
    await here.runJobs()
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'cancelled'])
  })

  test('an order that was just placed is never sent', async () => {
    const { id } = await placeOrder(api)
    await cancel(id)
    await here.runJobs()
    expect(statusesOf(await get(id))).toEqual(['ordered', 'cancelled'])
  })

  test('the steps that simulate was asked for are not taken any more', async () => {
    const tenant = await here.tenant()
    const params = { order_id: (await placeOrder(tenant.api, 'at_home_phlebotomy')).id }
    await tenant.api.simulateOrder({ params, query: { delay: 60 }, body: undefined as never })
    await tenant.api.moveClock({ body: { advance_seconds: 61 } })
    expect(statusesOf(await tenant.api.getOrder({ params }))).toEqual(['ordered', 'requisition_created', 'appointment_pending'])
    await tenant.api.cancelOrder({ params })
    await tenant.api.moveClock({ body: { advance_seconds: 86_400 } })
    await here.runJobs()
    expect(statusesOf(await tenant.api.getOrder({ params }))).toEqual([
      'ordered',
      'requisition_created',
      'appointment_pending',
      'cancelled',
    ])
    expect(await tenant.api.simulateOrder({ params, query: {}, body: undefined as never })).toBe('Success')
    expect(statusesOf(await tenant.api.getOrder({ params })).at(-1)).toBe('cancelled')
  })

  test('a simulator that runs by itself leaves it alone', async () => {
    const tenant = await here.tenant()
    const team = { org_id: tenant.org_id, team_id: tenant.team_id }
    await tenant.admin.patchTeam({ params: team, body: { sandbox: { simulator: 'auto' } } })
    const [gone, stays] = [await placeOrder(tenant.api), await placeOrder(tenant.api)]
    await here.runJobs()
    await tenant.api.cancelOrder({ params: { order_id: gone.id } })
    await tenant.api.moveClock({ body: { advance_seconds: 60 * 86_400 } })
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: gone.id } }))).toEqual([
      'ordered',
      'requisition_created',
      'cancelled',
    ])
    expect(statusesOf(await tenant.api.getOrder({ params: { order_id: stays.id } })).at(-1)).toBe('completed')
  })
})

describe('whose order it is', () => {
  let stranger: Awaited<ReturnType<typeof here.tenant>>
  beforeAll(async () => {
    stranger = await here.tenant()
  })
  test('a stranger’s order and one that never was are not found', async () => {
    const { id } = await placeOrder(api)
    for (const order_id of [id, 'ffffffff-0000-4000-8000-000000000000'])
      expect(await errorOf(stranger.api.cancelOrder({ params: { order_id } }))).toMatchObject({
        status: 404,
        detail: { error_type: 'ORDER_NOT_FOUND' },
      })
    expect(statusesOf(await get(id))).toEqual(['ordered'])
  })
})

test('whoever waits too long for an order that others change is asked to come again', async () => {
  const { id } = await placeOrder(api)
  let answer: ReturnType<typeof errorOf> | undefined
  await inTransaction(app, async (app) => {
    await lockOrder(app, team_id, id)
    answer = errorOf(cancel(id))
    // What the server does to a statement after a minute.
    const end = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    await eventually(async () => (await query(here.url, end)).length > 0)
    expect(await answer).toMatchObject({ status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } })
  })
  expect(statusesOf(await get(id))).toEqual(['ordered'])
})

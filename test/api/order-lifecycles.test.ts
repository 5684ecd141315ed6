import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canBecome, type Method, methods, reachableFrom, statusOfStep, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import { aRegistration, orderEvents, snapshotOf } from '../support/order-events.ts'
import { aNewOrder, placeKit } from '../support/orders.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, app, team_id, runJobs } = w
const user_id = await aUser(api)
const labs: Record<Method, Awaited<ReturnType<typeof w.partnerLab>>['lab']> = {
  walk_in_test: (await w.partnerLab(1)).lab,
  at_home_phlebotomy: (await w.partnerLab(1)).lab,
  testkit: (await w.partnerLab(3)).lab,
  on_site_collection: (await w.partnerLab(1)).lab,
}

const read = (order_id: string) => api.getOrder({ params: { order_id } })
const stepsIn = (order: Awaited<ReturnType<typeof read>>) => order.events.map(({ status }) => status.split('.')[2] as string)

type Call = { action: string; step: string }
type OrderRef = { method: Method; order_id: string; sample_id: string }

/** Every request that a customer or a lab can make for an order. */
const actions: Record<string, (target: OrderRef, step: string) => Promise<unknown>> = {
  report: ({ method, order_id }, step) => labs[method].reportLabStep({ params: { order_id }, body: { status: step as 'cancelled' } }),
  partial: ({ method, order_id }) => results(method, order_id, 'partial'),
  final: ({ method, order_id }) => results(method, order_id, 'final'),
  simulate: ({ method, order_id }, step) =>
    api.simulateOrder({ params: { order_id }, query: { final_status: statusOfStep(method, step) as never }, body: undefined as never }),
  cancel: ({ order_id }) => api.cancelOrder({ params: { order_id } }),
  draw: ({ order_id }) => api.completeDraw({ params: { order_id } }),
  register: ({ sample_id }) => api.registerTestkit({ body: aRegistration(sample_id) }),
}

const results = (method: Method, order_id: string, status: 'partial' | 'final') =>
  labs[method].reportLabResults({ params: { order_id }, body: { status, results: [{ slug: 'hba1c', result: '5.0' }] } })

/** Actions that follow single transitions; a lab may skip steps. */
const stepwise = ['simulate', 'cancel', 'draw']

async function runCalls(method: Method, registrable: boolean, body: Parameters<typeof api.createOrder>[0]['body'], calls: Call[]) {
  const placed = registrable ? await placeKit(api, { user_id }) : (await api.createOrder({ body })).order
  await runJobs()
  const order_id = placed.id
  let before = await read(order_id)
  const target = { method, order_id, sample_id: before.sample_id as string }
  for (const { action, step } of calls) {
    const trace = await snapshotOf(w.url, order_id)
    const { status } = await errorOf((actions[action] as (typeof actions)[string])(target, step))
    expect([200, 400, 404, 409, 422]).toContain(status)
    const after = await read(order_id)
    if (status !== 200) expect(await snapshotOf(w.url, order_id)).toEqual(trace)
    const [earlier, current] = [stepsIn(before), stepsIn(after)]
    expect(current.slice(0, earlier.length)).toEqual(earlier)
    const follows = stepwise.includes(action)
      ? canBecome
      : (method: Method, from: string, to: string) => reachableFrom(method, from).has(to)
    const wrong = current.flatMap((to, i) =>
      i >= earlier.length && !follows(method, current[i - 1] as string, to) ? [`${action}: ${current[i - 1]} → ${to}`] : [],
    )
    expect(wrong).toEqual([])
    expect(after.events.map(({ id }) => id)).toEqual(current.map((_, i) => i + 1))
    expect(after.last_event).toEqual(after.events.at(-1))
    before = after
  }
  const statuses = (await orderEvents(app, team_id, order_id)).map((entry) => entry.split(' ')[1])
  // Partial results of a testkit emit an event without a status change.
  const isStep = (i: number) => statuses[i] !== statuses[i - 1] || canBecome(method, statuses[i] as string, statuses[i] as string)
  expect(statuses.filter((_, i) => isStep(i))).toEqual(stepsIn(before))
}

test.each(methods)('serializes concurrent requests for a %s order', async (method) => {
  const { order } = await api.createOrder({ body: await aNewOrder(api, method, { user_id }) })
  await runJobs()
  const target = { method, order_id: order.id, sample_id: (await read(order.id)).sample_id as string }
  const requests = Object.values(actions).flatMap((action) => [action(target, 'sample_error'), action(target, 'requisition_created')])
  const responses = await Promise.all(requests.map(errorOf))
  expect(responses.filter(({ status }) => ![200, 400, 422].includes(status))).toEqual([])
  const after = await read(order.id)
  const steps = stepsIn(after)
  expect(steps.filter((step, i) => i > 0 && !reachableFrom(method, steps[i - 1] as string).has(step))).toEqual([])
  expect(after.events.map(({ id }) => id)).toEqual(steps.map((_, i) => i + 1))
})

test.each(methods)('allows only defined transitions of a %s order for any sequence of requests', async (method) => {
  const body = await aNewOrder(api, method, { user_id })
  const step = fc.constantFrom(...Object.keys(stepsOf(method)))
  const call = fc.record({ action: fc.constantFrom('report', 'report', ...Object.keys(actions)), step })
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(call, { minLength: 3, maxLength: 8 }), (registrable, calls) =>
      runCalls(method, registrable && method === 'testkit', body, calls),
    ),
    { numRuns: 8 },
  )
})

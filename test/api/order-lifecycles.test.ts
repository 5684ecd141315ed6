import { expect, test } from 'vitest'
import { canBecome, type Method, methods, reachableFrom, statusOfStep, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import { aRegistration, orderEvents, placeKit, snapshotOf } from '../support/order-events.ts'
import { aNewOrder, aUser } from '../support/orders.ts'
import { fc } from '../support/properties.ts'
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
const lowsOf = (order: Awaited<ReturnType<typeof read>>) => order.events.map(({ status }) => status.split('.')[2] as string)

type Call = { door: string; low: string }
type Lives = { method: Method; order_id: string; sample_id: string }

/** All that a customer and a lab can ask of an order. */
const doors: Record<string, (life: Lives, low: string) => Promise<unknown>> = {
  report: ({ method, order_id }, low) => labs[method].reportLabStep({ params: { order_id }, body: { status: low as 'cancelled' } }),
  partial: ({ method, order_id }) => results(method, order_id, 'partial'),
  final: ({ method, order_id }) => results(method, order_id, 'final'),
  simulate: ({ method, order_id }, low) =>
    api.simulateOrder({ params: { order_id }, query: { final_status: statusOfStep(method, low) as never }, body: undefined as never }),
  cancel: ({ order_id }) => api.cancelOrder({ params: { order_id } }),
  draw: ({ order_id }) => api.completeDraw({ params: { order_id } }),
  register: ({ sample_id }) => api.registerTestkit({ body: aRegistration(sample_id) }),
}

const results = (method: Method, order_id: string, status: 'partial' | 'final') =>
  labs[method].reportLabResults({ params: { order_id }, body: { status, results: [{ slug: 'hba1c', result: '5.0' }] } })

/** Doors that follow arrows one by one; a lab may skip what it missed. */
const stepwise = ['simulate', 'cancel', 'draw']

async function live(method: Method, registrable: boolean, body: Parameters<typeof api.createOrder>[0]['body'], calls: Call[]) {
  const placed = registrable ? await placeKit(api, user_id) : (await api.createOrder({ body })).order
  await runJobs()
  const order_id = placed.id
  let before = await read(order_id)
  const life = { method, order_id, sample_id: before.sample_id as string }
  for (const { door, low } of calls) {
    const trace = await snapshotOf(w.url, order_id)
    const { status } = await errorOf((doors[door] as (typeof doors)[string])(life, low))
    expect([200, 400, 404, 409, 422]).toContain(status)
    const after = await read(order_id)
    if (status !== 200) expect(await snapshotOf(w.url, order_id)).toEqual(trace)
    const [was, is] = [lowsOf(before), lowsOf(after)]
    expect(is.slice(0, was.length)).toEqual(was)
    const follows = stepwise.includes(door) ? canBecome : (method: Method, from: string, to: string) => reachableFrom(method, from).has(to)
    const wrong = is.flatMap((to, i) =>
      i >= was.length && !follows(method, is[i - 1] as string, to) ? [`${door}: ${is[i - 1]} → ${to}`] : [],
    )
    expect(wrong).toEqual([])
    expect(after.events.map(({ id }) => id)).toEqual(is.map((_, i) => i + 1))
    expect(after.last_event).toEqual(after.events.at(-1))
    before = after
  }
  const lines = (await orderEvents(app, team_id, order_id)).map((line) => line.split(' ')[1])
  // A part of a kit's results is told without being a step.
  const isStep = (i: number) => lines[i] !== lines[i - 1] || canBecome(method, lines[i] as string, lines[i] as string)
  expect(lines.filter((_, i) => isStep(i))).toEqual(lowsOf(before))
}

test.each(methods)('asked everything of a %s order at once, one comes after the other', async (method) => {
  const { order } = await api.createOrder({ body: await aNewOrder(api, method, { user_id }) })
  await runJobs()
  const life = { method, order_id: order.id, sample_id: (await read(order.id)).sample_id as string }
  const asked = Object.values(doors).flatMap((door) => [door(life, 'sample_error'), door(life, 'requisition_created')])
  const answers = await Promise.all(asked.map(errorOf))
  expect(answers.filter(({ status }) => ![200, 400, 422].includes(status))).toEqual([])
  const after = await read(order.id)
  const lows = lowsOf(after)
  expect(lows.filter((low, i) => i > 0 && !reachableFrom(method, lows[i - 1] as string).has(low))).toEqual([])
  expect(after.events.map(({ id }) => id)).toEqual(lows.map((_, i) => i + 1))
})

test.each(methods)('whatever is asked of a %s order over HTTP, its events only follow arrows', async (method) => {
  const body = await aNewOrder(api, method, { user_id })
  const low = fc.constantFrom(...Object.keys(stepsOf(method)))
  const call = fc.record({ door: fc.constantFrom('report', 'report', ...Object.keys(doors)), low })
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(call, { minLength: 3, maxLength: 8 }), (registrable, calls) =>
      live(method, registrable && method === 'testkit', body, calls),
    ),
    { seed: 20_260_301, numRuns: 8 },
  )
})

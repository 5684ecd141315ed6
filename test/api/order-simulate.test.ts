import { describe, expect, test } from 'vitest'
import { canBecome, type Method, methods, statusOfStep, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import { DAY, later, SECOND } from '../../src/platform/time.ts'
import { expectedEvents, orderEvents, snapshotOf } from '../support/order-events.ts'
import { aNewOrder, placeKit, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newDatabase, newSandboxDatabase, world } from '../support/world.ts'

const w = await world()
const { api, app, team_id, runJobs } = w
const user_id = await aUser(api)
const bodies = new Map(await Promise.all(methods.map(async (method) => [method, await aNewOrder(api, method, { user_id })] as const)))

const place = async (method: Method, change: object = {}) =>
  (await api.createOrder({ body: { ...(bodies.get(method) as NonNullable<ReturnType<typeof bodies.get>>), ...change } })).order

type Flags = NonNullable<Parameters<typeof api.simulateOrder>[0]['body']>
type Query = NonNullable<Parameters<typeof api.simulateOrder>[0]['query']>

const simulate = (order_id: string, query: Query = {}, body?: Partial<Flags>) =>
  api.simulateOrder({ params: { order_id }, query, body: body as Flags })

const read = (order_id: string) => api.getOrder({ params: { order_id } })

async function placeAndDispatch(method: Method = 'walk_in_test') {
  const { id } = await place(method)
  await runJobs()
  return id
}

const usualSteps: Record<Method, string> = {
  walk_in_test: 'ordered requisition_created partial_results completed',
  at_home_phlebotomy: 'ordered requisition_created appointment_pending appointment_scheduled draw_completed partial_results completed',
  testkit: 'ordered requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed',
  on_site_collection: 'ordered requisition_created draw_completed partial_results completed',
}

describe.each(methods)('a %s order', (method) => {
  test('advances to its results by default', async () => {
    const id = await placeAndDispatch(method)
    expect(await simulate(id)).toBe('Success')
    expect(statusesOf(await read(id))).toEqual(usualSteps[method].split(' '))
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...usualSteps[method].split(' ')))
  })

  /** The first step, and the steps before a kit has its patient. */
  const unreachable = ['ordered', 'awaiting_registration', 'registered']
  const steps = Object.keys(stepsOf(method))

  test.each(steps.filter((step) => !unreachable.includes(step)))('advances to %s with one event per transition', async (step) => {
    const { id } = await place(method)
    expect(await simulate(id, { final_status: statusOfStep(method, step) as never })).toBe('Success')
    const { events, last_event, status } = await read(id)
    const path = events.map((event) => event.status.split('.')[2] as string)
    expect([path[0], path.at(-1)]).toEqual(['ordered', step])
    expect(path.slice(1).filter((next, i) => !canBecome(method, path[i] as string, next))).toEqual([])
    expect(events.map((event) => event.id)).toEqual(path.map((_, i) => i + 1))
    expect([last_event, status]).toEqual([events.at(-1), stepsOf(method)[step]?.phase])
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...path))
  })

  test('does not change if it already has the requested status', async () => {
    const id = await placeAndDispatch(method)
    const before = await snapshotOf(w.url, id)
    expect(await simulate(id, { final_status: statusOfStep(method, 'requisition_created') as never })).toBe('Success')
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })

  test.each([...steps.filter((step) => unreachable.includes(step)), 'requisition_bypassed'])('rejects a move back to %s', async (step) => {
    const id = await placeAndDispatch(method)
    const before = await snapshotOf(w.url, id)
    expect(await errorOf(simulate(id, { final_status: statusOfStep(method, step) as never }))).toMatchObject({
      status: 400,
      detail: { error_type: 'STATUS_NOT_REACHABLE' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })

  test('rejects a status of another method and writes nothing', async () => {
    const id = await placeAndDispatch(method)
    const before = await snapshotOf(w.url, id)
    const other = method === 'testkit' ? 'walk_in_test' : 'testkit'
    expect(await errorOf(simulate(id, { final_status: statusOfStep(other, 'completed') as never }))).toMatchObject({
      status: 400,
      detail: { error_type: 'STATUS_NOT_REACHABLE' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
})

describe('unregistered testkits', () => {
  const registrationPath = 'ordered awaiting_registration transit_customer out_for_delivery with_customer registered requisition_created'

  test('are registered on the way to their results', async () => {
    const { id } = await placeKit(api, { user_id })
    await runJobs()
    expect(statusesOf(await read(id))).toEqual(['ordered', 'awaiting_registration'])
    await simulate(id)
    const done = [...registrationPath.split(' '), 'transit_lab', 'delivered_to_lab', 'completed']
    const order = await read(id)
    expect(statusesOf(order)).toEqual(done)
    expect(order.patient_details).toMatchObject({ first_name: 'Harbor', last_name: 'Stock' })
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...done))
  })
  test.each(['registered', 'requisition_created', 'with_customer', 'do_not_process'])('advance to %s', async (step) => {
    const { id } = await placeKit(api, { user_id })
    await simulate(id, { final_status: statusOfStep('testkit', step) as never })
    const path = statusesOf(await read(id)) as string[]
    expect(path.at(-1)).toBe(step)
    expect(path.slice(1).filter((next, i) => !canBecome('testkit', path[i] as string, next))).toEqual([])
  })
})

test('accepts the current status, rejects an earlier one and repeats a correction', async () => {
  const id = await placeAndDispatch()
  await simulate(id)
  const before = await snapshotOf(w.url, id)
  expect(await simulate(id)).toBe('Success')
  expect(await snapshotOf(w.url, id)).toEqual(before)
  expect(await errorOf(simulate(id, { final_status: 'sample_with_lab.walk_in_test.partial_results' }))).toMatchObject({ status: 400 })
  expect(await snapshotOf(w.url, id)).toEqual(before)
  await simulate(id, { final_status: 'completed.walk_in_test.corrected' })
  await simulate(id, { final_status: 'completed.walk_in_test.corrected' })
  expect(statusesOf(await read(id))).toEqual([...usualSteps.walk_in_test.split(' '), 'corrected', 'corrected'])
})

test('leaves a canceled order unchanged', async () => {
  const id = await placeAndDispatch()
  await api.cancelOrder({ params: { order_id: id } })
  const before = await snapshotOf(w.url, id)
  expect(await simulate(id)).toBe('Success')
  expect(await snapshotOf(w.url, id)).toEqual(before)
})

test('advances a scheduled order, which is then not dispatched again', async () => {
  const { id } = await place('walk_in_test', { activate_by: later(app.now(), 30 * DAY).slice(0, 10) })
  await runJobs()
  await simulate(id, { final_status: 'received.walk_in_test.requisition_created' })
  await runJobs()
  expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created'])
})

describe('the request', () => {
  const raw = (order_id: string, init: RequestInit) =>
    fetch(`${w.base}/v3/order/${order_id}/test`, {
      method: 'POST',
      ...init,
      headers: { 'x-service-api-key': w.team_api_key, ...(init.headers as object) },
    })
  const json = { 'content-type': 'application/json' }

  test.each<[string, RequestInit]>([
    ['absent', {}],
    ['absent with a content type', { headers: json }],
    ['null', { headers: json, body: 'null' }],
    ['empty', { headers: json, body: '{}' }],
  ])('accepts a body that is %s', async (_, init) => {
    const id = await placeAndDispatch()
    const response = await raw(id, init)
    expect([response.status, await response.text()]).toEqual([200, '"Success"'])
    expect(await read(id)).toMatchObject({ interpretation: 'normal', last_event: { status: 'completed.walk_in_test.completed' } })
  })

  test.each<[string, Query, object]>([
    ['an unknown final_status', { final_status: 'completed.walk_in_test.nowhere' as never }, {}],
    ['a bare low-level status', { final_status: 'completed' as never }, {}],
    ['a delay below 0', { delay: -1 }, {}],
    ['a delay of more than a day', { delay: 86_401 }, {}],
    ['an unknown interpretation', {}, { interpretation: 'great' }],
    ['no result types', {}, { result_types: [] }],
    ['eleven partials', {}, { partials: 11 }],
    ['an unknown status_detail', {}, { status_detail: 'because' }],
  ])('rejects %s', async (_, query, body) => {
    const id = await placeAndDispatch()
    const before = await snapshotOf(w.url, id)
    expect((await errorOf(simulate(id, query, body as Flags))).status).toBe(422)
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
})

describe('simulation flags', () => {
  const resultsOf = (order_id: string) => api.getResults({ params: { order_id } })
  const values = async (order_id: string) => (await resultsOf(order_id)).results.map(({ slug, result }) => `${slug} ${result}`)

  test.each(['normal', 'abnormal', 'critical', 'unknown'] as const)('produces results with interpretation %s', async (interpretation) => {
    for (const method of methods) {
      const id = await placeAndDispatch(method)
      await simulate(id, {}, { interpretation })
      expect([method, (await read(id)).interpretation]).toEqual([method, interpretation])
      expect((await resultsOf(id)).metadata).toMatchObject({ interpretation, status: 'final' })
    }
  })
  test('alternates between the given result_types', async () => {
    const id = await placeAndDispatch('testkit')
    await simulate(id, {}, { result_types: ['numeric', 'comment', 'range'] })
    const types = (await resultsOf(id)).results.map(({ type }) => type)
    expect(types).toEqual(types.map((_, i) => ['numeric', 'comment', 'range'][i % 3]))
  })
  test('omits results with has_missing_results', async () => {
    const [complete, incomplete] = [await placeAndDispatch(), await placeAndDispatch()]
    await simulate(complete, {}, { has_missing_results: false })
    await simulate(incomplete, {}, { has_missing_results: true })
    expect([(await read(complete)).has_missing_results, (await read(incomplete)).has_missing_results]).toEqual([false, true])
    const [all, some] = [await resultsOf(complete), await resultsOf(incomplete)]
    expect(all.missing_results).toEqual([])
    expect(some.missing_results?.length).toBeGreaterThan(0)
    const slugs = [...some.results, ...(some.missing_results ?? [])].map(({ slug }) => slug)
    expect(slugs.toSorted()).toEqual(all.results.map(({ slug }) => slug).toSorted())
  })
  test.each([0, 1, 3, 10])('emits one event for each of %d partial results', async (partials) => {
    const id = await placeAndDispatch()
    await simulate(id, {}, { partials })
    const path = ['ordered', 'requisition_created', ...Array(partials).fill('partial_results'), 'completed']
    expect(statusesOf(await read(id))).toEqual(path)
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...path))
  })
  test('produces the same values for the same seed', async () => {
    const [first, second, third] = [await placeAndDispatch(), await placeAndDispatch(), await placeAndDispatch()]
    await simulate(first, {}, { seed: 'harbor' })
    await simulate(second, {}, { seed: 'harbor' })
    await simulate(third, {}, { seed: 'bay' })
    expect(await values(second)).toEqual(await values(first))
    expect(await values(third)).not.toEqual(await values(first))
  })
  test('sets status_detail on the last event', async () => {
    const id = await placeAndDispatch('testkit')
    const final_status = 'failed.testkit.sample_error'
    await simulate(id, { final_status }, { status_detail: 'sample_quantity_not_sufficient' })
    const { events } = await read(id)
    expect(events.map(({ status_detail }) => status_detail)).toEqual([...Array(7).fill(null), 'sample_quantity_not_sufficient'])
  })
  test('emits one critical alert, even with partial results', async () => {
    const id = await placeAndDispatch()
    await simulate(id, {}, { interpretation: 'critical', partials: 2, seed: 'alarm' })
    const log = await orderEvents(app, team_id, id)
    expect(log.filter((entry) => entry.startsWith('critical'))).toHaveLength(1)
    expect(log[3]).toMatch(/^critical /)
    expect(log.filter((entry) => !entry.startsWith('critical'))).toEqual(
      expectedEvents('ordered', 'requisition_created', 'partial_results', 'partial_results', 'completed'),
    )
  })
})

describe('delayed simulation', () => {
  test('takes the first step at once and the others when the clock reaches them', async () => {
    const own = await w.tenant()
    const { id } = await placeOrder(own.api, 'testkit')
    await runJobs()
    const all = usualSteps.testkit.split(' ')
    const now = async () => statusesOf(await own.api.getOrder({ params: { order_id: id } }))
    expect(await own.api.simulateOrder({ params: { order_id: id }, query: { delay: 60 }, body: undefined as never })).toBe('Success')
    expect(await now()).toEqual(all.slice(0, 3))
    await own.api.moveClock({ body: { advance_seconds: 61 } })
    expect(await now()).toEqual(all.slice(0, 4))
    await own.api.moveClock({ body: { advance_seconds: 3600 } })
    const { events } = await own.api.getOrder({ params: { order_id: id } })
    expect(events.map(({ status }) => status.split('.')[2])).toEqual(all)
    const moments = events.slice(2).map(({ created_at }) => created_at)
    expect(moments).toEqual(moments.map((_, i) => later(moments[0] as string, i * 60 * SECOND)))
    expect(await orderEvents(app, own.team_id, id)).toEqual(expectedEvents(...all))
  })
  test('takes due steps in the background job', async () => {
    const own = await world({ database: await newSandboxDatabase() })
    const { id } = await placeOrder(own.api)
    await own.api.simulateOrder({ params: { order_id: id }, query: { delay: 60 }, body: undefined as never })
    const now = async () => statusesOf(await own.api.getOrder({ params: { order_id: id } }))
    await own.runJobs()
    expect(await now()).toEqual(['ordered', 'requisition_created'])
    own.advanceTime(60 * SECOND)
    await own.runJobs()
    expect(await now()).toEqual(['ordered', 'requisition_created', 'partial_results'])
    own.advanceTime(60 * SECOND)
    await own.runJobs()
    expect(await now()).toEqual(['ordered', 'requisition_created', 'partial_results', 'completed'])
  })
  test('stops when the order is canceled', async () => {
    const own = await w.tenant()
    const { id } = await placeOrder(own.api)
    await own.api.simulateOrder({ params: { order_id: id }, query: { delay: 60 }, body: undefined as never })
    await own.api.cancelOrder({ params: { order_id: id } })
    await own.api.moveClock({ body: { advance_seconds: 3600 } })
    await runJobs()
    expect(statusesOf(await own.api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'requisition_created', 'cancelled'])
  })
  test.each([0, 60])('rejects a redraw that the lab does not offer with a delay of %d seconds', async (delay) => {
    const { id } = await placeOrder(api, 'walk_in_test', { user_id, order_set: { lab_test_ids: [await testId(api, 'kidney-urine')] } })
    await runJobs()
    const before = await snapshotOf(w.url, id)
    expect(await errorOf(simulate(id, { final_status: 'collecting_sample.walk_in_test.redraw_available', delay }))).toMatchObject({
      status: 400,
      detail: { error_type: 'REDRAW_NOT_OFFERED' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('stops when the lab reports a later status', async () => {
    const own = await w.tenant()
    const { id } = await placeOrder(own.api)
    await own.api.simulateOrder({ params: { order_id: id }, query: { delay: 60 }, body: undefined as never })
    const { lab } = await w.partnerLab(1)
    await lab.reportLabStep({ params: { order_id: id }, body: { status: 'sample_error' } })
    await own.api.moveClock({ body: { advance_seconds: 90 * 24 * 3600 } })
    expect(statusesOf(await own.api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'requisition_created', 'sample_error'])
  })
})

test('returns 404 in production', async () => {
  const production = await world({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  const call = production.api.simulateOrder({ params: { order_id: team_id }, query: {}, body: undefined as never })
  expect(await errorOf(call)).toMatchObject({ status: 404, detail: { error_type: 'UNKNOWN_PATH' } })
})

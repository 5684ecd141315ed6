import { afterAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { DAY } from '../../src/platform/time.ts'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { eventsOf } from '../support/events.ts'
import { leavesOf } from '../support/leaves.ts'
import { aRegistration, expectedEvents, orderEvents, snapshotOf } from '../support/order-events.ts'
import { aNewOrder, aPatient, placeKit, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

const w = await world()
const { app, runJobs } = w
afterAll(() => expectEventsMatchCatalog(app))
const { lab } = await w.partnerLab(1)
const { lab: kitLab } = await w.partnerLab(3)

const read = (api: Client, order_id: string) => api.getOrder({ params: { order_id } })
const daysOf = (order: { events: { status: string; created_at: string }[] }) =>
  order.events.map(({ status, created_at }) => `${created_at.slice(5, 10)} ${status.split('.')[2]}`)

const enableAutoSimulator = ({ admin, org_id, team_id }: Tenant) =>
  admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { simulator: 'auto' } } })

describe('a testkit order over three weeks', () => {
  /** Schedules a testkit order one week ahead and reports a shipping problem in each direction. */
  async function runJourney(tenant: Tenant) {
    const { api } = tenant
    await enableAutoSimulator(tenant)
    await api.moveClock({ body: { now: '2031-03-03T15:00:00Z' } })
    const { user_id } = await api.createUser({ body: { client_user_id: 'traveller' } })
    const { id } = (await api.createOrder({ body: await aNewOrder(api, 'testkit', { user_id, activate_by: '2031-03-10' }) })).order
    await runJobs()
    const params = { order_id: id }
    const history: string[] = []
    for (let day = 4; day <= 24; day++) {
      await api.moveClock({ body: { now: `2031-03-${String(day).padStart(2, '0')}T15:00:00Z` } })
      const { last_event } = await read(api, id)
      const low = last_event.status.split('.')[2] as string
      history.push(low)
      if (low === 'transit_customer' && !history.includes('problem_in_transit_customer')) {
        await kitLab.reportLabStep({ params, body: { status: 'problem_in_transit_customer', status_detail: 'fulfillment_error' } })
        history.push('problem_in_transit_customer')
      }
      if (low === 'transit_lab' && !history.includes('problem_in_transit_lab')) {
        await kitLab.reportLabStep({ params, body: { status: 'problem_in_transit_lab' } })
        await kitLab.reportLabStep({ params, body: { status: 'transit_lab', shipment: { notes: 'Found in Tucson.' } } })
        history.push('problem_in_transit_lab')
      }
    }
    return { order: await read(api, id), results: await api.getResults({ params }) }
  }

  test('emits every status change, and the same calls produce the same log in another team', async () => {
    const [first, second] = [await w.tenant(), await w.tenant()]
    const { order, results } = await runJourney(first)
    expect(daysOf(order)).toEqual([
      '03-03 ordered',
      '03-10 requisition_created',
      '03-10 transit_customer',
      '03-11 problem_in_transit_customer',
      '03-12 transit_customer',
      '03-14 out_for_delivery',
      '03-14 with_customer',
      '03-16 transit_lab',
      '03-17 problem_in_transit_lab',
      '03-17 transit_lab',
      '03-19 delivered_to_lab',
      '03-21 completed',
    ])
    expect(order.events[1]?.created_at).toBe('2031-03-10T07:00:00.000Z')
    expect(order.events[3]?.status_detail).toBe('fulfillment_error')
    expect(order.details.data?.shipment).toMatchObject({ notes: 'Found in Tucson.', outbound_courier: 'Sandbox Courier' })
    expect(order).toMatchObject({
      expected_result_by_date: '2031-03-18',
      worst_case_result_by_date: '2031-03-21',
      interpretation: 'normal',
      has_missing_results: false,
      status: 'completed',
    })
    expect(await orderEvents(app, first.team_id)).toEqual(expectedEvents(...(statusesOf(order) as string[])))

    const repeated = await runJourney(second)
    expect(daysOf(repeated.order)).toEqual(daysOf(order))
    expect(repeated.results.results.map(({ source_sample_id: _, timestamp: __, ...result }) => result)).toEqual(
      results.results.map(({ source_sample_id: _, timestamp: __, ...result }) => result),
    )
    expect(await orderEvents(app, second.team_id)).toEqual(await orderEvents(app, first.team_id))
  })
})

/** Runs one order in a new team and returns its outcome without random or time-dependent values. */
async function runSimulation(method: 'walk_in_test' | 'at_home_phlebotomy' | 'on_site_collection') {
  const tenant = await w.tenant()
  const { api, team_id } = tenant
  await enableAutoSimulator(tenant)
  const { user_id } = await api.createUser({ body: { client_user_id: 'the same' } })
  const { id } = (await api.createOrder({ body: await aNewOrder(api, method, { user_id }) })).order
  await runJobs()
  for (let week = 0; week < 3; week++) await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  const order = await read(api, id)
  const [, requisition] = order.events
  const since = order.events.map(({ created_at }) => Date.parse(created_at) - Date.parse(requisition?.created_at as string)).slice(1)
  const { results } = await api.getResults({ params: { order_id: id } })
  return {
    steps: statusesOf(order),
    since,
    results: results.map(({ slug, result }) => [slug, result]),
    log: await orderEvents(app, team_id),
  }
}

test.each(['walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as const)(
  'produces the same log for the same seed: %s',
  async (method) => {
    const [first, second] = [await runSimulation(method), await runSimulation(method)]
    expect(first.steps.at(-1)).toBe('completed')
    expect(second).toEqual(first)
  },
)

const glucose = (result: string, change: object = {}) => ({ slug: 'glucose', result, ...change })

describe('redraws', () => {
  test('opens a second order in the transaction and combines the results', async () => {
    const { api, team_id } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const params = { order_id: id }
    await lab.reportLabResults({ params, body: { status: 'partial', results: [glucose('91'), { slug: 'hba1c', result: '5.0' }] } })
    await lab.reportLabStep({ params, body: { status: 'redraw_available', status_detail: 'sample_hemolyzed' } })

    const initial = await read(api, id)
    expect(statusesOf(initial)).toEqual(['ordered', 'requisition_created', 'partial_results', 'redraw_available'])
    expect(initial.last_event.status_detail).toBe('sample_hemolyzed')
    const transaction_id = initial.order_transaction?.id as string
    const { orders, status } = await api.getOrderTransaction({ params: { transaction_id } })
    const redraw = orders[1]?.id as string
    expect([status, orders]).toMatchObject([
      'active',
      [
        { id, origin: 'initial', parent_id: null, last_status: 'redraw_available' },
        { id: redraw, origin: 'redraw', parent_id: id, last_status: 'ordered' },
      ],
    ])
    expect(await errorOf(api.cancelOrder({ params }))).toMatchObject({ status: 400, detail: { error_type: 'ORDER_NOT_CANCELLABLE' } })

    await runJobs()
    const redrawOrder = await read(api, redraw)
    expect(statusesOf(redrawOrder)).toEqual(['ordered', 'requisition_created'])
    expect(redrawOrder.sample_id).not.toBe(initial.sample_id)
    expect(redrawOrder).toMatchObject({ origin: 'redraw', interpretation: null, patient_details: initial.patient_details })
    expect(await errorOf(lab.reportLabStep({ params: { order_id: redraw }, body: { status: 'redraw_available' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'REDRAW_NOT_OFFERED' },
    })
    await lab.reportLabResults({
      params: { order_id: redraw },
      body: { status: 'final', results: [glucose('95'), { slug: 'tsh', result: '2.0' }] },
    })

    const combined = await api.getTransactionResults({ params: { transaction_id } })
    expect(combined.results.map(({ slug, result, source_sample_id }) => [slug, result, source_sample_id])).toEqual([
      ['glucose', '95', redrawOrder.sample_id],
      ['hba1c', '5.0', initial.sample_id],
      ['tsh', '2.0', redrawOrder.sample_id],
    ])
    expect(Object.keys(combined.sample_information ?? {})).toEqual([initial.sample_id, redrawOrder.sample_id])
    expect(combined.order_transaction?.status).toBe('completed')
    expect((await api.getOrderTransaction({ params: { transaction_id } })).status).toBe('completed')
    expect((await read(api, id)).order_transaction?.status).toBe('completed')
    expect(await orderEvents(app, team_id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'partial_results', 'redraw_available'),
      ...expectedEvents('ordered', 'requisition_created', 'completed'),
    ])
    expect(await orderEvents(app, team_id, redraw)).toEqual(expectedEvents('ordered', 'requisition_created', 'completed'))
  })
  test('opens a redraw once and ignores a repeated report', async () => {
    const { api } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const report = () => lab.reportLabStep({ params: { order_id: id }, body: { status: 'redraw_available' } })
    await report()
    const before = await snapshotOf(w.url, id)
    await report()
    expect(await snapshotOf(w.url, id)).toEqual(before)
    expect((await api.listOrders()).total).toBe(2)
  })
  test('cancels a redraw by its own ID and completes the transaction', async () => {
    const { api } = await w.tenant()
    const { id } = await placeOrder(api)
    await api.simulateOrder({
      params: { order_id: id },
      query: { final_status: 'collecting_sample.walk_in_test.redraw_available' },
      body: undefined as never,
    })
    const redraw = (await read(api, id)).order_transaction?.orders[1]?.id as string
    await api.cancelOrder({ params: { order_id: redraw } })
    expect((await read(api, redraw)).order_transaction).toMatchObject({
      status: 'completed',
      orders: [{ low_level_status: 'redraw_available' }, { low_level_status: 'cancelled' }],
    })
  })
  test('rejects a redraw from a lab that does not offer redraws', async () => {
    const { api } = await w.tenant()
    const { id } = await placeOrder(api, 'walk_in_test', { order_set: { lab_test_ids: [await testId(api, 'kidney-urine')] } })
    await runJobs()
    const before = await snapshotOf(w.url, id)
    const { lab: other } = await w.partnerLab(5)
    expect(await errorOf(other.reportLabStep({ params: { order_id: id }, body: { status: 'redraw_available' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'REDRAW_NOT_OFFERED' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
})

describe('results', () => {
  test('emits one critical alert when a correction turns critical and keeps earlier versions', async () => {
    const { api, team_id } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const params = { order_id: id }
    const post = (status: 'final' | 'corrected', result: string, notes?: string) =>
      lab.reportLabResults({ params, body: { status, results: [glucose(result)], ...(notes ? { notes } : {}) } })
    await post('final', '91')
    expect((await read(api, id)).interpretation).toBe('normal')
    await post('corrected', '512')
    await post('corrected', '512')
    await post('corrected', '512', 'The patient was called.')

    const order = await read(api, id)
    expect(statusesOf(order)).toEqual(['ordered', 'requisition_created', 'completed', 'corrected', 'corrected'])
    expect(order).toMatchObject({ interpretation: 'critical', status: 'completed' })
    expect((await api.listOrders({ query: { interpretation: 'critical' } })).orders.map((order) => order.id)).toEqual([id])
    expect(await orderEvents(app, team_id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'completed', 'corrected'),
      'critical glucose',
      'updated corrected',
    ])
    const alert = (await eventsOf(app, team_id)).find(({ event_type }) => event_type === 'labtest.result.critical')
    expect(alert).toMatchObject({
      user_id: order.user_id,
      data: { order_id: id, sample_id: order.sample_id, status: 'final', interpretation: 'critical', marker: { slug: 'glucose' } },
    })
    expect(leavesOf(alert).map(String)).not.toContain('512')
    expect(await query(w.url, 'select version, status, interpretation from results where order_id = $1 order by version', [id])).toEqual([
      { version: 1, status: 'final', interpretation: 'normal' },
      { version: 2, status: 'corrected', interpretation: 'critical' },
      { version: 3, status: 'corrected', interpretation: 'critical' },
    ])
  })
  test('accepts partial results before the final ones and emits an event for each', async () => {
    const { api, team_id } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const params = { order_id: id }
    const history = []
    for (const [status, result] of [
      ['partial', glucose('91')],
      ['partial', { slug: 'hba1c', result: '6.4' }],
      ['final', { slug: 'tsh', result: '2.0' }],
    ] as const) {
      await lab.reportLabResults({ params, body: { status, results: [result] } })
      const { interpretation, has_missing_results } = await read(api, id)
      const { results, metadata } = await api.getResults({ params })
      history.push([metadata.status, interpretation, has_missing_results, results.map(({ slug }) => slug).join(' ')])
    }
    expect(history).toEqual([
      ['partial', 'normal', null, 'glucose'],
      ['partial', 'abnormal', null, 'glucose hba1c'],
      ['final', 'abnormal', true, 'glucose hba1c tsh'],
    ])
    const all = ['ordered', 'requisition_created', 'partial_results', 'partial_results', 'completed']
    expect(statusesOf(await read(api, id))).toEqual(all)
    expect(await orderEvents(app, team_id)).toEqual(expectedEvents(...all))
  })
  test('accepts partial results of a testkit without a status change', async () => {
    const { api, team_id } = await w.tenant()
    const { id } = await placeOrder(api, 'testkit')
    await runJobs()
    const params = { order_id: id }
    await kitLab.reportLabStep({ params, body: { status: 'delivered_to_lab' } })
    await kitLab.reportLabResults({ params, body: { status: 'partial', results: [{ slug: 'hba1c', result: '5.0' }] } })
    expect(await read(api, id)).toMatchObject({ interpretation: 'normal', has_missing_results: null })
    await kitLab.reportLabResults({ params, body: { status: 'final', results: [{ slug: 'hs-crp', result: '1.0' }] } })
    const before = await snapshotOf(w.url, id)
    await kitLab.reportLabResults({ params, body: { status: 'partial', results: [{ slug: 'hs-crp', result: '9.0' }] } })
    expect(await snapshotOf(w.url, id)).toEqual(before)
    expect(statusesOf(await read(api, id))).toEqual(['ordered', 'requisition_created', 'delivered_to_lab', 'completed'])
    expect(await orderEvents(app, team_id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'delivered_to_lab'),
      'updated delivered_to_lab',
      'updated completed',
    ])
  })
})

describe('unregistered testkits', () => {
  test('ships under a stock user and is registered once for its patient', async () => {
    const { api, team_id } = await w.tenant()
    const [stock, patient] = [await aUser(api), await aUser(api)]
    const { id } = await placeKit(api, { user_id: stock })
    await runJobs()
    const params = { order_id: id }
    for (const status of ['transit_customer', 'out_for_delivery', 'with_customer'] as const)
      await kitLab.reportLabStep({ params, body: { status } })
    const { sample_id, patient_details } = await read(api, id)
    expect(patient_details).toBeNull()

    const otherTeam = await w.tenant()
    const before = await snapshotOf(w.url, id)
    const foreign = aRegistration(sample_id as string, { user_id: await aUser(otherTeam.api) })
    expect(await errorOf(api.registerTestkit({ body: foreign }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
    const theirs = aRegistration(sample_id as string, { user_id: await aUser(otherTeam.api) })
    expect(await errorOf(otherTeam.api.registerTestkit({ body: theirs }))).toMatchObject({
      status: 404,
      detail: { error_type: 'KIT_NOT_FOUND' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)

    const { order } = await api.registerTestkit({ body: aRegistration(sample_id as string, { user_id: patient }) })
    const all = 'ordered awaiting_registration transit_customer out_for_delivery with_customer registered requisition_created'.split(' ')
    expect(statusesOf(order)).toEqual(all)
    expect(order).toMatchObject({ user_id: patient, status: 'received', patient_details: { first_name: people[0].first_name } })
    expect(await errorOf(api.registerTestkit({ body: aRegistration(sample_id as string) }))).toMatchObject({
      status: 409,
      detail: { error_type: 'KIT_REGISTERED' },
    })
    await api.simulateOrder({ params, query: {}, body: undefined as never })
    const done = [...all, 'transit_lab', 'delivered_to_lab', 'completed']
    expect(statusesOf(await read(api, id))).toEqual(done)
    expect(await orderEvents(app, team_id)).toEqual(expectedEvents(...done))
    const userIds = (await eventsOf(app, team_id)).map(({ user_id }) => user_id)
    expect(userIds).toEqual([...Array(5).fill(stock), ...Array(5).fill(patient)])
    expect((await api.listOrders({ query: { user_id: stock } })).total).toBe(0)
    expect((await api.listOrders({ query: { user_id: patient, patient_name: 'quill' } })).total).toBe(1)
  })
  test('keeps its user if no other is given, and can be registered before it ships', async () => {
    const { api } = await w.tenant()
    const user_id = await aUser(api)
    const { id } = await placeKit(api, { user_id })
    await runJobs()
    const { sample_id } = await read(api, id)
    const { order } = await api.registerTestkit({ body: aRegistration(sample_id as string) })
    expect(order.user_id).toBe(user_id)
    await api.simulateOrder({ params: { order_id: id }, query: {}, body: undefined as never })
    expect(statusesOf(await read(api, id))).toEqual(
      'ordered awaiting_registration registered requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed'.split(
        ' ',
      ),
    )
  })
  test('waits for its registration although the simulator runs automatically', async () => {
    const tenant = await w.tenant()
    await enableAutoSimulator(tenant)
    const { id } = await placeKit(tenant.api)
    await runJobs()
    await tenant.api.moveClock({ body: { advance_seconds: (60 * DAY) / 1000 } })
    const out = ['ordered', 'awaiting_registration', 'transit_customer', 'out_for_delivery', 'with_customer']
    expect(statusesOf(await read(tenant.api, id))).toEqual(out)
    await tenant.api.registerTestkit({ body: aRegistration((await read(tenant.api, id)).sample_id as string) })
    await tenant.api.moveClock({ body: { advance_seconds: (60 * DAY) / 1000 } })
    const back = ['registered', 'requisition_created', 'transit_lab', 'delivered_to_lab', 'completed']
    expect(statusesOf(await read(tenant.api, id))).toEqual([...out, ...back])
  })
})

describe('imported orders', () => {
  const anImport = async (api: Client, sample_id: string) => ({
    user_id: await aUser(api),
    billing_type: 'client_bill' as const,
    order_set: { lab_test_ids: [await testId(api, 'essential-wellness')] },
    collection_method: 'walk_in_test' as const,
    patient_details: aPatient(),
    patient_address: { ...anAddress(), receiver_name: 'Recipient' },
    sample_id,
  })

  test('skips the requisition and accepts results', async () => {
    const { api, team_id } = await w.tenant()
    const { order } = await api.importOrder({ body: await anImport(api, 'IMPORT-1') })
    expect(statusesOf(order)).toEqual(['ordered', 'requisition_bypassed'])
    expect(order).toMatchObject({ sample_id: 'IMPORT-1', requisition_form_url: null })
    await runJobs()
    await lab.reportLabResults({ params: { order_id: order.id }, body: { status: 'final', results: [glucose('91')] } })
    const all = ['ordered', 'requisition_bypassed', 'completed']
    expect(statusesOf(await read(api, order.id))).toEqual(all)
    expect(await orderEvents(app, team_id)).toEqual(expectedEvents(...all))
  })
  test('rejects a sample_id that is already used, in the same team and in another', async () => {
    const [first, second] = [await w.tenant(), await w.tenant()]
    await first.api.importOrder({ body: await anImport(first.api, 'IMPORT-2') })
    for (const { api, team_id } of [first, second]) {
      const count = (await api.listOrders()).total
      expect(await errorOf(api.importOrder({ body: await anImport(api, 'IMPORT-2') }))).toMatchObject({
        status: 422,
        detail: [{ loc: ['body', 'sample_id'], type: 'sample_id_taken' }],
      })
      expect([(await api.listOrders()).total, (await orderEvents(app, team_id)).length]).toEqual([count, 2 * count])
    }
  })
})

describe('results after an order has ended', () => {
  test('recreates the order in the same transaction to accept the results', async () => {
    const { api, team_id } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const params = { order_id: id }
    await api.cancelOrder({ params })
    const report = { status: 'final' as const, results: [glucose('91')] }
    const before = await snapshotOf(w.url, id)
    expect(await errorOf(lab.reportLabResults({ params, body: report }))).toMatchObject({
      status: 400,
      detail: { error_type: 'STATUS_NOT_REACHABLE' },
    })
    const recreated = await lab.recreateLabOrder({ params })
    expect(recreated).toMatchObject({ origin: 'recreation', parent_id: id, status: 'requisition_created', result_version: 0 })
    expect(await lab.recreateLabOrder({ params })).toEqual(recreated)
    expect(await snapshotOf(w.url, id)).toEqual(before)
    await lab.reportLabResults({ params: { order_id: recreated.id }, body: report })

    const order = await read(api, recreated.id)
    expect(statusesOf(order)).toEqual(['ordered', 'requisition_created', 'completed'])
    expect(order).toMatchObject({
      origin: 'recreation',
      order_transaction: { status: 'completed', orders: [{ id }, { id: recreated.id }] },
    })
    expect(await orderEvents(app, team_id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'cancelled'),
      ...expectedEvents('ordered', 'requisition_created', 'completed'),
    ])
  })
  test('rejects a recreation while the order is active or can be corrected', async () => {
    const { api } = await w.tenant()
    const { id } = await placeOrder(api)
    await runJobs()
    const recreate = () => errorOf(lab.recreateLabOrder({ params: { order_id: id } }))
    expect(await recreate()).toMatchObject({ status: 400, detail: { error_type: 'ORDER_GOES_ON' } })
    await api.simulateOrder({ params: { order_id: id }, query: {}, body: undefined as never })
    expect(await recreate()).toMatchObject({ status: 400, detail: { error_type: 'ORDER_GOES_ON' } })
    expect((await api.listOrders()).total).toBe(1)
  })
})

import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { DAY } from '../../src/platform/time.ts'
import { finishErasures } from '../support/erasure.ts'
import { eventsOf, moveAllEvents } from '../support/events.ts'
import { aRegistration, orderEvents, snapshotOf } from '../support/order-events.ts'
import { aPatient, placeKit, placeOrder, statusesOf } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { app, runJobs } = w
const { lab } = await w.partnerLab(1)
const { lab: kitLab } = await w.partnerLab(3)

const read = (api: Client, order_id: string) => api.getOrder({ params: { order_id } })

async function placeAndDispatch(api: Client, change: object = {}, method: Parameters<typeof placeOrder>[1] = 'walk_in_test') {
  const { id } = await placeOrder(api, method, change)
  await runJobs()
  return id
}

type ResultsBody = Parameters<typeof lab.reportLabResults>[0]['body']
const post = (order_id: string, body: Partial<ResultsBody>) =>
  lab.reportLabResults({ params: { order_id }, body: { status: 'final', results: [{ slug: 'glucose', result: '91' }], ...body } })

describe('results', () => {
  const physician = { first_name: 'Otto', last_name: 'Sample', npi: '1234567893' }

  test('return 404 before the lab has reported them', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api)
    const transaction_id = (await read(api, id)).order_transaction?.id as string
    const calls = [
      api.getResults({ params: { order_id: id } }),
      api.getResultsMetadata({ params: { order_id: id } }),
      api.getTransactionResults({ params: { transaction_id } }),
    ]
    for (const response of await Promise.all(calls.map(errorOf)))
      expect(response).toMatchObject({ status: 404, detail: { error_type: 'RESULTS_NOT_AVAILABLE' } })
    expect(await read(api, id)).toMatchObject({ interpretation: null, has_missing_results: null })
  })

  test('contain values, ranges, patient, provider and laboratory', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api, { physician })
    await post(id, {
      collected_at: '2026-02-28T16:00:00Z',
      received_at: '2026-03-01T09:00:00Z',
      reported_at: '2026-03-02T10:00:00Z',
      results: [{ slug: 'glucose', result: '104', notes: 'Fasting.' }],
      missing_results: [{ slug: 'tsh', inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Too little.' }],
    })
    const order = await read(api, id)
    const report = await api.getResults({ params: { order_id: id } })
    const metadata = {
      age: '64',
      dob: people[0].dob,
      'clia_#': expect.any(String),
      patient: `${people[0].first_name} ${people[0].last_name}`,
      provider: 'Otto Sample',
      laboratory: 'Quillmoor Reference Laboratory',
      date_reported: '2026-03-02T10:00:00.000Z',
      date_collected: '2026-02-28T16:00:00.000Z',
      date_received: '2026-03-01T09:00:00.000Z',
      specimen_number: order.sample_id,
      status: 'final',
      interpretation: 'abnormal',
      patient_id: order.user_id,
      account_id: expect.any(String),
      result_version: 1,
    }
    expect(report.metadata).toEqual(metadata)
    expect(await api.getResultsMetadata({ params: { order_id: id } })).toEqual(metadata)
    expect(report.results).toEqual([
      {
        name: 'Glucose',
        slug: 'glucose',
        loinc: '2345-7',
        loinc_slug: 'glucose',
        provider_id: null,
        source_markers: [{ marker_id: 1002, name: expect.any(String), slug: 'cmp', provider_id: 'QM10014' }],
        value: 104,
        result: '104',
        type: 'numeric',
        unit: 'mg/dL',
        unit_ucum: 'mg/dL',
        timestamp: '2026-03-02T10:00:00.000Z',
        notes: 'Fasting.',
        reference_range: '70-99',
        min_range_value: 70,
        max_range_value: 99,
        is_above_max_range: true,
        is_below_min_range: false,
        interpretation: 'abnormal',
        source_interpretation: '',
        performing_laboratory: null,
        source_sample_id: order.sample_id,
      },
    ])
    expect(report.missing_results).toHaveLength(39)
    expect(report.missing_results?.find(({ slug }) => slug === 'tsh')).toMatchObject({
      inferred_failure_type: 'quantity_not_sufficient_failure',
      note: 'Too little.',
    })
    expect(report.missing_results?.find(({ slug }) => slug === 'hba1c')).toMatchObject({ inferred_failure_type: 'unknown_failure' })
    expect(Object.keys(report.sample_information ?? {})).toEqual([order.sample_id])
    expect(report.order_transaction).toEqual(order.order_transaction)
    expect(order).toMatchObject({ interpretation: 'abnormal', has_missing_results: true })
  })

  test('are complete after any number of partial reports', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api, {}, 'on_site_collection')
    await api.simulateOrder({ params: { order_id: id }, query: {}, body: { interpretation: 'normal', partials: 3 } })
    const { missing_results, results } = await api.getResults({ params: { order_id: id } })
    expect([missing_results, (await read(api, id)).has_missing_results]).toEqual([[], false])
    expect(new Set(results.map(({ slug }) => slug)).size).toBe(results.length)
  })

  test('of a transaction with one order equal those of the order', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api)
    await post(id, {})
    const transaction_id = (await read(api, id)).order_transaction?.id as string
    expect(await api.getTransactionResults({ params: { transaction_id } })).toEqual(await api.getResults({ params: { order_id: id } }))
  })

  test('cannot be changed in the database, and neither can order events', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api)
    await post(id, {})
    const before = await snapshotOf(w.url, id)
    for (const change of ["results set status = 'partial'", "order_events set low_level = 'cancelled'"])
      await expect(query(w.url, `update ${change} where order_id = $1`, [id])).rejects.toThrow('is append-only')
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
})

describe('result due dates', () => {
  const dates = ({ expected_result_by_date: expected, worst_case_result_by_date: worst }: Awaited<ReturnType<typeof read>>) => [
    expected,
    worst,
  ]
  const eastern = { patient_address: anAddress({ city: 'Boston', state: 'MA', zip: '02108' }) }

  test.each<[string, object, string, string[]]>([
    ['across the end of a month', {}, '2026-01-31T20:00:00Z', ['2026-02-01', '2026-02-03']],
    ["by the patient's local date", {}, '2026-02-01T03:00:00Z', ['2026-02-01', '2026-02-03']],
    ['in a leap year', {}, '2028-02-28T20:00:00Z', ['2028-02-29', '2028-03-02']],
    ['across the start of daylight saving time', eastern, '2026-03-07T23:30:00-05:00', ['2026-03-08', '2026-03-10']],
    ['in the repeated hour at the end of daylight saving time', eastern, '2026-11-01T01:30:00-05:00', ['2026-11-02', '2026-11-04']],
    ['across the end of a year', eastern, '2026-12-31T23:59:59-05:00', ['2027-01-01', '2027-01-03']],
  ])('count from the collection %s', async (_, change, collected_at, due) => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api, change)
    expect(dates(await read(api, id))).toEqual([null, null])
    await lab.reportLabStep({ params: { order_id: id }, body: { status: 'appointment_pending' } })
    expect(dates(await read(api, id))).toEqual([null, null])
    await lab.reportLabStep({ params: { order_id: id }, body: { status: 'appointment_scheduled', collected_at } })
    expect(dates(await read(api, id))).toEqual(due)
  })

  test('follow a later collection time from the lab', async () => {
    const { api } = await w.tenant()
    const id = await placeAndDispatch(api)
    await post(id, { status: 'partial', collected_at: '2026-05-10T18:00:00Z' })
    expect(dates(await read(api, id))).toEqual(['2026-05-11', '2026-05-13'])
    await post(id, { collected_at: '2026-05-12T18:00:00Z' })
    expect(dates(await read(api, id))).toEqual(['2026-05-13', '2026-05-15'])
  })

  test('count for a testkit from its return shipment unless the lab reports a collection time', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { now: '2031-06-29T20:00:00Z' } })
    const [undated, dated] = [await placeAndDispatch(api, {}, 'testkit'), await placeAndDispatch(api, {}, 'testkit')]
    await kitLab.reportLabStep({ params: { order_id: undated }, body: { status: 'with_customer' } })
    expect(dates(await read(api, undated))).toEqual([null, null])
    await kitLab.reportLabStep({ params: { order_id: undated }, body: { status: 'transit_lab' } })
    await kitLab.reportLabStep({ params: { order_id: dated }, body: { status: 'transit_lab', collected_at: '2031-06-27T20:00:00Z' } })
    expect([dates(await read(api, undated)), dates(await read(api, dated))]).toEqual([
      ['2031-07-01', '2031-07-04'],
      ['2031-06-29', '2031-07-02'],
    ])
  })

  test('are unknown if the turnaround of a marker is unknown', async () => {
    const { api } = await w.tenant()
    await query(w.url, 'update markers set common_tat_days = null where id = 1048')
    const body = { name: 'Slow', description: '', method: 'walk_in_test' as const, marker_ids: [1001, 1048] }
    const slow = await api.createLabTest({ body })
    const id = await placeAndDispatch(api, { order_set: { lab_test_ids: [slow.id] } })
    await post(id, { collected_at: '2026-05-10T18:00:00Z', results: [{ slug: 'cholesterol-total', result: '150' }] })
    expect(dates(await read(api, id))).toEqual([null, expect.stringMatching(/^2026-05-1\d$/)])
  })
})

const picture = { content: Buffer.from('not really a picture').toString('base64'), content_type: 'image/png' as const }

/** Places an order with images, insurance and several result versions. */
async function fullOrder(api: Client, user_id: string) {
  const change = {
    user_id,
    patient_details: aPatient(),
    physician: { first_name: 'Otto', last_name: 'Sample', npi: '1234567893', signature_image: picture },
    health_insurance: { front_image: picture, payor_code: 'OAKMU', insurance_id: 'MEMBER-55501' },
  }
  const { id } = await placeOrder(api, 'walk_in_test', change)
  await api.simulateOrder({
    params: { order_id: id },
    query: { final_status: 'completed.walk_in_test.corrected' },
    body: { interpretation: 'critical' },
  })
  return id
}

type Trace = Record<string, unknown[] | null>
const countsOf = async (order_id: string) => {
  const trace = (await snapshotOf(w.url, order_id)) as Trace
  return Object.fromEntries(Object.entries(trace).map(([table, rows]) => [table, rows?.length ?? 0]))
}

describe('erasing a user', () => {
  test('keeps orders without personal data, results or events', async () => {
    const { api, team_id } = await w.tenant()
    const [user_id, other] = [await aUser(api), await aUser(api)]
    const [id, theirs] = [await fullOrder(api, user_id), await fullOrder(api, other)]
    const { sample_id, order_transaction } = await read(api, id)
    expect(await countsOf(id)).toMatchObject({ orders: 1, order_events: 5, lab_samples: 1, results: 3, order_images: 2 })
    await moveAllEvents(app)
    const untouched = await snapshotOf(w.url, theirs)

    await api.deleteUser({ params: { user_id } })
    await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    await finishErasures(w)

    expect(await countsOf(id)).toEqual({ orders: 1, order_events: 5, lab_samples: 0, results: 0, order_images: 0, events: 0 })
    const { orders } = (await snapshotOf(w.url, id)) as { orders: object[] }
    expect(orders).toMatchObject([
      { id, user_id: null, sealed: null, terms: [], simulation: null, dispatch_at: null, step_at: null, low_level: 'corrected' },
    ])
    const transaction_id = order_transaction?.id as string
    const order = { params: { order_id: id } }
    const requests = [
      api.getOrder(order),
      api.getResults(order),
      api.cancelOrder(order),
      api.simulateOrder({ ...order, query: {}, body: undefined as never }),
      api.getOrderTransaction({ params: { transaction_id } }),
      api.getTransactionResults({ params: { transaction_id } }),
      api.registerTestkit({ body: aRegistration(sample_id as string) }),
      lab.getLabOrder(order),
      lab.recreateLabOrder(order),
      post(id, {}),
    ]
    expect((await Promise.all(requests.map(errorOf))).map(({ status }) => status)).toEqual(requests.map(() => 404))
    expect((await api.listOrders()).orders.map((order) => order.id)).toEqual([theirs])
    expect((await lab.listLabOrders({ query: { limit: 100 } })).orders.map((order) => order.id)).not.toContain(id)
    expect((await eventsOf(app, team_id)).map((event) => event.user_id)).toEqual(expect.not.arrayContaining([user_id]))

    expect(await snapshotOf(w.url, theirs)).toEqual(untouched)
    expect(await read(api, theirs)).toMatchObject({ user_id: other, interpretation: 'critical' })
  })

  test('stops a scheduled order and a running simulation', async () => {
    const { api } = await w.tenant()
    const user_id = await aUser(api)
    const { id: held } = await placeOrder(api, 'walk_in_test', { user_id, activate_by: '2037-01-02' })
    const { id: simulating } = await placeOrder(api, 'testkit', { user_id })
    await api.simulateOrder({ params: { order_id: simulating }, query: { delay: 86_400 }, body: undefined as never })
    await api.deleteUser({ params: { user_id } })
    await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    const before = [await snapshotOf(w.url, held), await snapshotOf(w.url, simulating)]
    await api.moveClock({ body: { now: '2037-02-01T00:00:00Z' } })
    await runJobs()
    expect([await snapshotOf(w.url, held), await snapshotOf(w.url, simulating)]).toEqual(before)
  })

  test('who registered a testkit erases the order and keeps events of the stock user', async () => {
    const { api, team_id } = await w.tenant()
    const [stock, patient] = [await aUser(api), await aUser(api)]
    const { id } = await placeKit(api, { user_id: stock })
    await runJobs()
    await api.registerTestkit({ body: aRegistration((await read(api, id)).sample_id as string, { user_id: patient }) })
    await api.deleteUser({ params: { user_id: patient } })
    await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    expect((await errorOf(read(api, id))).status).toBe(404)
    expect(await orderEvents(app, team_id)).toEqual(['created ordered', 'updated awaiting_registration'])
  })

  test('who was the stock user of a registered testkit keeps the order', async () => {
    const { api, team_id } = await w.tenant()
    const [stock, patient] = [await aUser(api), await aUser(api)]
    const { id } = await placeKit(api, { user_id: stock })
    await runJobs()
    await api.registerTestkit({ body: aRegistration((await read(api, id)).sample_id as string, { user_id: patient }) })
    await api.deleteUser({ params: { user_id: stock } })
    await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    expect(await read(api, id)).toMatchObject({ user_id: patient, patient_details: { first_name: people[0].first_name } })
    expect(await orderEvents(app, team_id)).toEqual(['updated registered', 'updated requisition_created'])
  })
})

test('deleting a team erases its orders and no others', async () => {
  const own = await world()
  const other = await own.tenant()
  const { api, admin, org_id, team_id } = own
  const mine = await api.createLabTest({ body: { name: 'Mine', description: '', method: 'walk_in_test', marker_ids: [1001] } })
  const full = await fullOrder(api, await aUser(api))
  const { id: ownTest } = await placeOrder(api, 'walk_in_test', { order_set: { lab_test_ids: [mine.id] } })
  const { id: redrawn } = await placeOrder(api)
  await api.simulateOrder({
    params: { order_id: redrawn },
    query: { final_status: 'collecting_sample.walk_in_test.redraw_available' },
    body: undefined as never,
  })
  const { id: kept } = await placeOrder(other.api)
  await own.runJobs()
  const before = await countsOf(kept)

  await admin.deleteTeam({ params: { org_id, team_id } })
  own.advanceTime(7 * DAY + 1000)
  await own.runJobs()
  for (const id of [full, ownTest, redrawn])
    expect(await countsOf(id)).toEqual({ orders: 0, order_events: 0, lab_samples: 0, results: 0, order_images: 0, events: 0 })
  for (const table of ['orders', 'events']) expect(await query(own.url, `select from ${table} where team_id = $1`, [team_id])).toEqual([])
  expect(await countsOf(kept)).toEqual(before)
  expect(statusesOf(await other.api.getOrder({ params: { order_id: kept } }))).toEqual(['ordered', 'requisition_created'])
})

import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import type { NewResults } from '../../src/contract/labs/results.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { DAY, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { aRegistration, expectedEvents, orderEvents, snapshotOf } from '../support/order-events.ts'
import { aPatient, placeKit, placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const w = await world()
const { api, app, team_id, runJobs } = w
const { lab, lab_key, key_id } = await w.partnerLab(1)
const otherLab = await w.partnerLab(2)
const user_id = await aUser(api)

const read = (order_id: string) => api.getOrder({ params: { order_id } })

async function placeAndDispatch(change: object = {}) {
  const { id } = await placeOrder(api, 'walk_in_test', { user_id, ...change })
  await runJobs()
  return id
}

type Step = Parameters<typeof lab.reportLabStep>[0]['body']
const report = (order_id: string, body: Step) => lab.reportLabStep({ params: { order_id }, body })
type ResultsBody = Parameters<typeof lab.reportLabResults>[0]['body']
const post = (order_id: string, results: ResultsBody['results'], status: NewResults['status'] = 'final') =>
  lab.reportLabResults({ params: { order_id }, body: { status, results } })

describe('partner lab requests', () => {
  test('lists the orders dispatched to the lab, across teams and pages', async () => {
    const other = await w.tenant()
    const mine = [await placeAndDispatch(), await placeAndDispatch()]
    const { id: theirs } = await placeOrder(other.api)
    await placeOrder(other.api, 'testkit')
    await runJobs()
    // Orders are listed two seconds after their last change, and this machine may take longer than that.
    w.advanceTime(-MINUTE)
    expect((await lab.listLabOrders()).orders).toEqual([])
    w.advanceTime(MINUTE + 3 * SECOND)
    const listed: string[] = []
    let next_cursor: string | null | undefined
    for (let more = true; more; ) {
      const page = await lab.listLabOrders({ query: { limit: 1, next_cursor } })
      more = page.orders.length === 1
      listed.push(...page.orders.map((order) => order.id))
      next_cursor = page.next_cursor
    }
    expect(listed).toEqual([...mine, theirs])
    const held = await placeOrder(other.api, 'walk_in_test', { activate_by: '2999-01-01' })
    await other.api.cancelOrder({ params: { order_id: held.id } })
    const late = await placeAndDispatch()
    w.advanceTime(3 * SECOND)
    expect((await lab.listLabOrders({ query: { next_cursor } })).orders.map((order) => order.id)).toEqual([late])

    const [first = ''] = mine
    const { sample_id } = await lab.getLabOrder({ params: { order_id: first } })
    expect((await lab.listLabOrders({ query: { sample_id } })).orders.map((order) => order.id)).toEqual([first])
    await report(first, { status: 'sample_error' })
    w.advanceTime(3 * SECOND)
    expect((await lab.listLabOrders({ query: { status: ['sample_error'] } })).orders.map((order) => order.id)).toEqual([first])
    expect((await lab.listLabOrders()).orders.at(-1)?.id).toBe(first)
    const [row] = await query<{ subject: string }>(
      w.url,
      `select subject from ${auditRows} where action = 'listLabOrders' order by at desc limit 1`,
    )
    expect(row?.subject.split(' ')).toContain(`user_id:${user_id}`)
  })
  test('returns an order with transliterated names and without team or user IDs', async () => {
    const order_id = await placeAndDispatch({ patient_details: aPatient({}, people[1]), passthrough: 'ours alone' })
    const response = await sendRequest(w.base, endpoints.getLabOrder, { params: { order_id }, headers: { 'x-lab-key': lab_key } })
    expect(response.body).toMatchObject({
      id: order_id,
      status: 'requisition_created',
      method: 'walk_in_test',
      patient_details: { first_name: 'Bartholomaus', last_name: 'Odegard-Nkemelu', dob: people[1].dob },
      markers: expect.arrayContaining([expect.objectContaining({ provider_id: 'QM10007' })]),
    })
    const text = JSON.stringify(response.body)
    for (const secret of [team_id, user_id, 'ours alone']) expect(text).not.toContain(secret)
  })
  test('emits one event for each reported status and result', async () => {
    const id = await placeAndDispatch()
    await report(id, { status: 'appointment_pending' })
    await report(id, { status: 'appointment_scheduled', collected_at: '2026-03-01T08:00:00Z', sample_id: 'LAB-77' })
    await post(id, [{ slug: 'glucose', result: '91' }], 'partial')
    await post(id, [{ slug: 'hba1c', result: '5.0' }])
    const all = ['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled', 'partial_results', 'completed']
    const order = await read(id)
    expect(statusesOf(order)).toEqual(all)
    expect(order.sample_id).toBe('LAB-77')
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...all))
  })
  test('records reports at the clock of the team', async () => {
    const own = await w.tenant()
    const { id } = await placeOrder(own.api)
    await runJobs()
    await own.api.moveClock({ body: { now: '2031-05-01T12:00:00Z' } })
    await report(id, { status: 'sample_error', status_detail: 'sample_contaminated' })
    const { last_event } = await own.api.getOrder({ params: { order_id: id } })
    expect(last_event).toMatchObject({ status: 'failed.walk_in_test.sample_error', status_detail: 'sample_contaminated' })
    expect(last_event.created_at.slice(0, 16)).toBe('2031-05-01T12:00')
  })
  test('audits the lab key and the team of the order', async () => {
    const id = await placeAndDispatch()
    await lab.getLabOrder({ params: { order_id: id } })
    await report(id, { status: 'appointment_pending' })
    await post(id, [{ slug: 'glucose', result: '91' }])
    const rows = `select action, status, actor_kind, actor_id, team_id from ${auditRows} where subject like $1 and actor_kind = $2 order by at`
    expect(await query(w.url, rows, [`%order_id:${id}%`, 'lab_key'])).toEqual(
      ['getLabOrder', 'reportLabStep', 'reportLabResults'].map((action) => ({
        action,
        status: 200,
        actor_kind: 'lab_key',
        actor_id: key_id,
        team_id,
      })),
    )
  })
})

describe('orders the lab may not see', () => {
  const calls = [
    ['getLabOrder', undefined],
    ['reportLabStep', { status: 'sample_error' }],
    ['reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '91' }] }],
    ['recreateLabOrder', undefined],
  ] as const
  type Call = (typeof calls)[number]

  const request = async (key: string, [name, body]: readonly [Call[0], Call[1]], order_id: string) => {
    const row = endpoints[name]
    const response = await fetch(w.base + row.path.replace('{order_id}', order_id), {
      method: row.method.toUpperCase(),
      headers: { 'x-lab-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, text: await response.text() }
  }

  test.each(calls)('%s returns the same 404 to another lab as for an unknown order', async (...call) => {
    const id = await placeAndDispatch()
    const before = await snapshotOf(w.url, id)
    const unknown = await request(otherLab.lab_key, call, newUuid())
    expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('ORDER_NOT_FOUND') })
    expect(await request(otherLab.lab_key, call, id)).toEqual(unknown)
    expect(await snapshotOf(w.url, id)).toEqual(before)
    expect((await otherLab.lab.listLabOrders()).orders.map((order) => order.id)).not.toContain(id)
  })
  test.each(calls)('%s returns 404 for a scheduled order until its date', async (...call) => {
    const own = await w.tenant()
    const activate_by = later(app.now(), 10 * DAY).slice(0, 10)
    const { id } = await placeOrder(own.api, 'walk_in_test', { activate_by })
    await runJobs()
    const before = await snapshotOf(w.url, id)
    expect(await request(lab_key, call, id)).toEqual(await request(lab_key, call, newUuid()))
    expect(await snapshotOf(w.url, id)).toEqual(before)
    const listed = async () => (await lab.listLabOrders({ query: { limit: 100 } })).orders.map((order) => order.id)
    expect(await listed()).not.toContain(id)
    await own.api.moveClock({ body: { advance_seconds: (11 * DAY) / 1000 } })
    expect(await listed()).toContain(id)
    expect((await request(lab_key, calls[0], id)).status).toBe(200)
  })
})

describe('repeated and late reports', () => {
  async function expectUnchanged(id: string, call: () => Promise<unknown>) {
    const before = await snapshotOf(w.url, id)
    await call()
    expect(await snapshotOf(w.url, id)).toEqual(before)
  }

  test('change nothing, whatever else they contain', async () => {
    const { id } = await placeOrder(api, 'testkit', { user_id })
    await runJobs()
    const { lab: kits } = await w.partnerLab(3)
    const scan = (status: Step['status'], notes: string, sample_id = 'KIT-1') =>
      kits.reportLabStep({
        params: { order_id: id },
        body: { status, sample_id, shipment: { notes }, collected_at: '2026-03-01T08:00:00Z' },
      })
    await scan('transit_customer', 'out')
    await expectUnchanged(id, () => scan('transit_customer', 'out'))
    await expectUnchanged(id, () => scan('transit_customer', 'another', 'KIT-2'))
    await scan('with_customer', 'there')
    await expectUnchanged(id, () => scan('transit_customer', 'late'))
    await expectUnchanged(id, () => scan('out_for_delivery', 'late'))
    await expectUnchanged(id, () => scan('problem_in_transit_customer', 'late'))
    await expectUnchanged(id, () => scan('requisition_created', 'late'))
    const all = ['ordered', 'requisition_created', 'transit_customer', 'with_customer']
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...all))
    expect((await read(id)).details.data?.shipment).toMatchObject({ notes: 'there' })
  })
  test('change nothing if the results are repeated or final', async () => {
    const id = await placeAndDispatch()
    const first = () => post(id, [{ slug: 'glucose', result: '91' }], 'partial')
    const last = () => post(id, [{ slug: 'hba1c', result: '5.0' }])
    await first()
    await expectUnchanged(id, first)
    await last()
    await expectUnchanged(id, last)
    await expectUnchanged(id, first)
    await expectUnchanged(id, () => post(id, [{ slug: 'sodium', result: '140' }], 'partial'))
  })
  test('count once when ten arrive concurrently', async () => {
    const id = await placeAndDispatch()
    await Promise.all(Array.from({ length: 10 }, () => post(id, [{ slug: 'glucose', result: '512' }])))
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'completed'])
    expect(await orderEvents(app, team_id, id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'completed'),
      'critical glucose',
    ])
  })
  test('change nothing for a canceled order, whose results are rejected', async () => {
    const id = await placeAndDispatch()
    await api.cancelOrder({ params: { order_id: id } })
    await expectUnchanged(id, () => report(id, { status: 'appointment_pending', sample_id: 'LATE-1' }))
    await expectUnchanged(id, async () =>
      expect(await errorOf(post(id, [{ slug: 'glucose', result: '91' }]))).toMatchObject({
        status: 400,
        detail: { error_type: 'STATUS_NOT_REACHABLE' },
      }),
    )
  })
})

test('treats a second final report as a correction and an early correction as final', async () => {
  const [twice, early] = [await placeAndDispatch(), await placeAndDispatch()]
  await post(twice, [{ slug: 'glucose', result: '91' }])
  expect((await post(twice, [{ slug: 'glucose', result: '93' }])).status).toBe('corrected')
  await post(early, [{ slug: 'glucose', result: '91' }], 'corrected')
  expect([statusesOf(await read(twice)), statusesOf(await read(early))]).toEqual([
    ['ordered', 'requisition_created', 'completed', 'corrected'],
    ['ordered', 'requisition_created', 'completed'],
  ])
  const { results, metadata } = await api.getResults({ params: { order_id: twice } })
  expect([results.map(({ result }) => result), metadata.status]).toEqual([['93'], 'final'])
})

describe('unusual reports', () => {
  const invalidReports: [string, string, unknown][] = [
    ['no results', 'reportLabResults', { status: 'final', results: [] }],
    ['no body', 'reportLabResults', undefined],
    ['a list', 'reportLabResults', [{ slug: 'glucose', result: '91' }]],
    ['a number instead of text', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 91 }] }],
    ['an empty result', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '' }] }],
    ['NaN as a number', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 'NaN', type: 'numeric' }] }],
    ['infinity as a number', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '1e400', type: 'numeric' }] }],
    ['a zero byte', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 'a\0b' }] }],
    ['501 results', 'reportLabResults', { status: 'final', results: Array(501).fill({ slug: 'glucose', result: '91' }) }],
    [
      'an impossible date',
      'reportLabResults',
      { status: 'final', collected_at: '2026-02-30T00:00:00Z', results: [{ slug: 'a', result: '1' }] },
    ],
    ['a status that only Assay sets', 'reportLabStep', { status: 'ordered' }],
    ['results as a status', 'reportLabStep', { status: 'completed' }],
    ['the registration of a testkit', 'reportLabStep', { status: 'registered' }],
    ['a composite status', 'reportLabStep', { status: 'failed.walk_in_test.sample_error' }],
    ['an unknown detail', 'reportLabStep', { status: 'sample_error', status_detail: 'because' }],
    ['a long sample_id', 'reportLabStep', { status: 'sample_error', sample_id: 'x'.repeat(101) }],
  ]
  test.each(invalidReports)('with %s are rejected and change nothing', async (_, name, body) => {
    const id = await placeAndDispatch()
    const before = await snapshotOf(w.url, id)
    const row = endpoints[name as 'reportLabStep']
    const response = await sendRequest(w.base, row, { params: { order_id: id }, body, headers: { 'x-lab-key': lab_key } })
    expect(response.status).toBe(422)
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('of a status that the method does not have are rejected', async () => {
    const id = await placeAndDispatch()
    const before = await snapshotOf(w.url, id)
    expect(await errorOf(report(id, { status: 'transit_lab', sample_id: 'NEW-1' }))).toMatchObject({
      status: 400,
      detail: { error_type: 'STATUS_NOT_REACHABLE' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('with unknown measurements, odd text or another unit are stored as sent', async () => {
    const id = await placeAndDispatch()
    await post(id, [
      { loinc: '8888888-8', name: 'Moon dust', result: '7' },
      { slug: 'sodium', result: 'NaN' },
      { slug: 'potassium', result: '1e400' },
      { slug: 'glucose', result: '27.9', unit: 'mmol/L' },
      { loinc: '9999999-9', result: '<script>alert(1)</script>' },
    ])
    const { results, missing_results } = await api.getResults({ params: { order_id: id } })
    const short = results.map(({ slug, result, type, value, interpretation, source_markers }) => [
      slug,
      result,
      type,
      value,
      interpretation,
      source_markers?.length ?? 0,
    ])
    expect(short).toEqual([
      ['glucose', '27.9', 'numeric', 27.9, 'unknown', 1],
      ['sodium', 'NaN', 'comment', -1, 'unknown', 1],
      ['potassium', '1e400', 'comment', -1, 'unknown', 1],
      ['', '7', 'numeric', 7, 'unknown', 0],
      ['', '<script>alert(1)</script>', 'comment', -1, 'unknown', 0],
    ])
    expect(missing_results?.map(({ slug }) => slug)).not.toContain('sodium')
    expect(await read(id)).toMatchObject({ interpretation: 'unknown', has_missing_results: true })
  })
  test('with 500 results are accepted', async () => {
    const id = await placeAndDispatch()
    const many = Array.from({ length: 499 }, (_, i) => ({ loinc: `${1000 + i}-0`, result: String(i) }))
    await post(id, [...many, { slug: 'glucose', result: '91' }])
    expect((await api.getResults({ params: { order_id: id } })).results).toHaveLength(500)
  })
  test('with an unknown or repeated measurement slug are rejected', async () => {
    const id = await placeAndDispatch()
    const before = await snapshotOf(w.url, id)
    const twice = [
      { slug: 'moon-dust', result: '7' },
      { slug: 'glucose', result: '91' },
      { slug: 'glucose', result: '92' },
    ]
    expect(await errorOf(post(id, twice))).toMatchObject({
      status: 422,
      detail: [
        { type: 'measurement_unknown', loc: ['body', 'results', 0, 'slug'] },
        { type: 'measurement_twice', loc: ['body', 'results', 2, 'result'] },
      ],
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('with the sample_id of another order are rejected', async () => {
    const [first, second] = [await placeAndDispatch(), await placeAndDispatch()]
    const sample_id = (await read(first)).sample_id as string
    const before = await snapshotOf(w.url, second)
    expect(await errorOf(report(second, { status: 'appointment_pending', sample_id }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'sample_id'], type: 'sample_id_taken' }],
    })
    expect(await snapshotOf(w.url, second)).toEqual(before)
    expect((await report(second, { status: 'appointment_pending', sample_id: 'FREE-1' })).sample_id).toBe('FREE-1')
  })

  test('with a new sample_id free the old one for another order', async () => {
    const [first, second] = [await placeAndDispatch(), await placeAndDispatch()]
    const sample_id = (await read(first)).sample_id as string
    await report(first, { status: 'appointment_pending', sample_id: 'REPLACED-1' })
    await report(first, { status: 'appointment_scheduled', sample_id: 'REPLACED-1' })
    expect((await report(second, { status: 'appointment_pending', sample_id })).sample_id).toBe(sample_id)
    w.advanceTime(3 * SECOND)
    const idsWith = async (sample_id: string) => (await lab.listLabOrders({ query: { sample_id } })).orders.map(({ id }) => id)
    expect([await idsWith(sample_id), await idsWith('REPLACED-1'), await idsWith('UNUSED-1')]).toEqual([[second], [first], []])
  })
})

describe('in production', async () => {
  const production = await world({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  await loadCatalog(production.app)
  const { lab: partner } = await production.partnerLab(1)
  const { lab: kits } = await production.partnerLab(3)
  const readOrder = (order_id: string) => production.api.getOrder({ params: { order_id } })

  test('advances an order only on reports of its lab, which sets the sample_id', async () => {
    const { id } = await placeOrder(production.api)
    expect((await partner.listLabOrders()).orders).toEqual([])
    await production.runJobs()
    production.advanceTime(30 * DAY)
    await production.runJobs()
    expect(await readOrder(id)).toMatchObject({ sample_id: null, last_event: { id: 1 } })
    expect((await partner.listLabOrders()).orders.map((order) => order.id)).toEqual([id])

    const params = { order_id: id }
    await partner.reportLabStep({ params, body: { status: 'requisition_created', sample_id: 'PARTNER-1' } })
    production.advanceTime(30 * DAY)
    await production.runJobs()
    expect(await readOrder(id)).toMatchObject({ sample_id: 'PARTNER-1', last_event: { id: 2 } })
    await partner.reportLabResults({ params, body: { status: 'final', results: [{ slug: 'glucose', result: '512' }] } })
    const all = ['ordered', 'requisition_created', 'completed']
    expect(statusesOf(await readOrder(id))).toEqual(all)
    expect(await orderEvents(production.app, production.team_id, id)).toEqual([...expectedEvents(...all), 'critical glucose'])
    expect((await production.api.getResults({ params })).metadata).toMatchObject({
      specimen_number: 'PARTNER-1',
      interpretation: 'critical',
    })
  })
  test('lists a scheduled order for the lab on its date', async () => {
    const { id } = await placeOrder(production.api, 'walk_in_test', { activate_by: later(production.app.now(), 10 * DAY).slice(0, 10) })
    const { id: laterPlaced } = await placeOrder(production.api)
    await production.runJobs()
    const listed = async () => (await partner.listLabOrders({ query: { limit: 100 } })).orders.map((order) => order.id)
    expect((await listed()).at(-1)).toBe(laterPlaced)
    production.advanceTime(11 * DAY)
    await production.runJobs()
    expect((await listed()).at(-1)).toBe(id)
    expect(statusesOf(await readOrder(id))).toEqual(['ordered'])
  })
  test('registers a testkit by the sample_id of the lab', async () => {
    const { id } = await placeKit(production.api)
    await production.runJobs()
    const params = { order_id: id }
    expect(await errorOf(kits.reportLabStep({ params, body: { status: 'requisition_created', sample_id: 'KIT-9' } }))).toMatchObject({
      status: 400,
    })
    await kits.reportLabStep({ params, body: { status: 'transit_customer', sample_id: 'KIT-9' } })
    const { order } = await production.api.registerTestkit({ body: aRegistration('KIT-9') })
    expect(statusesOf(order)).toEqual(['ordered', 'awaiting_registration', 'transit_customer', 'registered'])
    await kits.reportLabStep({ params, body: { status: 'requisition_created' } })
    await kits.reportLabResults({ params, body: { status: 'final', results: [{ slug: 'hba1c', result: '5.0' }] } })
    const all = ['ordered', 'awaiting_registration', 'transit_customer', 'registered', 'requisition_created', 'completed']
    expect(statusesOf(await readOrder(id))).toEqual(all)
    expect(await orderEvents(production.app, production.team_id, id)).toEqual(expectedEvents(...all))
  })
  test('makes a recreated order available to the lab at once', async () => {
    const { id } = await placeOrder(production.api)
    await production.runJobs()
    await production.api.cancelOrder({ params: { order_id: id } })
    const recreated = await partner.recreateLabOrder({ params: { order_id: id } })
    await partner.reportLabResults({
      params: { order_id: recreated.id },
      body: { status: 'final', results: [{ slug: 'glucose', result: '91' }] },
    })
    expect(statusesOf(await readOrder(recreated.id))).toEqual(['ordered', 'completed'])
  })
})

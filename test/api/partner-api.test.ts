import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import type { NewResults } from '../../src/contract/labs/results.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { DAY, later, SECOND } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aRegistration, expectedEvents, orderEvents, placeKit, snapshotOf } from '../support/order-events.ts'
import { aPatient, aUser, placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const w = await world()
const { api, app, team_id, runJobs } = w
const { lab, lab_key, key_id } = await w.partnerLab(1)
const stranger = await w.partnerLab(2)
const user_id = await aUser(api)

const read = (order_id: string) => api.getOrder({ params: { order_id } })

async function sent(change: object = {}) {
  const { id } = await placeOrder(api, 'walk_in_test', { user_id, ...change })
  await runJobs()
  return id
}

type Step = Parameters<typeof lab.reportLabStep>[0]['body']
const report = (order_id: string, body: Step) => lab.reportLabStep({ params: { order_id }, body })
type Posted = Parameters<typeof lab.reportLabResults>[0]['body']
const post = (order_id: string, results: Posted['results'], status: NewResults['status'] = 'final') =>
  lab.reportLabResults({ params: { order_id }, body: { status, results } })

describe('a partner lab', () => {
  test('reads the orders that were sent to it, page by page, of all teams and of no other lab', async () => {
    const other = await w.tenant()
    const mine = [await sent(), await sent()]
    const { id: theirs } = await placeOrder(other.api)
    await placeOrder(other.api, 'testkit')
    await runJobs()
    expect((await lab.listLabOrders()).orders).toEqual([])
    w.advanceTime(3 * SECOND)
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
    const late = await sent()
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
      "select subject from audit_log where action = 'listLabOrders' order by at desc limit 1",
    )
    expect(row?.subject.split(' ')).toContain(`user_id:${user_id}`)
  })
  test('reads what it needs of an order, with names as its systems take them, and nothing of whose it is', async () => {
    const order_id = await sent({ patient_details: aPatient({}, people[1]), passthrough: 'ours alone' })
    const answer = await sendRequest(w.base, endpoints.getLabOrder, { params: { order_id }, headers: { 'x-lab-key': lab_key } })
    expect(answer.body).toMatchObject({
      id: order_id,
      status: 'requisition_created',
      method: 'walk_in_test',
      patient_details: { first_name: 'Bartholomaus', last_name: 'Odegard-Nkemelu', dob: people[1].dob },
      markers: expect.arrayContaining([expect.objectContaining({ provider_id: 'QM10007' })]),
    })
    const text = JSON.stringify(answer.body)
    for (const secret of [team_id, user_id, 'ours alone']) expect(text).not.toContain(secret)
  })
  test('reports steps and results, and each is one event for the customer', async () => {
    const id = await sent()
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
  test('reports in the time of the team', async () => {
    const own = await w.tenant()
    const { id } = await placeOrder(own.api)
    await runJobs()
    await own.api.moveClock({ body: { now: '2031-05-01T12:00:00Z' } })
    await report(id, { status: 'sample_error', status_detail: 'sample_contaminated' })
    const { last_event } = await own.api.getOrder({ params: { order_id: id } })
    expect(last_event).toMatchObject({ status: 'failed.walk_in_test.sample_error', status_detail: 'sample_contaminated' })
    expect(last_event.created_at.slice(0, 16)).toBe('2031-05-01T12:00')
  })
  test('is named in the audit log, and so is the team whose order it was', async () => {
    const id = await sent()
    await lab.getLabOrder({ params: { order_id: id } })
    await report(id, { status: 'appointment_pending' })
    await post(id, [{ slug: 'glucose', result: '91' }])
    const rows = 'select action, status, actor_kind, actor_id, team_id from audit_log where subject like $1 and actor_kind = $2 order by at'
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

describe('what is not its own', () => {
  const calls = [
    ['getLabOrder', undefined],
    ['reportLabStep', { status: 'sample_error' }],
    ['reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '91' }] }],
    ['recreateLabOrder', undefined],
  ] as const
  type Call = (typeof calls)[number]

  const ask = async (key: string, [name, body]: readonly [Call[0], Call[1]], order_id: string) => {
    const row = endpoints[name]
    const answer = await fetch(w.base + row.path.replace('{order_id}', order_id), {
      method: row.method.toUpperCase(),
      headers: { 'x-lab-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: answer.status, text: await answer.text() }
  }

  test.each(calls)('%s answers another lab as if there were no such order', async (...call) => {
    const id = await sent()
    const before = await snapshotOf(w.url, id)
    const nobodys = await ask(stranger.lab_key, call, newUuid())
    expect(nobodys).toMatchObject({ status: 404, text: expect.stringContaining('ORDER_NOT_FOUND') })
    expect(await ask(stranger.lab_key, call, id)).toEqual(nobodys)
    expect(await snapshotOf(w.url, id)).toEqual(before)
    expect((await stranger.lab.listLabOrders()).orders.map((order) => order.id)).not.toContain(id)
  })
  test.each(calls)('%s answers so for a held order, until its day', async (...call) => {
    const own = await w.tenant()
    const activate_by = later(app.now(), 10 * DAY).slice(0, 10)
    const { id } = await placeOrder(own.api, 'walk_in_test', { activate_by })
    await runJobs()
    const before = await snapshotOf(w.url, id)
    expect(await ask(lab_key, call, id)).toEqual(await ask(lab_key, call, newUuid()))
    expect(await snapshotOf(w.url, id)).toEqual(before)
    const listed = async () => (await lab.listLabOrders({ query: { limit: 100 } })).orders.map((order) => order.id)
    expect(await listed()).not.toContain(id)
    await own.api.moveClock({ body: { advance_seconds: (11 * DAY) / 1000 } })
    expect(await listed()).toContain(id)
    expect((await ask(lab_key, calls[0], id)).status).toBe(200)
  })
})

describe('a report that comes twice or late changes nothing', () => {
  async function unchanged(id: string, call: () => Promise<unknown>) {
    const before = await snapshotOf(w.url, id)
    await call()
    expect(await snapshotOf(w.url, id)).toEqual(before)
  }

  test('whatever else it says', async () => {
    const { id } = await placeOrder(api, 'testkit', { user_id })
    await runJobs()
    const { lab: kits } = await w.partnerLab(3)
    const scan = (status: Step['status'], notes: string, sample_id = 'KIT-1') =>
      kits.reportLabStep({
        params: { order_id: id },
        body: { status, sample_id, shipment: { notes }, collected_at: '2026-03-01T08:00:00Z' },
      })
    await scan('transit_customer', 'out')
    await unchanged(id, () => scan('transit_customer', 'out'))
    await unchanged(id, () => scan('transit_customer', 'another', 'KIT-2'))
    await scan('with_customer', 'there')
    await unchanged(id, () => scan('transit_customer', 'late'))
    await unchanged(id, () => scan('out_for_delivery', 'late'))
    await unchanged(id, () => scan('problem_in_transit_customer', 'late'))
    await unchanged(id, () => scan('requisition_created', 'late'))
    const all = ['ordered', 'requisition_created', 'transit_customer', 'with_customer']
    expect(await orderEvents(app, team_id, id)).toEqual(expectedEvents(...all))
    expect((await read(id)).details.data?.shipment).toMatchObject({ notes: 'there' })
  })
  test('nor do results that were reported, or a part of what is final', async () => {
    const id = await sent()
    const first = () => post(id, [{ slug: 'glucose', result: '91' }], 'partial')
    const last = () => post(id, [{ slug: 'hba1c', result: '5.0' }])
    await first()
    await unchanged(id, first)
    await last()
    await unchanged(id, last)
    await unchanged(id, first)
    await unchanged(id, () => post(id, [{ slug: 'sodium', result: '140' }], 'partial'))
  })
  test('ten equal ones at once are one', async () => {
    const id = await sent()
    await Promise.all(Array.from({ length: 10 }, () => post(id, [{ slug: 'glucose', result: '512' }])))
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'completed'])
    expect(await orderEvents(app, team_id, id)).toEqual([
      ...expectedEvents('ordered', 'requisition_created', 'completed'),
      'critical glucose',
    ])
  })
  test('of a cancelled order a step is late, and results are refused', async () => {
    const id = await sent()
    await api.cancelOrder({ params: { order_id: id } })
    await unchanged(id, () => report(id, { status: 'appointment_pending', sample_id: 'LATE-1' }))
    await unchanged(id, async () =>
      expect(await errorOf(post(id, [{ slug: 'glucose', result: '91' }]))).toMatchObject({
        status: 400,
        detail: { error_type: 'STATUS_NOT_REACHABLE' },
      }),
    )
  })
})

test('a final report after a final one corrects it, and a correction without a final one is that', async () => {
  const [twice, early] = [await sent(), await sent()]
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

describe('a hostile report', () => {
  const refused: [string, string, unknown][] = [
    ['nothing', 'reportLabResults', { status: 'final', results: [] }],
    ['no body', 'reportLabResults', undefined],
    ['a list', 'reportLabResults', [{ slug: 'glucose', result: '91' }]],
    ['a number instead of text', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 91 }] }],
    ['an empty result', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '' }] }],
    ['NaN as a number', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 'NaN', type: 'numeric' }] }],
    ['infinity as a number', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: '1e400', type: 'numeric' }] }],
    ['a zero byte', 'reportLabResults', { status: 'final', results: [{ slug: 'glucose', result: 'a\0b' }] }],
    ['501 results', 'reportLabResults', { status: 'final', results: Array(501).fill({ slug: 'glucose', result: '91' }) }],
    [
      'a day that there is not',
      'reportLabResults',
      { status: 'final', collected_at: '2026-02-30T00:00:00Z', results: [{ slug: 'a', result: '1' }] },
    ],
    ['a step that only we take', 'reportLabStep', { status: 'ordered' }],
    ['results as a step', 'reportLabStep', { status: 'completed' }],
    ['the registration of a kit', 'reportLabStep', { status: 'registered' }],
    ['a composite status', 'reportLabStep', { status: 'failed.walk_in_test.sample_error' }],
    ['an unknown detail', 'reportLabStep', { status: 'sample_error', status_detail: 'because' }],
    ['a long sample_id', 'reportLabStep', { status: 'sample_error', sample_id: 'x'.repeat(101) }],
  ]
  test.each(refused)('with %s is refused and changes nothing', async (_, name, body) => {
    const id = await sent()
    const before = await snapshotOf(w.url, id)
    const row = endpoints[name as 'reportLabStep']
    const answer = await sendRequest(w.base, row, { params: { order_id: id }, body, headers: { 'x-lab-key': lab_key } })
    expect(answer.status).toBe(422)
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('of a step that the method does not have is refused', async () => {
    const id = await sent()
    const before = await snapshotOf(w.url, id)
    expect(await errorOf(report(id, { status: 'transit_lab', sample_id: 'NEW-1' }))).toMatchObject({
      status: 400,
      detail: { error_type: 'STATUS_NOT_REACHABLE' },
    })
    expect(await snapshotOf(w.url, id)).toEqual(before)
  })
  test('is kept as it came where it can only be read: an unknown measurement, odd text, another unit', async () => {
    const id = await sent()
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
  test('of five hundred results is taken', async () => {
    const id = await sent()
    const many = Array.from({ length: 499 }, (_, i) => ({ loinc: `${1000 + i}-0`, result: String(i) }))
    await post(id, [...many, { slug: 'glucose', result: '91' }])
    expect((await api.getResults({ params: { order_id: id } })).results).toHaveLength(500)
  })
  test('that is mistyped is sent back: a measurement that nobody knows, and one that stands there twice', async () => {
    const id = await sent()
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
  test('cannot take the sample number of another order of the lab', async () => {
    const [one, two] = [await sent(), await sent()]
    const sample_id = (await read(one)).sample_id as string
    const before = await snapshotOf(w.url, two)
    expect(await errorOf(report(two, { status: 'appointment_pending', sample_id }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'sample_id'], type: 'sample_id_taken' }],
    })
    expect(await snapshotOf(w.url, two)).toEqual(before)
    expect((await report(two, { status: 'appointment_pending', sample_id: 'FREE-1' })).sample_id).toBe('FREE-1')
  })
})

describe('in production', async () => {
  const there = await world({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  await loadCatalog(there.app)
  const { lab: partner } = await there.partnerLab(1)
  const { lab: kits } = await there.partnerLab(3)
  const readThere = (order_id: string) => there.api.getOrder({ params: { order_id } })

  test('an order waits for its lab, which names the sample and reports the results; nothing moves by itself', async () => {
    const { id } = await placeOrder(there.api)
    expect((await partner.listLabOrders()).orders).toEqual([])
    await there.runJobs()
    there.advanceTime(30 * DAY)
    await there.runJobs()
    expect(await readThere(id)).toMatchObject({ sample_id: null, last_event: { id: 1 } })
    expect((await partner.listLabOrders()).orders.map((order) => order.id)).toEqual([id])

    const params = { order_id: id }
    await partner.reportLabStep({ params, body: { status: 'requisition_created', sample_id: 'PARTNER-1' } })
    there.advanceTime(30 * DAY)
    await there.runJobs()
    expect(await readThere(id)).toMatchObject({ sample_id: 'PARTNER-1', last_event: { id: 2 } })
    await partner.reportLabResults({ params, body: { status: 'final', results: [{ slug: 'glucose', result: '512' }] } })
    const all = ['ordered', 'requisition_created', 'completed']
    expect(statusesOf(await readThere(id))).toEqual(all)
    expect(await orderEvents(there.app, there.team_id, id)).toEqual([...expectedEvents(...all), 'critical glucose'])
    expect((await there.api.getResults({ params })).metadata).toMatchObject({ specimen_number: 'PARTNER-1', interpretation: 'critical' })
  })
  test('a held order is new to the lab on its day', async () => {
    const { id } = await placeOrder(there.api, 'walk_in_test', { activate_by: later(there.app.now(), 10 * DAY).slice(0, 10) })
    const { id: later_placed } = await placeOrder(there.api)
    await there.runJobs()
    const listed = async () => (await partner.listLabOrders({ query: { limit: 100 } })).orders.map((order) => order.id)
    expect((await listed()).at(-1)).toBe(later_placed)
    there.advanceTime(11 * DAY)
    await there.runJobs()
    expect((await listed()).at(-1)).toBe(id)
    expect(statusesOf(await readThere(id))).toEqual(['ordered'])
  })
  test('a kit from the shelf is registered by the number that the lab gave it', async () => {
    const { id } = await placeKit(there.api, await aUser(there.api))
    await there.runJobs()
    const params = { order_id: id }
    expect(await errorOf(kits.reportLabStep({ params, body: { status: 'requisition_created', sample_id: 'KIT-9' } }))).toMatchObject({
      status: 400,
    })
    await kits.reportLabStep({ params, body: { status: 'transit_customer', sample_id: 'KIT-9' } })
    const { order } = await there.api.registerTestkit({ body: aRegistration('KIT-9') })
    expect(statusesOf(order)).toEqual(['ordered', 'awaiting_registration', 'transit_customer', 'registered'])
    await kits.reportLabStep({ params, body: { status: 'requisition_created' } })
    await kits.reportLabResults({ params, body: { status: 'final', results: [{ slug: 'hba1c', result: '5.0' }] } })
    const all = ['ordered', 'awaiting_registration', 'transit_customer', 'registered', 'requisition_created', 'completed']
    expect(statusesOf(await readThere(id))).toEqual(all)
    expect(await orderEvents(there.app, there.team_id, id)).toEqual(expectedEvents(...all))
  })
  test('an order made anew is with the lab at once', async () => {
    const { id } = await placeOrder(there.api)
    await there.runJobs()
    await there.api.cancelOrder({ params: { order_id: id } })
    const made = await partner.recreateLabOrder({ params: { order_id: id } })
    await partner.reportLabResults({
      params: { order_id: made.id },
      body: { status: 'final', results: [{ slug: 'glucose', result: '91' }] },
    })
    expect(statusesOf(await readThere(made.id))).toEqual(['ordered', 'completed'])
  })
})

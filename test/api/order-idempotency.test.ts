import { describe, expect, test } from 'vitest'
import { eventsOf } from '../support/events.ts'
import { countRows } from '../support/order-rules.ts'
import { aNewOrder, aPatient, statusesOf, testId } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { type RawResponse, sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { replica } from '../support/world.ts'

type Reply = { order: { id: string; events: { status: string }[] } }

const w = await replica()
const other = await replica({ database: w.url })
// A request gives up after ten seconds, and fifty of them may take longer than that.
const now = Date.now()
for (const { stopTime } of [w, other]) stopTime(now)
const FIFTY = 50

const times = <T>(count: number, work: (i: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => work(i)))

async function setUp() {
  const team = await w.tenant()
  /** Alternates between the two replicas. */
  const post = (path: string, body: unknown, key?: string, i = 0) =>
    sendRaw((i % 2 ? other : w).base + path, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key, ...(key ? { 'x-idempotency-key': key } : {}) },
      body: JSON.stringify(body),
    })
  const orderCount = async () => (await team.api.listOrders({ query: {} })).total
  const eventTypes = async () => (await eventsOf(w.app, team.team_id)).map(({ event_type }) => event_type)
  return { ...team, post, orderCount, eventTypes }
}

const idsOf = (responses: RawResponse[]) => new Set(responses.map(({ body }) => (body as unknown as Reply).order.id))

function expectOneOutcome(responses: RawResponse[]) {
  expect(responses.map(({ status }) => status)).toEqual(Array(responses.length).fill(200))
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  expect(responses.filter(({ headers }) => headers.get('x-idempotency-replayed') === 'true')).toHaveLength(responses.length - 1)
}

describe('fifty identical concurrent orders', () => {
  test('with one key create one order and return the same response', async () => {
    const { api, post, orderCount, eventTypes } = await setUp()
    const body = await aNewOrder(api)
    await w.runJobs()
    const before = await countRows(w.url)
    const responses = await times(FIFTY, (i) => post('/v3/order', body, 'same-key', i))
    expectOneOutcome(responses)
    expect(await orderCount()).toBe(1)
    expect(await eventTypes()).toEqual(['labtest.order.created'])
    const after = await countRows(w.url)
    const added = { orders: 1, order_events: 1, events: 1, user_info: 1 }
    for (const [table, more] of Object.entries(added)) expect(after?.[table], table).toBe((before?.[table] ?? 0) + more)

    await w.runJobs()
    const [repeated] = await times(1, () => post('/v3/order', body, 'same-key'))
    expect(repeated?.text).toBe(responses[0]?.text)
    const [id = ''] = idsOf(responses)
    expect(statusesOf(await api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'requisition_created'])
  })

  test('with one key create one order, one insurance and one lab test', async () => {
    const { api, post, orderCount } = await setUp()
    const png = { content: 'iVBORw0KGgo=', content_type: 'image/png' }
    const body = await aNewOrder(api, 'walk_in_test', {
      collection_method: 'at_home_phlebotomy',
      health_insurance: { payor_code: 'OAKMU', insurance_id: 'MEMBER-55501', front_image: png },
    })
    const before = await countRows(w.url)
    expectOneOutcome(await times(10, (i) => post('/v3/order', body, 'same-key', i)))
    expect(await orderCount()).toBe(1)
    const after = await countRows(w.url)
    for (const table of ['orders', 'order_images', 'user_insurances', 'team_lab_tests'])
      expect(after?.[table], table).toBe((before?.[table] ?? 0) + 1)
  })

  test('without a key create fifty orders', async () => {
    const { api, post, orderCount, eventTypes } = await setUp()
    const body = await aNewOrder(api)
    const responses = await times(FIFTY, (i) => post('/v3/order', body, undefined, i))
    expect(responses.map(({ status }) => status)).toEqual(Array(FIFTY).fill(200))
    expect(idsOf(responses).size).toBe(FIFTY)
    expect(await orderCount()).toBe(FIFTY)
    expect(await eventTypes()).toEqual(Array(FIFTY).fill('labtest.order.created'))
  })

  test('with fifty keys create fifty orders', async () => {
    const { api, post, orderCount } = await setUp()
    const body = await aNewOrder(api)
    expect(idsOf(await times(FIFTY, (i) => post('/v3/order', body, newUuid(), i))).size).toBe(FIFTY)
    expect(await orderCount()).toBe(FIFTY)
  })
})

describe('idempotency keys', () => {
  test('rejects a reused key with another body and places no order', async () => {
    const { api, post, orderCount } = await setUp()
    const body = await aNewOrder(api)
    await post('/v3/order', body, 'mine')
    expect(await post('/v3/order', { ...body, priority: true }, 'mine')).toMatchObject({
      status: 409,
      body: { detail: { error_type: 'IDEMPOTENCY_KEY_REUSED' } },
    })
    expect(await orderCount()).toBe(1)
  })

  test('replays a 400 response but frees the key after a validation error', async () => {
    const { api, post, orderCount } = await setUp()
    const body = await aNewOrder(api)
    const { order_set: _, ...empty } = body
    const responses = await times(5, (i) => post('/v3/order', empty, 'refused', i))
    for (const response of responses) expect(response).toMatchObject({ status: 400, body: { detail: { error_type: 'NO_TESTS_NAMED' } } })
    const child = { ...body, patient_details: aPatient({ dob: '2020-01-01' }) }
    expect(await post('/v3/order', child, 'mended')).toMatchObject({ status: 422 })
    expect(await post('/v3/order', body, 'mended')).toMatchObject({ status: 200 })
    expect(await orderCount()).toBe(1)
  })

  test('are scoped to the team and the path', async () => {
    const [first, second] = [await setUp(), await setUp()]
    const responses = [
      await first.post('/v3/order', await aNewOrder(first.api), 'same'),
      await second.post('/v3/order', await aNewOrder(second.api), 'same'),
      await first.post('/v3/order/testkit', await aKitBody(first.api), 'same'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(idsOf(responses).size).toBe(3)
  })
})

type Api = Awaited<ReturnType<typeof setUp>>['api']

const aKitBody = async (api: Api) => ({
  user_id: await aUser(api),
  lab_test_id: await testId(api, 'heart-and-sugar-card'),
  shipping_details: { receiver_name: 'Front Desk', ...anAddress(), phone_number: '+12025550143' },
})

const anImport = async (api: Api) => ({
  user_id: await aUser(api),
  billing_type: 'client_bill',
  order_set: { lab_test_ids: [await testId(api, 'essential-wellness')] },
  collection_method: 'walk_in_test',
  patient_details: aPatient(),
  patient_address: { receiver_name: '', ...anAddress() },
  sample_id: `SAMPLE-${newUuid()}`,
})

describe('testkit and imported orders', () => {
  test.each([
    ['/v3/order/testkit', aKitBody, ['labtest.order.created']],
    ['/v3/order/import', anImport, ['labtest.order.created', 'labtest.order.updated']],
  ] as const)('%s with one key creates one order', async (path, bodyOf, events) => {
    const { api, post, orderCount, eventTypes } = await setUp()
    const body = await bodyOf(api)
    expectOneOutcome(await times(20, (i) => post(path, body, 'same-key', i)))
    expect(await orderCount()).toBe(1)
    expect(await eventTypes()).toEqual(events)
  })

  test('testkit requests without a key create one order each', async () => {
    const { api, post, orderCount } = await setUp()
    const body = await aKitBody(api)
    expect(idsOf(await times(20, (i) => post('/v3/order/testkit', body, undefined, i))).size).toBe(20)
    expect(await orderCount()).toBe(20)
  })

  test('an import without a key succeeds once per sample_id', async () => {
    const { api, post, orderCount, eventTypes } = await setUp()
    const body = await anImport(api)
    const responses = await times(10, (i) => post('/v3/order/import', body, undefined, i))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const response of responses.filter(({ status }) => status !== 200))
      expect(response).toMatchObject({ status: 422, body: { detail: [{ type: 'sample_id_taken', loc: ['body', 'sample_id'] }] } })
    expect(await orderCount()).toBe(1)
    expect(await eventTypes()).toEqual(['labtest.order.created', 'labtest.order.updated'])
  })
})

import { describe, expect, test } from 'vitest'
import { eventsOf } from '../support/events.ts'
import { countRows } from '../support/order-rules.ts'
import { aNewOrder, aPatient, aUser, statusesOf, testId } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { type RawResponse, sendRaw } from '../support/raw.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

type Reply = { order: { id: string; events: { status: string }[] } }

const here = await replica()
const other = await replica({ database: here.url })
const FIFTY = 50

const times = <T>(count: number, work: (i: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => work(i)))

async function story() {
  const team = await here.tenant()
  /** Every other request goes to the other replica. */
  const post = (path: string, body: unknown, key?: string, i = 0) =>
    sendRaw((i % 2 ? other : here).base + path, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key, ...(key ? { 'x-idempotency-key': key } : {}) },
      body: JSON.stringify(body),
    })
  const listed = async () => (await team.api.listOrders({ query: {} })).total
  const told = async () => (await eventsOf(here.app, team.team_id)).map(({ event_type }) => event_type)
  return { ...team, post, listed, told }
}

const idsOf = (answers: RawResponse[]) => new Set(answers.map(({ body }) => (body as unknown as Reply).order.id))

function expectOneOutcome(answers: RawResponse[]) {
  expect(answers.map(({ status }) => status)).toEqual(Array(answers.length).fill(200))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('x-idempotency-replayed') === 'true')).toHaveLength(answers.length - 1)
}

describe('fifty identical orders at once', () => {
  test('with one key are one order, and fifty equal answers', async () => {
    const { api, post, listed, told } = await story()
    const body = await aNewOrder(api)
    const before = await countRows(here.app.db)
    const answers = await times(FIFTY, (i) => post('/v3/order', body, 'the one', i))
    expectOneOutcome(answers)
    expect(await listed()).toBe(1)
    expect(await told()).toEqual(['labtest.order.created'])
    const after = await countRows(here.app.db)
    const one = { orders: 1, order_events: 1, events: 1, user_info: 1 }
    for (const [table, more] of Object.entries(one)) expect(after?.[table], table).toBe((before?.[table] ?? 0) + more)

    await here.runJobs()
    const [late] = await times(1, () => post('/v3/order', body, 'the one'))
    expect(late?.text).toBe(answers[0]?.text)
    const [id = ''] = idsOf(answers)
    expect(statusesOf(await api.getOrder({ params: { order_id: id } }))).toEqual(['ordered', 'requisition_created'])
  })

  test('with one key and all that is written besides are one order, one insurance and one test', async () => {
    const { api, post, listed } = await story()
    const png = { content: 'iVBORw0KGgo=', content_type: 'image/png' }
    const body = await aNewOrder(api, 'walk_in_test', {
      collection_method: 'at_home_phlebotomy',
      health_insurance: { payor_code: 'OAKMU', insurance_id: 'MEMBER-55501', front_image: png },
    })
    const before = await countRows(here.app.db)
    expectOneOutcome(await times(10, (i) => post('/v3/order', body, 'the one', i)))
    expect(await listed()).toBe(1)
    const after = await countRows(here.app.db)
    for (const table of ['orders', 'order_images', 'user_insurances', 'lab_tests'])
      expect(after?.[table], table).toBe((before?.[table] ?? 0) + 1)
  })

  test('without a key are fifty orders', async () => {
    const { api, post, listed, told } = await story()
    const body = await aNewOrder(api)
    const answers = await times(FIFTY, (i) => post('/v3/order', body, undefined, i))
    expect(answers.map(({ status }) => status)).toEqual(Array(FIFTY).fill(200))
    expect(idsOf(answers).size).toBe(FIFTY)
    expect(await listed()).toBe(FIFTY)
    expect(await told()).toEqual(Array(FIFTY).fill('labtest.order.created'))
  })

  test('with fifty keys are fifty orders', async () => {
    const { api, post, listed } = await story()
    const body = await aNewOrder(api)
    expect(idsOf(await times(FIFTY, (i) => post('/v3/order', body, newUuid(), i))).size).toBe(FIFTY)
    expect(await listed()).toBe(FIFTY)
  })
})

describe('a key', () => {
  test('belongs to its body: another one is refused and places nothing', async () => {
    const { api, post, listed } = await story()
    const body = await aNewOrder(api)
    await post('/v3/order', body, 'mine')
    expect(await post('/v3/order', { ...body, priority: true }, 'mine')).toMatchObject({
      status: 409,
      body: { detail: { error_type: 'IDEMPOTENCY_KEY_REUSED' } },
    })
    expect(await listed()).toBe(1)
  })

  test('of a refusal answers it again; one of a faulty request is free again', async () => {
    const { api, post, listed } = await story()
    const body = await aNewOrder(api)
    const { order_set: _, ...empty } = body
    const answers = await times(5, (i) => post('/v3/order', empty, 'refused', i))
    for (const answer of answers) expect(answer).toMatchObject({ status: 400, body: { detail: { error_type: 'NO_TESTS_NAMED' } } })
    const child = { ...body, patient_details: aPatient({ dob: '2020-01-01' }) }
    expect(await post('/v3/order', child, 'mended')).toMatchObject({ status: 422 })
    expect(await post('/v3/order', body, 'mended')).toMatchObject({ status: 200 })
    expect(await listed()).toBe(1)
  })

  test('is the team’s and the path’s own', async () => {
    const [one, two] = [await story(), await story()]
    const answers = [
      await one.post('/v3/order', await aNewOrder(one.api), 'same'),
      await two.post('/v3/order', await aNewOrder(two.api), 'same'),
      await one.post('/v3/order/testkit', await aKitBody(one.api), 'same'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(idsOf(answers).size).toBe(3)
  })
})

type Api = Awaited<ReturnType<typeof story>>['api']

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

describe('the other ways to an order', () => {
  test.each([
    ['/v3/order/testkit', aKitBody, ['labtest.order.created']],
    ['/v3/order/import', anImport, ['labtest.order.created', 'labtest.order.updated']],
  ] as const)('%s with one key is one order', async (path, bodyOf, events) => {
    const { api, post, listed, told } = await story()
    const body = await bodyOf(api)
    expectOneOutcome(await times(20, (i) => post(path, body, 'the one', i)))
    expect(await listed()).toBe(1)
    expect(await told()).toEqual(events)
  })

  test('kits without a key are as many orders', async () => {
    const { api, post, listed } = await story()
    const body = await aKitBody(api)
    expect(idsOf(await times(20, (i) => post('/v3/order/testkit', body, undefined, i))).size).toBe(20)
    expect(await listed()).toBe(20)
  })

  test('an import without a key happens once, since its sample is one', async () => {
    const { api, post, listed, told } = await story()
    const body = await anImport(api)
    const answers = await times(10, (i) => post('/v3/order/import', body, undefined, i))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ type: 'sample_id_taken', loc: ['body', 'sample_id'] }] } })
    expect(await listed()).toBe(1)
    expect(await told()).toEqual(['labtest.order.created', 'labtest.order.updated'])
  })
})

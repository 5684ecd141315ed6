import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { aNewOrder, aUser, placeOrder, testId, tests } from '../support/orders.ts'
import { pagesOf, scan, textOf } from '../support/pdf.ts'
import { anAddress, people, someInfo } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, runJobs } = w

type Paper = { [N in keyof Client]: Awaited<ReturnType<Client[N]>> extends Uint8Array ? N : never }[keyof Client]
type OrderPaper = Exclude<Paper, 'getTransactionResultsPdf' | 'getLabTestInstructionPdf'>

const labelled = { collection_date: '2026-03-01' }
const papers: OrderPaper[] = ['getRequisitionPdf', 'getLabelsPdf', 'getCollectionInstructionPdf', 'getAbnPdf', 'getResultsPdf']
const get = (paper: OrderPaper, order_id: string, query: object = labelled) =>
  api[paper]({ params: { order_id }, query: paper === 'getLabelsPdf' ? query : undefined } as never)
const pdf = async (paper: OrderPaper, order_id: string, query?: object) => Buffer.from(await get(paper, order_id, query))
const missing = (error_type: string) => ({ status: 404, detail: { error_type } })

const sent = async (...order: Parameters<typeof placeOrder> extends [unknown, ...infer Rest] ? Rest : never) => {
  const { id } = await placeOrder(api, ...order)
  await runJobs()
  return api.getOrder({ params: { order_id: id } })
}
const simulate = (order_id: string, query: object = {}, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query, body: body as never })

const aKit = async () => {
  const shipping_details = { ...anAddress(), receiver_name: people[2].first_name, phone_number: people[2].phone_number }
  const lab_test_id = await testId(api, tests.testkit)
  const { order } = await api.createTestkitOrder({ body: { user_id: await aUser(api), lab_test_id, shipping_details } })
  await runJobs()
  return api.getOrder({ params: { order_id: order.id } })
}

/** A walk-in order with its results. */
const done = await sent()
await simulate(done.id)

test.each(['requisition/pdf', 'labels/pdf?collection_date=2026-03-01', 'collection_instruction_pdf', 'result/pdf'])(
  '/v3/order/…/%s is answered as a PDF',
  async (path) => {
    const answer = await fetch(`${w.base}/v3/order/${done.id}/${path}`, { headers: { 'x-service-api-key': w.team_api_key } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(Buffer.from(await answer.arrayBuffer()).toString('latin1', 0, 5)).toBe('%PDF-')
  },
)

test('a paper needs the key, like everything else', async () => {
  for (const headers of [{}, { 'x-service-api-key': (await w.tenant()).team_api_key }]) {
    const answer = await fetch(done.requisition_form_url?.replace(/^https?:\/\/[^/]+/, w.base) as string, { headers })
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([
      'x-service-api-key' in headers ? 404 : 401,
      'application/json',
    ])
  }
})

test('papers of an order that is unknown, or of another team, are not found', async () => {
  const stranger = await placeOrder((await w.tenant()).api)
  for (const id of [newUuid(), stranger.id])
    for (const paper of papers) expect(await errorOf(get(paper, id))).toMatchObject(missing('ORDER_NOT_FOUND'))
})

test.each(methods)('before it is sent, a %s order has only its collection instructions', async (method) => {
  const order = await placeOrder(api, method, { activate_by: '2999-01-01' })
  expect(order.requisition_form_url).toBeNull()
  expect(await errorOf(get('getRequisitionPdf', order.id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getLabelsPdf', order.id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getAbnPdf', order.id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getResultsPdf', order.id))).toMatchObject(missing('RESULTS_NOT_AVAILABLE'))
  for (const call of [api.getResults, api.getResultsMetadata])
    expect(await errorOf(call({ params: { order_id: order.id } }))).toMatchObject(missing('RESULTS_NOT_AVAILABLE'))
  const transaction_id = order.order_transaction?.id as string
  for (const call of [api.getTransactionResults, api.getTransactionResultsPdf])
    expect(await errorOf(call({ params: { transaction_id } }))).toMatchObject(missing('RESULTS_NOT_AVAILABLE'))

  const instructions = await textOf(await pdf('getCollectionInstructionPdf', order.id))
  expect(instructions).toContain(order.lab_test.name)
  const ofTest = await api.getLabTestInstructionPdf({ params: { lab_test_id: order.lab_test.id } })
  expect(await textOf(Buffer.from(ofTest))).toBe(instructions)
})

test('a requisition holds who, what, by whom, for whose account, and a barcode that a scanner reads', async () => {
  const order = await sent('walk_in_test', {
    priority: true,
    clinical_notes: 'Tired since the summer.',
    icd_codes: ['e785', 'R53.83'],
    physician: { first_name: 'Ines', last_name: 'Hallow', npi: '1234567893' },
  })
  const paper = await pdf('getRequisitionPdf', order.id)
  const text = await textOf(paper)
  for (const words of [
    `${people[0].last_name}, ${people[0].first_name}`,
    'Jul 23, 1961',
    '77 Marrowbone Crescent',
    order.id,
    'Quillmoor Reference Laboratory',
    'CLIA 99D0000001',
    'platform-quillmoor',
    'Ines Hallow',
    '1234567893',
    'STAT',
    'E78.5',
    'R53.83',
    'Tired since the summer.',
    'QM10007',
    'Lipid Panel',
    'Was the patient fasting for at least 8 hours?',
  ])
    expect(text).toContain(words)
  expect(await scan(paper, 3)).toBe(order.sample_id)
})

test('an insured order names its insurance on the requisition', async () => {
  const user_id = await aUser(api)
  const insurance = { payor_code: 'OAKMU', member_id: 'MEMBER-55501', group_id: 'G-7', relationship: 'Self', insured: someInfo() } as const
  await api.createInsurance({ params: { user_id }, body: insurance })
  const { company } = await api.getInsurance({ params: { user_id }, query: {} })
  const order = await sent('walk_in_test', { user_id, billing_type: 'commercial_insurance', icd_codes: ['E78.5'] })
  const text = await textOf(await pdf('getRequisitionPdf', order.id))
  for (const words of [company.name, 'MEMBER-55501', 'G-7', 'Self']) expect(text).toContain(words)
})

test('labels: three unless told, each with patient, day and a barcode of the sample', async () => {
  const pages = await pagesOf(await pdf('getLabelsPdf', done.id))
  expect(pages).toHaveLength(3)
  for (const { text } of pages)
    for (const words of [people[0].last_name, 'Jul 23, 1961', done.sample_id as string, 'Mar 1, 2026']) expect(text).toContain(words)
  const one = await pdf('getLabelsPdf', done.id, { ...labelled, number_of_labels: 1 })
  expect(await pagesOf(one)).toHaveLength(1)
  expect(await scan(one, 8)).toBe(done.sample_id)
})

test.each([
  ['2026-03-01', 'Mar 1, 2026'],
  ['2026-03-01T00:00:00Z', 'Mar 1, 2026'],
  ['2026-03-01T23:30:00-07:00', 'Mar 1, 2026'],
  ['2026-03-02T06:59:00Z', 'Mar 1, 2026'],
  ['2026-03-02T07:00:00Z', 'Mar 2, 2026'],
])('a collection at %s in Phoenix is labelled %s', async (collection_date, day) => {
  expect(await textOf(await pdf('getLabelsPdf', done.id, { collection_date, number_of_labels: 1 }))).toContain(`Collected ${day}`)
})

test.each([
  [{}, 'collection_date'],
  [{ collection_date: 'today' }, 'collection_date'],
  [{ ...labelled, number_of_labels: 0 }, 'number_of_labels'],
  [{ ...labelled, number_of_labels: 51 }, 'number_of_labels'],
])('labels with %j are refused', async (query, field) => {
  const { status, detail } = await errorOf(get('getLabelsPdf', done.id, query))
  expect([status, detail]).toMatchObject([422, [{ loc: ['query', field] }]])
})

test('a kit without a patient has no requisition and no labels until it is registered', async () => {
  const kit = await aKit()
  expect(kit).toMatchObject({ requisition_form_url: null, last_event: { status: 'received.testkit.awaiting_registration' } })
  for (const paper of ['getRequisitionPdf', 'getLabelsPdf'] as const)
    expect(await errorOf(get(paper, kit.id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  const { patient_details, patient_address } = await aNewOrder(api, 'testkit')
  await api.registerTestkit({ body: { sample_id: kit.sample_id as string, patient_details, patient_address } })
  for (const paper of ['getRequisitionPdf', 'getLabelsPdf'] as const)
    expect(await textOf(await pdf(paper, kit.id))).toContain(people[0].last_name)
})

test('an imported order never has a requisition; the lab has its own', async () => {
  const { patient_details, patient_address, user_id, order_set } = await aNewOrder(api)
  const { order } = await api.importOrder({
    body: {
      user_id,
      patient_details,
      patient_address: { receiver_name: '', ...patient_address },
      order_set,
      billing_type: 'client_bill',
      collection_method: 'walk_in_test',
      sample_id: `LAB-${newUuid().slice(0, 8)}`,
    },
  })
  expect(order.requisition_form_url).toBeNull()
  await simulate(order.id)
  expect(await errorOf(get('getRequisitionPdf', order.id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  expect(await textOf(await pdf('getLabelsPdf', order.id))).toContain(order.sample_id)
  expect(await textOf(await pdf('getResultsPdf', order.id))).toContain(order.sample_id)
})

test('a cancelled order keeps the requisition that it had', async () => {
  const order = await sent()
  await api.cancelOrder({ params: { order_id: order.id } })
  expect(await textOf(await pdf('getRequisitionPdf', order.id))).toContain(order.id)
})

describe('the advance notice', () => {
  let medicare: string
  let advantage: string
  const address = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
  beforeAll(async () => {
    const payor = async (name: string) => (await api.createPayor({ body: { name, address } })).payor_code
    medicare = await payor('Medicare Part B')
    advantage = await payor('Medicare Advantage of the Harbour')
  })
  const insured = async (payor_code: string, change: object) =>
    sent('walk_in_test', {
      billing_type: 'commercial_insurance',
      health_insurance: { payor_code, insurance_id: 'MEMBER-55501' },
      ...change,
    })

  test('goes with an order that Medicare may not pay for: tests, costs, member and choices', async () => {
    const order = await insured(medicare, { icd_codes: ['Z00.00'] })
    expect(order).toMatchObject({ has_abn: true, health_insurance_id: expect.any(String) })
    const text = await textOf(await pdf('getAbnPdf', order.id))
    for (const words of [
      'Advance Beneficiary Notice',
      `${people[0].first_name} ${people[0].last_name}`,
      'Medicare Part B may not pay',
      'MEMBER-55501',
      'Lipid Panel (QM10007)',
      '$79.00',
      'Choice 3.',
    ])
      expect(text).toContain(words)
  })

  test.each<[string, () => Promise<{ id: string; has_abn: boolean }>]>([
    ['a diagnosis speaks for the tests', () => insured(medicare, { icd_codes: ['Z00.00', 'E78.5'] })],
    [
      'the diagnosis came with the insurance',
      () => insured(medicare, { health_insurance: { payor_code: medicare, insurance_id: 'MEMBER-55501', diagnosis_codes: ['E78.5'] } }),
    ],
    ['Medicare Advantage pays', () => insured(advantage, { icd_codes: ['Z00.00'] })],
    ['another insurer pays', () => insured('OAKMU', { icd_codes: ['Z00.00'] })],
    ['the customer pays', () => insured(medicare, { billing_type: 'client_bill', icd_codes: ['Z00.00'] })],
  ])('does not where %s', async (_, order) => {
    const { id, has_abn } = await order()
    expect(has_abn).toBe(false)
    expect(await errorOf(get('getAbnPdf', id))).toMatchObject(missing('DOCUMENT_NOT_AVAILABLE'))
  })
})

test('a result report shows every value with its unit, range and flag, and what is critical first of all', async () => {
  const order = await sent()
  await simulate(order.id, {}, { interpretation: 'critical' })
  const { results } = await api.getResults({ params: { order_id: order.id } })
  const text = await textOf(await pdf('getResultsPdf', order.id))
  for (const words of ['Final report.', 'Overall: CRITICAL.', `${people[0].first_name} ${people[0].last_name}`, order.id, 'End of report'])
    expect(text).toContain(words)
  expect(results.length).toBeGreaterThan(10)
  for (const { name, result, reference_range } of results) {
    expect(text).toContain(`${name} ${result}`)
    expect(text).toContain(reference_range)
  }
})

test('a partial report says so; what is missing in the final one is named', async () => {
  const order = await sent()
  const flags = { has_missing_results: true }
  await simulate(order.id, { final_status: 'sample_with_lab.walk_in_test.partial_results' }, flags)
  expect(await textOf(await pdf('getResultsPdf', order.id))).toMatch(/partial/i)
  await simulate(order.id, {}, flags)
  const { missing_results } = await api.getResults({ params: { order_id: order.id } })
  const text = await textOf(await pdf('getResultsPdf', order.id))
  expect(text).toContain('Final report.')
  expect(missing_results?.length).toBeGreaterThan(0)
  for (const { name } of missing_results ?? []) expect(text).toContain(name)
  await simulate(order.id, { final_status: 'completed.walk_in_test.corrected' })
  expect(await textOf(await pdf('getResultsPdf', order.id))).toMatch(/corrected/i)
})

test('the report of a transaction has a section for the order and one for its redraw', async () => {
  const order = await sent()
  const transaction_id = order.order_transaction?.id as string
  await simulate(order.id, { final_status: 'sample_with_lab.walk_in_test.partial_results' })
  const alone = await textOf(Buffer.from(await api.getTransactionResultsPdf({ params: { transaction_id } })))
  expect(alone).not.toContain('(initial)')
  await simulate(order.id, { final_status: 'collecting_sample.walk_in_test.redraw_available' })
  await runJobs()
  const { orders } = await api.getOrderTransaction({ params: { transaction_id } })
  const redraw = orders[1]?.id as string
  await simulate(redraw)
  const text = await textOf(Buffer.from(await api.getTransactionResultsPdf({ params: { transaction_id } })))
  expect(text).toContain(`Order ${order.id} (initial)`)
  expect(text).toContain(`Order ${redraw} (redraw)`)
  expect(await errorOf(api.getTransactionResultsPdf({ params: { transaction_id: newUuid() } }))).toMatchObject(
    missing('TRANSACTION_NOT_FOUND'),
  )
})

test('the same order gives the same bytes', async () => {
  for (const paper of ['getRequisitionPdf', 'getLabelsPdf', 'getResultsPdf'] as const)
    expect((await pdf(paper, done.id)).equals(await pdf(paper, done.id))).toBe(true)
})

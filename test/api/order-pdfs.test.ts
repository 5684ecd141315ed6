import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { auditRows } from '../support/audit.ts'
import { aNewOrder, placeOrder, testId, tests } from '../support/orders.ts'
import { pagesOf, scan, textOf } from '../support/pdf.ts'
import { anAddress, people, someInfo } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, runJobs } = w

type PdfEndpoint = { [N in keyof Client]: Awaited<ReturnType<Client[N]>> extends Uint8Array ? N : never }[keyof Client]
type OrderPdfEndpoint = Exclude<PdfEndpoint, 'getTransactionResultsPdf' | 'getLabTestInstructionPdf'>

const labelQuery = { collection_date: '2026-03-01' }
const orderPdfs: OrderPdfEndpoint[] = ['getRequisitionPdf', 'getLabelsPdf', 'getCollectionInstructionPdf', 'getAbnPdf', 'getResultsPdf']
const get = (endpoint: OrderPdfEndpoint, order_id: string, query: object = labelQuery) =>
  api[endpoint]({ params: { order_id }, query: endpoint === 'getLabelsPdf' ? query : undefined } as never)
const pdf = async (endpoint: OrderPdfEndpoint, order_id: string, query?: object) => Buffer.from(await get(endpoint, order_id, query))
const notFound = (error_type: string) => ({ status: 404, detail: { error_type } })

const placeAndSend = async (...order: Parameters<typeof placeOrder> extends [unknown, ...infer Rest] ? Rest : never) => {
  const { id } = await placeOrder(api, ...order)
  await runJobs()
  return api.getOrder({ params: { order_id: id } })
}
const simulate = (order_id: string, query: object = {}, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query, body: body as never })

const placeTestkit = async () => {
  const shipping_details = { ...anAddress(), receiver_name: people[2].first_name, phone_number: people[2].phone_number }
  const lab_test_id = await testId(api, tests.testkit)
  const { order } = await api.createTestkitOrder({ body: { user_id: await aUser(api), lab_test_id, shipping_details } })
  await runJobs()
  return api.getOrder({ params: { order_id: order.id } })
}

const completedOrder = await placeAndSend()
await simulate(completedOrder.id)

test.each(['requisition/pdf', 'labels/pdf?collection_date=2026-03-01', 'collection_instruction_pdf', 'result/pdf'])(
  '/v3/order/…/%s returns a PDF',
  async (path) => {
    const response = await fetch(`${w.base}/v3/order/${completedOrder.id}/${path}`, { headers: { 'x-service-api-key': w.team_api_key } })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 5)).toBe('%PDF-')
  },
)

test('records the patient of a PDF in the audit log', async () => {
  const { id, user_id, order_transaction } = completedOrder
  const paths = ['requisition/pdf', 'labels/pdf?collection_date=2026-03-01', 'result/pdf'].map((path) => `order/${id}/${path}`)
  const headers = { 'x-service-api-key': w.team_api_key, 'x-request-id': newUuid() }
  for (const path of [...paths, `order_transaction/${order_transaction?.id}/result/pdf`])
    expect((await fetch(`${w.base}/v3/${path}`, { headers })).status).toBe(200)
  const rows = await query<{ subject: string }>(w.url, `select subject from ${auditRows} where request_id = $1`, [headers['x-request-id']])
  const patient = `user_id:${user_id}`
  expect(rows.map(({ subject }) => subject).toSorted()).toEqual([
    ...paths.map(() => `${patient} order_id:${id}`),
    `${patient} transaction_id:${order_transaction?.id}`,
  ])
})

test('requires an API key of the team for a PDF', async () => {
  for (const headers of [{}, { 'x-service-api-key': (await w.tenant()).team_api_key }]) {
    const response = await fetch(completedOrder.requisition_form_url?.replace(/^https?:\/\/[^/]+/, w.base) as string, { headers })
    expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([
      'x-service-api-key' in headers ? 404 : 401,
      'application/json',
    ])
  }
})

test('returns 404 for PDFs of an order that is unknown or of another team', async () => {
  const otherOrder = await placeOrder((await w.tenant()).api)
  for (const id of [newUuid(), otherOrder.id])
    for (const endpoint of orderPdfs) expect(await errorOf(get(endpoint, id))).toMatchObject(notFound('ORDER_NOT_FOUND'))
})

test.each(methods)('provides only collection instructions before a %s order is sent', async (method) => {
  const order = await placeOrder(api, method, { activate_by: '2999-01-01' })
  expect(order.requisition_form_url).toBeNull()
  expect(await errorOf(get('getRequisitionPdf', order.id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getLabelsPdf', order.id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getAbnPdf', order.id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  expect(await errorOf(get('getResultsPdf', order.id))).toMatchObject(notFound('RESULTS_NOT_AVAILABLE'))
  for (const call of [api.getResults, api.getResultsMetadata])
    expect(await errorOf(call({ params: { order_id: order.id } }))).toMatchObject(notFound('RESULTS_NOT_AVAILABLE'))
  const transaction_id = order.order_transaction?.id as string
  for (const call of [api.getTransactionResults, api.getTransactionResultsPdf])
    expect(await errorOf(call({ params: { transaction_id } }))).toMatchObject(notFound('RESULTS_NOT_AVAILABLE'))

  const instructions = await textOf(await pdf('getCollectionInstructionPdf', order.id))
  expect(instructions).toContain(order.lab_test.name)
  const ofTest = await api.getLabTestInstructionPdf({ params: { lab_test_id: order.lab_test.id } })
  expect(await textOf(Buffer.from(ofTest))).toBe(instructions)
})

test('prints the patient, tests, physician, account and a scannable barcode on a requisition', async () => {
  const order = await placeAndSend('walk_in_test', {
    priority: true,
    clinical_notes: 'Tired since the summer.',
    icd_codes: ['e785', 'R53.83'],
    physician: { first_name: 'Ines', last_name: 'Hallow', npi: '1234567893' },
  })
  const requisition = await pdf('getRequisitionPdf', order.id)
  const text = await textOf(requisition)
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
  expect(await scan(requisition, 3)).toBe(order.sample_id)
})

test('prints the insurance on the requisition of an insured order', async () => {
  const user_id = await aUser(api)
  const insurance = { payor_code: 'OAKMU', member_id: 'MEMBER-55501', group_id: 'G-7', relationship: 'Self', insured: someInfo() } as const
  await api.createInsurance({ params: { user_id }, body: insurance })
  const { company } = await api.getInsurance({ params: { user_id }, query: {} })
  const order = await placeAndSend('walk_in_test', { user_id, billing_type: 'commercial_insurance', icd_codes: ['E78.5'] })
  const text = await textOf(await pdf('getRequisitionPdf', order.id))
  for (const words of [company.name, 'MEMBER-55501', 'G-7', 'Self']) expect(text).toContain(words)
})

test('prints three labels by default, each with the patient, date and specimen barcode', async () => {
  const pages = await pagesOf(await pdf('getLabelsPdf', completedOrder.id))
  expect(pages).toHaveLength(3)
  for (const { text } of pages)
    for (const words of [people[0].last_name, 'Jul 23, 1961', completedOrder.sample_id as string, 'Mar 1, 2026'])
      expect(text).toContain(words)
  const singleLabel = await pdf('getLabelsPdf', completedOrder.id, { ...labelQuery, number_of_labels: 1 })
  expect(await pagesOf(singleLabel)).toHaveLength(1)
  expect(await scan(singleLabel, 8)).toBe(completedOrder.sample_id)
})

test.each([
  ['2026-03-01', 'Mar 1, 2026'],
  ['2026-03-01T00:00:00Z', 'Mar 1, 2026'],
  ['2026-03-01T23:30:00-07:00', 'Mar 1, 2026'],
  ['2026-03-02T06:59:00Z', 'Mar 1, 2026'],
  ['2026-03-02T07:00:00Z', 'Mar 2, 2026'],
])('labels a collection at %s in Phoenix as %s', async (collection_date, day) => {
  expect(await textOf(await pdf('getLabelsPdf', completedOrder.id, { collection_date, number_of_labels: 1 }))).toContain(`Collected ${day}`)
})

test.each([
  [{}, 'collection_date'],
  [{ collection_date: 'today' }, 'collection_date'],
  [{ ...labelQuery, number_of_labels: 0 }, 'number_of_labels'],
  [{ ...labelQuery, number_of_labels: 51 }, 'number_of_labels'],
])('rejects labels with %j', async (query, field) => {
  const { status, detail } = await errorOf(get('getLabelsPdf', completedOrder.id, query))
  expect([status, detail]).toMatchObject([422, [{ loc: ['query', field] }]])
})

test('provides no requisition or labels for a testkit before it is registered', async () => {
  const kit = await placeTestkit()
  expect(kit).toMatchObject({ requisition_form_url: null, last_event: { status: 'received.testkit.awaiting_registration' } })
  for (const endpoint of ['getRequisitionPdf', 'getLabelsPdf'] as const)
    expect(await errorOf(get(endpoint, kit.id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  const { patient_details, patient_address } = await aNewOrder(api, 'testkit')
  await api.registerTestkit({ body: { sample_id: kit.sample_id as string, patient_details, patient_address } })
  for (const endpoint of ['getRequisitionPdf', 'getLabelsPdf'] as const)
    expect(await textOf(await pdf(endpoint, kit.id))).toContain(people[0].last_name)
})

test('provides no requisition for an imported order', async () => {
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
  expect(await errorOf(get('getRequisitionPdf', order.id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  expect(await textOf(await pdf('getLabelsPdf', order.id))).toContain(order.sample_id)
  expect(await textOf(await pdf('getResultsPdf', order.id))).toContain(order.sample_id)
})

test('keeps the requisition of a canceled order', async () => {
  const order = await placeAndSend()
  await api.cancelOrder({ params: { order_id: order.id } })
  expect(await textOf(await pdf('getRequisitionPdf', order.id))).toContain(order.id)
})

describe('advance beneficiary notice', () => {
  let medicare: string
  let advantage: string
  const address = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
  beforeAll(async () => {
    const payor = async (name: string) => (await api.createPayor({ body: { name, address } })).payor_code
    medicare = await payor('Medicare Part B')
    advantage = await payor('Medicare Advantage of the Harbor')
  })
  const placeInsured = async (payor_code: string, change: object) =>
    placeAndSend('walk_in_test', {
      billing_type: 'commercial_insurance',
      health_insurance: { payor_code, insurance_id: 'MEMBER-55501' },
      ...change,
    })

  test('lists the tests, costs, member and choices if Medicare may not pay', async () => {
    const order = await placeInsured(medicare, { icd_codes: ['Z00.00'] })
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

  test('lists only the tests without a diagnosis that supports them', async () => {
    const { lab_test } = await placeAndSend()
    const [first, ...others] = (lab_test.markers ?? []) as { id: number; name: string }[]
    const icd_codes_by_test = [{ marker_id: first?.id, icd_codes: ['Z00.00'] }]
    const order = await placeInsured(medicare, { icd_codes: ['E78.5'], icd_codes_by_test })
    expect(order.has_abn).toBe(true)
    const text = await textOf(await pdf('getAbnPdf', order.id))
    expect(text).toContain(first?.name)
    for (const { name } of others) expect(text).not.toContain(name)
    expect(await textOf(await pdf('getRequisitionPdf', order.id))).toContain('Z00.00')
  })

  test.each<[string, () => Promise<{ id: string; has_abn: boolean }>]>([
    ['a diagnosis supports the tests', () => placeInsured(medicare, { icd_codes: ['Z00.00', 'E78.5'] })],
    [
      'the insurance includes the diagnosis',
      () =>
        placeInsured(medicare, { health_insurance: { payor_code: medicare, insurance_id: 'MEMBER-55501', diagnosis_codes: ['E78.5'] } }),
    ],
    ['Medicare Advantage pays', () => placeInsured(advantage, { icd_codes: ['Z00.00'] })],
    ['another insurer pays', () => placeInsured('OAKMU', { icd_codes: ['Z00.00'] })],
    ['the customer pays', () => placeInsured(medicare, { billing_type: 'client_bill', icd_codes: ['Z00.00'] })],
  ])('is not available when %s', async (_, order) => {
    const { id, has_abn } = await order()
    expect(has_abn).toBe(false)
    expect(await errorOf(get('getAbnPdf', id))).toMatchObject(notFound('DOCUMENT_NOT_AVAILABLE'))
  })
})

test('prints every result with its reference range and the overall interpretation', async () => {
  const order = await placeAndSend()
  await simulate(order.id, {}, { interpretation: 'critical' })
  const { results } = await api.getResults({ params: { order_id: order.id } })
  const text = await textOf(await pdf('getResultsPdf', order.id))
  for (const words of ['Final report.', 'Overall: CRITICAL.', `${people[0].first_name} ${people[0].last_name}`, order.id, 'End of report'])
    expect(text).toContain(words)
  expect(results.length).toBeGreaterThan(10)
  for (const { name, result, type, reference_range } of results) {
    // A comment such as "Not calculated" is printed below the row, not in the result column.
    for (const words of type === 'comment' ? [name, result] : [`${name} ${result}`]) expect(text).toContain(words)
    expect(text).toContain(reference_range)
  }
})

test('marks a partial or corrected report and names missing results', async () => {
  const order = await placeAndSend()
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

test('prints a section for the order and one for its redraw in a transaction report', async () => {
  const order = await placeAndSend()
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
    notFound('TRANSACTION_NOT_FOUND'),
  )
})

test('produces the same bytes for the same order', async () => {
  for (const endpoint of ['getRequisitionPdf', 'getLabelsPdf', 'getResultsPdf'] as const)
    expect((await pdf(endpoint, completedOrder.id)).equals(await pdf(endpoint, completedOrder.id))).toBe(true)
})

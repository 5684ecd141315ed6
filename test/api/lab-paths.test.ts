import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { labOperations } from '../../scripts/compatibility-page.ts'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../src/contract/index.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { aPatient, placeKit, placeOrder, testId } from '../support/orders.ts'
import { anAddress, someInfo, someInsurance } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

const file = new URL('../contract/lab-paths.json', import.meta.url)
/** The fields of a response with their types, as the Junction API describes them, or the operation with the same ones. */
const fieldsOf: Record<string, string[] | string> = JSON.parse(readFileSync(file, 'utf8'))

const w = await world()
const { api, team_id } = w
await setBetas(w.app, team_id, ['unmatched_results'])

type Parts = { params?: object; query?: object; body?: unknown; headers?: Record<string, string> }
type Method = Parameters<typeof placeOrder>[1]

async function accepted(method: Method, change: object = {}) {
  const order = await placeOrder(api, method, change)
  await w.runJobs()
  return { order_id: order.id, transaction_id: order.order_transaction?.id }
}

const completed = async () => {
  const ids = await accepted('walk_in_test')
  await api.simulateOrder({ params: ids, query: {}, body: {} })
  return ids
}

const home = { first_line: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip_code: '85004' }
const homeKey = async (i: number) => (await api.listHomeSlots({ body: home })).slots.flatMap(({ slots }) => slots)[i]?.booking_key as string
const siteQuery = { lab: 'quest', zip_code: '85004' }
const siteKey = async (i: number) =>
  (await api.listCenterSlots({ query: siteQuery })).slots.flatMap(({ slots }) => slots)[i]?.booking_key as string

async function booked(type: 'home' | 'center') {
  const params = await accepted(type === 'home' ? 'at_home_phlebotomy' : 'walk_in_test')
  if (type === 'home') await api.bookHomeVisit({ params, body: { booking_key: await homeKey(0) } })
  else await api.bookCenterVisit({ params, body: { booking_key: await siteKey(0) } })
  return params
}

const ownTest = { name: 'Mine', description: '', method: 'walk_in_test' as const, marker_ids: [1001] }
const lab_test_id = await testId(api, 'essential-wellness')
const newOrder = async () => ({
  user_id: await aUser(api),
  patient_details: aPatient(),
  patient_address: anAddress(),
  order_set: { lab_test_ids: [lab_test_id] },
})
const insuredUser = async () => {
  const user_id = await aUser(api)
  await api.putUserInfo({ params: { user_id }, body: someInfo() })
  await api.createInsurance({ params: { user_id }, body: someInsurance() })
  return { user_id }
}
const request = { address: { ...home, zip_code: '54650', state: 'WI' }, provider: 'phlebfinders' }
const inSparta = { patient_address: anAddress({ state: 'WI', zip: '54650' }) }

const payorAddress = { first_line: '1 Pier', city: 'Boston', state: 'MA', zip: '02110', country: 'US' }

async function unmatchedResult() {
  const headers = { 'x-idempotency-key': newUuid() }
  const { run_id } = await api.createUnmatchedResultTest({ headers, body: { case: 'match_demo', order_source: 'managed' } })
  const { raw_result_id, orders } = await api.getUnmatchedResultTest({ params: { run_id } })
  return { run_id, raw_result_id, order_id: orders['order']?.order_id }
}

const newParsingJob = async () => ({ file: [new File(['test,result\nFerritin,48'], 'report.csv')], user_id: await aUser(api) })

/** A valid request for every implemented operation. */
const requests: Partial<Record<EndpointName, () => Promise<Parts> | Parts>> = {
  createInsurance: async () => ({ params: { user_id: await aUser(api) }, body: someInsurance() }),
  getInsurance: async () => ({ params: await insuredUser() }),
  listPhysicians: async () => {
    await api.putPhysicians({
      params: { team_id },
      body: { physicians: [{ first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' }] },
    })
    return { params: { team_id } }
  },
  listAllLabTests: () => ({}),
  createLabTest: () => ({ body: ownTest }),
  patchLabTest: async () => ({ params: { lab_test_id: (await api.createLabTest({ body: ownTest })).id }, body: { name: 'Renamed' } }),
  getLabTest: () => ({ params: { lab_test_id } }),
  listMarkers: () => ({ query: { name: 'lipid' } }),
  listOrderSetMarkers: () => ({ body: { lab_test_ids: [lab_test_id] } }),
  listLabTestMarkers: () => ({ params: { lab_test_id } }),
  getMarker: () => ({ params: { lab_id: 1, provider_id: 'QM10007' } }),
  listLabs: () => ({}),
  searchCompendium: () => ({ body: { mode: 'crosswalk', query: 'lipid panel' } }),
  convertCompendium: () => ({ body: { lab_test_id, target_lab: 'wrenfield' } }),
  searchOrderableTests: () => ({ body: { provider_ids: ['QM10007'], target_lab: 'wrenfield' } }),
  listLabAccounts: () => ({}),
  listLabTests: () => ({}),
  getLabTestInstructionPdf: () => ({ params: { lab_test_id } }),
  getOrderTransaction: async () => ({ params: await accepted('walk_in_test') }),
  getTransactionResults: async () => ({ params: await completed() }),
  getTransactionResultsPdf: async () => ({ params: await completed() }),
  listOrders: () => ({}),
  registerTestkit: async () => {
    const kit = await placeKit(api)
    await w.runJobs()
    const { sample_id } = await api.getOrder({ params: { order_id: kit.id } })
    return { body: { sample_id, patient_details: aPatient(), patient_address: anAddress(), consents: [] } }
  },
  createTestkitOrder: async () => ({
    body: {
      user_id: await aUser(api),
      lab_test_id: await testId(api, 'heart-and-sugar-card'),
      shipping_details: { ...anAddress(), receiver_name: 'Harbor Stock', phone_number: '+12025550100' },
    },
  }),
  listHomeSlots: () => ({ body: home }),
  bookHomeVisit: async () => ({ params: await accepted('at_home_phlebotomy'), body: { booking_key: await homeKey(0) } }),
  requestHomeVisit: async () => ({ params: await accepted('at_home_phlebotomy', inSparta), body: request }),
  rescheduleHomeVisit: async () => ({ params: await booked('home'), body: { booking_key: await homeKey(2) } }),
  cancelHomeVisit: async () => {
    const [reason] = await api.listHomeCancellationReasons()
    return { params: await booked('home'), body: { cancellation_reason_id: reason?.id } }
  },
  listHomeCancellationReasons: () => ({}),
  getHomeVisit: async () => ({ params: await booked('home') }),
  getAreaInfo: () => ({ query: { zip_code: '85004' } }),
  getPscInfo: () => ({ query: { zip_code: '85004', lab_id: 1 } }),
  getOrderPscInfo: async () => ({ params: await accepted('walk_in_test') }),
  getResultsPdf: async () => ({ params: await completed() }),
  getResultsMetadata: async () => ({ params: await completed() }),
  getResults: async () => ({ params: await completed() }),
  getLabelsPdf: async () => ({ params: await accepted('walk_in_test'), query: { collection_date: '2027-03-01T09:00:00Z' } }),
  listCenterSlots: () => ({ query: siteQuery }),
  bookCenterVisit: async () => ({ params: await accepted('walk_in_test'), body: { booking_key: await siteKey(0) } }),
  rescheduleCenterVisit: async () => ({ params: await booked('center'), body: { booking_key: await siteKey(3) } }),
  cancelCenterVisit: async () => {
    const [reason] = await api.listCenterCancellationReasons()
    return { params: await booked('center'), body: { cancellationReasonId: reason?.id } }
  },
  listCenterCancellationReasons: () => ({}),
  getCenterVisit: async () => ({ params: await booked('center') }),
  resendOrderEvents: async () => ({ body: { order_ids: [(await accepted('walk_in_test')).order_id] } }),
  getCommunicationSettings: async () => ({ params: await accepted('walk_in_test') }),
  patchCommunicationSettings: async () => ({ params: await accepted('walk_in_test'), body: { sms_enabled: false } }),
  getCollectionInstructionPdf: async () => ({ params: await accepted('walk_in_test') }),
  getRequisitionPdf: async () => ({ params: await accepted('walk_in_test') }),
  getAbnPdf: async () => {
    const { payor_code } = await api.createPayor({ body: { name: 'Medicare Part B', address: payorAddress } })
    const health_insurance = { payor_code, insurance_id: 'MEMBER-55501' }
    return { params: await accepted('walk_in_test', { billing_type: 'commercial_insurance', health_insurance, icd_codes: ['Z00.00'] }) }
  },
  getOrder: async () => ({ params: await completed() }),
  rescheduleOrder: async () => {
    const { order } = await api.createOrder({ body: { ...(await newOrder()), activate_by: '2999-01-01' } })
    return { params: { order_id: order.id }, body: { activate_by: '2999-01-02' } }
  },
  createOrder: async () => ({ body: await newOrder() }),
  importOrder: async () => {
    const order = { ...(await newOrder()), patient_address: anAddress({ receiver_name: 'Front desk' }) }
    return { body: { ...order, collection_method: 'walk_in_test', sample_id: 'IMPORTED-1', billing_type: 'client_bill' } }
  },
  cancelOrder: async () => ({ params: await accepted('walk_in_test') }),
  simulateOrder: async () => ({ params: await accepted('walk_in_test') }),
  completeDraw: async () => ({ params: await accepted('on_site_collection') }),
  listUnmatchedResultTestCases: () => ({}),
  createUnmatchedResultTest: () => ({
    headers: { 'x-idempotency-key': newUuid() },
    body: { case: 'no_match', order_source: 'managed' },
  }),
  getUnmatchedResultTest: async () => ({ params: await unmatchedResult() }),
  listUnmatchedResults: () => ({}),
  getUnmatchedResult: async () => ({ params: await unmatchedResult() }),
  acceptUnmatchedResult: async () => {
    const { order_id, ...params } = await unmatchedResult()
    return { params, body: { order_id } }
  },
  resolveUnmatchedResult: async () => ({ params: await unmatchedResult(), body: { action: 'reject' } }),
  searchPayorsByBody: () => ({ body: { insurance_name: 'Oakmeadow' } }),
  searchPayors: () => ({ query: { insurance_name: 'Oakmeadow' } }),
  searchDiagnoses: () => ({ query: { diagnosis_query: 'lipid' } }),
  validateIcdCodes: () => ({ body: { codes: ['E78.5'] } }),
  createParsingJob: async () => ({ body: await newParsingJob() }),
  getParsingJob: async () => ({ params: { parsing_job_id: (await api.createParsingJob({ body: await newParsingJob() })).id } }),
  createPayor: () => ({ body: { name: 'Tidewater Health', address: payorAddress } }),
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isDateTime = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text))

/** Enumerations are open, so their values are texts. */
const types: Record<string, (value: unknown) => boolean> = {
  any: () => true,
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  'date-time': (value) => typeof value === 'string' && isDateTime(value),
  integer: Number.isInteger,
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  string: (value) => typeof value === 'string',
  uuid: (value) => typeof value === 'string' && isUuid.test(value),
}

/** The fields of a response that are missing or have another type. A field with ? can be absent. */
function faultsIn(body: unknown, fields: string[]) {
  return fields.flatMap((field) => {
    const [path = '', allowed = ''] = field.split(': ')
    const isOptional = path.endsWith('?')
    const steps = path.replace('?', '').replaceAll('[]', '.[]').replaceAll('{}', '.{}').split('.').filter(Boolean)
    const isWrong = (value: unknown) =>
      value === undefined ? !isOptional : !allowed.split('|').some((type) => (types[type] as (value: unknown) => boolean)(value))
    return valuesAt(body, steps).some(isWrong) ? [field] : []
  })
}

/** Every value at a path. A field that is absent is undefined, and its own fields are not searched. */
function valuesAt(value: unknown, [step, ...rest]: string[]): unknown[] {
  if (step === undefined) return [value]
  if (typeof value !== 'object' || value === null) return []
  if (step === '[]' || step === '{}') return Object.values(value).flatMap((item) => valuesAt(item, rest))
  return valuesAt((value as Record<string, unknown>)[step], rest)
}

test('the check finds a field that is missing or has another type', () => {
  const fields = ['id: uuid', 'orders: array', 'orders[].at: date-time|null', 'note?: string', 'by?: object', 'by.name: string']
  const body = { id: '6b0c2f0e-4a51-4f0e-9d57-2f3f6f1c9a10', orders: [{ at: null }, { at: '2026-03-01T09:30:00.000Z' }] }
  expect(faultsIn(body, fields)).toEqual([])
  expect(faultsIn({ ...body, id: 7, orders: [{ at: 'noon' }], note: 1, by: {} }, fields)).toEqual([
    fields[0],
    fields[2],
    fields[3],
    fields[5],
  ])
  expect(faultsIn({}, fields)).toEqual(fields.slice(0, 2))
})

test('every lab operation of the Junction API is implemented, or names an alternative', () => {
  expect(labOperations.filter(({ name, reason }) => !name && !reason)).toEqual([])
  expect(labOperations.filter(({ name }) => name && !(name in requests))).toEqual([])
})

test.each(labOperations.filter(({ name }) => name))('$operation', async ({ operation, name }) => {
  const row: Row = endpoints[name as EndpointName]
  const parts = await (requests[name as EndpointName] as () => Promise<Parts> | Parts)()
  const { status, body } = await sendRequest(w.base, row, { ...parts, headers: { ...parts.headers, 'x-service-api-key': w.team_api_key } })
  expect(status, JSON.stringify(body)).toBe(name === 'createUnmatchedResultTest' ? 202 : 200)
  const listed = fieldsOf[operation] as string[] | string
  expect(faultsIn(body, typeof listed === 'string' ? (fieldsOf[listed] as string[]) : listed)).toEqual([])
})

import { expect, test } from 'vitest'
import { aNewOrder, testId } from '../support/orders.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api } = w
const user_id = await aUser(api)
const lab_test_id = await testId(api, 'essential-wellness')
const [marker] = (await api.getLabTest({ params: { lab_test_id } })).markers ?? []
const marker_id = marker?.id as number

test('an order keeps the diagnoses of its tests, normalized, in responses and events', async () => {
  const icd_codes_by_test = [
    { lab_test_id, icd_codes: ['e785', 'E78.5'] },
    { marker_id, icd_codes: ['R53.83'] },
  ]
  const body = await aNewOrder(api, 'walk_in_test', { user_id, icd_codes: ['Z00.00'], icd_codes_by_test })
  const { order } = await api.createOrder({ body })
  const shown = [
    { lab_test_id, marker_id: null, icd_codes: ['E78.5'] },
    { lab_test_id: null, marker_id, icd_codes: ['R53.83'] },
  ]
  expect(order).toMatchObject({ icd_codes: ['Z00.00'], icd_codes_by_test: shown })
  expect(await api.getOrder({ params: { order_id: order.id } })).toMatchObject({ icd_codes_by_test: shown })
})

test('a test that is not in the order, a duplicate and an invalid code are refused with their positions', async () => {
  const icd_codes_by_test = [
    { lab_test_id: newUuid(), icd_codes: ['E78.5'] },
    { marker_id, icd_codes: ['nonsense'] },
    { marker_id, icd_codes: ['E78.5'] },
  ]
  const body = await aNewOrder(api, 'walk_in_test', { user_id, icd_codes_by_test })
  const { status, detail } = await errorOf(api.createOrder({ body }))
  expect(status).toBe(422)
  const faults = detail as unknown as { type: string; loc: unknown[] }[]
  expect(faults.map(({ type, loc }) => `${type} ${loc.join('.')}`)).toEqual([
    'diagnosis_test_unknown body.icd_codes_by_test.0.lab_test_id',
    'icd_code_invalid body.icd_codes_by_test.1.icd_codes.0',
    'diagnosis_test_duplicate body.icd_codes_by_test.2.marker_id',
  ])
  const { problems } = await api.validateOrder({ body })
  expect(problems.filter(({ severity }) => severity === 'hard').map(({ code }) => code)).toEqual(faults.map(({ type }) => type))
})

test.each([
  ['neither a lab test nor a marker', { icd_codes: ['E78.5'] }],
  ['both', { lab_test_id, marker_id, icd_codes: ['E78.5'] }],
  ['no code', { lab_test_id, icd_codes: [] }],
  ['more than 12 codes', { lab_test_id, icd_codes: Array(13).fill('E78.5') }],
])('diagnoses that name %s are refused', async (_, entry) => {
  const body = await aNewOrder(api, 'walk_in_test', { user_id, icd_codes_by_test: [entry] })
  expect(await errorOf(api.createOrder({ body }))).toMatchObject({
    status: 422,
    detail: [{ loc: expect.arrayContaining(['icd_codes_by_test', 0]) }],
  })
})

test('an order billed to insurance needs a diagnosis for every test', async () => {
  const insured = { user_id, billing_type: 'commercial_insurance', health_insurance: { payor_code: 'OAKMU', insurance_id: 'M-1' } }
  const place = async (change: object) =>
    errorOf(api.createOrder({ body: await aNewOrder(api, 'walk_in_test', { ...insured, ...change }) }))
  const onlyOne = [{ marker_id, icd_codes: ['E78.5'] }]
  expect(await place({ icd_codes_by_test: onlyOne })).toMatchObject({ status: 400, detail: { error_type: 'ICD_CODES_REQUIRED' } })
  expect(await place({ icd_codes_by_test: [{ lab_test_id, icd_codes: ['E78.5'] }] })).toMatchObject({ status: 200 })
  expect(await place({ icd_codes: ['Z00.00'], icd_codes_by_test: onlyOne })).toMatchObject({ status: 200 })
})

import { expect, test } from 'vitest'
import { aPhysician, aProxy } from '../support/order-rules.ts'
import { aPatient, placeKit, placeOrder, testId } from '../support/orders.ts'
import { anAddress, someInsurance } from '../support/people.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const elder = { first_name: 'Peregrine', last_name: 'Quillfeather', dob: '2015-06-01' }
const younger = { ...elder, first_name: 'Philippa', dob: '2017-02-11' }
const withoutProxy = { status: 422, detail: [{ type: 'minor_without_proxy', loc: ['body', 'patient_details', 'medical_proxy'] }] }

const order = (user_id: string, details: object) => placeOrder(w.api, 'walk_in_test', { user_id, patient_details: aPatient(details) })
const infoOf = (user_id: string) => w.api.getUserInfo({ params: { user_id } })
const warningsOf = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code)

/** A parent's user, with an order for the elder child. */
async function aParent() {
  const user_id = await aUser(w.api)
  await order(user_id, { ...elder, medical_proxy: aProxy() })
  return user_id
}

test('the proxy of one child does not serve a sibling, a twin or an explicit null', async () => {
  const user_id = await aParent()
  for (const details of [younger, { ...elder, first_name: 'Philippa' }, { ...elder, dob: '2015-06-02' }, { ...elder, medical_proxy: null }])
    expect(await errorOf(order(user_id, details))).toMatchObject(withoutProxy)
  expect((await order(user_id, { ...elder, first_name: ' peregrine' })).patient_details?.medical_proxy).toMatchObject({
    first_name: 'Ottoline',
  })
})

test('an order for a sibling warns, keeps its own proxy and does not overwrite the demographics', async () => {
  const user_id = await aParent()
  const before = await infoOf(user_id)
  const placed = await order(user_id, { ...younger, race: 'asian', medical_proxy: aProxy({ first_name: 'Ophelia' }) })
  expect(warningsOf(placed)).toContain('patient_differs_from_user')
  expect(placed.patient_details).toMatchObject({
    first_name: 'Philippa',
    dob: expect.stringContaining(younger.dob),
    medical_proxy: { first_name: 'Ophelia' },
  })
  expect(await infoOf(user_id)).toEqual(before)
  expect((await order(user_id, elder)).patient_details?.medical_proxy).toMatchObject({ first_name: 'Ottoline' })
})

test('the insurance of the user does not pay for an order for somebody else, and that of somebody else not for the user', async () => {
  const user_id = await aUser(w.api)
  const parent = { ...elder, dob: '1985-06-01' }
  await order(user_id, parent)
  await w.api.createInsurance({ params: { user_id }, body: someInsurance() })
  const insured = (details: object, change: object = {}) =>
    placeOrder(w.api, 'walk_in_test', {
      ...{ user_id, patient_details: aPatient(details), billing_type: 'commercial_insurance', icd_codes: ['E78.5'] },
      ...change,
    })
  const own = await insured(parent)
  expect(own.health_insurance_id).toEqual(expect.any(String))
  const other = { ...parent, first_name: 'Philippa' }
  expect(await errorOf(insured(other))).toMatchObject({ status: 400, detail: { error_type: 'INSURANCE_REQUIRED' } })
  const sent = await insured(other, { health_insurance: { payor_code: 'OAKMU', insurance_id: 'PHILIPPA-7' } })
  expect(sent.health_insurance_id).not.toBe(own.health_insurance_id)
  expect((await insured(parent)).health_insurance_id).toBe(own.health_insurance_id)
})

test('validation reports the same errors and warnings about a sibling as placing the order', async () => {
  const user_id = await aParent()
  const order_set = { lab_test_ids: [await testId(w.api, 'essential-wellness')] }
  const validate = (details: object) =>
    w.api.validateOrder({ body: { user_id, order_set, patient_details: aPatient(details), patient_address: anAddress() } })
  const codesOf = async (details: object) => (await validate(details)).problems.map(({ code }) => code)
  expect(await codesOf(younger)).toEqual(expect.arrayContaining(['minor_without_proxy', 'patient_differs_from_user']))
  expect(await codesOf(elder)).not.toEqual(expect.arrayContaining(['minor_without_proxy']))
})

test('an order for the same person updates the demographics, and an explicit null removes the proxy', async () => {
  const user_id = await aUser(w.api)
  const adult = { ...elder, dob: '1990-06-01' }
  await order(user_id, { ...adult, medical_proxy: aProxy() })
  expect(warningsOf(await order(user_id, { ...adult, phone_number: '+12025550177', medical_proxy: null }))).not.toContain(
    'patient_differs_from_user',
  )
  expect(await infoOf(user_id)).toMatchObject({ phone_number: '+12025550177', medical_proxy: null })
})

test('a kit and an imported order for a sibling do not take over the proxy or the demographics either', async () => {
  const user_id = await aParent()
  const before = await infoOf(user_id)
  const patient_address = { receiver_name: '', ...anAddress() }
  const { id: order_id } = await placeKit(w.api, { user_id })
  await w.runJobs()
  const { sample_id } = await w.api.getOrder({ params: { order_id } })
  const register = (details: object) =>
    w.api.registerTestkit({ body: { sample_id: sample_id as string, patient_details: aPatient(details), patient_address } })
  const order_set = { lab_test_ids: [await testId(w.api, 'essential-wellness')] }
  const importIt = (details: object) =>
    w.api.importOrder({
      body: {
        ...{ user_id, sample_id: 'SIBLING-1', patient_details: aPatient(details), patient_address, order_set },
        ...{ billing_type: 'client_bill', collection_method: 'walk_in_test', physician: aPhysician() },
      },
    })
  for (const send of [register, importIt]) {
    expect(await errorOf(send(younger))).toMatchObject(withoutProxy)
    const { order } = await send({ ...younger, medical_proxy: aProxy() })
    expect(warningsOf(order)).toContain('patient_differs_from_user')
  }
  expect(await infoOf(user_id)).toEqual(before)
})

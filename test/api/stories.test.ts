import { VitalClient, VitalError } from '@tryvital/vital-node'
import { expect, test } from 'vitest'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { DAY, HOUR, SECOND } from '../../src/platform/time.ts'
import { eventsOf } from '../support/events.ts'
import { aReviewer, testId, tests } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { world } from '../support/world.ts'

// A Monday morning in Phoenix.
const NOW = '2027-03-01T14:50:00.000Z'
const w = await world()
w.setTime(NOW)
const { lab } = await w.partnerLab(1)

const [zephyrine] = people
const patientDetails = {
  firstName: zephyrine.first_name,
  lastName: zephyrine.last_name,
  dob: zephyrine.dob,
  phoneNumber: zephyrine.phone_number,
  email: zephyrine.email,
  gender: 'female' as const,
}
const patientAddress = { firstLine: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
const home = { firstLine: patientAddress.firstLine, city: 'Phoenix', state: 'AZ', zipCode: '85004' }

/** The clinic of the patient, with the public SDK as its documentation shows it. */
async function clinic() {
  const { api, team_id, team_api_key } = await w.tenant()
  const sdk = new VitalClient({ apiKey: team_api_key, environment: w.base, maxRetries: 0 })
  const { userId } = await sdk.user.create({ clientUserId: 'patient-4417' })
  const orderTest = async (slug: string, change: object = {}) => {
    const { order } = await sdk.labTests.createOrder({
      userId,
      patientDetails,
      patientAddress,
      orderSet: { labTestIds: [await testId(api, slug)] },
      ...change,
    })
    await dispatchDueOrders(w.app)
    return order.id
  }
  const steps = async (id: string) => (await sdk.labTests.getOrder(id)).events.map(({ status }) => String(status).split('.')[2])
  const pass = (ms: number) => api.moveClock({ body: { advance_seconds: ms / SECOND } })
  const messages = async (type: string) => (await eventsOf(w.app, team_id)).filter(({ event_type }) => event_type === type)
  /** The SDK does not show the transaction of an order. */
  const transaction = async (order_id: string) => (await api.getOrder({ params: { order_id } })).order_transaction
  return { api, sdk, orderTest, steps, pass, messages, transaction }
}

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof VitalError)) throw new Error('The call was not refused.')
  return { status: error.statusCode, ...(error.body as { detail: { error_type: string } }).detail }
}

test('“I moved the nurse’s visit twice, and she came at the third time.”', async () => {
  const { sdk, orderTest, steps, pass, messages } = await clinic()
  const id = await orderTest(tests.at_home_phlebotomy)
  const { slots } = await sdk.labTests.getPhlebotomyAppointmentAvailability({ body: home })
  const [monday, tuesday, thursday] = [0, 1, 3].map((day) => slots[day]?.slots[0]?.bookingKey as string)
  const booked = await sdk.labTests.bookPhlebotomyAppointment(id, { bookingKey: monday as string })
  for (const bookingKey of [tuesday, thursday] as string[]) await sdk.labTests.reschedulePhlebotomyAppointment(id, { bookingKey })
  const moved = await sdk.labTests.getPhlebotomyAppointment(id)
  expect([moved.id, moved.startAt]).toEqual([booked.id, slots[3]?.slots[0]?.start])
  await pass(4 * DAY)
  expect((await sdk.labTests.getPhlebotomyAppointment(id)).status).toBe('completed')
  expect((await steps(id)).at(-1)).toBe('draw_completed')
  const starts = (await messages('labtest.appointment.updated')).map(({ data }) => data['start_at'])
  expect(new Set(starts).size).toBe(2)
})

test('“The parcel with my kit got lost. They wrote it off, and then the lab had my sample after all.”', async () => {
  const { api, sdk, orderTest, steps, pass, transaction } = await clinic()
  const id = await orderTest(tests.testkit)
  await sdk.labTests.simulateOrderProcess(id, { finalStatus: 'collecting_sample.testkit.transit_lab' })
  await pass(8 * DAY)
  expect((await steps(id)).at(-1)).toBe('problem_in_transit_lab')
  await api.reportShipment({ params: { order_id: id }, body: { status: 'lost' } })
  const lost = await sdk.labTests.getOrder(id)
  expect([lost.status, (await transaction(id))?.status]).toEqual(['failed', 'completed'])
  await api.reportShipment({ params: { order_id: id }, body: { status: 'delivered_to_lab' } })
  const found = (await transaction(id))?.orders[1]?.id as string
  await sdk.labTests.simulateOrderProcess(found)
  const order = await sdk.labTests.getOrder(found)
  expect(order).toMatchObject({ status: 'completed', origin: 'recreation', sampleId: lost.sampleId })
  expect((await sdk.labTests.getResultRaw(found)).missingResults).toEqual([])
})

test('“I walked in, one tube was spoiled, and I came back for another.”', async () => {
  const { sdk, orderTest, steps, transaction } = await clinic()
  const id = await orderTest(tests.walk_in_test)
  const { slots } = await sdk.labTests.getPscAppointmentAvailability({ lab: 'quest', zipCode: '85004' })
  await sdk.labTests.bookPscAppointment(id, { bookingKey: slots[0]?.slots[0]?.bookingKey as string })
  await lab.reportLabResults({ params: { order_id: id }, body: { status: 'partial', results: [{ slug: 'glucose', result: '91' }] } })
  await lab.reportLabStep({ params: { order_id: id }, body: { status: 'redraw_available', status_detail: 'sample_hemolyzed' } })
  const { events } = await sdk.labTests.getOrder(id)
  expect(events.at(-1)).toMatchObject({ status_detail: 'sample_hemolyzed' })
  expect((await sdk.labTests.getPscAppointment(id)).status).toBe('completed')
  const second = (await transaction(id))?.orders[1]?.id as string
  await dispatchDueOrders(w.app)
  await sdk.labTests.bookPscAppointment(second, { bookingKey: slots[1]?.slots[0]?.bookingKey as string })
  await sdk.labTests.simulateOrderProcess(second)
  expect((await steps(second)).at(-1)).toBe('completed')
  expect((await transaction(id))?.status).toBe('completed')
})

test('“My insurance was refused, because my doctor’s office forgot the diagnosis. They sent it again.”', async () => {
  const { sdk, orderTest } = await clinic()
  const insured = {
    billingType: 'commercial_insurance',
    healthInsurance: { payorCode: 'OAKMU', insuranceId: 'MEMBER-55501', responsibleRelationship: 'Self' },
  }
  expect(await refusal(orderTest(tests.walk_in_test, insured))).toMatchObject({ status: 400, error_type: 'ICD_CODES_REQUIRED' })
  expect(await refusal(orderTest(tests.walk_in_test, { ...insured, icdCodes: ['high cholesterol'] }))).toMatchObject({
    status: 400,
    error_type: 'ICD_CODE_INVALID',
  })
  const id = await orderTest(tests.walk_in_test, { ...insured, icdCodes: ['E78.5'] })
  const order = await sdk.labTests.getOrder(id)
  expect(order).toMatchObject({ billingType: 'commercial_insurance', icdCodes: ['E78.5'], healthInsuranceId: expect.any(String) })
})

test('“At two in the morning the lab found that my potassium was far too high, and someone answered.”', async () => {
  const { api, sdk, orderTest, pass, messages } = await clinic()
  const id = await orderTest(tests.walk_in_test)
  // Two in the morning in Phoenix.
  await pass(18 * HOUR + 10 * 60 * SECOND)
  const params = { order_id: id }
  await lab.reportLabResults({ params, body: { status: 'partial', results: [{ slug: 'potassium', result: '6.9' }] } })
  const [event, ...more] = await messages('labtest.result.critical')
  expect(more).toEqual([])
  expect(event?.data).toMatchObject({ order_id: id, interpretation: 'critical', marker: { slug: 'potassium' } })
  expect(JSON.stringify(event?.data)).not.toContain('6.9')
  expect((await sdk.labTests.getOrder(id)).interpretation).toBe('critical')
  const open = await api.getCriticalResult({ params })
  expect(open.acknowledged_at).toBeNull()
  await api.acknowledgeCritical({ params, body: { result_version: open.result_version, reviewer: aReviewer, note: 'Called the patient' } })
  expect((await api.getCriticalResult({ params })).acknowledged_at).not.toBeNull()
})

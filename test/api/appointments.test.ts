import { VitalClient } from '@tryvital/vital-node'
import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { changeDueVisits } from '../../src/labs/appointments/due.ts'
import { loadCatalogText } from '../../src/labs/catalog/file/actions.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { DAY, HOUR, later, SECOND } from '../../src/platform/time.ts'
import { catalogFile } from '../support/catalog.ts'
import { eventsOf } from '../support/events.ts'
import { aPatient, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { query } from '../support/query.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

// A Monday morning in Phoenix.
const NOW = '2027-03-01T14:50:00.000Z'
const w = await world()
w.stopTime(Date.parse(NOW))

/** Sends orders to the lab. Other jobs would delete events, which the database dates in real time. */
const sendOrders = () => dispatchDueOrders(w.app)

const home = { first_line: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip_code: '85004' }

const homeSlots = async (api: Client, start_date?: string) =>
  (await api.listHomeSlots({ query: { start_date }, body: home })).slots.flatMap(({ slots }) => slots)
const siteSlots = async (api: Client, site = 'QM-PHX-01') =>
  (await api.listCenterSlots({ query: { lab: 'quest', site_codes: [site] } })).slots.flatMap(({ slots }) => slots)

/** An order that the lab has accepted. */
async function acceptedOrder(api: Client, method: 'walk_in_test' | 'at_home_phlebotomy', change: object = {}) {
  const order = await placeOrder(api, method, change)
  await sendOrders()
  return order
}

const bookHome = (api: Client, order_id: string, booking_key: string) =>
  api.bookHomeVisit({ params: { order_id }, body: { booking_key, appointment_notes: 'Ring twice.' } })
const bookSite = (api: Client, order_id: string, booking_key: string) =>
  api.bookCenterVisit({ params: { order_id }, body: { booking_key } })
const statuses = async (api: Client, order_id: string) => statusesOf(await api.getOrder({ params: { order_id } }))
const keyAt = (slots: { booking_key: string }[], i: number) => slots[i]?.booking_key as string
const advance = (api: Client, ms: number) => api.moveClock({ body: { advance_seconds: ms / SECOND } })

async function visitEvents(team_id: string, order_id: string) {
  const all = await eventsOf(w.app, team_id)
  return all.filter((event) => event.order_id === order_id).map(({ event_type }) => event_type.replace('labtest.', ''))
}

test('a visit at home: booked, moved twice, drawn', async () => {
  const { api, team_id } = await w.tenant()
  const { id } = await acceptedOrder(api, 'at_home_phlebotomy')
  const slots = await homeSlots(api)
  expect(slots[0]).toEqual({
    booking_key: expect.any(String),
    start: '2027-03-01T19:00:00.000Z',
    end: '2027-03-01T21:00:00.000Z',
    expires_at: '2027-03-01T15:00:00.000Z',
    price: 0,
    is_priority: false,
    num_appointments_available: 1,
  })
  const booked = await bookHome(api, id, keyAt(slots, 0))
  expect(booked).toMatchObject({
    order_id: id,
    type: 'phlebotomy',
    provider: 'getlabs',
    status: 'confirmed',
    event_status: 'scheduled',
    start_at: '2027-03-01T19:00:00.000Z',
    iana_timezone: 'America/Phoenix',
    address: { ...home, second_line: 'Apt 9' },
    appointment_notes: 'Ring twice.',
    can_reschedule: true,
  })
  expect(await homeSlots(api)).not.toContainEqual(expect.objectContaining({ start: booked.start_at }))
  const order = await api.getOrder({ params: { order_id: id } })
  expect(order.details.data?.appointment_id).toBe(booked.id)
  for (const i of [5, 8]) {
    const moved = await api.rescheduleHomeVisit({ params: { order_id: id }, body: { booking_key: keyAt(slots, i) } })
    expect(moved).toMatchObject({ id: booked.id, start_at: slots[i]?.start, event_data: { is_reschedule: true } })
  }
  expect((await homeSlots(api))[0]?.start).toBe('2027-03-01T19:00:00.000Z')
  await advance(api, 5 * DAY)
  const visit = await api.getHomeVisit({ params: { order_id: id } })
  expect(visit.events.map(({ status }) => status)).toEqual(['scheduled', 'scheduled', 'scheduled', 'in_progress', 'completed'])
  expect(visit).toMatchObject({ status: 'completed', can_reschedule: false })
  expect(await statuses(api, id)).toEqual([
    'ordered',
    'requisition_created',
    'appointment_pending',
    ...Array(3).fill('appointment_scheduled'),
    'draw_completed',
  ])
  expect(await visitEvents(team_id, id)).toEqual([
    'order.created',
    'order.updated',
    'appointment.created',
    ...Array(2).fill('order.updated'),
    ...['appointment.updated', 'order.updated', 'appointment.updated', 'order.updated'],
    ...['appointment.updated', 'appointment.updated', 'order.updated'],
  ])
})

test('a visit to a collection site: booked, canceled, booked again, with results', async () => {
  const { api } = await w.tenant()
  const { id } = await acceptedOrder(api, 'walk_in_test')
  const params = { order_id: id }
  const slots = await siteSlots(api)
  expect(slots[0]).toMatchObject({ start: '2027-03-01T16:00:00.000Z', end: '2027-03-01T16:20:00.000Z', num_appointments_available: 2 })
  expect(await bookSite(api, id, keyAt(slots, 0))).toMatchObject({
    type: 'patient_service_center',
    provider: 'quest',
    provider_id: 'QM-PHX-01',
    address: { first_line: '15 W Example St', zip_code: '85004' },
    location: { lng: -112.071, lat: 33.451 },
  })
  expect((await siteSlots(api))[0]?.num_appointments_available).toBe(1)
  const [reason] = await api.listCenterCancellationReasons()
  const canceled = await api.cancelCenterVisit({ params, body: { cancellationReasonId: reason?.id as string, note: 'On holiday' } })
  expect(canceled).toMatchObject({ status: 'cancelled', event_data: { origin: 'customer', cancellation_reason: 'Other' } })
  expect((await siteSlots(api))[0]?.num_appointments_available).toBe(2)
  w.advanceTime(SECOND)
  const second = await bookSite(api, id, keyAt(slots, 3))
  expect(second.id).not.toBe(canceled.id)
  await api.simulateOrder({ params, query: {}, body: {} })
  expect(await api.getCenterVisit({ params })).toMatchObject({ id: second.id, status: 'completed', event_data: { origin: 'order' } })
  expect(await statuses(api, id)).toEqual([
    ...['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled', 'appointment_cancelled'],
    ...['appointment_pending', 'appointment_scheduled', 'partial_results', 'completed'],
  ])
})

test('canceling an order cancels a visit at home, and never a visit to a site', async () => {
  const { api } = await w.tenant()
  const drawn = await acceptedOrder(api, 'at_home_phlebotomy')
  await bookHome(api, drawn.id, keyAt(await homeSlots(api), 0))
  await api.cancelOrder({ params: { order_id: drawn.id } })
  expect(await api.getHomeVisit({ params: { order_id: drawn.id } })).toMatchObject({ status: 'cancelled', event_data: { origin: 'order' } })
  expect((await homeSlots(api))[0]?.start).toBe('2027-03-01T19:00:00.000Z')
  const walkIn = await acceptedOrder(api, 'walk_in_test')
  await bookSite(api, walkIn.id, keyAt(await siteSlots(api), 0))
  await api.cancelOrder({ params: { order_id: walkIn.id } })
  expect(await api.getCenterVisit({ params: { order_id: walkIn.id } })).toMatchObject({ status: 'confirmed' })
})

test('a service that proposes a time confirms the request with one', async () => {
  const { api } = await w.tenant()
  const patient_address = anAddress({ city: 'Sparta', state: 'WI', zip: '54650' })
  const { id } = await acceptedOrder(api, 'at_home_phlebotomy', { patient_address })
  const address = { ...home, city: 'Sparta', state: 'WI', zip_code: '54650' }
  expect((await api.listHomeSlots({ body: address })).slots).toEqual([])
  const params = { order_id: id }
  const request = (provider: string) => api.requestHomeVisit({ params, body: { address, provider } })
  expect(await errorOf(request('getlabs'))).toMatchObject({ status: 400, detail: { error_type: 'AREA_NOT_SERVED' } })
  expect(await request('phlebfinders')).toMatchObject({
    status: 'pending',
    event_status: 'pending',
    start_at: null,
    provider: 'phlebfinders',
  })
  expect(await errorOf(request('phlebfinders'))).toMatchObject({ status: 409, detail: { error_type: 'APPOINTMENT_EXISTS' } })
  await advance(api, HOUR)
  expect(await api.getHomeVisit({ params })).toMatchObject({
    status: 'confirmed',
    start_at: expect.any(String),
    iana_timezone: 'America/Chicago',
  })
  expect((await statuses(api, id)).slice(-2)).toEqual(['appointment_pending', 'appointment_scheduled'])
})

describe('before the lab accepts the order', () => {
  const heldOrder = (api: Client, method: 'walk_in_test' | 'at_home_phlebotomy', change: object = {}) => placeOrder(api, method, change)

  async function reservingTeam() {
    const tenant = await w.tenant()
    const { admin, org_id, team_id } = tenant
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { booking_before_requisition: true } } })
    return tenant
  }

  test('a visit is rejected, unless the team allows it', async () => {
    const { api } = await w.tenant()
    const { id } = await heldOrder(api, 'walk_in_test')
    expect(await errorOf(bookSite(api, id, keyAt(await siteSlots(api), 0)))).toMatchObject({
      status: 400,
      detail: { error_type: 'NO_REQUISITION' },
    })
  })

  test('a reserved visit is confirmed when the lab accepts the order', async () => {
    const { api, team_id } = await reservingTeam()
    const { id } = await heldOrder(api, 'at_home_phlebotomy')
    const slots = await homeSlots(api)
    expect(await bookHome(api, id, keyAt(slots, 6))).toMatchObject({ status: 'reserved', event_status: 'reserved', can_reschedule: true })
    expect(await statuses(api, id)).toEqual(['ordered'])
    await sendOrders()
    expect(await api.getHomeVisit({ params: { order_id: id } })).toMatchObject({ status: 'confirmed' })
    expect(await statuses(api, id)).toEqual(['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled'])
    expect((await visitEvents(team_id, id)).filter((type) => type.startsWith('appointment'))).toEqual([
      'appointment.created',
      'appointment.updated',
    ])
  })

  test('a reserved visit is canceled two hours before it begins, and the order stays as it is', async () => {
    const { api } = await reservingTeam()
    const { id } = await heldOrder(api, 'walk_in_test', { activate_by: '2027-03-20' })
    const visit = await bookSite(api, id, keyAt(await siteSlots(api), 30))
    await advance(api, Date.parse(visit.start_at as string) - Date.parse(NOW) - 2 * HOUR)
    expect(await api.getCenterVisit({ params: { order_id: id } })).toMatchObject({
      status: 'cancelled',
      event_data: { origin: 'automatic' },
    })
    expect(await statuses(api, id)).toEqual(['ordered'])
  })
})

test('rejects what cannot be booked, and says why', async () => {
  const { api } = await w.tenant()
  const walkIn = await acceptedOrder(api, 'walk_in_test')
  const drawn = await acceptedOrder(api, 'at_home_phlebotomy')
  const [site, atHome] = [await siteSlots(api), await homeSlots(api)]
  const refusal = async (call: Promise<unknown>) => {
    const { status, detail } = await errorOf(call)
    return `${status} ${detail['error_type']}`
  }
  const params = { order_id: walkIn.id }
  expect(await refusal(bookHome(api, walkIn.id, keyAt(atHome, 0)))).toBe('404 NOT_A_HOME_DRAW')
  expect(await refusal(bookSite(api, drawn.id, keyAt(site, 0)))).toBe('404 NOT_A_WALK_IN')
  expect(await refusal(bookSite(api, walkIn.id, 'nonsense'))).toBe('400 BOOKING_KEY_INVALID')
  expect(await refusal(bookSite(api, walkIn.id, keyAt(atHome, 0)))).toBe('400 BOOKING_KEY_INVALID')
  expect(await refusal(api.getCenterVisit({ params }))).toBe('404 APPOINTMENT_NOT_FOUND')
  const madeUp = Buffer.from('QM-PHX-01|2027-03-01T16:07:00.000Z|2027-03-01T16:27:00.000Z').toString('base64url')
  expect(await refusal(bookSite(api, walkIn.id, madeUp))).toBe('400 SLOT_TAKEN')
  const past = Buffer.from('QM-PHX-01|2027-02-26T16:00:00.000Z|2027-02-26T16:20:00.000Z').toString('base64url')
  expect(await refusal(bookSite(api, walkIn.id, past))).toBe('400 SLOT_TAKEN')
  const ofAnotherLab = Buffer.from('WF-RDU-01|2027-03-01T16:00:00.000Z|2027-03-01T16:20:00.000Z').toString('base64url')
  expect(await refusal(bookSite(api, walkIn.id, ofAnotherLab))).toBe('400 UNKNOWN_SITE')
  await bookSite(api, walkIn.id, keyAt(site, 0))
  expect(await refusal(api.rescheduleCenterVisit({ params, body: { booking_key: ofAnotherLab } }))).toBe('400 UNKNOWN_SITE')
  expect(await refusal(bookSite(api, walkIn.id, keyAt(site, 1)))).toBe('409 APPOINTMENT_EXISTS')
  const cancellationReasonId = drawn.id
  expect(await refusal(api.cancelCenterVisit({ params, body: { cancellationReasonId } }))).toBe('400 UNKNOWN_CANCELLATION_REASON')
  const [reason] = await api.listCenterCancellationReasons()
  const cancel = () => api.cancelCenterVisit({ params, body: { cancellationReasonId: reason?.id as string } })
  await cancel()
  expect(await refusal(cancel())).toBe('400 VISIT_ENDED')
  expect(await refusal(api.rescheduleCenterVisit({ params, body: { booking_key: keyAt(site, 1) } }))).toBe('400 VISIT_NOT_MOVABLE')
  expect(await refusal(api.reportVisit({ params, body: { status: 'completed' } }))).toBe('400 VISIT_NOT_POSSIBLE')
  await api.simulateOrder({ params, query: {}, body: {} })
  expect(await refusal(bookSite(api, walkIn.id, keyAt(site, 1)))).toBe('400 VISIT_NOT_POSSIBLE')
  const child = await acceptedOrder(api, 'at_home_phlebotomy', {
    patient_details: aPatient({
      dob: '2015-06-01',
      medical_proxy: { first_name: 'Ottoline', last_name: 'Quillfeather', address: anAddress(), phone_number: '+12025550111' },
    }),
  })
  expect(await refusal(bookHome(api, child.id, keyAt(atHome, 0)))).toBe('400 MINOR_AT_HOME')
  const faraway = await acceptedOrder(api, 'at_home_phlebotomy', { patient_address: anAddress({ state: 'NC', zip: '27601' }) })
  expect(await refusal(bookHome(api, faraway.id, keyAt(atHome, 0)))).toBe('400 SLOT_TAKEN')
  const slots = (query: object) => refusal(api.listCenterSlots({ query: { lab: 'quest', ...query } }))
  expect(await slots({})).toBe('400 PLACE_REQUIRED')
  expect(await slots({ site_codes: ['a', 'b', 'c', 'd'] })).toBe('400 PLACE_REQUIRED')
  expect(await slots({ site_codes: ['moon'] })).toBe('400 UNKNOWN_SITE')
  expect(await slots({ zip_code: '85004', start_date: '2027-02-01' })).toBe('400 START_DATE_PASSED')
  expect(await slots({ zip_code: '10001', radius: '25' })).toBe('404 NO_SLOTS')
  expect(await api.listHomeCancellationReasons()).toHaveLength(14)
})

test('erasing a user erases the visit and frees its time', async () => {
  const { api } = await w.tenant()
  const { id, user_id } = await acceptedOrder(api, 'walk_in_test')
  const slots = await siteSlots(api)
  await bookSite(api, id, keyAt(slots, 100))
  await api.deleteUser({ params: { user_id } })
  await advance(api, 7 * DAY)
  for (const table of ['appointments', 'appointment_events'])
    expect(await query(w.url, `select 1 from ${table} where order_id = $1`, [id])).toEqual([])
  const start_date = slots[100]?.start.slice(0, 10)
  const free = (await api.listCenterSlots({ query: { lab: 'quest', site_codes: ['QM-PHX-01'], start_date } })).slots[0]?.slots
  expect(free?.find(({ start }) => start === slots[100]?.start)?.num_appointments_available).toBe(2)
})

test('a site sees its visits of a day in its own time zone, without canceled ones', async () => {
  const { api } = await w.tenant()
  const [first, second, canceled] = [
    await acceptedOrder(api, 'walk_in_test'),
    await acceptedOrder(api, 'walk_in_test'),
    await acceptedOrder(api, 'walk_in_test'),
  ] as const
  const { slots, timezone } = await api.listOrderSlots({ params: { order_id: first.id } })
  const tuesday = slots.find(({ date, location }) => date === '2027-03-02' && location?.code === 'QM-PHX-01')?.slots ?? []
  expect([timezone, tuesday[0]?.start]).toEqual(['America/Phoenix', '2027-03-02T14:00:00.000Z'])
  for (const [i, { id }] of [second, first, canceled].entries()) await bookSite(api, id, keyAt(tuesday, 2 - i))
  const [reason] = await api.listCenterCancellationReasons()
  await api.cancelCenterVisit({ params: { order_id: canceled.id }, body: { cancellationReasonId: reason?.id as string } })
  const day = (calendar_code: string, date?: string) => api.listDayVisits({ params: { calendar_code }, query: { date } })
  const { visits, ...site } = await day('QM-PHX-01', '2027-03-02')
  expect(site).toMatchObject({ code: 'QM-PHX-01', iana_timezone: 'America/Phoenix', date: '2027-03-02' })
  expect(visits.map(({ order_id, start_at }) => [order_id, start_at])).toEqual([
    [first.id, '2027-03-02T14:20:00.000Z'],
    [second.id, '2027-03-02T14:40:00.000Z'],
  ])
  expect(visits[0]).toMatchObject({ first_name: 'Zephyrine', sample_type: 'serum', fasting: true, sample_id: expect.any(String) })
  expect(await day('QM-PHX-01')).toMatchObject({ date: '2027-03-01', visits: [] })
  expect(await errorOf(day('MOON-1'))).toMatchObject({ status: 404, detail: { error_type: 'CALENDAR_NOT_FOUND' } })
  const kit = await placeOrder(api, 'testkit')
  expect(await errorOf(api.listOrderSlots({ params: { order_id: kit.id } }))).toMatchObject({ status: 400 })
})

test('deleting a user cancels the visits that have not begun', async () => {
  const { api } = await w.tenant()
  const { id, user_id } = await acceptedOrder(api, 'at_home_phlebotomy')
  const [slot] = await homeSlots(api)
  await bookHome(api, id, slot?.booking_key as string)
  await api.deleteUser({ params: { user_id } })
  expect((await homeSlots(api))[0]?.start).toBe(slot?.start)
  await api.undoDeleteUser({ query: { user_id } })
  expect(await api.getHomeVisit({ params: { order_id: id } })).toMatchObject({
    status: 'cancelled',
    event_data: { origin: 'automatic', cancellation_reason: 'User was deleted' },
  })
  expect((await statuses(api, id)).at(-1)).toBe('appointment_cancelled')
})

test('the public SDK books and reads visits', async () => {
  const { api, team_api_key } = await w.tenant()
  const sdk = new VitalClient({ apiKey: team_api_key, environment: w.base, maxRetries: 0 })
  const { id } = await acceptedOrder(api, 'walk_in_test')
  const { slots } = await sdk.labTests.getPscAppointmentAvailability({ lab: 'quest', zipCode: '85004' })
  expect(slots[0]?.location).toMatchObject({ code: 'QM-PHX-01', distance: 0, ianaTimezone: 'America/Phoenix' })
  const bookingKey = slots[0]?.slots[0]?.bookingKey as string
  const booked = await sdk.labTests.bookPscAppointment(id, { bookingKey })
  expect(booked).toMatchObject({ orderId: id, provider: 'quest', status: 'confirmed', eventStatus: 'scheduled' })
  expect(await sdk.labTests.getPscAppointment(id)).toMatchObject({ id: booked.id })
  const [reason] = await sdk.labTests.getPscAppointmentCancellationReason()
  const canceled = await sdk.labTests.cancelPscAppointment(id, { cancellationReasonId: reason?.id as string })
  expect(canceled.status).toBe('cancelled')
  const drawn = await acceptedOrder(api, 'at_home_phlebotomy')
  const atHome = await sdk.labTests.getPhlebotomyAppointmentAvailability({
    body: { firstLine: home.first_line, city: home.city, state: home.state, zipCode: home.zip_code },
  })
  expect(atHome.timezone).toBe('America/Phoenix')
  const key = atHome.slots[0]?.slots[0]?.bookingKey as string
  expect(await sdk.labTests.bookPhlebotomyAppointment(drawn.id, { bookingKey: key })).toMatchObject({ provider: 'getlabs' })
  const asked = await acceptedOrder(api, 'at_home_phlebotomy', { patient_address: anAddress({ state: 'WI', zip: '54650' }) })
  const address = { firstLine: '1 Mill Road', city: 'Sparta', state: 'WI', zipCode: '54650' }
  expect(await sdk.labTests.requestPhlebotomyAppointment(asked.id, { address, provider: 'phlebfinders' })).toMatchObject({
    provider: 'phlebfinders',
    status: 'pending',
  })
  const order_set = { lab_test_ids: [await testId(api, 'thyroid-complete')] }
  const inRaleigh = await acceptedOrder(api, 'walk_in_test', { order_set, patient_address: anAddress({ state: 'NC', zip: '27601' }) })
  // The SDK finds slots of one lab only.
  const [day] = (await api.listCenterSlots({ query: { lab: 'sonora_quest', zip_code: '27601' } })).slots
  const visit = await sdk.labTests.bookPscAppointment(inRaleigh.id, { bookingKey: keyAt(day?.slots ?? [], 0) })
  expect(visit).toMatchObject({ provider: 'sonora_quest', providerId: 'WF-RDU-01', ianaTimezone: 'America/New_York' })
})

test('a site keeps its own time: in another zone than the patient, when clocks change, and on 29 February', async () => {
  const { api } = await w.tenant()
  const firstSlots = async (start_date: string) => {
    const { slots } = await api.listCenterSlots({ query: { lab: 'quest', site_codes: ['QM-SFO-01'], start_date } })
    return Object.fromEntries(slots.map(({ date, slots }) => [date, slots[0]]))
  }
  const spring = await firstSlots('2027-03-12')
  // Seven in the morning in San Francisco, before and after the clocks change on 14 March.
  expect([spring['2027-03-12']?.start, spring['2027-03-15']?.start]).toEqual(['2027-03-12T15:00:00.000Z', '2027-03-15T14:00:00.000Z'])
  const { id } = await acceptedOrder(api, 'walk_in_test')
  const visit = await bookSite(api, id, spring['2027-03-15']?.booking_key as string)
  expect(visit).toMatchObject({ start_at: '2027-03-15T14:00:00.000Z', iana_timezone: 'America/Los_Angeles' })
  const day = await api.listDayVisits({ params: { calendar_code: 'QM-SFO-01' }, query: { date: '2027-03-15' } })
  expect(day.visits.map(({ order_id }) => order_id)).toEqual([id])
  await advance(api, 362 * DAY)
  const leap = await firstSlots('2028-02-28')
  expect([leap['2028-02-29']?.start, leap['2028-03-01']?.start]).toEqual(['2028-02-29T15:00:00.000Z', '2028-03-01T15:00:00.000Z'])
})

describe('races', () => {
  test('two bookings of the last slot: one is booked, the other is refused', async () => {
    const { api } = await w.tenant()
    const slots = await homeSlots(api)
    const orders = await Promise.all(Array.from({ length: 20 }, () => placeOrder(api, 'at_home_phlebotomy')))
    await sendOrders()
    for (let i = 0; i + 1 < orders.length; i += 2) {
      const both = await Promise.all(
        [orders[i], orders[i + 1]].map((order) => errorOf(bookHome(api, order?.id as string, keyAt(slots, i / 2)))),
      )
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
      expect(both.find(({ status }) => status === 400)?.detail).toMatchObject({ error_type: 'SLOT_TAKEN' })
    }
  })

  test('two visits for one order: one is booked', async () => {
    const { api } = await w.tenant()
    const { id } = await acceptedOrder(api, 'walk_in_test')
    const slots = await siteSlots(api)
    const both = await Promise.all([0, 1].map((i) => errorOf(bookSite(api, id, keyAt(slots, i)))))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('a cancellation of the order and a booking leave no visit at home that nobody expects', async () => {
    const { api } = await w.tenant()
    const { id } = await acceptedOrder(api, 'at_home_phlebotomy')
    const [slot] = await homeSlots(api)
    await Promise.all([errorOf(bookHome(api, id, slot?.booking_key as string)), api.cancelOrder({ params: { order_id: id } })])
    expect((await homeSlots(api))[0]?.start).toBe(slot?.start)
  })

  test('a reserved visit that is canceled while the lab accepts the order stays canceled', async () => {
    const { api, admin, org_id, team_id } = await w.tenant()
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { booking_before_requisition: true } } })
    const { id } = await placeOrder(api, 'at_home_phlebotomy')
    const [slot] = await homeSlots(api)
    await bookHome(api, id, slot?.booking_key as string)
    const [reason] = await api.listHomeCancellationReasons()
    const body = { cancellation_reason_id: reason?.id as string }
    await Promise.all([api.cancelHomeVisit({ params: { order_id: id }, body }), sendOrders()])
    // Dispatching skips an order that someone else changes.
    await sendOrders()
    expect(await api.getHomeVisit({ params: { order_id: id } })).toMatchObject({ status: 'cancelled' })
    expect(['requisition_created', 'appointment_cancelled']).toContain((await statuses(api, id)).at(-1))
    expect((await homeSlots(api))[0]?.start).toBe(slot?.start)
  })

  test('an order that is canceled while the lab accepts it stays canceled, and so does its reserved visit at home', async () => {
    const { api, admin, org_id, team_id } = await w.tenant()
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { booking_before_requisition: true } } })
    const { id } = await placeOrder(api, 'at_home_phlebotomy')
    const [slot] = await homeSlots(api)
    await bookHome(api, id, slot?.booking_key as string)
    await Promise.all([api.cancelOrder({ params: { order_id: id } }), sendOrders()])
    await sendOrders()
    expect((await statuses(api, id)).at(-1)).toBe('cancelled')
    expect(await api.getHomeVisit({ params: { order_id: id } })).toMatchObject({ status: 'cancelled' })
    expect((await homeSlots(api))[0]?.start).toBe(slot?.start)
  })

  test('a visit that is moved while its reservation ends is either moved or canceled', async () => {
    const { api, admin, org_id, team_id } = await w.tenant()
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { booking_before_requisition: true } } })
    const { id } = await placeOrder(api, 'walk_in_test', { activate_by: '2027-03-20' })
    const slots = await siteSlots(api)
    const first = await bookSite(api, id, keyAt(slots, 30))
    const ms = Date.parse(first.start_at as string) - Date.parse(NOW) - 2 * HOUR
    const [moved] = await Promise.all([
      errorOf(api.rescheduleCenterVisit({ params: { order_id: id }, body: { booking_key: keyAt(slots, 60) } })),
      advance(api, ms),
    ])
    const visit = await api.getCenterVisit({ params: { order_id: id } })
    expect([moved.status, visit.status]).toEqual(moved.status === 200 ? [200, 'reserved'] : [400, 'cancelled'])
  })
})

test("production books against the team's own schedule, and staff report the visit", async () => {
  const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
  production.setTime(NOW)
  await loadCatalogText(production.app, JSON.stringify(catalogFile))
  const { api } = production
  expect(await api.getSchedule()).toEqual({ calendars: [] })
  expect((await api.listHomeSlots({ body: home })).slots).toEqual([])
  const hours = { monday: [{ from: '08:00', to: '10:00' }], tuesday: [{ from: '08:00', to: '09:00' }] }
  const shared = { iana_timezone: 'America/Phoenix', hours, slot_minutes: 60, holidays: ['2027-03-08'] }
  const phlebotomist = {
    kind: 'phlebotomist' as const,
    code: 'ANN',
    name: 'Ann',
    zones: [{ zip_code: '85003', radius_miles: 5 }],
    ...shared,
  }
  const site = {
    kind: 'site' as const,
    code: 'OWN-1',
    name: 'Harbor Clinic',
    provider: 'quillmoor',
    address: { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' },
    location: { lng: -112.07, lat: 33.45 },
    ...shared,
  }
  const { calendars } = await api.putSchedule({ body: { calendars: [phlebotomist, site] } })
  expect(calendars.map(({ code }) => code)).toEqual(['ANN', 'OWN-1'])
  expect(await errorOf(api.putSchedule({ body: { calendars: [site, site] } }))).toMatchObject({
    status: 400,
    detail: { error_type: 'CALENDAR_TWICE' },
  })
  expect(await errorOf(api.putSchedule({ body: { calendars: [{ ...site, provider: 'moon' }] } }))).toMatchObject({ status: 400 })
  expect((await homeSlots(api)).map(({ start }) => start)).toEqual([
    ...['2027-03-01T16:00:00.000Z', '2027-03-02T15:00:00.000Z', '2027-03-09T15:00:00.000Z'],
  ])
  const { patient_service_centers } = await api.getPscInfo({ query: { zip_code: '85004', lab_id: 1 } })
  expect(Object.fromEntries(patient_service_centers.map(({ site_code, capabilities }) => [site_code, capabilities]))).toEqual({
    'OWN-1': ['appointment_scheduling_via_junction'],
    'QM-PHX-01': ['stat'],
  })
  expect((await api.getAreaInfo({ query: { zip_code: '85004' } })).phlebotomy.is_served).toBe(true)
  const order = await placeOrder(api, 'at_home_phlebotomy')
  await dispatchDueOrders(production.app)
  const { lab } = await production.partnerLab(1)
  await lab.reportLabStep({ params: { order_id: order.id }, body: { status: 'requisition_created' } })
  await bookHome(api, order.id, keyAt(await homeSlots(api), 1))
  const params = { order_id: order.id }
  expect(await api.reportVisit({ params, body: { status: 'in_progress' } })).toMatchObject({ status: 'in_progress' })
  expect(await api.reportVisit({ params, body: { status: 'completed' } })).toMatchObject({ status: 'completed' })
  expect(await errorOf(api.reportVisit({ params, body: { status: 'completed' } }))).toMatchObject({ status: 400 })
  expect((await statuses(api, order.id)).at(-1)).toBe('draw_completed')

  // A job ends a reservation without a requisition.
  const { admin, org_id, team_id } = production
  await admin.patchTeam({ params: { org_id, team_id }, body: { production: { booking_before_requisition: true } } })
  const waiting = await placeOrder(api, 'at_home_phlebotomy')
  await bookHome(api, waiting.id, keyAt(await homeSlots(api), 1))
  await changeDueVisits(production.app)
  const visit = () => api.getHomeVisit({ params: { order_id: waiting.id } })
  expect((await visit()).status).toBe('reserved')
  production.setTime(later(NOW, 9 * HOUR))
  await changeDueVisits(production.app)
  expect(await visit()).toMatchObject({ status: 'cancelled', event_data: { origin: 'automatic' } })
})

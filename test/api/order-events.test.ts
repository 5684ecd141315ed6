import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { eventsOf, moveAllEvents } from '../support/events.ts'
import { findLeaks } from '../support/leaks.ts'
import { aNewOrder, aPatient, placeOrder, statusesOf, testId, tests } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

const w = await world()
const { advanceTime, runJobs } = w
afterAll(() => expectEventsMatchCatalog(w.app))

const CREATED = 'labtest.order.created'
const UPDATED = 'labtest.order.updated'
const CRITICAL = 'labtest.result.critical'

const logOf = (tenant: Tenant) => eventsOf(w.app, tenant.team_id)
const typesOf = async (tenant: Tenant) => (await logOf(tenant)).map(({ event_type }) => event_type)
const simulate = ({ api }: Tenant, order_id: string, final_status?: string, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query: { final_status }, body: body as never })

test.each(methods)('a %s order emits one created event and one updated event per later status change', async (method) => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api, method)
  await runJobs()
  await simulate(tenant, order.id)
  const done = await tenant.api.getOrder({ params: { order_id: order.id } })
  const log = await logOf(tenant)

  expect(log.map(({ event_type }) => event_type)).toEqual([CREATED, ...done.events.slice(1).map(() => UPDATED)])
  const payloads = log.map(({ data }) => data as typeof done)
  expect(payloads.map(statusesOf)).toEqual(done.events.map((_, i) => statusesOf({ events: done.events.slice(0, i + 1) })))
  expect(payloads.map(({ last_event }) => last_event)).toEqual(done.events)
  expect(log.map(({ created_at }) => created_at)).toEqual(done.events.map(({ created_at }) => created_at))
  expect(payloads[0]).toEqual(order)
  expect(payloads.at(-1)).toEqual(done)
  const positions = log.map(({ no }) => no)
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
})

test('each event carries the order as the API returned it at that moment', async () => {
  const tenant = await w.tenant()
  const { id } = await placeOrder(tenant.api, 'at_home_phlebotomy', { passthrough: 'visit 7', clinical_notes: 'Ring twice.' })
  const read = () => tenant.api.getOrder({ params: { order_id: id } })
  const snapshots = [await read()]
  await runJobs()
  snapshots.push(await read())
  for (const status of [
    'collecting_sample.at_home_phlebotomy.appointment_pending',
    'collecting_sample.at_home_phlebotomy.appointment_scheduled',
    'collecting_sample.at_home_phlebotomy.draw_completed',
    'sample_with_lab.at_home_phlebotomy.partial_results',
    'completed.at_home_phlebotomy.completed',
    'completed.at_home_phlebotomy.corrected',
  ]) {
    advanceTime(DAY)
    await simulate(tenant, id, status)
    snapshots.push(await read())
  }
  expect((await logOf(tenant)).map(({ data }) => data)).toEqual(snapshots)
})

test('the envelope contains the team, the user and the client_user_id', async () => {
  const tenant = await w.tenant()
  const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'ward-7' } })
  const order = await placeOrder(tenant.api, 'walk_in_test', { user_id })
  expect(await logOf(tenant)).toEqual([
    {
      id: expect.any(String),
      no: expect.any(Number),
      team_id: tenant.team_id,
      user_id,
      client_user_id: 'ward-7',
      order_id: order.id,
      event_type: CREATED,
      created_at: order.created_at,
      data: order,
    },
  ])
})

test('events after a testkit registration carry the registered user', async () => {
  const tenant = await w.tenant()
  const { api } = tenant
  const clinic = (await api.createUser({ body: { client_user_id: 'clinic' } })).user_id
  const patient = (await api.createUser({ body: { client_user_id: 'patient' } })).user_id
  const shipping_details = { ...anAddress(), receiver_name: people[2].first_name, phone_number: people[2].phone_number }
  const { order } = await api.createTestkitOrder({
    body: { user_id: clinic, lab_test_id: await testId(api, tests.testkit), shipping_details },
  })
  await runJobs()
  const { sample_id } = await api.getOrder({ params: { order_id: order.id } })
  const { patient_details, patient_address } = await aNewOrder(api, 'testkit', { user_id: patient })
  await api.registerTestkit({ body: { user_id: patient, sample_id: sample_id as string, patient_details, patient_address } })
  const log = await logOf(tenant)
  expect(log.map(({ user_id, client_user_id, data }) => [user_id, client_user_id, statusesOf(data as never).at(-1)])).toEqual([
    [clinic, 'clinic', 'ordered'],
    [clinic, 'clinic', 'awaiting_registration'],
    [patient, 'patient', 'registered'],
    [patient, 'patient', 'requisition_created'],
  ])
  expect(log.map(({ data }) => (data as { user_id: string }).user_id)).toEqual([clinic, clinic, patient, patient])
})

test('rescheduling emits an event without a new status, and a request without changes emits none', async () => {
  const tenant = await w.tenant()
  const { api } = tenant
  const [day, other] = [9, 10].map((days) => later(w.app.now(), days * DAY).slice(0, 10))
  const { id } = await placeOrder(api, 'walk_in_test', { activate_by: day })
  const params = { order_id: id }
  await api.rescheduleOrder({ params, body: { activate_by: other as string } })
  await api.rescheduleOrder({ params, body: { activate_by: other as string } })
  await api.cancelOrder({ params })
  await api.cancelOrder({ params })
  await errorOf(api.rescheduleOrder({ params, body: { activate_by: day as string } }))
  expect((await logOf(tenant)).map(({ event_type, data }) => [event_type, data['activate_by'], statusesOf(data as never).join()])).toEqual([
    [CREATED, day, 'ordered'],
    [UPDATED, other, 'ordered'],
    [UPDATED, other, 'ordered,cancelled'],
  ])
})

test('a rejected order emits no event', async () => {
  const tenant = await w.tenant()
  const body = await aNewOrder(tenant.api, 'walk_in_test', { patient_details: aPatient({ dob: '2999-01-01' }) })
  expect(await errorOf(tenant.api.createOrder({ body }))).toMatchObject({ status: 422 })
  expect(await logOf(tenant)).toEqual([])
})

test('a critical result emits an additional event with the marker but not its value', async () => {
  const tenant = await w.tenant()
  const { id, user_id } = await placeOrder(tenant.api)
  await runJobs()
  await simulate(tenant, id, undefined, { interpretation: 'critical', partials: 0 })
  const log = await logOf(tenant)
  expect(log.map(({ event_type }) => event_type)).toEqual([CREATED, UPDATED, UPDATED, CRITICAL])
  const { sample_id, created_at } = await tenant.api.getOrder({ params: { order_id: id } })
  const { results } = await tenant.api.getResults({ params: { order_id: id } })
  const [worst, ...others] = results.filter(({ interpretation }) => interpretation === 'critical')
  expect(others).toEqual([])
  expect(log.at(-1)).toMatchObject({ user_id, order_id: id })
  expect(log.at(-1)?.data).toEqual({
    order_id: id,
    sample_id,
    status: 'final',
    interpretation: 'critical',
    team_id: tenant.team_id,
    user_id,
    result_version: 1,
    created_at,
    updated_at: log.at(-1)?.created_at,
    marker: { name: worst?.name, slug: worst?.slug },
  })
})

test('stored events contain no personal data in plain text', async () => {
  const tenant = await w.tenant()
  const { id } = await placeOrder(tenant.api, 'walk_in_test', { passthrough: 'Marrowbone' })
  await simulate(tenant, id, undefined, { interpretation: 'critical' })
  await moveAllEvents(w.app)
  const { rows } = await sql<{ row: string; sealed: Buffer }>`
    select events::text as row, sealed from events where team_id = ${tenant.team_id}`.execute(w.app.db)
  expect(rows.length).toBe(6)
  for (const { row, sealed } of rows) expect(findLeaks(row + sealed.toString('latin1') + sealed.toString('utf8'), 'events')).toEqual([])
})

test('resends the latest event of the given orders with their current state', async () => {
  const tenant = await w.tenant()
  const { api } = tenant
  const fresh = await placeOrder(api, 'walk_in_test', { activate_by: later(w.app.now(), 9 * DAY).slice(0, 10) })
  advanceTime(1)
  const dispatched = await placeOrder(api)
  await placeOrder(api)
  await runJobs()
  const before = (await logOf(tenant)).length
  advanceTime(DAY)
  const reply = await api.resendOrderEvents({ body: { order_ids: [dispatched.id, fresh.id] } })
  expect(reply).toEqual({ order_ids: [fresh.id, dispatched.id] })
  const resent = (await logOf(tenant)).slice(before)
  const now = await api.getOrder({ params: { order_id: dispatched.id } })
  expect(resent.map(({ event_type, order_id, data }) => ({ event_type, order_id, data }))).toEqual([
    { event_type: CREATED, order_id: fresh.id, data: fresh },
    { event_type: UPDATED, order_id: dispatched.id, data: now },
  ])
  expect(new Set((await logOf(tenant)).map(({ id }) => id)).size).toBe(before + 2)
})

test('resends orders that changed in a window, whose end_at defaults to now', async () => {
  const tenant = await w.tenant()
  const { api } = tenant
  const first = await placeOrder(api)
  advanceTime(DAY)
  const second = await placeOrder(api)
  advanceTime(DAY)
  const resend = async (body: object) => (await api.resendOrderEvents({ body })).order_ids
  expect(await resend({ start_at: first.created_at })).toEqual([first.id, second.id])
  expect(await resend({ start_at: later(first.created_at, 1) })).toEqual([second.id])
  expect(await resend({ start_at: first.created_at, end_at: first.created_at })).toEqual([first.id])
  expect(await resend({ start_at: first.created_at, order_ids: [second.id] })).toEqual([second.id])
  expect(await resend({ start_at: later(w.app.now(), -59 * DAY) })).toEqual([first.id, second.id])
  expect(await resend({ start_at: w.app.now() })).toEqual([])
})

test('resending does not change the order', async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  advanceTime(DAY)
  await tenant.api.resendOrderEvents({ body: { order_ids: [order.id] } })
  expect(await tenant.api.getOrder({ params: { order_id: order.id } })).toEqual(order)
})

test.each<[string, (now: string) => object]>([
  ['an empty body', () => ({})],
  ['an empty list', () => ({ order_ids: [] })],
  ['an end without a start', (now) => ({ end_at: now })],
  ['an end before the start', (now) => ({ start_at: now, end_at: later(now, -1) })],
  ['a future start', (now) => ({ start_at: later(now, DAY) })],
  ['a window of more than 60 days', (now) => ({ start_at: later(now, -60 * DAY - 1), end_at: now })],
  ['a start more than 60 days ago', (now) => ({ start_at: later(now, -61 * DAY) })],
  ['a date as start_at', (now) => ({ start_at: now.slice(0, 10) })],
  ['an invalid ID', () => ({ order_ids: ['one'] })],
  ['more than 500 IDs', () => ({ order_ids: Array.from({ length: 501 }, () => newUuid()) })],
])('rejects resending with %s', async (_, body) => {
  expect(await errorOf(w.api.resendOrderEvents({ body: body(w.app.now()) }))).toMatchObject({ status: 422 })
})

test('accepts a window of exactly 60 days', async () => {
  const end_at = w.app.now()
  expect(await (await w.tenant()).api.resendOrderEvents({ body: { start_at: later(end_at, -60 * DAY), end_at } })).toEqual({
    order_ids: [],
  })
})

test('does not resend orders of another team', async () => {
  const [mine, otherTeam] = [await w.tenant(), await w.tenant()]
  const theirs = await placeOrder(otherTeam.api)
  expect(await mine.api.resendOrderEvents({ body: { order_ids: [theirs.id, newUuid()] } })).toEqual({ order_ids: [] })
  expect(await mine.api.resendOrderEvents({ body: { start_at: theirs.created_at } })).toEqual({ order_ids: [] })
  expect(await typesOf(otherTeam)).toEqual([CREATED])
})

test('rejects a window with more than 1,000 orders without resending any', async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  await sql`insert into orders select copy.* from orders o, generate_series(1, 1000) n,
      jsonb_populate_record(o, jsonb_build_object('n', n, 'id', gen_random_uuid(), 'dispatch_at', null)) as copy
    where o.team_id = ${tenant.team_id} and o.id = ${order.id}`.execute(w.app.db)
  expect(await errorOf(tenant.api.resendOrderEvents({ body: { start_at: order.created_at } }))).toMatchObject({
    status: 400,
    detail: { error_type: 'TOO_MANY_TO_RESEND' },
  })
  expect(await typesOf(tenant)).toEqual([CREATED])
})

test('a user without orders emits no order event', async () => {
  const tenant = await w.tenant()
  await aUser(tenant.api)
  expect(await logOf(tenant)).toEqual([])
})

import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { eventsOf } from '../support/events.ts'
import { placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { errorOf, newDatabase, replica, type Tenant } from '../support/world.ts'

const w = await replica()
/** The current time of every replica in this file. */
const NOW = '2027-01-01T02:00:00Z'
// A clock that runs could pass midnight while it is moved to the second before.
w.stopTime()
w.setTime(NOW)

const ordered = ['ordered']
const dispatched = ['ordered', 'requisition_created']

const get = ({ api }: Tenant, order_id: string) => api.getOrder({ params: { order_id } })
const patch = ({ api }: Tenant, order_id: string, activate_by: string | null) =>
  api.rescheduleOrder({ params: { order_id }, body: { activate_by } })
const eventTypesOf = async ({ team_id }: Tenant, order_id: string) =>
  (await eventsOf(w.app, team_id, { order_id })).map(({ event_type }) => event_type)
const CREATED = 'labtest.order.created'
const UPDATED = 'labtest.order.updated'
const problem = (error_type: string, status = 400) => ({ status, detail: expect.objectContaining({ error_type }) })

describe('activation in the time zone of the patient', () => {
  const locations = [
    ['Los Angeles', { state: 'CA', zip: '90001' }, '2027-02-01T08:00:00.000Z'],
    ['Honolulu', { state: 'HI', zip: '96813' }, '2027-02-01T10:00:00.000Z'],
    ['Guam', { state: 'GU', zip: '96910' }, '2027-01-31T14:00:00.000Z'],
    ['a state written out', { state: 'Arizona', zip: '85004' }, '2027-02-01T07:00:00.000Z'],
    ['a ZIP code in another zone than its state', { state: 'TX', zip: '79901' }, '2027-02-01T07:00:00.000Z'],
    ['a state known only from the ZIP code', { state: 'Calif.', zip: '90001' }, '2027-02-01T08:00:00.000Z'],
    ['an unknown location', { state: 'Erewhon', zip: '00000' }, '2027-02-01T00:00:00.000Z'],
  ] as const

  test.each(locations)('activates an order at midnight: %s', async (_, location, activatesAt) => {
    const team = await w.tenant()
    const { api } = team
    const before = new Date(Date.parse(activatesAt) - 1000).toISOString()
    const { id, ...order } = await placeOrder(api, 'walk_in_test', { patient_address: anAddress(location), activate_by: '2027-02-01' })
    expect(order).toMatchObject({ activate_by: '2027-02-01', activate_at: activatesAt, status: 'received' })
    await w.runJobs()
    await api.moveClock({ body: { now: before } })
    expect(statusesOf(await get(team, id))).toEqual(ordered)
    await api.moveClock({ body: { advance_seconds: 2 } })
    const { events, ...moved } = await get(team, id)
    expect(statusesOf({ events })).toEqual(dispatched)
    expect(events[1]?.created_at).toBe(activatesAt)
    expect(moved).toMatchObject({ activate_by: '2027-02-01', activate_at: null, sample_id: expect.any(String) })
    expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED])
  })

  test('uses the time zone of the team for an unknown location', async () => {
    const team = await w.tenant()
    const params = { org_id: team.org_id, team_id: team.team_id }
    await team.admin.patchTeam({ params, body: { sandbox: { time_zone: 'Asia/Tokyo' } } })
    const unknown = { patient_address: anAddress({ state: 'Erewhon', zip: '00000' }), activate_by: '2027-02-01' }
    expect(await placeOrder(team.api, 'walk_in_test', unknown)).toMatchObject({ activate_at: '2027-01-31T15:00:00.000Z' })
    const known = { patient_address: anAddress({ state: 'HI', zip: '96813' }), activate_by: '2027-02-01' }
    expect(await placeOrder(team.api, 'walk_in_test', known)).toMatchObject({ activate_at: '2027-02-01T10:00:00.000Z' })
    await team.admin.patchTeam({ params, body: { sandbox: { time_zone: null } } })
    expect(await placeOrder(team.api, 'walk_in_test', unknown)).toMatchObject({ activate_at: '2027-02-01T00:00:00.000Z' })
  })

  test('activates an order for today at once, even on a moved clock', async () => {
    const team = await w.tenant()
    await team.api.moveClock({ body: { now: '2027-06-01T12:00:00Z' } })
    const { created_at, activate_at } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-06-01' })
    expect(activate_at).toBe(created_at)
  })

  test('activates an unregistered testkit at midnight of the shipping address', async () => {
    const team = await w.tenant()
    const shipping_details = { receiver_name: 'Front Desk', ...anAddress({ state: 'HI', zip: '96813' }), phone_number: '+12025550143' }
    const lab_test_id = await testId(team.api, 'heart-and-sugar-card')
    const body = { user_id: await aUser(team.api), lab_test_id, shipping_details, activate_by: '2027-02-01' }
    const { order } = await team.api.createTestkitOrder({ body })
    expect(order).toMatchObject({ activate_by: '2027-02-01', activate_at: '2027-02-01T10:00:00.000Z' })
    await team.api.moveClock({ body: { now: '2027-02-01T09:59:59Z' } })
    expect(statusesOf(await get(team, order.id))).toEqual(ordered)
    await team.api.moveClock({ body: { advance_seconds: 1 } })
    expect(statusesOf(await get(team, order.id))).toEqual(['ordered', 'awaiting_registration'])
    const yesterday = { ...body, activate_by: '2027-01-30' }
    expect(await errorOf(team.api.createTestkitOrder({ body: yesterday }))).toMatchObject({
      status: 422,
      detail: [{ type: 'activate_by_in_the_past', loc: ['body', 'activate_by'] }],
    })
  })
})

describe('the earliest activate_by', () => {
  test('is today in UTC or at the patient, whichever is earlier', async () => {
    const team = await w.tenant()
    const placeAt = (activate_by: string, location: object) =>
      placeOrder(team.api, 'walk_in_test', { patient_address: anAddress(location), activate_by }).then(
        (order) => order.activate_at,
        (error) => [error.status, error.detail[0].type],
      )
    const past = [422, 'activate_by_in_the_past']
    const now = expect.stringMatching(/^2027-01-01T02:/)
    const LA = { state: 'CA', zip: '90001' }
    const GUAM = { state: 'GU', zip: '96910' }
    expect(await placeAt('2026-12-31', LA)).toEqual(now)
    expect(await placeAt('2026-12-30', LA)).toEqual(past)
    expect(await placeAt('2027-01-01', LA)).toBe('2027-01-01T08:00:00.000Z')
    expect(await placeAt('2026-12-31', GUAM)).toEqual(past)
    expect(await placeAt('2027-01-01', GUAM)).toEqual(now)
    expect(await placeAt('2027-01-02', GUAM)).toBe('2027-01-01T14:00:00.000Z')
  })

  test.each([
    [{ state: 'CA', zip: '90001' }, '9999-12-31T08:00:00.000Z'],
    [{ state: 'GU', zip: '96910' }, '9999-12-30T14:00:00.000Z'],
    [{ state: 'Erewhon', zip: '00000' }, '9999-12-31T00:00:00.000Z'],
  ])('accepts 9999-12-31 (%#)', async (location, activate_at) => {
    const team = await w.tenant()
    const order = await placeOrder(team.api, 'walk_in_test', { patient_address: anAddress(location), activate_by: '9999-12-31' })
    expect(order).toMatchObject({ activate_by: '9999-12-31', activate_at })
    expect(await errorOf(patch(team, order.id, '0001-01-01'))).toEqual(problem('ACTIVATE_BY_PASSED'))
  })

  test('dispatches an order for today at once', async () => {
    const team = await w.tenant()
    const { id } = await placeOrder(team.api, 'walk_in_test', {
      activate_by: '2027-01-01',
      patient_address: anAddress({ state: 'GU', zip: '96910' }),
    })
    await w.runJobs()
    expect(statusesOf(await get(team, id))).toEqual(dispatched)
  })
})

describe('rescheduling', () => {
  const placeScheduled = (team: Tenant, activate_by = '2027-02-01') => placeOrder(team.api, 'walk_in_test', { activate_by })

  test('moves the order and emits one event without a status change', async () => {
    const team = await w.tenant()
    const { id } = await placeScheduled(team)
    const { order, ...reply } = await patch(team, id, '2027-03-01')
    expect(reply).toEqual({ status: 'success', message: 'order updated' })
    expect(order).toMatchObject({ activate_by: '2027-03-01', activate_at: '2027-03-01T07:00:00.000Z', last_event: { id: 1 } })
    expect(statusesOf(order)).toEqual(ordered)
    expect(await get(team, id)).toEqual(order)
    expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED])
    await team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(ordered)
    await patch(team, id, '2027-02-15')
    await team.api.moveClock({ body: { now: '2027-02-16T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(dispatched)
    expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED, UPDATED, UPDATED])
  })

  test('emits no event for an unchanged date', async () => {
    const team = await w.tenant()
    const before = await placeScheduled(team)
    expect(await patch(team, before.id, '2027-02-01')).toEqual({ order: before, status: 'success', message: 'order updated' })
    expect(await eventTypesOf(team, before.id)).toEqual([CREATED])
  })

  test('dispatches the order in the same request when the date is cleared', async () => {
    const team = await w.tenant()
    const { id } = await placeScheduled(team)
    const { order } = await patch(team, id, null)
    expect(order).toMatchObject({ activate_by: null, activate_at: null, sample_id: expect.any(String), last_event: { id: 2 } })
    expect(statusesOf(order)).toEqual(dispatched)
    expect(await get(team, id)).toEqual(order)
    for (const day of ['2027-02-01', null]) expect(await errorOf(patch(team, id, day))).toEqual(problem('ORDER_NOT_HELD'))
    expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED, UPDATED])
  })

  test('dispatches the order at once when the date is set to today', async () => {
    const team = await w.tenant()
    const today = await placeScheduled(team)
    await patch(team, today.id, '2026-12-31')
    await w.runJobs()
    expect(statusesOf(await get(team, today.id))).toEqual(dispatched)
    expect(await eventTypesOf(team, today.id)).toEqual([CREATED, UPDATED, UPDATED])
  })

  test('rejects a past date', async () => {
    const team = await w.tenant()
    const before = await placeScheduled(team)
    expect(await errorOf(patch(team, before.id, '2026-12-30'))).toEqual(problem('ACTIVATE_BY_PASSED'))
    expect(await get(team, before.id)).toEqual(before)
    expect(await eventTypesOf(team, before.id)).toEqual([CREATED])
  })

  test('rejects an order that was created without activate_by', async () => {
    const team = await w.tenant()
    const { id } = await placeOrder(team.api)
    for (const day of ['2027-02-01', null]) expect(await errorOf(patch(team, id, day))).toEqual(problem('ORDER_NOT_SCHEDULED'))
    const cleared = await placeOrder(team.api, 'walk_in_test', { activate_by: null })
    expect(await errorOf(patch(team, cleared.id, '2027-02-01'))).toEqual(problem('ORDER_NOT_SCHEDULED'))
    expect(await eventTypesOf(team, id)).toEqual([CREATED])
  })

  test('rejects an order that was dispatched or canceled', async () => {
    const team = await w.tenant()
    const [dispatchedOrder, cancelled] = [await placeScheduled(team), await placeScheduled(team)]
    await patch(team, dispatchedOrder.id, null)
    await team.api.cancelOrder({ params: { order_id: cancelled.id } })
    for (const { id } of [dispatchedOrder, cancelled])
      for (const day of ['2027-02-01', '2027-03-01', null, '2020-01-01'])
        expect(await errorOf(patch(team, id, day))).toEqual(problem('ORDER_NOT_HELD'))
  })

  test('accepts a testkit that awaits registration and does not dispatch it again', async () => {
    const team = await w.tenant()
    const shipping_details = { receiver_name: 'Front Desk', ...anAddress(), phone_number: '+12025550143' }
    const lab_test_id = await testId(team.api, 'heart-and-sugar-card')
    const body = { user_id: await aUser(team.api), lab_test_id, shipping_details, activate_by: '2026-12-31' }
    const { id } = (await team.api.createTestkitOrder({ body })).order
    await w.runJobs()
    expect((await patch(team, id, '2027-02-01')).order).toMatchObject({ activate_by: '2027-02-01', activate_at: null })
    await patch(team, id, null)
    await team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(['ordered', 'awaiting_registration'])
    expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED, UPDATED, UPDATED])
  })

  test.each([
    ['{}', 'missing'],
    ['{"activate_on":"2027-02-01"}', 'missing'],
    ['{"activate_by":"tomorrow"}', 'format_error'],
    ['{"activate_by":"2027-02-30"}', 'format_error'],
    ['{"activate_by":"2027-02-01Tnoon"}', 'format_error'],
    ['{"activate_by":20270201}', 'type_error'],
  ])('requires a date or null: %s', async (body, type) => {
    const team = await w.tenant()
    const { id } = await placeScheduled(team)
    const response = await sendRaw(`${w.base}/v3/order/${id}`, 'PATCH', { headers: { 'x-service-api-key': team.team_api_key }, body })
    expect(response).toMatchObject({ status: 422, body: { detail: [{ type, loc: ['body', 'activate_by'] }] } })
    expect(await eventTypesOf(team, id)).toEqual([CREATED])
  })

  test('returns 404 for an order of another team', async () => {
    const { id } = await placeScheduled(await w.tenant())
    expect(await errorOf(patch(await w.tenant(), id, null))).toEqual(problem('ORDER_NOT_FOUND', 404))
  })
})

test('shows a scheduled order to the partner lab only on its date and rejects rescheduling afterwards', async () => {
  const production = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  production.setTime(NOW)
  await loadCatalog(production.app)
  const [team, { lab }] = [await production.tenant(), await production.partnerLab()]
  const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-01-02' })
  const params = { order_id: id }
  await production.runJobs()
  expect((await lab.listLabOrders({ query: {} })).orders).toEqual([])
  await patch(team, id, '2027-01-03')
  production.advanceTime(31 * 3_600_000)
  await production.runJobs()
  expect(await errorOf(lab.getLabOrder({ params }))).toEqual(problem('ORDER_NOT_FOUND', 404))
  production.advanceTime(24 * 3_600_000)
  await production.runJobs()
  expect(await lab.getLabOrder({ params })).toMatchObject({ id, status: 'ordered' })
  for (const day of ['2027-02-01', null]) expect(await errorOf(patch(team, id, day))).toEqual(problem('ORDER_NOT_HELD'))
  expect(await lab.reportLabStep({ params, body: { status: 'requisition_created' } })).toMatchObject({ status: 'requisition_created' })
  expect(statusesOf(await get(team, id))).toEqual(dispatched)
})

test('a partner lab sees an order as soon as its date is cleared', async () => {
  const production = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  production.setTime(NOW)
  await loadCatalog(production.app)
  const [team, { lab }] = [await production.tenant(), await production.partnerLab()]
  const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-01-02' })
  expect((await patch(team, id, null)).order).toMatchObject({ activate_by: null, activate_at: null, last_event: { id: 1 } })
  expect(await lab.getLabOrder({ params: { order_id: id } })).toMatchObject({ id, status: 'ordered' })
  expect(await errorOf(patch(team, id, '2027-02-01'))).toEqual(problem('ORDER_NOT_HELD'))
})

test('dispatches other orders when one fails, and retries it', async () => {
  const team = await w.tenant()
  const [broken, fine] = [await placeOrder(team.api), await placeOrder(team.api)]
  const [row] = await query<{ sealed: Buffer }>(w.url, 'select sealed from orders where id = $1', [broken.id])
  const setSealed = (bytes: Buffer | undefined) => query(w.url, 'update orders set sealed = $2 where id = $1', [broken.id, bytes])
  await setSealed(Buffer.from('not what was sealed'))
  await expect(dispatchDueOrders(w.app)).rejects.toThrow()
  expect(statusesOf(await get(team, fine.id))).toEqual(dispatched)
  await w.runJobs()
  await setSealed(row?.sealed)
  w.advanceTime(61_000)
  await w.runJobs()
  expect(statusesOf(await get(team, broken.id))).toEqual(dispatched)
})

test('/ready shows how many orders wait to be sent to the lab, and for how long', async () => {
  const ready = async () => (await fetch(`${w.base}/ready`)).json()
  const team = await w.tenant()
  await w.runJobs()
  await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-06-01' })
  for (let i = 0; i < 2; i++) await placeOrder(team.api)
  w.advanceTime(90_000)
  expect(await ready()).toEqual({ status: 'ready', orders_due: 2, oldest_order_due_seconds: 90, audit_breaks: 0 })
  await w.runJobs()
  expect(await ready()).toEqual({ status: 'ready', orders_due: 0, oldest_order_due_seconds: 0, audit_breaks: 0 })
})

describe('concurrency', () => {
  const LATER = '2027-06-01'

  test('a reschedule and the dispatcher send an order once, and never after it was moved', async () => {
    const team = await w.tenant()
    const rounds = Array.from({ length: 24 }, async (_, i) => {
      const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2026-12-31' })
      const [moved] = await Promise.allSettled([patch(team, id, i % 3 ? LATER : null), dispatchDueOrders(w.app), dispatchDueOrders(w.app)])
      await dispatchDueOrders(w.app)
      return { id, moved, cleared: i % 3 === 0 }
    })
    const ended = await Promise.all(rounds)
    const log = await eventsOf(w.app, team.team_id)
    for (const { id, moved, cleared } of ended) {
      const order = await get(team, id)
      const types = log.filter((event) => event.order_id === id).map(({ event_type }) => event_type)
      if (moved.status === 'rejected') {
        expect(moved.reason).toMatchObject({ status: 400, detail: { error_type: 'ORDER_NOT_HELD' } })
        expect([statusesOf(order), types]).toEqual([dispatched, [CREATED, UPDATED]])
      } else if (cleared) {
        expect([statusesOf(order), types]).toEqual([dispatched, [CREATED, UPDATED, UPDATED]])
      } else {
        expect([statusesOf(order), types]).toEqual([ordered, [CREATED, UPDATED]])
        expect(order).toMatchObject({ activate_by: LATER, activate_at: '2027-06-01T07:00:00.000Z' })
      }
    }
  })

  test('a reschedule and a clock move are serialized', async () => {
    const rounds = Array.from({ length: 8 }, async () => {
      const team = await w.tenant()
      const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-02-01' })
      const [moved] = await Promise.allSettled([patch(team, id, LATER), team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })])
      const order = await get(team, id)
      expect(statusesOf(order)).toEqual(moved.status === 'fulfilled' ? ordered : dispatched)
      expect(await eventTypesOf(team, id)).toEqual([CREATED, UPDATED])
    })
    await Promise.all(rounds)
  })

  test('two replicas dispatch each order once', async () => {
    const other = await replica({ database: w.url })
    other.setTime(NOW)
    const team = await w.tenant()
    const orders = await Promise.all(Array.from({ length: 30 }, () => placeOrder(team.api)))
    await Promise.all([w.app, other.app, w.app, other.app].map((app) => dispatchDueOrders(app)))
    await w.runJobs()
    for (const { id } of orders) {
      const order = await get(team, id)
      expect(statusesOf(order)).toEqual(dispatched)
      expect(order.events.map((event) => event.id)).toEqual([1, 2])
    }
    const log = (await eventsOf(w.app, team.team_id)).map(({ event_type }) => event_type)
    expect(log.filter((type) => type === CREATED)).toHaveLength(30)
    expect(log.filter((type) => type === UPDATED)).toHaveLength(30)
  })
})

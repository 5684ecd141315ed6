import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { dispatchDue } from '../../src/labs/orders/progress/dispatch.ts'
import { eventsOf } from '../support/events.ts'
import { aUser, placeOrder, statusesOf, testId } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { sendRaw } from '../support/raw.ts'
import { errorOf, newDatabase, replica, type Tenant } from '../support/world.ts'

const here = await replica()
/** Real time as the replicas of this file see it. */
const NOW = '2027-01-01T02:00:00Z'
here.setTime(NOW)

const ordered = ['ordered']
const sent = ['ordered', 'requisition_created']

const get = ({ api }: Tenant, order_id: string) => api.getOrder({ params: { order_id } })
const patch = ({ api }: Tenant, order_id: string, activate_by: string | null) =>
  api.rescheduleOrder({ params: { order_id }, body: { activate_by } })
const told = async ({ team_id }: Tenant, order_id: string) =>
  (await eventsOf(here.app, team_id)).filter((event) => event.order_id === order_id).map(({ event_type }) => event_type)
const CREATED = 'labtest.order.created'
const UPDATED = 'labtest.order.updated'
const refused = (error_type: string, status = 400) => ({ status, detail: expect.objectContaining({ error_type }) })

describe('a day begins where the patient lives', () => {
  const places = [
    ['Los Angeles', { state: 'CA', zip: '90001' }, '2027-02-01T08:00:00.000Z'],
    ['Honolulu', { state: 'HI', zip: '96813' }, '2027-02-01T10:00:00.000Z'],
    ['Guam', { state: 'GU', zip: '96910' }, '2027-01-31T14:00:00.000Z'],
    ['Phoenix, written out', { state: 'Arizona', zip: '85004' }, '2027-02-01T07:00:00.000Z'],
    ['a corner of Texas', { state: 'TX', zip: '79901' }, '2027-02-01T07:00:00.000Z'],
    ['a state that only the ZIP code tells', { state: 'Calif.', zip: '90001' }, '2027-02-01T08:00:00.000Z'],
    ['a place that nobody knows', { state: 'Erewhon', zip: '00000' }, '2027-02-01T00:00:00.000Z'],
  ] as const

  test.each(places)('%s', async (_, where, begins) => {
    const team = await here.tenant()
    const { api } = team
    const before = new Date(Date.parse(begins) - 1000).toISOString()
    const { id, ...order } = await placeOrder(api, 'walk_in_test', { patient_address: anAddress(where), activate_by: '2027-02-01' })
    expect(order).toMatchObject({ activate_by: '2027-02-01', activate_at: begins, status: 'received' })
    await here.runJobs()
    await api.moveClock({ body: { now: before } })
    expect(statusesOf(await get(team, id))).toEqual(ordered)
    await api.moveClock({ body: { advance_seconds: 2 } })
    const { events, ...moved } = await get(team, id)
    expect(statusesOf({ events })).toEqual(sent)
    expect(events[1]?.created_at).toBe(begins)
    expect(moved).toMatchObject({ activate_by: '2027-02-01', activate_at: null, sample_id: expect.any(String) })
    expect(await told(team, id)).toEqual([CREATED, UPDATED])
  })

  test('where the place tells no zone, the team’s counts', async () => {
    const team = await here.tenant()
    const params = { org_id: team.org_id, team_id: team.team_id }
    await team.admin.patchTeam({ params, body: { sandbox: { time_zone: 'Asia/Tokyo' } } })
    const unknown = { patient_address: anAddress({ state: 'Erewhon', zip: '00000' }), activate_by: '2027-02-01' }
    expect(await placeOrder(team.api, 'walk_in_test', unknown)).toMatchObject({ activate_at: '2027-01-31T15:00:00.000Z' })
    const known = { patient_address: anAddress({ state: 'HI', zip: '96813' }), activate_by: '2027-02-01' }
    expect(await placeOrder(team.api, 'walk_in_test', known)).toMatchObject({ activate_at: '2027-02-01T10:00:00.000Z' })
    await team.admin.patchTeam({ params, body: { sandbox: { time_zone: null } } })
    expect(await placeOrder(team.api, 'walk_in_test', unknown)).toMatchObject({ activate_at: '2027-02-01T00:00:00.000Z' })
  })

  test('an order for today is activated when it is placed, however far the clock was moved', async () => {
    const team = await here.tenant()
    await team.api.moveClock({ body: { now: '2027-06-01T12:00:00Z' } })
    const { created_at, activate_at } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-06-01' })
    expect(activate_at).toBe(created_at)
  })

  test('a kit without a patient waits by the day where it is sent', async () => {
    const team = await here.tenant()
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

describe('today', () => {
  test('is the day in UTC or at the patient, whichever comes later', async () => {
    const team = await here.tenant()
    const at = (activate_by: string, where: object) =>
      placeOrder(team.api, 'walk_in_test', { patient_address: anAddress(where), activate_by }).then(
        (order) => order.activate_at,
        (error) => [error.status, error.detail[0].type],
      )
    const past = [422, 'activate_by_in_the_past']
    const now = expect.stringMatching(/^2027-01-01T02:/)
    const LA = { state: 'CA', zip: '90001' }
    const GUAM = { state: 'GU', zip: '96910' }
    expect(await at('2026-12-31', LA)).toEqual(now)
    expect(await at('2026-12-30', LA)).toEqual(past)
    expect(await at('2027-01-01', LA)).toBe('2027-01-01T08:00:00.000Z')
    expect(await at('2026-12-31', GUAM)).toEqual(past)
    expect(await at('2027-01-01', GUAM)).toEqual(now)
    expect(await at('2027-01-02', GUAM)).toBe('2027-01-01T14:00:00.000Z')
  })

  test.each([
    [{ state: 'CA', zip: '90001' }, '9999-12-31T08:00:00.000Z'],
    [{ state: 'GU', zip: '96910' }, '9999-12-30T14:00:00.000Z'],
    [{ state: 'Erewhon', zip: '00000' }, '9999-12-31T00:00:00.000Z'],
  ])('the last day of the calendar is a day too (%#)', async (where, activate_at) => {
    const team = await here.tenant()
    const order = await placeOrder(team.api, 'walk_in_test', { patient_address: anAddress(where), activate_by: '9999-12-31' })
    expect(order).toMatchObject({ activate_by: '9999-12-31', activate_at })
    expect(await errorOf(patch(team, order.id, '0001-01-01'))).toEqual(refused('ACTIVATE_BY_PASSED'))
  })

  test('an order for today goes at once', async () => {
    const team = await here.tenant()
    const { id } = await placeOrder(team.api, 'walk_in_test', {
      activate_by: '2027-01-01',
      patient_address: anAddress({ state: 'GU', zip: '96910' }),
    })
    await here.runJobs()
    expect(statusesOf(await get(team, id))).toEqual(sent)
  })
})

describe('a change of the day', () => {
  const held = (team: Tenant, activate_by = '2027-02-01') => placeOrder(team.api, 'walk_in_test', { activate_by })

  test('moves the order, is told once, and is no step', async () => {
    const team = await here.tenant()
    const { id } = await held(team)
    const { order, ...reply } = await patch(team, id, '2027-03-01')
    expect(reply).toEqual({ status: 'success', message: 'order updated' })
    expect(order).toMatchObject({ activate_by: '2027-03-01', activate_at: '2027-03-01T07:00:00.000Z', last_event: { id: 1 } })
    expect(statusesOf(order)).toEqual(ordered)
    expect(await get(team, id)).toEqual(order)
    expect(await told(team, id)).toEqual([CREATED, UPDATED])
    await team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(ordered)
    await patch(team, id, '2027-02-15')
    await team.api.moveClock({ body: { now: '2027-02-16T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(sent)
    expect(await told(team, id)).toEqual([CREATED, UPDATED, UPDATED, UPDATED])
  })

  test('that changes nothing tells nothing', async () => {
    const team = await here.tenant()
    const before = await held(team)
    expect(await patch(team, before.id, '2027-02-01')).toEqual({ order: before, status: 'success', message: 'order updated' })
    expect(await told(team, before.id)).toEqual([CREATED])
    await patch(team, before.id, null)
    await patch(team, before.id, null)
    expect(await told(team, before.id)).toEqual([CREATED, UPDATED])
  })

  test('to no day sends the order at once, and to today as well', async () => {
    const team = await here.tenant()
    const [cleared, today] = [await held(team), await held(team)]
    expect((await patch(team, cleared.id, null)).order).toMatchObject({ activate_by: null, activate_at: null, last_event: { id: 1 } })
    await patch(team, today.id, '2026-12-31')
    await here.runJobs()
    for (const { id } of [cleared, today]) {
      expect(statusesOf(await get(team, id))).toEqual(sent)
      expect(await told(team, id)).toEqual([CREATED, UPDATED, UPDATED])
    }
  })

  test('is refused for a day that has passed', async () => {
    const team = await here.tenant()
    const before = await held(team)
    expect(await errorOf(patch(team, before.id, '2026-12-30'))).toEqual(refused('ACTIVATE_BY_PASSED'))
    expect(await get(team, before.id)).toEqual(before)
    expect(await told(team, before.id)).toEqual([CREATED])
  })

  test('is refused where the order was created without one', async () => {
    const team = await here.tenant()
    const { id } = await placeOrder(team.api)
    for (const day of ['2027-02-01', null]) expect(await errorOf(patch(team, id, day))).toEqual(refused('ORDER_NOT_SCHEDULED'))
    const cleared = await placeOrder(team.api, 'walk_in_test', { activate_by: null })
    expect(await errorOf(patch(team, cleared.id, '2027-02-01'))).toEqual(refused('ORDER_NOT_SCHEDULED'))
    expect(await told(team, id)).toEqual([CREATED])
  })

  test('is possible after it was cleared, until the order is sent', async () => {
    const team = await here.tenant()
    const { id } = await held(team)
    await patch(team, id, null)
    await patch(team, id, '2027-02-01')
    await here.runJobs()
    expect(statusesOf(await get(team, id))).toEqual(ordered)
  })

  test('is refused once the order has left our hands or ended', async () => {
    const team = await here.tenant()
    const [gone, cancelled] = [await held(team), await held(team)]
    await patch(team, gone.id, null)
    await here.runJobs()
    await team.api.cancelOrder({ params: { order_id: cancelled.id } })
    for (const { id } of [gone, cancelled])
      for (const day of ['2027-02-01', '2027-03-01', null, '2020-01-01'])
        expect(await errorOf(patch(team, id, day))).toEqual(refused('ORDER_NOT_HELD'))
  })

  test('of a kit that waits for its patient is allowed, and sends nothing again', async () => {
    const team = await here.tenant()
    const shipping_details = { receiver_name: 'Front Desk', ...anAddress(), phone_number: '+12025550143' }
    const lab_test_id = await testId(team.api, 'heart-and-sugar-card')
    const body = { user_id: await aUser(team.api), lab_test_id, shipping_details, activate_by: '2026-12-31' }
    const { id } = (await team.api.createTestkitOrder({ body })).order
    await here.runJobs()
    expect((await patch(team, id, '2027-02-01')).order).toMatchObject({ activate_by: '2027-02-01', activate_at: null })
    await patch(team, id, null)
    await team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })
    expect(statusesOf(await get(team, id))).toEqual(['ordered', 'awaiting_registration'])
    expect(await told(team, id)).toEqual([CREATED, UPDATED, UPDATED, UPDATED])
  })

  test.each([
    ['{}', 'missing'],
    ['{"activate_on":"2027-02-01"}', 'missing'],
    ['{"activate_by":"tomorrow"}', 'format_error'],
    ['{"activate_by":"2027-02-30"}', 'format_error'],
    ['{"activate_by":"2027-02-01T00:00:00Z"}', 'format_error'],
    ['{"activate_by":20270201}', 'type_error'],
  ])('must be sent as a day or null: %s', async (body, type) => {
    const team = await here.tenant()
    const { id } = await held(team)
    const answer = await sendRaw(`${here.base}/v3/order/${id}`, 'PATCH', { headers: { 'x-service-api-key': team.team_api_key }, body })
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ type, loc: ['body', 'activate_by'] }] } })
    expect(await told(team, id)).toEqual([CREATED])
  })

  test('of a stranger’s order is not found', async () => {
    const { id } = await held(await here.tenant())
    expect(await errorOf(patch(await here.tenant(), id, null))).toEqual(refused('ORDER_NOT_FOUND', 404))
  })
})

test('where a partner lab works, a held order is not shown to it before its day, and is not called back afterwards', async () => {
  const far = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
  far.setTime(NOW)
  await loadCatalog(far.app)
  const [team, { lab }] = [await far.tenant(), await far.partnerLab()]
  const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-01-02' })
  const params = { order_id: id }
  await far.runJobs()
  expect((await lab.listLabOrders({ query: {} })).orders).toEqual([])
  await patch(team, id, '2027-01-03')
  far.advanceTime(31 * 3_600_000)
  await far.runJobs()
  expect(await errorOf(lab.getLabOrder({ params }))).toEqual(refused('ORDER_NOT_FOUND', 404))
  far.advanceTime(24 * 3_600_000)
  await far.runJobs()
  expect(await lab.getLabOrder({ params })).toMatchObject({ id, status: 'ordered' })
  for (const day of ['2027-02-01', null]) expect(await errorOf(patch(team, id, day))).toEqual(refused('ORDER_NOT_HELD'))
  expect(await lab.reportLabStep({ params, body: { status: 'requisition_created' } })).toMatchObject({ status: 'requisition_created' })
  expect(statusesOf(await get(team, id))).toEqual(sent)
})

test('an order that cannot be sent does not hold up the others', async () => {
  const team = await here.tenant()
  const [broken, fine] = [await placeOrder(team.api), await placeOrder(team.api)]
  const { db } = here.app
  const { sealed } = await db.selectFrom('orders').select('sealed').where('id', '=', broken.id).executeTakeFirstOrThrow()
  const spoil = (bytes: Buffer | null) => db.updateTable('orders').set({ sealed: bytes }).where('id', '=', broken.id).execute()
  await spoil(Buffer.from('not what was sealed'))
  await expect(dispatchDue(here.app)).rejects.toThrow()
  expect(statusesOf(await get(team, fine.id))).toEqual(sent)
  await here.runJobs()
  await spoil(sealed)
  here.advanceTime(61_000)
  await here.runJobs()
  expect(statusesOf(await get(team, broken.id))).toEqual(sent)
})

describe('at the same moment', () => {
  const LATER = '2027-06-01'

  test('a change and the dispatcher: sent once, and never after it was moved away', async () => {
    const team = await here.tenant()
    const rounds = Array.from({ length: 24 }, async (_, i) => {
      const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2026-12-31' })
      const [moved] = await Promise.allSettled([patch(team, id, i % 3 ? LATER : null), dispatchDue(here.app), dispatchDue(here.app)])
      await dispatchDue(here.app)
      return { id, moved, cleared: i % 3 === 0 }
    })
    const ended = await Promise.all(rounds)
    const log = await eventsOf(here.app, team.team_id)
    for (const { id, moved, cleared } of ended) {
      const order = await get(team, id)
      const types = log.filter((event) => event.order_id === id).map(({ event_type }) => event_type)
      if (moved.status === 'rejected') {
        expect(moved.reason).toMatchObject({ status: 400, detail: { error_type: 'ORDER_NOT_HELD' } })
        expect([statusesOf(order), types]).toEqual([sent, [CREATED, UPDATED]])
      } else if (cleared) {
        expect([statusesOf(order), types]).toEqual([sent, [CREATED, UPDATED, UPDATED]])
      } else {
        expect([statusesOf(order), types]).toEqual([ordered, [CREATED, UPDATED]])
        expect(order).toMatchObject({ activate_by: LATER, activate_at: '2027-06-01T07:00:00.000Z' })
      }
    }
  })

  test('a change and a journey of the clock: one comes first, and the other finds it so', async () => {
    const rounds = Array.from({ length: 8 }, async () => {
      const team = await here.tenant()
      const { id } = await placeOrder(team.api, 'walk_in_test', { activate_by: '2027-02-01' })
      const [moved] = await Promise.allSettled([patch(team, id, LATER), team.api.moveClock({ body: { now: '2027-02-02T00:00:00Z' } })])
      const order = await get(team, id)
      expect(statusesOf(order)).toEqual(moved.status === 'fulfilled' ? ordered : sent)
      expect(await told(team, id)).toEqual([CREATED, UPDATED])
    })
    await Promise.all(rounds)
  })

  test('two replicas: each order is sent once', async () => {
    const other = await replica({ database: here.url })
    other.setTime(NOW)
    const team = await here.tenant()
    const orders = await Promise.all(Array.from({ length: 30 }, () => placeOrder(team.api)))
    await Promise.all([here.app, other.app, here.app, other.app].map((app) => dispatchDue(app)))
    await here.runJobs()
    for (const { id } of orders) {
      const order = await get(team, id)
      expect(statusesOf(order)).toEqual(sent)
      expect(order.events.map((event) => event.id)).toEqual([1, 2])
    }
    const log = (await eventsOf(here.app, team.team_id)).map(({ event_type }) => event_type)
    expect(log.filter((type) => type === CREATED)).toHaveLength(30)
    expect(log.filter((type) => type === UPDATED)).toHaveLength(30)
  })
})

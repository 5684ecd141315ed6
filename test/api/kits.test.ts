import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { parseSecret, signatures } from '../../src/delivery/webhooks/sign.ts'
import { loadCatalogText } from '../../src/labs/catalog/file/actions.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { DAY, SECOND } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { catalogFile } from '../support/catalog.ts'
import { eventsOf } from '../support/events.ts'
import { readMetrics } from '../support/metrics.ts'
import { aPatient, placeKit, placeOrder, statusesOf } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { query } from '../support/query.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const w = await world()

const advance = (api: Client, days: number) => api.moveClock({ body: { advance_seconds: (days * DAY) / SECOND } })
const statuses = async (api: Client, order_id: string) => statusesOf(await api.getOrder({ params: { order_id } }))
const lastStatus = async (api: Client, order_id: string) => (await statuses(api, order_id)).at(-1)
const reach = (api: Client, order_id: string, final_status: string) =>
  api.simulateOrder({ params: { order_id }, query: { final_status }, body: {} })

type Signing = { secret: string; webhook_url: string }

/** Sends a tracking notification as a courier does. */
async function scan({ secret, webhook_url }: Signing, body: object, change: { secret?: string; at?: string } = {}) {
  const text = JSON.stringify(body)
  const timestamp = Math.floor(Date.parse(change.at ?? w.app.wall()) / 1000)
  const signature = signatures([parseSecret(change.secret ?? secret)], 'msg_1', timestamp, text)
  const path = new URL(webhook_url).pathname
  const response = await fetch(`${w.base}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    },
    body: text,
  })
  return { status: response.status, body: await response.json() }
}

const putCourier = (api: Client, courier = 'swift') =>
  api.putCourier({ params: { courier }, body: { name: 'Swift Parcel', tracking_url: 'https://swift.example/{number}' } })

/** A kit for a patient, with labels in both directions, that the lab has accepted. */
async function labeledKit(api: Client, numbers = { outbound: 'OUT 100-1', inbound: 'RET1001' }) {
  const courier = await putCourier(api)
  const { id } = await placeOrder(api, 'testkit')
  await dispatchDueOrders(w.app)
  const { order } = await api.putShipment({
    params: { order_id: id },
    body: {
      outbound: { courier: 'swift', tracking_number: numbers.outbound },
      inbound: { courier: 'swift', tracking_number: numbers.inbound },
    },
  })
  return { id, courier, order }
}

const alertsOf = async (team_id: string, order_id: string) =>
  (await eventsOf(w.app, team_id, { order_id })).filter((event) => event.event_type === 'labtest.kit.alert')

test('labels, and scans of a courier from the lab to the patient and back', async () => {
  const { api } = await w.tenant()
  const { id, courier, order } = await labeledKit(api)
  expect(order.details.data?.shipment).toMatchObject({
    outbound_courier: 'Swift Parcel',
    outbound_tracking_number: 'OUT1001',
    outbound_tracking_url: 'https://swift.example/OUT1001',
    inbound_tracking_number: 'RET1001',
  })
  const send = (tracking_number: string, status: string) => scan(courier, { tracking_number, status })
  for (const status of ['in_transit', 'in_transit', 'out_for_delivery', 'delivered', 'in_transit', 'lost'])
    expect(await send('out-1001', status)).toEqual({ status: 200, body: { success: true } })
  for (const status of ['delayed', 'in_transit', 'delivered', 'delayed']) await send('RET1001', status)
  expect(await statuses(api, id)).toEqual([
    ...['ordered', 'requisition_created', 'transit_customer', 'out_for_delivery', 'with_customer'],
    ...['problem_in_transit_lab', 'transit_lab', 'delivered_to_lab'],
  ])
})

test('each problem of a parcel has its status', async () => {
  const { api } = await w.tenant()
  const courier = await putCourier(api)
  const cases: [string, string, string][] = [
    ['outbound', 'delayed', 'problem_in_transit_customer'],
    ['outbound', 'undeliverable', 'failure_to_deliver_to_customer'],
    ['outbound', 'lost', 'lost'],
    ['inbound', 'delayed', 'problem_in_transit_lab'],
    ['inbound', 'undeliverable', 'failure_to_deliver_to_lab'],
    ['inbound', 'lost', 'lost'],
  ]
  for (const [i, [direction, status, step]] of cases.entries()) {
    const { id } = await labeledKit(api, { outbound: `OUT${1000 + i}`, inbound: `RET${1000 + i}` })
    const number = direction === 'outbound' ? `OUT${1000 + i}` : `RET${1000 + i}`
    await scan(courier, { tracking_number: number, status: 'in_transit' })
    await scan(courier, { tracking_number: number, status })
    expect(await lastStatus(api, id)).toBe(step)
  }
  for (const step of [
    'collecting_sample.testkit.problem_in_transit_lab',
    'failed.testkit.failure_to_deliver_to_customer',
    'failed.testkit.lost',
  ]) {
    const { id } = await placeOrder(api, 'testkit')
    await reach(api, id, step)
    expect(await lastStatus(api, id)).toBe(step.split('.')[2])
  }
})

test('a courier that does not sign, or signs with another secret, changes nothing', async () => {
  const { api } = await w.tenant()
  const { id, courier } = await labeledKit(api)
  const other = await w.tenant()
  const stranger = await putCourier(other.api)
  const body = { tracking_number: 'OUT1001', status: 'lost' }
  expect((await scan(courier, body, { secret: stranger.secret })).status).toBe(401)
  expect((await scan(courier, body, { at: '2026-01-01T00:00:00Z' })).status).toBe(401)
  expect((await scan({ ...stranger, webhook_url: courier.webhook_url }, body)).status).toBe(401)
  expect((await scan(stranger, body)).status).toBe(404)
  expect((await scan(courier, { tracking_number: 'OUT1001', status: 'eaten' })).status).toBe(422)
  expect((await scan(courier, { ...body, tracking_number: 'OUT9999' })).status).toBe(404)
  expect(await lastStatus(api, id)).toBe('requisition_created')
  const rotated = await api.putCourier({ params: { courier: 'swift' }, body: { name: 'Swift Parcel', secret: stranger.secret } })
  expect(rotated.secret).toBe(stranger.secret)
  expect((await scan(courier, body)).status).toBe(401)
  expect(JSON.stringify(await api.listCouriers())).not.toContain('whsec_')
  await api.deleteCourier({ params: { courier: 'swift' } })
  expect((await scan(rotated, body)).status).toBe(401)
  // Forged scans are limited, and valid ones are not.
  const statuses: number[] = []
  for (let i = 0; i < 101; i++) statuses.push((await scan(stranger, body, { secret: courier.secret })).status)
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
  expect((await scan(stranger, body)).status).toBe(404)
  const { courier: third } = await labeledKit((await w.tenant()).api)
  expect((await scan(third, { tracking_number: 'OUT1001', status: 'in_transit' })).status).toBe(200)
})

test('a scan never finds a parcel of another team', async () => {
  const [own, other] = [await w.tenant(), await w.tenant()]
  const { id, courier } = await labeledKit(own.api)
  const { id: othersId } = await placeOrder(other.api, 'testkit')
  // The hash of a number has a key of the team, so only a copied row can have it in another team.
  await query(
    w.url,
    `insert into parcels (team_id, courier, number_hash, order_id, direction)
     select $2, courier, number_hash, $3, direction from parcels where team_id = $1`,
    [own.team_id, other.team_id, othersId],
  )
  await query(w.url, 'delete from parcels where team_id = $1', [own.team_id])
  expect(await scan(courier, { tracking_number: 'OUT1001', status: 'in_transit' })).toEqual({
    status: 404,
    body: { detail: expect.stringContaining('No order has a parcel') },
  })
  expect([await lastStatus(own.api, id), await lastStatus(other.api, othersId)]).toEqual(['requisition_created', 'ordered'])
})

test('an overdue kit becomes a problem in transit, or an alert where no status shows it', async () => {
  const { api, team_id } = await w.tenant()
  expect(await api.getKitLimits()).toEqual({ to_customer_days: 10, with_customer_days: 30, to_lab_days: 7 })
  const [outbound, atDoor, withPatient, inbound, unlimited] = await Promise.all(Array.from({ length: 5 }, () => placeOrder(api, 'testkit')))
  await reach(api, outbound?.id as string, 'collecting_sample.testkit.transit_customer')
  await reach(api, atDoor?.id as string, 'collecting_sample.testkit.out_for_delivery')
  await reach(api, withPatient?.id as string, 'collecting_sample.testkit.with_customer')
  await reach(api, inbound?.id as string, 'collecting_sample.testkit.transit_lab')
  await api.putKitLimits({ body: { to_customer_days: 4, with_customer_days: 6, to_lab_days: 3 } })
  await advance(api, 3)
  expect(await lastStatus(api, inbound?.id as string)).toBe('problem_in_transit_lab')
  expect(await lastStatus(api, outbound?.id as string)).toBe('transit_customer')
  await advance(api, 4)
  expect(await lastStatus(api, outbound?.id as string)).toBe('problem_in_transit_customer')
  expect(await lastStatus(api, atDoor?.id as string)).toBe('out_for_delivery')
  expect(await lastStatus(api, withPatient?.id as string)).toBe('with_customer')
  const alerts = await alertsOf(team_id, withPatient?.id as string)
  expect(alerts.map(({ data }) => data)).toMatchObject([
    { reason: 'overdue', status: 'collecting_sample.testkit.with_customer', limit_days: 6, order_id: withPatient?.id },
  ])
  expect(await alertsOf(team_id, atDoor?.id as string)).toHaveLength(1)
  await api.putKitLimits({ body: { to_customer_days: null, with_customer_days: null, to_lab_days: null } })
  await reach(api, unlimited?.id as string, 'collecting_sample.testkit.transit_lab')
  await advance(api, 100)
  expect(await lastStatus(api, unlimited?.id as string)).toBe('transit_lab')
  for (const order of [outbound, atDoor, withPatient, inbound]) expect(await statuses(api, order?.id as string)).not.toContain('lost')
})

test('lists overdue kits until their next step, and counts those of all teams', async () => {
  const { api, team_id } = await w.tenant()
  const gauge = async () => (await readMetrics(w.base))('assay_kits_overdue')
  const before = await gauge()
  const withPatient = await placeOrder(api, 'testkit')
  await reach(api, withPatient.id, 'collecting_sample.testkit.with_customer')
  await advance(api, 1)
  const inbound = await placeOrder(api, 'testkit')
  await reach(api, inbound.id, 'collecting_sample.testkit.transit_lab')
  await api.putKitLimits({ body: { to_customer_days: null, with_customer_days: 6, to_lab_days: 5 } })
  expect(await api.listOverdueKits({ query: {} })).toEqual({ kits: [], next_cursor: null })
  await advance(api, 6)
  const { kits } = await api.listOverdueKits({ query: {} })
  expect(kits).toMatchObject([
    { order_id: withPatient.id, user_id: withPatient.user_id, status: 'collecting_sample.testkit.with_customer' },
    { order_id: inbound.id, status: 'collecting_sample.testkit.problem_in_transit_lab' },
  ])
  const audited = await query<{ subject: string }>(
    w.url,
    `select subject from ${auditRows} where action = 'listOverdueKits' and chain_id = $1`,
    [team_id],
  )
  for (const { order_id, user_id } of kits) for (const id of [order_id, user_id]) expect(JSON.stringify(audited)).toContain(id)
  expect(await gauge()).toBe(before + 2)
  const since = kits[1]?.overdue_at
  await advance(api, 6)
  expect((await api.listOverdueKits({ query: {} })).kits[1]).toMatchObject({ order_id: inbound.id, overdue_at: since })
  await api.reportShipment({ params: { order_id: inbound.id }, body: { status: 'delivered_to_lab' } })
  expect((await api.listOverdueKits({ query: {} })).kits.map(({ order_id }) => order_id)).toEqual([withPatient.id])
  await api.reportShipment({ params: { order_id: withPatient.id }, body: { status: 'lost' } })
  expect(await gauge()).toBe(before)
})

test('a delayed parcel that no status shows is one alert per step, however often it is scanned', async () => {
  const { api, team_id } = await w.tenant()
  const { id, courier } = await labeledKit(api)
  const send = async (...statuses: string[]) => {
    for (const status of statuses) await scan(courier, { tracking_number: 'OUT1001', status })
  }
  await send('in_transit', 'out_for_delivery', 'delayed', 'delayed', 'in_transit', 'delayed')
  expect((await alertsOf(team_id, id)).map(({ data }) => [data['reason'], data['status']])).toEqual([
    ['delayed', 'collecting_sample.testkit.out_for_delivery'],
  ])
})

test('a kit that was given up and still reaches the lab continues in a new order', async () => {
  const { api, team_id } = await w.tenant()
  const { id, courier } = await labeledKit(api)
  await scan(courier, { tracking_number: 'OUT1001', status: 'delivered' })
  const lost = await api.reportShipment({ params: { order_id: id }, body: { status: 'lost' } })
  expect(lost.order.last_event?.status).toBe('failed.testkit.lost')
  const arrivals = await Promise.all([1, 2].map(() => scan(courier, { tracking_number: 'RET1001', status: 'delivered' })))
  expect(arrivals.map(({ status }) => status)).toEqual([200, 200])
  const before = await api.getOrder({ params: { order_id: id } })
  const [, next, ...more] = before.order_transaction?.orders ?? []
  expect([next?.parent_id, more]).toEqual([id, []])
  const continued = await api.getOrder({ params: { order_id: next?.id as string } })
  expect(continued).toMatchObject({
    origin: 'recreation',
    sample_id: before.sample_id,
    details: { data: { shipment: { inbound_tracking_number: 'RET1001' } } },
  })
  expect(statusesOf(continued).at(-1)).toBe('delivered_to_lab')
  await api.simulateOrder({ params: { order_id: continued.id }, query: {}, body: {} })
  expect(await lastStatus(api, continued.id)).toBe('completed')
  const holders = await query(w.url, 'select order_id from lab_samples where team_id = $1 and sample_id = $2', [team_id, before.sample_id])
  expect(holders).toEqual([{ order_id: continued.id }])
})

test('a canceled kit that reaches the lab is an alert', async () => {
  const { api, team_id } = await w.tenant()
  const { id, courier } = await labeledKit(api)
  await api.cancelOrder({ params: { order_id: id } })
  for (const status of ['in_transit', 'delivered', 'delivered']) await scan(courier, { tracking_number: 'RET1001', status })
  expect(await lastStatus(api, id)).toBe('cancelled')
  expect((await alertsOf(team_id, id)).map(({ data }) => data)).toMatchObject([{ reason: 'arrived_after_cancellation' }])
})

test('refuses what cannot be, and says why', async () => {
  const { api } = await w.tenant()
  const refusal = async (call: Promise<unknown>) => {
    const { status, detail } = await errorOf(call)
    return `${status} ${detail['error_type']}`
  }
  const { id } = await labeledKit(api)
  const second = await placeOrder(api, 'testkit')
  const walkIn = await placeOrder(api)
  const outbound = { courier: 'swift', tracking_number: 'OUT1001' }
  expect(await refusal(api.putShipment({ params: { order_id: walkIn.id }, body: { outbound } }))).toBe('400 NOT_A_KIT')
  expect(await refusal(api.putShipment({ params: { order_id: second.id }, body: { outbound } }))).toBe('409 TRACKING_NUMBER_TAKEN')
  expect(await refusal(api.putShipment({ params: { order_id: id }, body: { outbound: { ...outbound, courier: 'slow' } } }))).toBe(
    '400 UNKNOWN_COURIER',
  )
  expect(await refusal(api.deleteCourier({ params: { courier: 'slow' } }))).toBe('404 COURIER_NOT_FOUND')
  await api.simulateOrder({ params: { order_id: id }, query: {}, body: {} })
  expect(await refusal(api.reportShipment({ params: { order_id: id }, body: { status: 'lost' } }))).toBe('400 STATUS_NOT_REACHABLE')
})

test('two registrations of a kit at the same time: one wins', async () => {
  const { api } = await w.tenant()
  for (let round = 0; round < 5; round++) {
    const kit = await placeKit(api)
    await dispatchDueOrders(w.app)
    const { sample_id } = await api.getOrder({ params: { order_id: kit.id } })
    const register = (first_name: string) =>
      errorOf(
        api.registerTestkit({
          body: { sample_id: sample_id as string, patient_details: aPatient({ first_name }), patient_address: anAddress(), consents: [] },
        }),
      )
    const both = await Promise.all([register('Ottoline'), register('Wilhelmina')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const order = await api.getOrder({ params: { order_id: kit.id } })
    expect(statusesOf(order)).toEqual(['ordered', 'awaiting_registration', 'registered', 'requisition_created'])
    expect(order.patient_details?.first_name).toBe(both[0]?.status === 200 ? 'Ottoline' : 'Wilhelmina')
  }
})

test('a partner lab reports labels, and a lost kit that arrives', async () => {
  const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
  await loadCatalogText(production.app, JSON.stringify(catalogFile))
  const { api } = production
  await putCourier(api)
  const { id } = await placeOrder(api, 'testkit')
  await dispatchDueOrders(production.app)
  const lab_id = (await api.getOrder({ params: { order_id: id } })).lab_test.lab?.id as number
  const { lab } = await production.partnerLab(lab_id)
  const report = (order_id: string, status: string, change: object = {}) =>
    lab.reportLabStep({ params: { order_id }, body: { status, ...change } })
  await report(id, 'transit_customer', {
    sample_id: 'SPECIMEN-7',
    shipment: { outbound_courier: 'Swift Parcel', outbound_tracking_number: 'OUT 77' },
  })
  expect(await query(production.url, 'select direction from parcels where order_id = $1', [id])).toEqual([{ direction: 'outbound' }])
  await report(id, 'lost')
  const first = await report(id, 'delivered_to_lab')
  const second = await report(id, 'delivered_to_lab')
  expect(first).toMatchObject({ parent_id: id, status: 'delivered_to_lab', sample_id: 'SPECIMEN-7' })
  expect(second.id).toBe(first.id)
  const user_id = (await api.getOrder({ params: { order_id: id } })).user_id
  await api.deleteUser({ params: { user_id } })
})

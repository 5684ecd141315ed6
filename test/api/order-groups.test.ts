import { expect, test } from 'vitest'
import { auditRows } from '../support/audit.ts'
import { eventsOf } from '../support/events.ts'
import { aNewOrder, aPatient } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { withSlowWrites } from '../support/slow-writes.ts'
import { aUser } from '../support/users.ts'
import { replica } from '../support/world.ts'

const w = await replica()

const ORDERS = 24

/** A team, and a way to place many orders at the same moment, each for a user of its own. */
async function setUp() {
  const team = await w.tenant()
  const body = await aNewOrder(team.api)
  const bodies = []
  for (let i = 0; i < ORDERS; i++) bodies.push({ ...body, user_id: await aUser(team.api), passthrough: `order ${i}` })
  const post = (change: object) =>
    sendRaw(`${w.base}/v3/order`, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key, 'x-idempotency-key': newUuid() },
      body: JSON.stringify(change),
    })
  const placeTogether = (orders: object[]) => Promise.all(orders.map(post))
  const transactionsOf = async () => {
    const rows = await query<{ xmin: string; id: string }>(w.url, 'select xmin::text, id from orders where team_id = $1', [team.team_id])
    return new Set(rows.map(({ xmin }) => xmin)).size
  }
  return { ...team, bodies, placeTogether, transactionsOf }
}

const orderIn = ({ body }: Awaited<ReturnType<typeof sendRaw>>) => (body as { order: { id: string; passthrough: string } }).order

test('orders that arrive together share transactions, and each response is that of its own order', async () => {
  const { api, team_id, bodies, placeTogether, transactionsOf } = await setUp()
  const responses = await withSlowWrites(w.url, 'orders', () => placeTogether(bodies))
  expect(responses.map(({ status }) => status)).toEqual(Array(ORDERS).fill(200))
  expect(responses.map((response) => orderIn(response).passthrough)).toEqual(bodies.map(({ passthrough }) => passthrough))
  for (const response of responses) expect(await api.getOrder({ params: { order_id: orderIn(response).id } })).toEqual(orderIn(response))
  expect(await transactionsOf()).toBeLessThan(ORDERS)
  const events = await eventsOf(w.app, team_id)
  expect(new Set(events.map(({ order_id }) => order_id))).toEqual(new Set(responses.map((response) => orderIn(response).id)))
  const [audited] = await query<{ count: number }>(
    w.url,
    `select count(*)::int from ${auditRows} where chain_id = $1 and action = 'createOrder' and status = 200 and mac is not null`,
    [team_id],
  )
  expect(audited?.count).toBe(ORDERS)
})

test('an order that the database refuses does not refuse the others of its group', async () => {
  const { bodies, placeTogether, team_id } = await setUp()
  await query(
    w.url,
    `create function refuse_priority() returns trigger language plpgsql as $$ begin
       raise foreign_key_violation using constraint = 'orders_team_id_user_id_fkey';
     end $$`,
  )
  await query(
    w.url,
    'create trigger refuse_priority before insert on orders for each row when (new.priority) execute function refuse_priority()',
  )
  const responses = await placeTogether(bodies.map((body, i) => ({ ...body, priority: i === 5 })))
  expect(responses.map(({ status }) => status)).toEqual(bodies.map((_, i) => (i === 5 ? 404 : 200)))
  expect(responses[5]?.body).toMatchObject({ detail: { error_type: 'USER_NOT_FOUND' } })
  const [counted] = await query<{ orders: number; events: number; audited: number }>(
    w.url,
    `select (select count(*)::int from orders where team_id = $1) as orders, (select count(*)::int from outbox where team_id = $1 and order_id is not null) as events,
       (select count(*)::int from ${auditRows} where chain_id = $1 and action = 'createOrder' and status = 200) as audited`,
    [team_id],
  )
  expect(counted).toEqual({ orders: ORDERS - 1, events: ORDERS - 1, audited: ORDERS - 1 })
  await query(w.url, 'drop trigger refuse_priority on orders')
})

test('concurrent orders of one user that change the demographics all succeed, and one of them is recorded', async () => {
  const { api, bodies, placeTogether } = await setUp()
  const { user_id } = bodies[0] as { user_id: string }
  const phones = bodies.map((_, i) => `+12025550${String(100 + i)}`)
  const responses = await placeTogether(
    bodies.map((body, i) => ({ ...body, user_id, patient_details: aPatient({ phone_number: phones[i] as string }) })),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(ORDERS).fill(200))
  expect(phones).toContain((await api.getUserInfo({ params: { user_id } })).phone_number)
})

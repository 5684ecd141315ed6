import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { place, steps } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { atEnd, world } from '../support/world.ts'

/** Answers the n-th request with a status. */
async function receiver(answer: (n: number) => number = () => 200) {
  let n = 0
  const there = await openReceiver((response) => response.writeHead(answer(++n)).end())
  atEnd(() => there.close())
  return there
}

const one = await world()
await one.courier()

test('every step of an order reaches its webhook, signed and in order', async () => {
  const { api, admin, org_id, team_id } = await one.tenant()
  const there = await receiver()
  const params = { org_id, team_id, env: 'sandbox' as const }
  const webhook = await admin.createWebhook({ params, body: { url: there.url } })
  const { key } = await admin.getWebhookSecret({ params: { ...params, webhook_id: webhook.id } })
  const order = await place(api)
  await one.runJobs()
  await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: { partials: 0 } })
  const got = await there.has(3)
  for (const { headers, body } of got) new Webhook(key).verify(body, headers as Record<string, string>)
  const events = got.map(({ body }) => JSON.parse(body) as { event_type: string; data: typeof order })
  expect(events.map(({ event_type, data }) => `${event_type} ${steps(data).at(-1)}`)).toEqual([
    'labtest.order.created ordered',
    'labtest.order.updated requisition_created',
    'labtest.order.updated completed',
  ])
  expect(got.map(({ headers }) => [headers['webhook-sequence'], headers['webhook-key']])).toEqual(
    [1, 2, 3].map((n) => [String(n), `order:${order.id}`]),
  )
})

test('what fails is tried again and keeps its place', async () => {
  const { api, admin, org_id, team_id } = await one.tenant()
  const there = await receiver((n) => (n === 1 ? 500 : 200))
  const params = { org_id, team_id, env: 'sandbox' as const }
  await admin.createWebhook({ params, body: { url: there.url } })
  const order = await place(api)
  await there.has(1)
  await one.runJobs()
  one.passes(10_000)
  const got = await there.has(3)
  expect(got.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '1', '2'])
  expect(JSON.parse(got[2]?.body as string).data.id).toBe(order.id)
})

test('a strict webhook gets everything in the order of the log', async () => {
  const { api, admin, org_id, team_id } = await one.tenant()
  const there = await receiver()
  const params = { org_id, team_id, env: 'sandbox' as const }
  await admin.createWebhook({ params, body: { url: there.url, ordering: 'strict' } })
  const orders = await Promise.all([place(api), place(api), place(api)])
  await one.runJobs()
  const got = await there.has(6)
  expect(got.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(new Set(got.map(({ body }) => JSON.parse(body).data.id))).toEqual(new Set(orders.map(({ id }) => id)))
})

test('a filter takes a type, what begins like it, or everything; another takes nothing', async () => {
  const { api, admin, org_id, team_id } = await one.tenant()
  const params = { org_id, team_id, env: 'sandbox' as const }
  const filters = [
    null,
    [],
    ['*'],
    ['labtest.*'],
    ['lab*'],
    ['labtest.order.created*'],
    ['daily.data.sleep.created', 'labtest.order.created'],
  ]
  const others = [['labtest.order.updated'], ['labtest.order.u*'], ['endpoint.*'], ['daily.*']]
  const make = async (filter_types: string[] | null) =>
    (await admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/', filter_types, disabled: true } })).id
  const told = await Promise.all(filters.map(make))
  const untold = await Promise.all(others.map(make))
  await place(api)
  const waiting = async (webhook_id: string) => (await admin.getWebhook({ params: { ...params, webhook_id } })).waiting
  expect(await Promise.all(told.map(waiting))).toEqual(filters.map(() => 1))
  expect(await Promise.all(untold.map(waiting))).toEqual(others.map(() => 0))
})

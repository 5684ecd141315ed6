import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { moveAllEvents } from '../support/events.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { aUser } from '../support/users.ts'
import { world } from '../support/world.ts'

async function startReceiver(statusOf: (n: number) => number = () => 200) {
  let n = 0
  const receiver = await openReceiver((response) => response.writeHead(statusOf(++n)).end())
  atEnd(() => receiver.close())
  return receiver
}

const w = await world()
await w.startDelivery()

test('delivers every status change of an order, signed and in order', async () => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const receiver = await startReceiver()
  const params = { org_id, team_id, env: 'sandbox' as const }
  const webhook = await admin.createWebhook({ params, body: { url: receiver.url, filter_types: ['labtest.*'] } })
  const { key } = await admin.getWebhookSecret({ params: { ...params, webhook_id: webhook.id } })
  const order = await placeOrder(api)
  await w.runJobs()
  await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: { partials: 0 } })
  const received = await receiver.waitForMessages(3)
  for (const { headers, body } of received) new Webhook(key).verify(body, headers as Record<string, string>)
  const events = received.map(({ body }) => JSON.parse(body) as { event_type: string; data: typeof order })
  expect(events.map(({ event_type, data }) => `${event_type} ${statusesOf(data).at(-1)}`)).toEqual([
    'labtest.order.created ordered',
    'labtest.order.updated requisition_created',
    'labtest.order.updated completed',
  ])
  // The first event of the team is user.created, which the filter leaves out.
  const headersOf = ({ headers }: (typeof received)[number]) => ['sequence', 'previous', 'key'].map((name) => headers[`webhook-${name}`])
  expect(received.map(headersOf)).toEqual([
    ['2', undefined, `order:${order.id}`],
    ['3', '2', `order:${order.id}`],
    ['4', '3', `order:${order.id}`],
  ])
})

test('retries a failed delivery before the next event of the order', async () => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const receiver = await startReceiver((n) => (n === 1 ? 500 : 200))
  const params = { org_id, team_id, env: 'sandbox' as const }
  await admin.createWebhook({ params, body: { url: receiver.url, filter_types: ['labtest.*'] } })
  const order = await placeOrder(api)
  await receiver.waitForMessages(1)
  await w.runJobs()
  w.advanceTime(10_000)
  const received = await receiver.waitForMessages(3)
  expect(received.map(({ headers }) => headers['webhook-sequence'])).toEqual(['2', '2', '3'])
  expect(JSON.parse(received[2]?.body as string).data.id).toBe(order.id)
})

test('delivers all events to a strict webhook in log order', async () => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const receiver = await startReceiver()
  const params = { org_id, team_id, env: 'sandbox' as const }
  const user_id = await aUser(api)
  await admin.createWebhook({ params, body: { url: receiver.url, ordering: 'strict' } })
  const orders = await Promise.all([1, 2, 3].map(() => placeOrder(api, 'walk_in_test', { user_id })))
  await w.runJobs()
  const received = await receiver.waitForMessages(6)
  expect(received.map(({ headers }) => headers['webhook-sequence'])).toEqual(['2', '3', '4', '5', '6', '7'])
  expect(new Set(received.map(({ body }) => JSON.parse(body).data.id))).toEqual(new Set(orders.map(({ id }) => id)))
})

test('matches events by exact type, prefix or wildcard in filter_types', async () => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const params = { org_id, team_id, env: 'sandbox' as const }
  const matchingFilters = [
    null,
    ['*'],
    ['labtest.*'],
    ['lab*'],
    ['labtest.order.created*'],
    ['daily.data.sleep.created', 'labtest.order.created'],
  ]
  const otherFilters = [['labtest.order.updated'], ['labtest.order.u*'], ['endpoint.*'], ['daily.*']]
  const createWebhook = async (filter_types: string[] | null) =>
    (await admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/', filter_types, disabled: true } })).id
  const user_id = await aUser(api)
  const matching = await Promise.all(matchingFilters.map(createWebhook))
  const other = await Promise.all(otherFilters.map(createWebhook))
  await placeOrder(api, 'walk_in_test', { user_id })
  await moveAllEvents(w.app)
  const pendingCount = async (webhook_id: string) => (await admin.getWebhook({ params: { ...params, webhook_id } })).waiting
  expect(await Promise.all(matching.map(pendingCount))).toEqual(matchingFilters.map(() => 1))
  expect(await Promise.all(other.map(pendingCount))).toEqual(otherFilters.map(() => 0))
})

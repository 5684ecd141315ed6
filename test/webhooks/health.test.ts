import { expect, test } from 'vitest'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { eventsOf, moveAllEvents } from '../support/events.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const HOUR = 3600 * 1000
const w = await world()
const worker = await w.startDelivery()

const eventsOfType = async (team_id: string, event_type: string) =>
  (await eventsOf(w.app, team_id)).filter((event) => event.event_type === event_type)

test('disables a webhook after a 410, emits endpoint.disabled and keeps pending messages', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.gone)
  const operator = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.*'] })
  await aWebhook(tenant, { url: operator.url, filter_types: ['endpoint.*'] })
  await placeOrder(tenant.api)
  await operator.has(1)
  expect(operator.events()).toMatchObject([
    { event_type: 'endpoint.disabled', user_id: null, data: { webhook_id: webhook.id, because: 'gone' } },
  ])
  expect(await webhook.get()).toMatchObject({ disabled: true, disabled_because: 'gone', next_try_at: null })
  await w.runJobs()
  expect((await webhook.get()).waiting).toBe(2)
  receiver.behave(() => faults.ok)
  w.advanceTime(10_000)
  expect(await webhook.patch({ disabled: false })).toMatchObject({ disabled: false, disabled_because: null, waiting: 2 })
  await receiver.has(3)
  expect(receiver.sequences()).toEqual([2, 2, 4])
})

test('pauses a webhook again when it still fails after the first pause', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(500))
  const webhook = await aWebhook(tenant, { url: receiver.url, disabled: true })
  for (let n = 0; n < 6; n++) await placeOrder(tenant.api)
  // All messages are sent at once. Otherwise the first pause could end before the last order is placed.
  await webhook.patch({ disabled: false })
  const pauseCount = async () => {
    const [row] = await query<{ trips: number }>(w.url, 'select trips from webhooks where id = $1', [webhook.id])
    return row?.trips
  }
  await waitFor(async () => expect(await pauseCount()).toBe(1))
  const { next_try_at } = await webhook.get()
  expect(Date.parse(next_try_at as string)).toBeGreaterThan(Date.parse(w.app.wall()))
  w.advanceTime(20_000)
  await waitFor(async () => expect(await pauseCount()).toBe(2))
  receiver.behave(() => faults.ok)
  w.advanceTime(HOUR)
  await waitFor(async () => expect(await webhook.get()).toMatchObject({ waiting: 0, failures: 0, failing_since: null }))
})

test('disables a webhook once, after five days of failures', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(503))
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.*'] })
  /**
   * True once every due message was attempted and its health recorded, or a pause holds it back. Advancing the clock earlier would start
   * another pause. A disabled webhook attempts and records nothing more.
   */
  const isSettled = async () => {
    const unsettled = await query(
      w.url,
      `select from webhooks w join webhook_cursors c on c.team_id = w.team_id and c.webhook_id = w.id join event_logs l on l.team_id = w.team_id
       where w.id = $1 and w.disabled_at is null and (
         (coalesce(w.paused_until <= $2, true) and (c.after_no < l.last_no or exists (
           select from parked p where p.team_id = w.team_id and p.webhook_id = w.id and p.retry_at <= $2)))
         or exists (select from outbox o where o.team_id = w.team_id)
         or (select max(at) from attempts a where a.team_id = w.team_id and a.webhook_id = w.id) > coalesce(w.last_failure_at, '-infinity'))`,
      [webhook.id, w.app.wall()],
    )
    return unsettled.length === 0
  }
  let hours = 0
  for (; !(await webhook.get()).disabled && hours < 240; hours += 13) {
    await placeOrder(tenant.api)
    await waitFor(async () => expect(await isSettled()).toBe(true))
    w.advanceTime(13 * HOUR)
  }
  expect([hours > 120, hours < 170, (await webhook.get()).disabled_because]).toEqual([true, true, 'failing'])
  expect(await eventsOfType(tenant.team_id, 'endpoint.disabled')).toHaveLength(1)
  expect((await webhook.get()).waiting).toBeGreaterThan(0)
})

test('emits message.attempt.exhausted, except for a message of that type', async () => {
  const tenant = await w.tenant()
  const broken = await aReceiver(() => faults.status(400))
  const operator = await aReceiver(() => faults.status(400))
  const webhook = await aWebhook(tenant, { url: broken.url, filter_types: ['labtest.order.created'] })
  const watching = await aWebhook(tenant, { url: operator.url, filter_types: ['message.*', 'endpoint.*'] })
  await placeOrder(tenant.api)
  await moveAllEvents(w.app)
  const [message] = await webhook.pending()
  for (const target of [webhook, watching])
    for (let n = 1; n <= 8; n++) {
      await waitFor(async () => expect((await target.attempts()).filter(({ attempt }) => attempt === n)).toHaveLength(1))
      // The last attempt emits an event. Its first delivery is in flight now, and a clock this far ahead would end its lease.
      if (n < 8) w.advanceTime(12 * HOUR)
      worker.wake([tenant.team_id])
    }
  await waitFor(async () => expect((await watching.get()).waiting).toBe(0))
  const events = await eventsOfType(tenant.team_id, 'message.attempt.exhausted')
  expect(events.map(({ data }) => data)).toEqual([
    { webhook_id: webhook.id, event_id: message?.event_id, event_type: 'labtest.order.created', attempts: 8, status: 400, error: 'status' },
  ])
  expect((await watching.attempts({ outcome: 'exhausted' })).map(({ event_type }) => event_type)).toEqual(['message.attempt.exhausted'])
  await w.runJobs()
  expect(await expectEventsMatchCatalog(w.app)).toContain('message.attempt.exhausted')
})

test('erasing a user empties their attempts and removes their pending messages, and a strict webhook goes on', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(400))
  const webhook = await aWebhook(tenant, { url: receiver.url, ordering: 'strict', filter_types: ['labtest.order.created'] })
  const user_id = await aUser(tenant.api)
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await w.runJobs()
  const remainingOrder = await placeOrder(tenant.api)
  await w.runJobs()
  await waitFor(async () => expect(await webhook.attempts()).not.toEqual([]))
  const [erased, remaining] = await webhook.pending()
  expect((await webhook.get()).waiting).toBe(2)
  await webhook.patch({ disabled: true })
  await tenant.api.deleteUser({ params: { user_id } })
  w.advanceTime(8 * 24 * HOUR)
  await w.runJobs()
  // The outcome stays, without the request, the response and the key.
  const [attempt] = await webhook.attempts({ event_id: erased?.event_id })
  expect(attempt).toMatchObject({ outcome: 'retried', status: 400, sequence: erased?.sequence, key: erased?.event_id })
  expect(await errorOf(tenant.admin.getWebhookAttempt({ params: { ...webhook.params, attempt_id: attempt?.id as string } }))).toMatchObject(
    {
      status: 404,
      detail: { error_type: 'ATTEMPT_NOT_FOUND' },
    },
  )
  expect((await webhook.pending()).map(({ key, sequence }) => [key, sequence])).toEqual([['*', remaining?.sequence]])
  // Not earlier: a retry that began before the webhook was disabled would deliver the message.
  receiver.behave(() => faults.ok)
  const before = receiver.received.length
  await webhook.patch({ disabled: false })
  await receiver.has(before + 1)
  expect(receiver.events()[before]).toMatchObject({ data: { id: remainingOrder.id } })
  // The erased message keeps its place in the chain.
  expect(receiver.received[before]?.headers).toMatchObject({
    'webhook-sequence': String(remaining?.sequence),
    'webhook-previous': String(erased?.sequence),
  })
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(0))
  const { position } = await tenant.admin.listWebhookMessages({ params: webhook.params, query: { no: erased?.sequence } })
  expect(position).toMatchObject({ sequence: erased?.sequence, state: 'gone' })
})

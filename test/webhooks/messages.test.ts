import { expect, test } from 'vitest'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

test('lists pending messages of a disabled webhook by key, with the number of messages ahead', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  const first = await placeOrder(tenant.api)
  const second = await placeOrder(tenant.api)
  await w.runJobs()
  const waiting = await webhook.pending()
  expect(waiting.map(({ key, sequence, behind, attempts, next_try_at }) => [key, sequence, behind, attempts, next_try_at])).toEqual(
    [first, second].flatMap(({ id }) => [
      [`order:${id}`, 1, 0, 0, null],
      [`order:${id}`, 2, 1, 0, null],
    ]),
  )
  const { admin } = tenant
  const pages: string[] = []
  let next_cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof admin.listWebhookMessages>> = await admin.listWebhookMessages({
      params: webhook.params,
      query: { limit: 1, next_cursor },
    })
    pages.push(...page.data.map(({ event_id }) => event_id))
    next_cursor = page.next_cursor
  } while (next_cursor)
  expect(pages).toEqual(waiting.map(({ event_id }) => event_id))
})

test('retries a pending message at once and keeps its position', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  const webhook = await aWebhook(tenant, { url: receiver.url, disabled: true })
  await placeOrder(tenant.api)
  await w.runJobs()
  // The automatic retry follows five seconds after the first attempt, so the second message exists before that.
  await webhook.patch({ disabled: false })
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(1))
  const [first, second] = await webhook.pending()
  expect([first?.attempts, second?.behind, second?.next_try_at]).toEqual([1, 1, null])
  expect(first?.next_try_at).toBe((await webhook.attempts())[0]?.next_try_at)

  expect(await webhook.retry(second?.event_id as string)).toEqual({
    event_id: second?.event_id,
    action: 'retried',
    sequence: 2,
    behind: 1,
  })
  await receiver.has(3)
  expect(receiver.sequences()).toEqual([1, 1, 2])
})

test('ends the pause of a failing webhook on a retry and sends the retried message first', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(500))
  const webhook = await aWebhook(tenant, { url: receiver.url, disabled: true })
  for (let n = 0; n < 6; n++) await placeOrder(tenant.api)
  // All messages are sent at once. Otherwise the pause could end before the last order is placed.
  await webhook.patch({ disabled: false })
  await waitFor(async () => expect((await webhook.get()).failures).toBeGreaterThanOrEqual(5))
  await waitFor(async () =>
    expect(await query(w.url, 'select from lanes where webhook_id = $1 and worker is not null', [webhook.id])).toEqual([]),
  )
  const waiting = await webhook.pending()
  expect(waiting).toHaveLength(6)
  const attempted = receiver.received.length
  const last = waiting.at(-1)?.event_id as string
  await webhook.retry(last)
  await receiver.has(attempted + 1)
  expect(receiver.events()[attempted]?.event_id).toBe(last)
})

test('resends a delivered message at the end of its key', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url })
  await placeOrder(tenant.api)
  await w.runJobs()
  await receiver.has(2)
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  const [created] = receiver.events()
  expect(await webhook.retry(created?.event_id as string)).toMatchObject({ action: 'resent', sequence: 3, behind: 0 })
  await receiver.has(3)
  expect(receiver.sequences()).toEqual([1, 2, 3])
  expect(receiver.received[2]?.body).toBe(receiver.received[0]?.body)
  expect(receiver.received[2]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id'])
})

test.each(['strict', 'unordered'] as const)('resends an event to a %s webhook under the key of its ordering', async (ordering) => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, ordering })
  await placeOrder(tenant.api)
  await w.runJobs()
  await receiver.has(2)
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  const [first] = receiver.events()
  await webhook.retry(first?.event_id as string)
  const received = await receiver.has(3)
  expect(received[2]?.headers['webhook-key']).toBe(ordering === 'strict' ? '*' : first?.event_id)
  expect(received[2]?.body).toBe(received[0]?.body)
})

test('rejects a retry for a disabled webhook or an unknown event', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  await placeOrder(tenant.api)
  const [message] = await webhook.pending()
  expect(await errorOf(webhook.retry(message?.event_id as string))).toMatchObject({
    status: 400,
    detail: { error_type: 'WEBHOOK_DISABLED' },
  })
  await webhook.patch({ disabled: false })
  expect(await errorOf(webhook.retry(newUuid()))).toMatchObject({ status: 404, detail: { error_type: 'EVENT_NOT_FOUND' } })
})

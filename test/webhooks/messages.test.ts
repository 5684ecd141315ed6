import { expect, test } from 'vitest'
import { emitTo } from '../support/delivery.ts'
import { moveAllEvents } from '../support/events.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

test('lists pending messages of a disabled webhook in the order of the log', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  const first = await placeOrder(tenant.api)
  const second = await placeOrder(tenant.api)
  await w.runJobs()
  const waiting = await webhook.pending()
  expect(waiting.map(({ key, sequence, behind, attempts, next_try_at }) => [key, sequence, behind, attempts, next_try_at])).toEqual(
    // Each user is created before their order.
    [
      [`order:${first.id}`, 2, 0, 0, null],
      [`order:${second.id}`, 4, 0, 0, null],
      [`order:${first.id}`, 5, 0, 0, null],
      [`order:${second.id}`, 6, 0, 0, null],
    ],
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

test('a page that examined 10,000 events without a message continues after them, also behind a changed filter', async () => {
  const tenant = await w.tenant()
  const { admin, team_id } = tenant
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', filter_types: ['endpoint.disabled'], disabled: true })
  await emitTo(w.app, team_id, ['first'])
  await moveAllEvents(w.app)
  await query(
    w.url,
    `insert into events (team_id, no, logged_at, id, event_type, key, deliverable, sealed, created_at)
     select $1, n, now(), gen_random_uuid(), 'message.attempt.exhausted', 'a', true, '', now() from generate_series(2, 10500) n`,
    [team_id],
  )
  await query(w.url, 'update event_logs set last_no = 5000 where team_id = $1', [team_id])
  await webhook.patch({ filter_types: ['endpoint.*'] })
  await query(w.url, 'update event_logs set last_no = 10500 where team_id = $1', [team_id])
  await emitTo(w.app, team_id, ['last'])
  await moveAllEvents(w.app)
  const read = (next_cursor?: string | null) => admin.listWebhookMessages({ params: webhook.params, query: { next_cursor } })
  const first = await read()
  expect(first.data.map(({ sequence }) => sequence)).toEqual([1])
  const last = await read(first.next_cursor)
  expect(last).toMatchObject({ data: [{ sequence: 10501 }], next_cursor: null })
})

test('retries the first message of a parked key at once, and the others follow', async () => {
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
    sequence: 3,
    behind: 1,
  })
  await receiver.has(3)
  expect(receiver.sequences()).toEqual([2, 2, 3])
})

test('ends the pause of a failing webhook on a retry', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(500))
  const webhook = await aWebhook(tenant, { url: receiver.url, disabled: true, rate_limit: 5 })
  const orders = 20
  await Promise.all(Array.from({ length: orders }, () => placeOrder(tenant.api)))
  await webhook.patch({ disabled: false })
  const pausedUntil = async () =>
    (await query<{ paused_until: Date | null }>(w.url, 'select paused_until from webhooks where id = $1', [webhook.id]))[0]?.paused_until
  await waitFor(async () => expect(await pausedUntil()).toBeTruthy())
  const attempted = receiver.received.length
  const waiting = await webhook.pending()
  expect([waiting.length, attempted < orders]).toEqual([orders, true])
  await webhook.patch({ rate_limit: null })

  // The last one was not attempted yet. It keeps its place.
  receiver.behave(() => faults.ok)
  const { event_id, sequence } = waiting.at(-1) as (typeof waiting)[number]
  expect(await webhook.retry(event_id)).toEqual({ event_id, action: 'retried', sequence, behind: 0 })
  await waitFor(() =>
    expect(
      receiver
        .events()
        .slice(attempted)
        .map((event) => event.event_id),
    ).toContain(event_id),
  )
  w.advanceTime(20_000)
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(0))
})

test('sends a delivered message again, with the same sequence and no previous one', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url })
  await placeOrder(tenant.api)
  await w.runJobs()
  await receiver.has(2)
  await waitFor(async () => expect(await webhook.pending()).toEqual([]))
  const [, updated] = receiver.events()
  expect(await webhook.retry(updated?.event_id as string)).toMatchObject({ action: 'resent', sequence: 3, behind: 0 })
  const [, first, again] = await receiver.has(3)
  expect(receiver.sequences()).toEqual([2, 3, 3])
  expect([first?.headers['webhook-previous'], again?.headers['webhook-previous']]).toEqual(['2', undefined])
  expect(again?.body).toBe(first?.body)
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  const attempts = await waitFor(async () => {
    const attempts = await webhook.attempts({ event_id: updated?.event_id as string })
    expect(attempts.map(({ attempt, sequence }) => [attempt, sequence])).toEqual([
      [1, 3],
      [1, 3],
    ])
    return attempts
  })
  const detail = await tenant.admin.getWebhookAttempt({ params: { ...webhook.params, attempt_id: attempts[1]?.id as string } })
  expect(detail.request_headers).toMatchObject({ 'webhook-sequence': '3', 'webhook-previous': '2' })
})

test.each(['strict', 'unordered'] as const)(
  'sends an event again to a %s webhook beside the order, with its ID as key',
  async (ordering) => {
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
    expect(received[0]?.headers['webhook-key']).toBe(ordering === 'strict' ? '*' : first?.event_id)
    expect(received[2]?.headers['webhook-key']).toBe(first?.event_id)
    expect(received[2]?.body).toBe(received[0]?.body)
  },
)

test('says what became of each position of the log', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(400) : faults.ok))
  const webhook = await aWebhook(tenant, { url: receiver.url })
  const { admin } = tenant
  const order = await placeOrder(tenant.api)
  await placeOrder(tenant.api)
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(2))
  await webhook.patch({ disabled: true })
  await w.runJobs()
  const stateOf = async (no: number) => {
    const { data, position } = await admin.listWebhookMessages({ params: webhook.params, query: { no } })
    return [position?.sequence, position?.state, position?.event_id, data.map(({ sequence }) => sequence)]
  }
  const [failed, ...pending] = await webhook.pending()
  const { data: delivered } = await admin.listWebhookAttempts({ params: webhook.params, query: { outcome: 'delivered' } })
  expect(failed?.key).toBe(`order:${order.id}`)
  expect(await stateOf(1)).toEqual([1, 'not_a_message', expect.any(String), []])
  expect(await stateOf(2)).toEqual([2, 'parked', failed?.event_id, [2]])
  expect(await stateOf(3)).toEqual([3, 'not_a_message', expect.any(String), []])
  expect(await stateOf(4)).toEqual([4, 'delivered', delivered[0]?.event_id, []])
  for (const { sequence, event_id } of pending) expect(await stateOf(sequence)).toEqual([sequence, 'pending', event_id, [sequence]])
  expect(pending.map(({ sequence }) => sequence)).toEqual([5, 6])
  expect(await stateOf(7)).toEqual([7, 'not_a_message', null, []])
  // Retention has deleted the event.
  await query(w.url, 'delete from events where team_id = $1 and no = 4', [tenant.team_id])
  expect(await stateOf(4)).toEqual([4, 'gone', null, []])
})

test('rejects a retry for a disabled webhook or an unknown event', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  await placeOrder(tenant.api)
  await moveAllEvents(w.app)
  const [message] = await webhook.pending()
  expect(await errorOf(webhook.retry(message?.event_id as string))).toMatchObject({
    status: 400,
    detail: { error_type: 'WEBHOOK_DISABLED' },
  })
  await webhook.patch({ disabled: false })
  expect(await errorOf(webhook.retry(newUuid()))).toMatchObject({ status: 404, detail: { error_type: 'EVENT_NOT_FOUND' } })
})

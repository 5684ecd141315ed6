import { expect, test } from 'vitest'
import { later, MINUTE } from '../../src/platform/time.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { eventsOf } from '../support/events.ts'
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
  expect(receiver.sequences()).toEqual([1, 1, 2])
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
    const now = w.app.wall()
    const unsettled = await query(
      w.url,
      `select from lanes l join webhooks w on w.team_id = l.team_id and w.id = l.webhook_id
       where w.id = $1 and (l.worker is not null or w.disabled_at is null and (
         (l.run_at <= $2 and coalesce(w.paused_until <= $2, true))
         or (select max(at) from attempts a where a.team_id = w.team_id and a.webhook_id = w.id) > coalesce(w.last_failure_at, '-infinity')))`,
      [webhook.id, now],
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
  const [message] = await webhook.pending()
  for (const target of [webhook, watching])
    for (let n = 1; n <= 8; n++) {
      await waitFor(async () => expect((await target.attempts()).filter(({ attempt }) => attempt === n)).toHaveLength(1))
      // The last attempt emits an event. Its first delivery is in flight now, and a clock this far ahead would end its lease.
      if (n < 8) w.advanceTime(12 * HOUR)
      worker.wake([webhookRef(tenant.team_id, target.id)])
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

test('erasing a user removes their attempts and pending messages and unblocks the lane', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(400))
  const webhook = await aWebhook(tenant, { url: receiver.url, ordering: 'strict', filter_types: ['labtest.order.created'] })
  const user_id = await aUser(tenant.api)
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await w.runJobs()
  const remainingOrder = await placeOrder(tenant.api)
  await w.runJobs()
  await waitFor(async () => expect(await webhook.attempts()).not.toEqual([]))
  const [erased] = await webhook.pending()
  expect((await webhook.get()).waiting).toBe(2)
  await webhook.patch({ disabled: true })
  await tenant.api.deleteUser({ params: { user_id } })
  w.advanceTime(8 * 24 * HOUR)
  await w.runJobs()
  expect(await webhook.attempts({ event_id: erased?.event_id })).toEqual([])
  expect((await webhook.pending()).map(({ key, behind }) => [key, behind])).toEqual([['*', 1]])
  // Not earlier: a retry that began before the webhook was disabled would deliver the message.
  receiver.behave(() => faults.ok)
  const before = receiver.received.length
  await webhook.patch({ disabled: false })
  await receiver.has(before + 1)
  expect(receiver.events()[before]).toMatchObject({ data: { id: remainingOrder.id } })
  expect(receiver.sequences()[before]).toBe(2)
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(0))
})

test('deleting a webhook removes its lanes, jobs and deliveries and keeps those of other webhooks', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  const other = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  await placeOrder(tenant.api)
  await tenant.admin.replayWebhook({ params: webhook.params, body: { from: '2020-01-01T00:00:00Z' } })
  const lanes = await query<{ id: string }>(w.url, 'select id::text from lanes where webhook_id = $1', [webhook.id])
  await tenant.admin.deleteWebhook({ params: webhook.params })
  expect(await errorOf(webhook.attempts())).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } })
  await w.runJobs()
  w.advanceTime(3 * MINUTE)
  await w.runJobs()
  const left = await query(
    w.url,
    `select id::text from lanes where webhook_id = $1 union all select id::text from webhook_jobs where webhook_id = $1
     union all select event_id::text from deliveries where lane_id = any($2::bigint[])`,
    [webhook.id, lanes.map(({ id }) => id)],
  )
  expect([lanes.length, left]).toEqual([1, []])
  expect((await other.get()).waiting).toBe(2)
})

test('skips pending messages whose event has expired, even while the webhook is disabled', async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', disabled: true })
  const expiredAt = later(w.app.wall(), -100 * 24 * HOUR)
  await query(w.url, "select make_partition('events', $1::date)", [expiredAt])
  /** Logs and queues an event. */
  const insertEvent = (no: number, at: string) =>
    query(
      w.url,
      `with event as (
         insert into events (team_id, id, logged_at, no, event_type, key, partial, sealed, created_at)
         values ($1, gen_random_uuid(), $3, $4, 'endpoint.disabled', 'webhook:expired', false, '', $3) returning *
       )
       select enqueue_events($1, $2, array[id], array[logged_at], array[key]) from event`,
      [tenant.team_id, webhook.id, at, no],
    )
  await insertEvent(1, expiredAt)
  await insertEvent(2, w.app.wall())
  await query(w.url, 'update lanes set run_at = $2 where webhook_id = $1', [webhook.id, expiredAt])
  expect((await webhook.get()).waiting).toBe(2)
  // A run that waits too long for the delivery worker leaves the partition to the next run.
  await waitFor(async () => {
    await w.runJobs()
    const partition = `events_${expiredAt.slice(0, 10).replaceAll('-', '')}`
    expect(await query(w.url, 'select from pg_class where relname = $1', [partition])).toEqual([])
  })
  expect((await webhook.get()).waiting).toBe(1)
  expect((await webhook.pending()).map(({ sequence, behind }) => [sequence, behind])).toEqual([[2, 0]])
})

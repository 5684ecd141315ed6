import { expect, test } from 'vitest'
import { readMetrics } from '../support/metrics.ts'
import { placeOrder } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

test('messages of a disabled webhook are pending and not due', async () => {
  const w = await world()
  const webhook = await aWebhook(w, { url: (await aReceiver()).url, filter_types: ['labtest.order.created'] })
  await placeOrder(w.api)
  await w.runJobs()
  // The user, the order and its update: the metric does not look at the filter.
  const counts = async () => {
    const value = await readMetrics(w.base)
    return [value(`assay_webhook_waiting{webhook_id="${webhook.id}"}`), value(`assay_webhook_due{webhook_id="${webhook.id}"}`)]
  }
  expect(await counts()).toEqual([3, 3])
  await webhook.patch({ disabled: true })
  expect(await counts()).toEqual([3, 0])
})

test('an order is due until a worker has sent it to the lab', async () => {
  const w = await world()
  await placeOrder(w.api)
  await placeOrder(w.api, 'walk_in_test', { activate_by: '2099-01-01' })
  const due = async () => (await readMetrics(w.base))('assay_orders_due')
  expect(await due()).toBe(1)
  await w.runJobs()
  expect(await due()).toBe(0)
})

test('reports attempts, latency and pending messages per webhook', async () => {
  const w = await world()
  await w.startDelivery()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  const healthy = await aWebhook(w, { url: receiver.url, filter_types: ['labtest.order.created'], disabled: true })
  const stuck = await aWebhook(w, { url: receiver.url, disabled: true })
  await placeOrder(w.api)
  await placeOrder(w.api)
  await w.runJobs()
  // The failed message is retried five seconds after its first attempt, so nothing else happens in between.
  await healthy.patch({ disabled: false })
  let value = await readMetrics(w.base)
  await waitFor(async () => {
    value = await readMetrics(w.base)
    expect(value('assay_webhook_latency_seconds_count')).toBe(1)
    expect(value('assay_webhook_attempts_total{outcome="retried"}')).toBe(1)
    expect(value(`assay_webhook_waiting{webhook_id="${healthy.id}"}`)).toBe(1)
  })
  expect(value('assay_webhook_attempts_total{outcome="delivered"}')).toBe(1)
  expect(value(`assay_webhook_waiting{webhook_id="${stuck.id}"}`)).toBe(6)
  expect(value(`assay_webhook_oldest_waiting_seconds{webhook_id="${stuck.id}"}`)).toBeGreaterThan(0)
})

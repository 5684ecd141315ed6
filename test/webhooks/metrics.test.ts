import { expect, test } from 'vitest'
import { placeOrder } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

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
  let text = ''
  const value = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  await waitFor(async () => {
    text = await (await fetch(`${w.base}/metrics`)).text()
    expect(value('assay_webhook_latency_seconds_count')).toBe(1)
    expect(value('assay_webhook_attempts_total{outcome="retried"}')).toBe(1)
  })
  expect(value('assay_webhook_attempts_total{outcome="delivered"}')).toBe(1)
  expect(value(`assay_webhook_waiting{webhook_id="${stuck.id}"}`)).toBe(4)
  expect(value(`assay_webhook_waiting{webhook_id="${healthy.id}"}`)).toBe(1)
  expect(value(`assay_webhook_oldest_waiting_seconds{webhook_id="${stuck.id}"}`)).toBeGreaterThan(0)
})

import { expect, test } from 'vitest'
import { place } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { aReceiver, aWebhook, soon } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

test('metrics tell what was delivered, how soon, and what waits for whom', async () => {
  const one = await world()
  await one.courier()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  const sound = await aWebhook(one, { url: receiver.url, filter_types: ['labtest.order.created'] })
  const stuck = await aWebhook(one, { url: receiver.url, disabled: true })
  await place(one.api)
  await place(one.api)
  await one.runJobs()
  await soon(async () => expect(await sound.attempts()).toHaveLength(2))
  const text = await (await fetch(`${one.base}/metrics`)).text()
  const value = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  expect(value('assay_webhook_attempts_total{outcome="delivered"}')).toBe(1)
  expect(value('assay_webhook_attempts_total{outcome="retried"}')).toBe(1)
  expect(value('assay_webhook_latency_seconds_count')).toBe(1)
  expect(value(`assay_webhook_waiting{webhook_id="${stuck.id}"}`)).toBe(4)
  expect(value(`assay_webhook_waiting{webhook_id="${sound.id}"}`)).toBe(1)
  expect(value(`assay_webhook_oldest_waiting_seconds{webhook_id="${stuck.id}"}`)).toBeGreaterThan(0)
})

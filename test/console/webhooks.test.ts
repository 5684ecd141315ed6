import { expect } from 'vitest'
import { journey, signedIn } from '../support/console-page.ts'
import { place } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { aReceiver, aWebhook, soon } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const one = await world()
await one.courier()

journey('a webhook is created, fails, is retried, and what it got is replayed with progress', async (width) => {
  const tenant = await one.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(503, {}, '{"reason":"come back"}') : faults.ok))
  const { open, ...opened } = await signedIn(one.base, tenant, width)
  const { page } = opened
  await open('/webhooks')
  await page.getByRole('button', { name: 'Create a webhook' }).first().click()
  await page.getByLabel('Address').fill(receiver.url)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: receiver.url }).waitFor()
  await page.getByText('Nothing was sent yet').waitFor()
  await place(tenant.api)
  await page.getByRole('link', { name: 'labtest.order.created' }).first().click()
  await page.getByText('come back').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('It is tried now.').waitFor()
  await receiver.has(2)

  await page.goBack()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('table', { name: 'Replays' }).getByText('Running').waitFor()
  await one.runJobs()
  await page.getByText('1 of 1').waitFor()
  await page.reload()
  await page.getByRole('table', { name: 'Replays' }).getByText('Done').waitFor()
  const isPlaced = ({ event_type }: { event_type: string }) => event_type === 'labtest.order.created'
  await soon(() => expect(receiver.events().filter(isPlaced)).toHaveLength(3))
  return opened
})

journey('an example is sent and its attempt looked at; a secret is shown when asked for and changes when rotated', async (width) => {
  const tenant = await one.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url })
  const { key } = await tenant.admin.getWebhookSecret({ params: webhook.params })
  const { open, ...opened } = await signedIn(one.base, tenant, width)
  const { page } = opened
  await open(`/webhooks/${webhook.id}`)
  await page.getByRole('button', { name: 'Send an example' }).click()
  await page.getByRole('dialog').getByLabel('Event type').selectOption('labtest.order.created')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: 'labtest.order.created' }).waitFor()
  await page.getByRole('heading', { name: 'Response 200' }).waitFor()
  expect(receiver.events()).toMatchObject([{ event_type: 'labtest.order.created' }])

  await open(`/webhooks/${webhook.id}?tab=settings`)
  await page.getByRole('button', { name: 'Rotate secret' }).waitFor()
  expect(await page.getByText(key).count()).toBe(0)
  await page.getByRole('button', { name: 'Show secret' }).click()
  await page.getByText(key).waitFor()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByText('The secret changed').waitFor()
  expect(await page.getByText(key).count()).toBe(0)
  expect((await tenant.admin.getWebhookSecret({ params: webhook.params })).key).not.toBe(key)
  return opened
})

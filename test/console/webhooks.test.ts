import { expect, test } from 'vitest'
import { expectNoOverflow, journey, noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

journey('a webhook is created, fails, is retried and replays its events with progress', async (width) => {
  const tenant = await w.tenant()
  const user_id = await aUser(tenant.api)
  // The pause keeps the automatic retry from preceding the one of this test.
  const unavailable = faults.status(503, { 'retry-after': '120' }, '{"reason":"come back"}')
  const receiver = await aReceiver((n) => (n === 1 ? unavailable : faults.ok))
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('heading', { name: receiver.url }).waitFor()
  await page.getByText('No deliveries yet').waitFor()
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await page.getByRole('link', { name: 'labtest.order.created' }).first().click()
  await page.getByRole('heading', { name: 'Response 503' }).waitFor()
  expect(await page.getByText('come back').count()).toBe(0)
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.getByLabel('Reason').selectOption('Support request')
  await page.getByLabel('Reference').fill('ticket 4711')
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal' }).click()
  await page.getByText('come back').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('Retry started.').waitFor()
  await receiver.has(2)

  await page.goBack()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('button', { name: 'Start replay' }).click()
  await page.getByRole('table', { name: 'Replays' }).getByText('Running').waitFor()
  // A run that waits too long for the delivery worker leaves the replay to the next run.
  await waitFor(async () => {
    await w.runJobs()
    expect(await query(w.url, "select from webhook_jobs where team_id = $1 and state = 'running'", [tenant.team_id])).toEqual([])
  })
  await page.getByText('2 of 2').waitFor()
  await page.reload()
  await page.getByRole('table', { name: 'Replays' }).getByText('Done').waitFor()
  const isPlaced = ({ event_type }: { event_type: string }) => event_type === 'labtest.order.created'
  await waitFor(() => expect(receiver.events().filter(isPlaced)).toHaveLength(3))
  return opened
})

journey(
  'sends an example, shows its attempt, and shows and rotates the secret',
  async (width) => {
    const tenant = await w.tenant()
    const receiver = await aReceiver()
    const webhook = await aWebhook(tenant, { url: receiver.url })
    const { key } = await tenant.admin.getWebhookSecret({ params: webhook.params })
    const { open, ...opened } = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await open(`/webhooks/${webhook.id}`)
    await page.getByRole('button', { name: 'Send example' }).click()
    await page.getByRole('dialog').getByLabel('Event type').selectOption('labtest.order.created')
    await page.getByRole('dialog').getByRole('button', { name: 'Send example' }).click()
    await page.getByRole('heading', { name: 'labtest.order.created' }).waitFor()
    await page.getByRole('heading', { name: 'Response 200' }).waitFor()
    expect(receiver.events()).toMatchObject([{ event_type: 'labtest.order.created' }])

    await open(`/webhooks/${webhook.id}?tab=settings`)
    await page.getByLabel('Messages contain').selectOption('thin')
    await page.getByLabel('Include client_user_id').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Webhook saved.').waitFor()
    expect(await webhook.get()).toMatchObject({ format: 'thin', include_client_user_id: true })
    await page.getByRole('button', { name: 'Rotate secret' }).waitFor()
    expect(await page.getByText(key).count()).toBe(0)
    await page.getByRole('button', { name: 'Show secret' }).click()
    await page.getByText(key).waitFor()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByText('Secret rotated.').waitFor()
    expect(await page.getByText(key).count()).toBe(0)
    expect((await tenant.admin.getWebhookSecret({ params: webhook.params })).key).not.toBe(key)
    return opened
  },
  { checkAccessibility: true },
)

test.skipIf(noBrowser)(
  withSkipReason('on a phone the overview rates deliveries, and webhooks with the same URL are distinguishable'),
  async () => {
    const tenant = await w.tenant()
    const receiver = await aReceiver(() => faults.status(503))
    const url = `${receiver.url}/${'long'.repeat(30)}`
    const named = await aWebhook(tenant, { url, description: 'Orders of the clinic' })
    const unnamed = await aWebhook(tenant, { url })
    for (let i = 0; i < 24; i++) await placeOrder(tenant.api)
    await w.runJobs()
    await waitFor(async () => expect((await named.attempts()).length).toBeGreaterThan(0))
    const { pulse } = await tenant.api.getOverview()
    expect(pulse.count).toBeGreaterThan(24)
    const { page, open } = await openSignedIn(w.base, tenant, 390)
    let [success_rate, count] = [0.02, 4000]
    await page.route('**/console/overview', async (route) => {
      const response = await route.fetch()
      const { deliveries, ...found } = await response.json()
      const last_day = { ...deliveries.last_day, success_rate }
      await route.fulfill({ response, json: { ...found, deliveries: { ...deliveries, last_day, backlog: { count, at_least: false } } } })
    })
    await open('/')
    await page.getByRole('img', { name: `${pulse.count} events in the last 30 minutes, by minute` }).waitFor()
    await page.getByRole('link', { name: /^Delivered, last 24 hours 2% Failing/ }).waitFor()
    await page.getByRole('link', { name: /^Pending messages 4,000 Far behind/ }).waitFor()
    ;[success_rate, count] = [0.95, 100]
    await placeOrder(tenant.api)
    await page.getByRole('link', { name: /^Delivered, last 24 hours 95% Some failing/ }).waitFor()
    await page.getByRole('link', { name: /^Pending messages 100 Behind/ }).waitFor()
    await open('/webhooks')
    await page.getByText(unnamed.id.slice(0, 8)).waitFor()
    await page.getByText('Orders of the clinic').waitFor()
    await expectNoOverflow(page)
    expect(await page.locator('.scroll').evaluate((table) => table.scrollWidth <= table.clientWidth)).toBe(true)
  },
)

test.skipIf(noBrowser)(withSkipReason('a count of pending messages that stopped at its limit ends in a plus'), async () => {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, { url: 'https://shop.example/hook', disabled: true })
  const { page, open } = await openSignedIn(w.base, tenant, 1280)
  let counted = { waiting: 10_000, waiting_at_least: true }
  const withCount = (row: object) => ({ ...row, ...counted })
  await page.route(/\/webhook(\/[^/?]+)?(\?.*)?$/, async (route) => {
    const response = await route.fetch()
    const found = await response.json()
    await route.fulfill({ response, json: Array.isArray(found.data) ? { ...found, data: found.data.map(withCount) } : withCount(found) })
  })
  await open('/webhooks')
  await page.getByRole('cell', { name: '10,000+', exact: true }).waitFor()
  await open(`/webhooks/${webhook.id}`)
  await page.locator('.count', { hasText: /^10,000\+$/ }).waitFor()
  counted = { waiting: 12, waiting_at_least: false }
  await page.locator('.count', { hasText: /^12$/ }).waitFor()
})

import { expect, test } from 'vitest'
import { noBrowser, openSignedIn, withSkipReason } from '../support/console-page.ts'
import { placeOrder } from '../support/orders.ts'
import { world } from '../support/world.ts'

const w = await world()

test.skipIf(noBrowser)(withSkipReason('a malformed URL shows a page or an error, never an empty screen'), async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  const { page, open, consoleErrors } = await openSignedIn(w.base, tenant)
  const shows: [path: string, text: string][] = [
    ['/users?page=nonsense', 'patient-'],
    ['/users?page=-7', 'patient-'],
    ['/users?page=40', 'This page does not exist'],
    ['/orders?page=1.5', 'Essential Wellness'],
    ['/orders?page=40', 'This page does not exist'],
    [`/orders/${order.id}?tab=nonsense`, 'Event history'],
    [`/users/${order.user_id}?days=1e9`, 'No data in this period'],
    [`/users/${order.user_id}?days=-3&from=x&to=y`, 'No data in this period'],
    ['/orders/%F0%9F%92%89', 'order_id'],
    ['/nowhere', 'Page not found'],
  ]
  for (const [path, text] of shows) {
    await open(path)
    await page.locator('#content').getByText(text).first().waitFor()
  }
  for (const [path, up] of [
    ['/orders/nonsense', 'Orders'],
    ['/users/nonsense', 'Users'],
    ['/webhooks/nonsense', 'Webhooks'],
    [`/webhooks/${order.id}/attempts/nonsense`, 'Deliveries'],
    ['/lab-tests/nonsense', 'Lab tests'],
  ]) {
    await open(path as string)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('link', { name: `‹ ${up}` }).waitFor()
  }
  await open('/users?page=40')
  await page.getByRole('button', { name: 'Go to first page' }).click()
  await page.getByRole('link', { name: /^patient-/ }).waitFor()
  expect(consoleErrors.filter((text) => !text.includes('422'))).toEqual([])
})

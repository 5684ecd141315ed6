import { test } from 'vitest'
import { noBrowser, withSkipReason } from '../support/console-page.ts'
import { aBusyTeam, tour } from '../support/console-tour.ts'
import { world } from '../support/world.ts'

const w = await world()
await w.startDelivery()
const { tenant, user_id, order_id, webhook_id, attempt_id } = await aBusyTeam(w)

test.skipIf(noBrowser)(
  withSkipReason('data pages are accessible on a desktop and a phone, fit the screen and load nothing from other hosts'),
  async () => {
    await tour(w.base, tenant, [
      { name: 'overview', path: '/', shows: 'Orders by phase', dark: true },
      { name: 'orders', path: '/orders', shows: 'Essential Wellness', dark: true },
      { name: 'order', path: `/orders/${order_id}`, shows: 'Measurement', dark: true },
      { name: 'order-documents', path: `/orders/${order_id}?tab=documents`, shows: 'Requisition' },
      { name: 'place-order', path: `/orders/new?user_id=${user_id}`, shows: /fields? missing/ },
      { name: 'users', path: '/users', shows: 'member-2041' },
      { name: 'user', path: `/users/${user_id}`, shows: 'Z••• Q•••' },
      { name: 'user-data', path: `/users/${user_id}/data?days=90`, shows: 'Heart rate', dark: true },
      { name: 'webhooks', path: '/webhooks', shows: 'Orders of the clinic' },
      { name: 'webhook', path: `/webhooks/${webhook_id}`, shows: 'Delivered' },
      { name: 'attempt', path: `/webhooks/${webhook_id}/attempts/${attempt_id}`, shows: 'Response 200' },
    ])
  },
)

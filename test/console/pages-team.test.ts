import { expect, test } from 'vitest'
import { noBrowser, withSkipReason } from '../support/console-page.ts'
import { tour } from '../support/console-tour.ts'
import { placeOrder } from '../support/orders.ts'
import { deploymentOf } from '../support/pipelines.ts'
import { startMailServer } from '../support/smtp.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const mailServer = await startMailServer()
const w = await world({
  env: { PUBSUB_PROJECTS: 'harbor-events', SMTP_URL: mailServer.url, MAIL_FROM: 'no-reply@harbor.example' },
})
const tenant = await w.tenant({ team: 'Harbor Clinic' })
const { admin, api, team_id } = tenant
const params = deploymentOf(tenant)
const rabbitmq = { uri: 'amqps://assay:broker-secret-4711@broker.example.com/health', exchange: 'events' }
const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }
await admin.upsertPipelines({
  params,
  body: { team_ids: [team_id], rabbitmq, cloud_pubsub, event_type_prefixes: ['labtest.', 'daily.data.'] },
})
await admin.putTeamCredential({ params, body: { team_id, provider: 'fitbit', client_id: 'harbor-app', client_secret: 'lantern-secret' } })
await w.startDelivery()
await aUser(api)
await waitFor(async () => expect((await api.readInbox({})).messages).toHaveLength(1))
const { id: order_id } = await placeOrder(api)
await api.simulateOrder({ params: { order_id }, query: {}, body: {} })
await api.putCourier({ params: { courier: 'swift' }, body: { name: 'Swift Parcel' } })

test.skipIf(noBrowser)(
  withSkipReason('team pages are accessible on a desktop and a phone, fit the screen and load nothing from other hosts'),
  async () => {
    await tour(w.base, tenant, [
      { name: 'event-types', path: '/events', shows: 'labtest.order.created' },
      { name: 'event-type', path: '/events/labtest.order.updated', shows: 'JSON Schema' },
      { name: 'inbox', path: '/inbox', shows: 'user.created' },
      { name: 'lab-tests', path: '/lab-tests', shows: 'Essential Wellness' },
      { name: 'create-lab-test', path: '/lab-tests/new', shows: 'Summary' },
      { name: 'pipelines', path: '/pipelines', shows: 'Google Cloud Pub/Sub' },
      { name: 'connections', path: '/connections', shows: 'Google Health', dark: true },
      { name: 'source-credentials', path: '/sources', shows: 'Fitbit' },
      { name: 'messages', path: '/messages', shows: 'Results ready' },
      { name: 'message-previews', path: '/messages?tab=previews', shows: 'Your appointment is booked' },
      { name: 'order-messages', path: `/orders/${order_id}?tab=messages`, shows: 'Results ready' },
      { name: 'kits', path: '/kits', shows: 'No overdue kits' },
      { name: 'couriers', path: '/kits?tab=couriers', shows: 'Swift Parcel' },
      { name: 'kit-limits', path: '/kits?tab=limits', shows: 'Leave a field empty' },
      { name: 'keys', path: '/keys', shows: 'Read and write' },
      { name: 'settings', path: '/settings', shows: 'Features' },
    ])
  },
)

import { expect, test } from 'vitest'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { noBrowser, withSkipReason } from '../support/console-page.ts'
import { tour } from '../support/console-tour.ts'
import { aLabMessage } from '../support/hl7.ts'
import { placeOrder } from '../support/orders.ts'
import { deploymentOf } from '../support/pipelines.ts'
import { startMailServer } from '../support/smtp.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const mailServer = await startMailServer()
const w = await world({
  env: {
    ...{ PUBSUB_PROJECTS: 'harbor-events', SMTP_URL: mailServer.url, MAIL_FROM: 'no-reply@harbor.example' },
    LAB_CONNECTIONS: JSON.stringify({ wrenfield: { profile: 'orm-2.3-grouped', send: { host: '127.0.0.1', port: 9 } } }),
  },
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
await api.putCourier({ params: { courier: 'swift' }, body: { name: 'Swift Parcel' } })
const order = await placeOrder(api)
await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: {} })
const message_id = await aLabMessage(w.app, order)
await setBetas(w.app, team_id, ['unmatched_results'])
const { run_id } = await api.createUnmatchedResultTest({
  headers: { 'x-idempotency-key': 'tour' },
  body: { case: 'match_sample_id_mismatch_demo', order_source: 'managed', interpretation: 'critical' },
})
const raw_result_id = (await api.getUnmatchedResultTest({ params: { run_id } })).raw_result_id as string

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
      { name: 'order-messages', path: `/orders/${order.id}?tab=messages`, shows: 'Results ready' },
      { name: 'kits', path: '/kits', shows: 'No overdue kits' },
      { name: 'couriers', path: '/kits?tab=couriers', shows: 'Swift Parcel' },
      { name: 'kit-limits', path: '/kits?tab=limits', shows: 'Leave a field empty' },
      { name: 'lab-connections', path: '/lab-connections', shows: 'Rejected' },
      { name: 'lab-message', path: `/lab-connections/${message_id}`, shows: 'PID-5', dark: true },
      { name: 'unmatched-results', path: '/unmatched-results', shows: 'To review' },
      { name: 'unmatched-result', path: `/unmatched-results/${raw_result_id}`, shows: 'Last name', dark: true },
      { name: 'keys', path: '/keys', shows: 'Read and write' },
      { name: 'settings', path: '/settings', shows: 'Features' },
    ])
  },
)

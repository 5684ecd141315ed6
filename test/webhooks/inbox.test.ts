import { expect, test } from 'vitest'
import { type Endpoint, endpointsOf } from '../../src/delivery/webhooks/endpoints.ts'
import { receive } from '../../src/delivery/webhooks/inbox.ts'
import { findInbox } from '../../src/delivery/webhooks/store-inbox.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey, userSealingKey } from '../../src/platform/sealing/vault.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

/** Waits until the inbox holds `count` messages about orders. */
const waitForInbox = ({ api }: Tenant, count: number) =>
  waitFor(async () => {
    const messages = (await api.readInbox({})).messages.filter(({ event }) => String(event['event_type']).startsWith('labtest.'))
    expect(messages).toHaveLength(count)
    return messages
  })

const pendingOf = ({ team_id }: Tenant) =>
  query(
    w.url,
    `select from webhook_cursors c join events e on e.team_id = c.team_id and e.no > c.after_no where c.team_id = $1
     union all select from parked where team_id = $1 union all select from outbox where team_id = $1`,
    [team_id],
  )

test('lists earlier and new events as verified messages, newest first', async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  const [first] = await waitForInbox(tenant, 1)
  expect(first).toMatchObject({
    verified: true,
    verdict: 'verified',
    event: { event_type: 'labtest.order.created', team_id: tenant.team_id, data: { id: order.id } },
    headers: { 'webhook-sequence': '2', 'webhook-key': `order:${order.id}`, 'content-type': 'application/json' },
  })
  expect(first?.headers['svix-signature']).toMatch(/^v1,/)
  await w.runJobs()
  const messages = await waitForInbox(tenant, 2)
  expect(messages.map(({ event }) => event['event_type'])).toEqual(['labtest.order.updated', 'labtest.order.created'])
  // The third message is user.created, which may arrive at any time.
  const all = await waitFor(async () => {
    const { messages } = await tenant.api.readInbox({})
    expect(messages).toHaveLength(3)
    return messages
  })
  const page = await tenant.api.readInbox({ query: { limit: 2 } })
  const next = await tenant.api.readInbox({ query: { limit: 2, next_cursor: page.next_cursor } })
  expect([...page.messages, ...next.messages]).toEqual(all)
})

test('hides the inbox from the webhook endpoints and from other teams', async () => {
  const tenant = await w.tenant()
  const other = await w.tenant()
  await placeOrder(tenant.api)
  await waitForInbox(tenant, 1)
  expect((await other.api.readInbox({})).messages).toEqual([])
  const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const }
  expect((await tenant.admin.listWebhooks({ params })).data).toEqual([])
  const webhook_id = (await findInbox(w.app.db, tenant.team_id))?.id as string
  expect((await errorOf(tenant.admin.deleteWebhook({ params: { ...params, webhook_id } }))).status).toBe(404)
  expect((await errorOf(tenant.admin.getWebhookSecret({ params: { ...params, webhook_id } }))).status).toBe(404)
})

test('opens a single inbox for concurrent first reads', async () => {
  const tenant = await w.tenant()
  await placeOrder(tenant.api)
  await Promise.all([1, 2, 3].map(() => tenant.api.readInbox({})))
  await w.runJobs()
  const messages = await waitForInbox(tenant, 2)
  expect(new Set(messages.map(({ event }) => event['event_id'])).size).toBe(2)
})

test('starts a new inbox with the last 100 events', async () => {
  const tenant = await w.tenant()
  const user_id = await aUser(tenant.api)
  for (let n = 0; n < 51; n++) await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await w.runJobs()
  await tenant.api.readInbox({})
  await waitFor(async () => expect((await tenant.api.readInbox({ query: { limit: 100 } })).messages).toHaveLength(100))
})

test('receives new messages after the inbox is emptied', async () => {
  const tenant = await w.tenant()
  await placeOrder(tenant.api)
  await waitForInbox(tenant, 1)
  await tenant.api.emptyInbox()
  await waitForInbox(tenant, 0)
  await w.runJobs()
  const [message] = await waitForInbox(tenant, 1)
  expect(message?.event['event_type']).toBe('labtest.order.updated')
})

test('marks a message with a wrong signature as unverified', async () => {
  const tenant = await w.tenant()
  await tenant.api.readInbox({})
  const webhook_id = (await findInbox(w.app.db, tenant.team_id))?.id as string
  const endpoint = (await endpointsOf(w.app, tenant.team_id, [{ webhook_id }])).get(webhook_id) as Endpoint
  const headers = { 'svix-id': 'x', 'svix-timestamp': String(Math.floor(Date.now() / 1000)), 'svix-signature': 'v1,AAAA' }
  await receive(w.app, await teamSealingKey(w.app, tenant.team_id), endpoint, { user_id: null, headers, body: '{}' })
  expect((await tenant.api.readInbox({})).messages).toMatchObject([{ verified: false, verdict: 'wrong_signature', event: {} }])
})

test('hides and later deletes a message that arrives after its user was erased', async () => {
  const tenant = await w.tenant()
  await tenant.api.readInbox({})
  const webhook_id = (await findInbox(w.app.db, tenant.team_id))?.id as string
  const endpoint = (await endpointsOf(w.app, tenant.team_id, [{ webhook_id }])).get(webhook_id) as Endpoint
  const user_id = await aUser(tenant.api)
  await waitFor(async () => expect((await tenant.api.readInbox({})).messages).toHaveLength(1))
  const key = (await userSealingKey(w.app, tenant.team_id, user_id)) as SealingKey
  await tenant.api.deleteUser({ params: { user_id } })
  await query(w.url, 'update users set erase_at = $2 where user_id = $1', [user_id, w.app.wall()])
  await w.runJobs()
  expect(await receive(w.app, key, endpoint, { user_id, headers: {}, body: '{}' })).toMatchObject({ ok: true })
  const { messages } = await tenant.api.readInbox({})
  expect(messages.filter(({ event }) => event['user_id'] === user_id || !event['event_type'])).toEqual([])
  const stored = () => query(w.url, 'select from inbox_messages where user_id = $1', [user_id])
  expect(await stored()).toHaveLength(1)
  // A transaction of another test can postpone it.
  await waitFor(async () => {
    w.advanceTime(4 * MINUTE)
    await w.runJobs()
    expect(await stored()).toEqual([])
  })
})

test('erases messages with their user and after seven days', async () => {
  const tenant = await w.tenant()
  const user_id = await aUser(tenant.api)
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await placeOrder(tenant.api)
  await waitForInbox(tenant, 2)
  await tenant.api.deleteUser({ params: { user_id } })
  w.advanceTime(6.9 * 24 * 3600 * 1000)
  await w.runJobs()
  expect((await tenant.api.readInbox({})).messages.length).toBeGreaterThanOrEqual(2)
  await query(w.url, 'update users set erase_at = $2 where user_id = $1', [user_id, w.app.wall()])
  await w.runJobs()
  const remaining = (await tenant.api.readInbox({})).messages
  expect(remaining.length).toBeGreaterThan(0)
  expect(remaining.filter(({ event }) => event['user_id'] === user_id)).toEqual([])
  // A message that arrives after the clock advances would be newer than seven days.
  await waitFor(async () => expect(await pendingOf(tenant)).toEqual([]))
  w.advanceTime(7.1 * 24 * 3600 * 1000)
  await w.runJobs()
  expect((await tenant.api.readInbox({})).messages).toEqual([])
})

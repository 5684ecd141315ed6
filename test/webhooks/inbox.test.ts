import { expect, test } from 'vitest'
import { type Endpoint, endpointsOf } from '../../src/delivery/webhooks/endpoints.ts'
import { receive } from '../../src/delivery/webhooks/inbox.ts'
import { findInbox } from '../../src/delivery/webhooks/store-inbox.ts'
import { teamSealingKey } from '../../src/platform/sealing/vault.ts'
import { query } from '../support/cluster.ts'
import { aUser, place } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { soon } from '../support/webhooks.ts'
import { refusal, type Tenant, world } from '../support/world.ts'

const one = await world()
await one.courier()

/** The inbox once so many messages are in it. */
const inbox = ({ api }: Tenant, count: number) =>
  soon(async () => {
    const { messages } = await api.readInbox({})
    expect(messages).toHaveLength(count)
    return messages
  })

test('an inbox shows what happened before it was opened and what comes, verified, the newest first', async () => {
  const tenant = await one.tenant()
  const order = await place(tenant.api)
  const [first] = await inbox(tenant, 1)
  expect(first).toMatchObject({
    verified: true,
    verdict: 'verified',
    event: { event_type: 'labtest.order.created', team_id: tenant.team_id, data: { id: order.id } },
    headers: { 'webhook-sequence': '1', 'webhook-key': `order:${order.id}`, 'content-type': 'application/json' },
  })
  expect(first?.headers['svix-signature']).toMatch(/^v1,/)
  await one.runJobs()
  const messages = await inbox(tenant, 2)
  expect(messages.map(({ event }) => event['event_type'])).toEqual(['labtest.order.updated', 'labtest.order.created'])
  const page = await tenant.api.readInbox({ query: { limit: 1 } })
  const next = await tenant.api.readInbox({ query: { limit: 1, next_cursor: page.next_cursor } })
  expect([...page.messages, ...next.messages]).toEqual(messages)
})

test('the inbox is none of the webhooks of the team, and nothing of it is of another team', async () => {
  const tenant = await one.tenant()
  const other = await one.tenant()
  await place(tenant.api)
  await inbox(tenant, 1)
  expect((await other.api.readInbox({})).messages).toEqual([])
  const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const }
  expect((await tenant.admin.listWebhooks({ params })).data).toEqual([])
  const webhook_id = (await findInbox(one.app.db, tenant.team_id))?.id as string
  expect((await refusal(tenant.admin.deleteWebhook({ params: { ...params, webhook_id } }))).status).toBe(404)
  expect((await refusal(tenant.admin.getWebhookSecret({ params: { ...params, webhook_id } }))).status).toBe(404)
})

test('two first calls at once open one inbox', async () => {
  const tenant = await one.tenant()
  await place(tenant.api)
  await Promise.all([1, 2, 3].map(() => tenant.api.readInbox({})))
  await one.runJobs()
  const messages = await inbox(tenant, 2)
  expect(new Set(messages.map(({ event }) => event['event_id'])).size).toBe(2)
})

test('an inbox begins with the last hundred events', async () => {
  const tenant = await one.tenant()
  const user_id = await aUser(tenant.api)
  for (let n = 0; n < 51; n++) await place(tenant.api, 'walk_in_test', { user_id })
  await one.runJobs()
  await tenant.api.readInbox({})
  await soon(async () => expect((await tenant.api.readInbox({ query: { limit: 100 } })).messages).toHaveLength(100))
})

test('an emptied inbox stays open', async () => {
  const tenant = await one.tenant()
  await place(tenant.api)
  await inbox(tenant, 1)
  await tenant.api.emptyInbox()
  await inbox(tenant, 0)
  await one.runJobs()
  const [message] = await inbox(tenant, 1)
  expect(message?.event['event_type']).toBe('labtest.order.updated')
})

test('a message that nobody of us signed is shown as such', async () => {
  const tenant = await one.tenant()
  await tenant.api.readInbox({})
  const webhook_id = (await findInbox(one.app.db, tenant.team_id))?.id as string
  const endpoint = (await endpointsOf(one.app, [{ webhook_id }])).get(webhook_id) as Endpoint
  const headers = { 'svix-id': 'x', 'svix-timestamp': String(Math.floor(Date.now() / 1000)), 'svix-signature': 'v1,AAAA' }
  await receive(one.app, await teamSealingKey(one.app, tenant.team_id), endpoint, { user_id: null, headers, body: '{}' })
  expect((await tenant.api.readInbox({})).messages).toMatchObject([{ verified: false, verdict: 'wrong_signature', event: {} }])
})

test('a message whose user was erased on its way is taken and not kept', async () => {
  const tenant = await one.tenant()
  await tenant.api.readInbox({})
  const webhook_id = (await findInbox(one.app.db, tenant.team_id))?.id as string
  const endpoint = (await endpointsOf(one.app, [{ webhook_id }])).get(webhook_id) as Endpoint
  const key = await teamSealingKey(one.app, tenant.team_id)
  const user_id = await aUser(tenant.api)
  const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  let outcome: ReturnType<typeof receive> | undefined
  await one.app.db.transaction().execute(async (db) => {
    await db.deleteFrom('users').where('user_id', '=', user_id).execute()
    outcome = receive(one.app, key, endpoint, { user_id, headers: {}, body: '{}' })
    await eventually(async () => (await query(one.url, waits)).length > 0)
  })
  expect(await outcome).toMatchObject({ ok: true })
  expect((await tenant.api.readInbox({})).messages).toEqual([])
})

test('messages are erased with their user, and after seven days', async () => {
  const tenant = await one.tenant()
  const user_id = await aUser(tenant.api)
  await place(tenant.api, 'walk_in_test', { user_id })
  await place(tenant.api)
  await inbox(tenant, 2)
  await tenant.api.deleteUser({ params: { user_id } })
  one.passes(6.9 * 24 * 3600 * 1000)
  await one.runJobs()
  expect((await tenant.api.readInbox({})).messages.length).toBeGreaterThanOrEqual(2)
  await one.app.db.updateTable('users').set({ erase_at: one.app.wall() }).where('user_id', '=', user_id).execute()
  await one.runJobs()
  const left = (await tenant.api.readInbox({})).messages
  expect(left.length).toBeGreaterThan(0)
  expect(left.filter(({ event }) => event['user_id'] === user_id)).toEqual([])
  one.passes(7.1 * 24 * 3600 * 1000)
  await one.runJobs()
  expect((await tenant.api.readInbox({})).messages).toEqual([])
})

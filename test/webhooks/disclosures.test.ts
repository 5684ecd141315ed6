import { expect, test } from 'vitest'
import { DAY } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder } from '../support/orders.ts'
import { aPipeline } from '../support/pipelines.ts'
import { query } from '../support/query.ts'
import { faults, openReceiver } from '../support/receiver.ts'
import { sendTicket, thinEventIn, withKey } from '../support/tickets.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

const google = await openReceiver(faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}'))
atEnd(() => google.close())
const w = await world({ env: { PUBSUB_PROJECTS: 'harbor-events', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` } })
w.setTimeToNoon()
await w.startDelivery()

const today = () => w.app.wall().slice(0, 10)
const listOf = ({ admin, org_id, team_id }: Tenant, query: { limit?: number; next_cursor?: string } = {}) =>
  admin.listDisclosures({ params: { org_id, team_id, env: 'sandbox' }, query: { from: today(), ...query } })

test('counts the personal fields that have a value, by destination and event type', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const user_id = await aUser(tenant.api)
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  await placeOrder(tenant.api, 'walk_in_test', { user_id })
  const [entry] = await waitFor(async () => {
    const { data } = await listOf(tenant)
    expect(data.map(({ messages }) => messages)).toEqual([2])
    return data
  })
  expect(entry).toMatchObject({
    ...{ day: today(), destination: 'webhook', webhook_id: webhook.id, receiver: new URL(receiver.url).host },
    ...{ event_type: 'labtest.order.created', messages: 2 },
  })
  expect(entry?.fields).toContainEqual({ field: 'data.patient_details.first_name', count: 2 })
  expect(entry?.fields.map(({ field }) => field)).not.toContain('data.clinical_notes')
})

test('every attempt that reached the receiver counts', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver((n) => (n === 1 ? faults.status(500) : faults.ok))
  await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api)
  await receiver.has(1)
  w.advanceTime(10_000)
  await receiver.has(2)
  await waitFor(async () => expect((await listOf(tenant)).data.map(({ messages }) => messages)).toEqual([2]))
})

test('a thin message discloses nothing until its ticket is used', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'], format: 'thin' })
  await placeOrder(tenant.api)
  const [message] = await receiver.has(1)
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(1))
  expect((await listOf(tenant)).data).toEqual([])
  await sendTicket(w.base, thinEventIn(message as { body: string }).ticket, withKey(tenant))
  expect((await listOf(tenant)).data).toMatchObject([{ webhook_id: webhook.id, event_type: 'labtest.order.created', messages: 1 }])
})

test('counts what a pipeline publishes, under its topic', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, {
    cloud_pubsub: { project: 'harbor-events', topic: 'health', message_ordering: false },
    event_type_prefixes: ['labtest.order.created'],
  })
  await placeOrder(tenant.api)
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1 }))
  expect((await listOf(tenant)).data).toMatchObject([
    { destination: 'cloud_pubsub', webhook_id: null, receiver: 'harbor-events/health', event_type: 'labtest.order.created', messages: 1 },
  ])
})

test('pages go through all groups, and name the time since when Assay counts', async () => {
  const tenant = await w.tenant()
  const receivers = [await aReceiver(), await aReceiver()]
  for (const { url } of receivers) await aWebhook(tenant, { url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api)
  await waitFor(async () => expect((await listOf(tenant)).data).toHaveLength(2))
  const first = await listOf(tenant, { limit: 1 })
  const second = await listOf(tenant, { limit: 1, next_cursor: first.next_cursor as string })
  expect([...first.data, ...second.data]).toEqual((await listOf(tenant)).data)
  expect(second.next_cursor).toBeNull()
  const { created_on } = await tenant.admin.getTeam({ params: tenant })
  expect(first.known_from).toBe(created_on)
})

test('the command prints one line per field, and since when Assay counts', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api)
  await waitFor(async () => expect((await listOf(tenant)).data).toHaveLength(1))
  const cli = assay(w.url, { ASSAY_URL: w.base, ASSAY_MANAGEMENT_KEY: tenant.management_key })
  const { out, err } = await cli.run('webhooks', 'disclosures', '--org', tenant.org_id, '--team', tenant.team_id, '--from', today())
  expect(err).toContain('Assay has counted since')
  expect(out).toMatch(
    new RegExp(`^${today()} +${webhook.id} +127\\.0\\.0\\.1:\\d+ +labtest\\.order\\.created +data\\.patient_details\\.dob +1$`, 'm'),
  )
})

test('the counts are kept for 6 years', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api)
  await waitFor(async () => expect((await listOf(tenant)).data).toHaveLength(1))
  const count = async () => (await query(w.url, 'select from disclosures where team_id = $1', [tenant.team_id])).length
  w.advanceTime(6 * 365 * DAY)
  await w.runJobs()
  expect(await count()).toBe(1)
  w.advanceTime(4 * DAY)
  await w.runJobs()
  expect(await count()).toBe(0)
})

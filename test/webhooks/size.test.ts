import { expect, test } from 'vitest'
import { emit } from '../../src/delivery/events/emit.ts'
import { splitIntoChunks } from '../../src/delivery/events/rules-size.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { runAtOnce } from '../../src/platform/shares/slices.ts'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { placeOrder } from '../support/orders.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world({ env: { EVENT_MAX_KB: '16' } })
const { app, api } = w
await w.startDelivery()

test('omits the longest text from an oversized event and returns it from the API', async () => {
  const tenant = await w.tenant()
  const receiver = await aReceiver()
  await aWebhook(tenant, { url: receiver.url })
  const passthrough = '符'.repeat(10_000)
  const order = await placeOrder(tenant.api, 'walk_in_test', { passthrough })
  await w.runJobs()
  await receiver.has(2)
  for (const { body } of receiver.received) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(16 * 1024)
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
    event_type: 'labtest.order.created',
    data: { ...order, passthrough: '' },
    left_out: ['data.passthrough'],
  })
  expect(await tenant.api.getOrder({ params: { order_id: order.id } })).toMatchObject({ passthrough })
  expect((await tenant.api.listEvents({ query: { event_type: ['labtest.*'] } })).events).toMatchObject([
    { left_out: ['data.passthrough'] },
    { left_out: ['data.passthrough'] },
  ])
  await expectEventsMatchCatalog(app)
})

test('emits an order of normal size unchanged and without left_out', async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  await w.runJobs()
  const [created] = (await tenant.api.listEvents({ query: { event_type: ['labtest.*'] } })).events
  expect(created?.data).toEqual(order)
  expect(created).not.toHaveProperty('left_out')
})

test('splits a long batch of samples into chunks that fit and together hold the batch', async () => {
  const receiver = await aReceiver()
  await aWebhook(w, { url: receiver.url, filter_types: ['daily.*'] })
  const user_id = await aUser(api)
  const key = (await userSealingKey(app, w.team_id, user_id)) as SealingKey
  const source = { name: 'Tidemark', slug: 'tidemark', logo: '', provider: 'tidemark', type: 'watch' }
  const data = Array.from({ length: 400 }, (_, i) => ({ timestamp: new Date(60_000 * i).toISOString(), unit: 'count', value: i }))
  const samples = data.map((sample) => JSON.stringify(sample))
  const split = splitIntoChunks({ user_id, source, source_id: 17 }, samples, (samples) => samples.join(), app.config.EVENT_MAX_KB)
  const parts = runAtOnce(split).map((part) => JSON.parse(part))
  const event = { team_id: w.team_id, user_id, client_user_id: null, key: `${user_id}:steps`, at: app.now() }
  for (const data of parts) await inTransaction(app, (app) => emit(app, key, { ...event, event_type: 'daily.data.steps.created', data }))
  expect(parts.length).toBeGreaterThan(1)
  await receiver.has(parts.length)
  const received = receiver.events().map(({ data }) => data as { data: object[]; chunk_index: number; total_chunks: number })
  expect(received.map(({ chunk_index, total_chunks }) => [chunk_index, total_chunks])).toEqual(parts.map((_, i) => [i, parts.length]))
  expect(received.flatMap((chunk) => chunk.data)).toEqual(data)
  expect(receiver.events().every((event) => !('left_out' in event))).toBe(true)
  await expectEventsMatchCatalog(app)
})

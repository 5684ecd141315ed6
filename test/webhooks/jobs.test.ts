import { expect, test } from 'vitest'
import { repairWebhooks } from '../../src/delivery/webhooks/repair/repair.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { numberAllEvents } from '../support/events.ts'
import { emitTo } from '../support/lanes.ts'
import { placeOrder } from '../support/orders.ts'
import { reservePort } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { errorOf, replica, type Tenant, world } from '../support/world.ts'

const DAY = 24 * 3600 * 1000
const w = await world()
const worker = await w.startDelivery()

/** Emits `count` events that need no user or order. */
async function emitEvents({ team_id }: Tenant, count: number) {
  const keys = Array.from({ length: count }, (_, n) => `webhook:${n % 7}`)
  await emitTo(w.app, team_id, keys)
  await numberAllEvents(w.app)
}

/** Delivery runs in this file, so no enabled webhook has a public address. */
const unreachableUrl = `http://127.0.0.1:${await reservePort()}/hook`

const yesterday = () => new Date(Date.parse(w.app.wall()) - DAY).toISOString()

/** Lists the events enqueued for a webhook, including repeats. */
async function enqueuedEvents(webhook_id: string) {
  const rows = await query<{ event_id: string }>(
    w.url,
    'select d.event_id from deliveries d join lanes l on l.team_id = d.team_id and l.id = d.lane_id where l.webhook_id = $1 order by d.lane_id, d.n',
    [webhook_id],
  )
  return rows.map(({ event_id }) => event_id)
}

/** Inserts a lane of a webhook. */
const insertLane = (
  { team_id }: Tenant,
  { id }: { id: string },
  lane: { key: string; tail: string; head?: string; run_at: string | null },
) =>
  query(w.url, 'insert into lanes (team_id, webhook_id, key, single_use, tail, head, run_at) values ($1, $2, $3, false, $4, $5, $6)', [
    team_id,
    id,
    lane.key,
    lane.tail,
    lane.head ?? '0',
    lane.run_at,
  ])

const jobClient = (tenant: Tenant, webhook: Awaited<ReturnType<typeof aWebhook>>) => {
  const { params } = webhook
  return {
    replay: (body: Parameters<Tenant['admin']['replayWebhook']>[0]['body']) => tenant.admin.replayWebhook({ params, body }),
    recover: (body: Parameters<Tenant['admin']['recoverWebhook']>[0]['body']) => tenant.admin.recoverWebhook({ params, body }),
    job: (job_id: string) => tenant.admin.getWebhookJob({ params: { ...params, job_id } }),
    stop: (job_id: string) => tenant.admin.stopWebhookJob({ params: { ...params, job_id } }),
    jobs: async () => (await tenant.admin.listWebhookJobs({ params })).data,
  }
}

test('replays a window of the event log to a newer webhook, in log order', async () => {
  const tenant = await w.tenant()
  const order = await placeOrder(tenant.api)
  await w.runJobs()
  await emitEvents(tenant, 3)
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url })
  const { replay, job } = jobClient(tenant, webhook)
  const started = await replay({ from: yesterday(), event_types: ['labtest.*'] })
  expect(started).toMatchObject({ kind: 'replay', state: 'running', total: null, done: 0, sent: 0, event_types: ['labtest.*'] })
  await w.runJobs()
  expect(await job(started.id)).toMatchObject({ state: 'done', total: 2, done: 2, sent: 2 })
  await receiver.has(2)
  expect(receiver.events().map(({ event_type, data }) => [event_type, data['id']])).toEqual([
    ['labtest.order.created', order.id],
    ['labtest.order.updated', order.id],
  ])
})

test('replays only matching events inside the window, once the webhook is enabled', async () => {
  const tenant = await w.tenant()
  await placeOrder(tenant.api)
  await w.runJobs()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', filter_types: ['labtest.order.updated'], disabled: true })
  const { replay, job } = jobClient(tenant, webhook)
  const now = w.app.wall()
  const inside = await replay({ from: yesterday(), to: now })
  const before = await replay({ from: '2020-01-01T00:00:00Z', to: yesterday() })
  await w.runJobs()
  expect((await job(inside.id)).state).toBe('running')
  await tenant.admin.patchWebhook({ params: webhook.params, body: { disabled: false, url: (await aReceiver()).url } })
  await w.runJobs()
  expect(await job(inside.id)).toMatchObject({ state: 'done', total: 1, sent: 1 })
  expect(await job(before.id)).toMatchObject({ state: 'done', total: 0, sent: 0 })
  expect(await errorOf(replay({ from: now, to: now }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'from'] }] })
})

test('continues a replay in batches in another process and stops it on request', async () => {
  const tenant = await w.tenant()
  await emitEvents(tenant, 450)
  await worker.stop()
  const webhook = await aWebhook(tenant, { url: unreachableUrl })
  const { replay, job, stop, jobs } = jobClient(tenant, webhook)
  const first = await replay({ from: yesterday() })
  await repairWebhooks(w.app)
  expect(await job(first.id)).toMatchObject({ state: 'running', total: 450, done: 200, sent: 200 })
  const other = await replica()
  await repairWebhooks(other.app)
  expect(await stop(first.id)).toMatchObject({ state: 'stopped', done: 400 })
  await w.runJobs()
  expect((await job(first.id)).done).toBe(400)
  expect(await stop(first.id)).toMatchObject({ state: 'stopped', done: 400 })
  expect(new Set(await enqueuedEvents(webhook.id)).size).toBe(400)
  const second = await replay({ from: yesterday() })
  expect((await jobs()).map(({ id }) => id)).toEqual([second.id, first.id])
  await stop(second.id)
  expect(await errorOf(stop(newUuid()))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_JOB_NOT_FOUND' } })
})

test('never processes the same batch in two processes', async () => {
  const tenant = await w.tenant()
  await emitEvents(tenant, 600)
  const webhook = await aWebhook(tenant, { url: unreachableUrl })
  const { replay, job } = jobClient(tenant, webhook)
  const started = await Promise.all([replay({ from: yesterday() }), replay({ from: yesterday() })])
  const other = await replica()
  const isDone = async () => (await Promise.all(started.map(({ id }) => job(id)))).every(({ state }) => state === 'done')
  for (let round = 0; round < 50 && !(await isDone()); round++)
    await Promise.all([w.app, other.app, w.app].map((app) => repairWebhooks(app)))
  expect(await Promise.all(started.map(({ id }) => job(id)))).toEqual(
    started.map(({ id }) => expect.objectContaining({ id, state: 'done', total: 600, done: 600, sent: 600 })),
  )
  const enqueued = await enqueuedEvents(webhook.id)
  expect([enqueued.length, new Set(enqueued).size]).toEqual([1200, 600])
})

test('pauses a replay while the webhook has too many pending messages', async () => {
  const tenant = await w.tenant()
  await emitEvents(tenant, 300)
  const webhook = await aWebhook(tenant, { url: unreachableUrl })
  await insertLane(tenant, webhook, { key: 'full', tail: '4900', run_at: new Date(Date.now() + DAY).toISOString() })
  const { replay, job } = jobClient(tenant, webhook)
  const { id } = await replay({ from: yesterday() })
  await w.runJobs()
  expect(await job(id)).toMatchObject({ state: 'running', done: 200 })
  await query(w.url, "delete from lanes where webhook_id = $1 and key = 'full'", [webhook.id])
  await w.runJobs()
  expect(await job(id)).toMatchObject({ state: 'done', done: 300 })
})

test('fails a job whose event cannot be enqueued and continues other jobs', async () => {
  const tenant = await w.tenant()
  await emitEvents(tenant, 1)
  const broken = await aWebhook(tenant, { url: unreachableUrl })
  const healthy = await aWebhook(tenant, { url: unreachableUrl })
  const largest = String(2n ** 63n - 1n)
  await insertLane(tenant, broken, { key: 'webhook:0', tail: largest, head: largest, run_at: null })
  const failing = await jobClient(tenant, broken).replay({ from: yesterday() })
  const working = await jobClient(tenant, healthy).replay({ from: yesterday() })
  for (let round = 0; round < 25; round++) await repairWebhooks(w.app).catch(() => {})
  expect((await jobClient(tenant, broken).job(failing.id)).state).toBe('failed')
  expect((await jobClient(tenant, healthy).job(working.id)).state).toBe('done')
})

test('recovers each message that was exhausted since a given time, once', async () => {
  const worker = await w.startDelivery()
  const tenant = await w.tenant()
  const receiver = await aReceiver(() => faults.status(400))
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await placeOrder(tenant.api)
  await placeOrder(tenant.api)
  const start = yesterday()
  for (let n = 1; n <= 8; n++) {
    await waitFor(async () => expect((await webhook.attempts()).filter(({ attempt }) => attempt === n)).toHaveLength(2))
    w.advanceTime(12 * 3600 * 1000)
    worker.wake([webhookRef(tenant.team_id, webhook.id)])
  }
  const exhausted = (await webhook.attempts({ outcome: 'exhausted' })).map(({ event_id }) => event_id).reverse()
  expect([exhausted.length, (await webhook.get()).waiting]).toEqual([2, 0])
  receiver.behave(() => faults.ok)
  await webhook.retry(exhausted[0] as string)
  await receiver.has(17)
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(0))

  const { recover, job } = jobClient(tenant, webhook)
  const { id } = await recover({ since: start })
  await w.runJobs()
  await receiver.has(18)
  expect(await job(id)).toMatchObject({ kind: 'recover', state: 'done', total: 2, done: 2, sent: 1 })
  expect(receiver.events()[17]?.event_id).toBe(exhausted[1])
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(0))
  const again = await recover({ since: start })
  const early = await recover({ since: '2020-01-01T00:00:00Z', until: start })
  await w.runJobs()
  expect(await job(again.id)).toMatchObject({ state: 'done', sent: 0 })
  expect(await job(early.id)).toMatchObject({ state: 'done', total: 0 })
})

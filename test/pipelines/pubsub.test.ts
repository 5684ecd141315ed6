import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { startProxy } from '../support/broker.ts'
import { aSubscription, type Emulator, emulator, eventIn, startEmulator, withEmulator } from '../support/emulator.ts'
import { placeOrder } from '../support/orders.ts'
import { aPipeline, emitEvents, publishDespiteCuts } from '../support/pipelines.ts'
import { reservePort } from '../support/ports.ts'
import { openReceiver } from '../support/receiver.ts'
import { aUser } from '../support/users.ts'
import { aWebhook, waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

const project = 'harbor-events'
const unreachable = { uri: `amqp://courier:broker-password@127.0.0.1:${await reservePort()}`, exchange: 'events' }

describe.skipIf(!emulator)(withEmulator, () => {
  let w: Awaited<ReturnType<typeof world>>
  let google: Emulator
  let proxy: Awaited<ReturnType<typeof startProxy>>
  beforeAll(async () => {
    google = await startEmulator()
    proxy = await startProxy(Number(new URL(google.endpoint).port))
    w = await world({ env: { PUBSUB_PROJECTS: project, PUBSUB_ENDPOINT: `http://127.0.0.1:${proxy.port}` } })
    await w.startDelivery()
  })
  afterAll(async () => {
    proxy?.close()
    await google?.kill()
  })

  let topicCount = 0
  type Setup = { pipeline?: object; topic?: string; ordered?: boolean }
  /** Creates a team with a pipeline to its own topic, and a subscription to it. */
  async function setUp({ pipeline: body = {}, topic = `events-${++topicCount}`, ordered = false }: Setup = {}) {
    const tenant = await w.tenant()
    const subscription = await aSubscription(google, { project, topic }, { ordered })
    const pipeline = await aPipeline(tenant, { cloud_pubsub: { project, topic, message_ordering: ordered }, ...body })
    return { tenant, topic, subscription, pipeline }
  }
  const loggedBy = async ({ api }: Tenant) => (await api.listEvents({ query: { limit: 500 } })).events

  test('publishes every event once with the same body as webhooks', async () => {
    const { tenant, subscription, pipeline } = await setUp()
    const user_id = await aUser(tenant.api)
    await placeOrder(tenant.api, 'walk_in_test', { user_id })
    await emitEvents(w.app, tenant, ['a', 'b', 'a', 'c'])
    await w.runJobs()
    const logged = (await loggedBy(tenant)).map(({ cursor: _, ...event }) => event)
    await waitFor(async () => expect(await subscription.pull()).toHaveLength(logged.length))
    const byId = (events: { event_id: string }[]) => events.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1))
    expect(byId(subscription.received.map(eventIn))).toEqual(byId(logged))
    await waitFor(async () =>
      expect(await pipeline.state()).toMatchObject({ delivered: logged.length, lag: 0, last_delivered_at: expect.any(String) }),
    )
  })

  test('sets the event type and ID as attributes, compresses above 1 KiB and omits the ordering key by default', async () => {
    const { tenant, subscription } = await setUp()
    await emitEvents(w.app, tenant, ['small'])
    await placeOrder(tenant.api)
    await w.runJobs()
    const logged = await loggedBy(tenant)
    await waitFor(async () => expect(await subscription.pull()).toHaveLength(logged.length))
    const messageOf = (type: string) => subscription.received.find(({ attributes }) => attributes['event_type'] === type)
    const idOf = (type: string) => logged.find(({ event_type }) => event_type === type)?.event_id
    const [small, large] = [messageOf('endpoint.disabled'), messageOf('labtest.order.created')]
    expect(small).not.toHaveProperty('orderingKey')
    expect(small?.attributes).toEqual({
      event_id: idOf('endpoint.disabled'),
      event_type: 'endpoint.disabled',
      'Content-Type': 'application/json',
    })
    expect(large?.attributes).toEqual({
      event_id: idOf('labtest.order.created'),
      event_type: 'labtest.order.created',
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
    })
    expect(gunzipSync(Buffer.from(large?.data as string, 'base64')).length).toBeGreaterThan(1024)
  })

  test('keeps the order of each key with message_ordering', async () => {
    const { tenant, subscription } = await setUp({ ordered: true })
    const keys = Array.from({ length: 60 }, (_, i) => `key ${i % 4}`)
    const ids = await emitEvents(w.app, tenant, keys)
    await waitFor(async () => expect(await subscription.pull()).toHaveLength(60))
    const receivedByKey = Map.groupBy(subscription.received, ({ orderingKey }) => orderingKey)
    const publishedByKey = Map.groupBy(ids, (_, i) => keys[i])
    expect([...receivedByKey.keys()].toSorted()).toEqual([...publishedByKey.keys()].toSorted())
    for (const [key, messages] of receivedByKey)
      expect(messages.map(({ attributes }) => attributes['event_id'])).toEqual(publishedByKey.get(key))
  })

  test('publishes to a topic with every allowed special character in its name', async () => {
    const { tenant, subscription } = await setUp({ topic: 'Health.events_v2~eu+north' })
    const ids = await emitEvents(w.app, tenant, ['a'])
    await waitFor(async () => expect(await subscription.ids()).toEqual(ids))
  })

  test('publishes retained events with push_historical_data, filtered by event_type_prefixes', async () => {
    const tenant = await w.tenant()
    await emitEvents(w.app, tenant, ['a'])
    await placeOrder(tenant.api)
    await w.runJobs()
    const subscription = await aSubscription(google, { project, topic: 'late' })
    const cloud_pubsub = { project, topic: 'late', message_ordering: false }
    const pipeline = await aPipeline(tenant, { cloud_pubsub, push_historical_data: true, event_type_prefixes: ['labtest.order.created'] })
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 0 }))
    await waitFor(async () => expect(await subscription.pull()).toHaveLength(1))
    expect(subscription.received.map(eventIn)).toMatchObject([{ event_type: 'labtest.order.created' }])
  })

  test('publishes nothing while paused and the missed events after it is enabled', async () => {
    const { tenant, subscription, pipeline } = await setUp({ ordered: true })
    const first = await emitEvents(w.app, tenant, ['a'])
    await waitFor(async () => expect(await subscription.ids()).toEqual(first))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1 }))
    await pipeline.pause()
    const meanwhile = await emitEvents(w.app, tenant, ['a', 'a', 'a'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 1 })
    await pipeline.enable('cloud_pubsub')
    await waitFor(async () => expect(await subscription.ids()).toEqual([...first, ...meanwhile]))
  })

  test('reports a missing topic and continues once it exists', async () => {
    const tenant = await w.tenant()
    const cloud_pubsub = { project, topic: 'not-yet', message_ordering: true }
    const pipeline = await aPipeline(tenant, { cloud_pubsub })
    const ids = await emitEvents(w.app, tenant, ['a', 'a'])
    await waitFor(async () =>
      expect(await pipeline.state()).toMatchObject({
        last_error: { code: 'topic_missing', message: 'The topic does not exist. Create it in the project.' },
        lag: 2,
        delivered: 0,
        failing_since: expect.any(String),
        next_try_at: expect.any(String),
      }),
    )
    const subscription = await aSubscription(google, cloud_pubsub, { ordered: true })
    w.advanceTime(2 * MINUTE)
    await waitFor(async () => expect(await subscription.ids()).toEqual(ids))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: null, failures: 0, lag: 0, delivered: 2 }))
  })

  test('publishes every event while the RabbitMQ destination is unreachable and reports each separately', async () => {
    const { tenant, subscription, pipeline } = await setUp({ pipeline: { rabbitmq: unreachable }, ordered: true })
    const ids = await emitEvents(w.app, tenant, Array(20).fill('a'))
    await waitFor(async () =>
      expect(await pipeline.state('rabbitmq')).toMatchObject({ last_error: { code: 'refused' }, lag: 20, delivered: 0 }),
    )
    await waitFor(async () => expect(await subscription.ids()).toEqual(ids))
    await waitFor(async () => expect(await pipeline.state('cloud_pubsub')).toMatchObject({ last_error: null, lag: 0, delivered: 20 }))
  })

  test('reports metrics per destination', async () => {
    const { tenant, pipeline } = await setUp({ pipeline: { rabbitmq: unreachable } })
    await pipeline.pause()
    await emitEvents(w.app, tenant, ['a', 'b'])
    const lines = (await (await fetch(`${w.base}/metrics`)).text()).split('\n')
    const value = (series: string) => Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length))
    for (const destination of ['cloud_pubsub', 'rabbitmq'])
      expect(value(`assay_pipeline_lag{team_id="${tenant.team_id}",destination="${destination}"}`)).toBe(2)
    expect(value('assay_pipeline_published_total{destination="cloud_pubsub"}')).toBeGreaterThan(20)
    expect(value('assay_pipeline_failures_total{destination="cloud_pubsub",reason="topic_missing"}')).toBeGreaterThan(0)
  })

  test('delivers every event in key order despite repeated disconnects', async () => {
    const tenant = await w.tenant()
    const topic = { project, message_ordering: true, topic: 'cut-off' }
    const subscription = await aSubscription(google, topic, { ordered: true })
    const pipeline = await aPipeline(tenant, { cloud_pubsub: topic })
    const published = await publishDespiteCuts(w, tenant, pipeline, proxy)
    await waitFor(async () => expect([...new Set(await subscription.ids())]).toEqual(published))
  })

  // Runs last: the emulator keeps topics in memory, so the test recreates its topic. The real service keeps them.
  test('delivers events emitted during an outage after a restart while webhooks continue', async () => {
    const receiver = await openReceiver()
    atEnd(receiver.close)
    await w.startDelivery()
    const tenant = await w.tenant()
    await aWebhook(tenant, { url: receiver.url })
    const cloud_pubsub = { project, message_ordering: true, topic: 'health' }
    const before = await aSubscription(google, cloud_pubsub, { ordered: true })
    const pipeline = await aPipeline(tenant, { cloud_pubsub })
    const first = await emitEvents(w.app, tenant, Array(20).fill('a'))
    await waitFor(async () => expect(await before.ids()).toEqual(first))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))

    await google.kill()
    proxy.cut()
    const away = await emitEvents(w.app, tenant, Array(30).fill('a'))
    await waitFor(async () => expect(['closed', 'refused']).toContain((await pipeline.state()).last_error?.code))
    await receiver.waitForMessages(50)
    expect(await pipeline.state()).toMatchObject({ lag: 30, delivered: 20 })

    await google.start()
    w.advanceTime(2 * MINUTE)
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'topic_missing' }, lag: 30 }))
    const after = await aSubscription(google, cloud_pubsub, { ordered: true })
    w.advanceTime(2 * MINUTE)
    await waitFor(async () => expect(await after.ids()).toEqual(away))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 50, last_error: null, next_try_at: null }))
  })
})

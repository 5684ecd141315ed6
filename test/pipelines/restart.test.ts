import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findEnd } from '../../src/delivery/events/store-log.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { aQueue, type Broker, rabbitmq, startBroker, startProxy, withBroker } from '../support/broker.ts'
import { emitTo } from '../support/delivery.ts'
import { aPipeline, emitEvents, publishDespiteCuts } from '../support/pipelines.ts'
import { startProcess } from '../support/process.ts'
import { query } from '../support/query.ts'
import { faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { waitFor } from '../support/webhooks.ts'
import { ENCRYPTION_KEY, replica, temporaryFolder, world } from '../support/world.ts'

const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }
const confirm = faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}')

describe.skipIf(!rabbitmq)(withBroker, () => {
  let w: Awaited<ReturnType<typeof world>>
  let broker: Broker
  let google: Receiver
  beforeAll(async () => {
    google = await openReceiver((response) => (response.req.url?.includes('missing') ? faults.status(404) : confirm)(response))
    atEnd(google.close)
    const env = { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` }
    ;[w, broker] = await Promise.all([world({ env }), startBroker()])
  })
  afterAll(() => broker?.stop())

  test('delivers every event when the publishing process is killed and another takes over', async () => {
    const worker = await startProcess({
      DATABASE_URL: w.url,
      ENCRYPTION_KEY,
      DATA_DIR: temporaryFolder(),
      ROLE: 'worker',
      LOG_LEVEL: 'info',
    })
    atEnd(() => worker.stop('SIGKILL'))
    const queue = await aQueue(broker.uri)
    await queue.listen()
    const pipeline = await aPipeline(w, { rabbitmq: broker.destination })
    const published = await emitEvents(w.app, w, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual(published))
    const [log] = await query<{ owner: string }>(w.url, 'select owner from event_logs where team_id = $1', [w.team_id])
    const successor = await w.startDelivery()
    const flow = async () => {
      for (let round = 0; round < 20; round++) published.push(...(await emitEvents(w.app, w, Array(10).fill(`key ${round % 3}`))))
    }
    const killed = waitFor(() => expect(queue.received.length).toBeGreaterThan(1)).then(() => worker.stop('SIGKILL'))
    await Promise.all([flow(), killed])
    // End the lease now instead of waiting for it.
    await query(w.url, 'delete from workers where id = $1', [log?.owner])
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
    await waitFor(() => expect([...new Set(queue.ids())]).toEqual(published))
    await Promise.all([queue.close(), successor.stop()])
  })

  test('delivers every event once from two replicas with different clocks, and continues when one stops', async () => {
    const tenant = await w.tenant()
    const other = await replica()
    const queue = await aQueue(broker.uri, { exchange: 'shared' })
    await queue.listen()
    await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'shared' } })
    const first = await emitEvents(w.app, tenant, Array(120).fill('a'))
    const leader = await other.startDelivery()
    await waitFor(() => expect(queue.received.length).toBeGreaterThan(0))
    w.advanceTime(HOUR)
    const successor = await w.startDelivery()
    const second = await emitEvents(w.app, tenant, Array(30).fill('b'))
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second]))
    await leader.stop()
    const third = await emitEvents(w.app, tenant, ['c', 'c'])
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second, ...third]))
    await Promise.all([queue.close(), successor.stop()])
  })

  test('does not repeat events that another process published', async () => {
    const tenant = await w.tenant()
    const queue = await aQueue(broker.uri, { exchange: 'meanwhile' })
    await queue.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'meanwhile' } })
    const stopped = await w.startDelivery()
    const first = await emitEvents(w.app, tenant, ['a', 'a'])
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2 }))
    await stopped.stop()
    await emitEvents(w.app, tenant, ['a', 'a', 'a'])
    const { no } = await findEnd(w.app.db, tenant.team_id)
    await query(w.url, 'update pipeline_destinations set term = term + 1, after_no = $2 where team_id = $1', [tenant.team_id, no])
    const publisher = await w.startDelivery()
    const last = await emitEvents(w.app, tenant, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...last]))
    await Promise.all([queue.close(), publisher.stop()])
  })

  test('publishes the events that take the positions of those which a failover lost', async () => {
    const tenant = await w.tenant()
    const queue = await aQueue(broker.uri, { exchange: 'older' })
    await queue.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'older' } })
    const publisher = await w.startDelivery()
    const published = await emitEvents(w.app, tenant, ['a', 'a'])
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2 }))
    const { no } = await findEnd(w.app.db, tenant.team_id)
    await query(w.url, 'update pipeline_destinations set after_no = $2, delivered = 1 where team_id = $1', [tenant.team_id, no - 1])
    await query(w.url, 'delete from events where team_id = $1 and no = $2', [tenant.team_id, no])
    await query(w.url, 'update event_logs set last_no = $2 where team_id = $1', [tenant.team_id, no - 1])
    await emitTo(w.app, tenant.team_id, ['a'])
    await waitFor(async () => expect(await findEnd(w.app.db, tenant.team_id)).toMatchObject({ no }))
    const again = (await tenant.api.listEvents({ query: {} })).events.at(-1)?.event_id
    await waitFor(() => expect(queue.ids()).toEqual([...published, again]))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0 }))
    await Promise.all([queue.close(), publisher.stop()])
  })

  const idsAtGoogle = () =>
    google.received
      .filter(({ path }) => !path.includes('missing'))
      .flatMap(({ body }) => JSON.parse(body).messages.map(({ attributes }: { attributes: { event_id: string } }) => attributes.event_id))

  test('delivers every event to both destinations, each at its own pace', async () => {
    const tenant = await w.tenant()
    const queue = await aQueue(broker.uri, { exchange: 'both' })
    await queue.listen()
    const pipeline = await aPipeline(tenant, { cloud_pubsub, rabbitmq: { uri: broker.uri, exchange: 'both' } })
    const publisher = await w.startDelivery()
    const first = await emitEvents(w.app, tenant, ['a', 'a'])
    await waitFor(() => expect([queue.ids(), idsAtGoogle()]).toEqual([first, first]))
    // A new topic also gets the events that are not recorded as delivered yet.
    await waitFor(async () => expect(await pipeline.state('cloud_pubsub')).toMatchObject({ delivered: 2 }))
    await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'missing-topic' } })
    const second = await emitEvents(w.app, tenant, ['a', 'a', 'a'])
    await waitFor(async () => expect(await pipeline.state('cloud_pubsub')).toMatchObject({ last_error: { code: 'topic_missing' }, lag: 3 }))
    await waitFor(async () => expect(await pipeline.state('rabbitmq')).toMatchObject({ last_error: null, lag: 0, delivered: 5 }))
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second]))
    await pipeline.enable('cloud_pubsub')
    const third = await emitEvents(w.app, tenant, ['a'])
    await pipeline.put({ cloud_pubsub })
    await waitFor(() => expect(idsAtGoogle()).toEqual([...first, ...second, ...third]))
    expect(await pipeline.state('rabbitmq')).toMatchObject({ lag: 1, delivered: 5 })
    await pipeline.enable('rabbitmq', 'cloud_pubsub')
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second, ...third]))
    await Promise.all([queue.close(), publisher.stop()])
  })

  describe('while one process publishes', () => {
    beforeAll(() => w.startDelivery())

    const failureMetrics = async () =>
      (await (await fetch(`${w.base}/metrics`)).text()).split('\n').filter((line) => line.startsWith('assay_pipeline_failures_total{'))

    test('reconnects without recording a failure when an idle connection drops', async () => {
      const tenant = await w.tenant()
      const proxy = await startProxy(broker.port)
      const queue = await aQueue(broker.uri, { exchange: 'quiet' })
      await queue.listen()
      const pipeline = await aPipeline(tenant, { rabbitmq: { uri: proxy.uri, exchange: 'quiet' } })
      const first = await emitEvents(w.app, tenant, ['a'])
      await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1 }))
      const before = await failureMetrics()
      proxy.cut()
      const second = await emitEvents(w.app, tenant, ['b'])
      await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, last_error: null }))
      expect(await failureMetrics()).toEqual(before)
      await waitFor(() => expect(queue.ids()).toEqual([...first, ...second]))
      await queue.close()
      proxy.close()
    })

    test('delivers every event at least once despite repeated disconnects', async () => {
      const tenant = await w.tenant()
      const proxy = await startProxy(broker.port)
      const queue = await aQueue(broker.uri, { exchange: 'cut' })
      await queue.listen()
      const pipeline = await aPipeline(tenant, { rabbitmq: { uri: proxy.uri, exchange: 'cut' } })
      const published = await publishDespiteCuts(w, tenant, pipeline, proxy)
      await waitFor(() => expect([...new Set(queue.ids())]).toEqual(published))
      await queue.close()
      proxy.close()
    })

    test('delivers every event in key order when the broker is killed and restarted', async () => {
      const tenant = await w.tenant()
      const target = { exchange: 'durable', name: 'durable' }
      const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'durable' } })
      const before = await aQueue(broker.uri, target)
      await before.listen()
      const published: { id: string; key: string }[] = []
      const flow = async (rounds: number) => {
        for (let round = 0; round < rounds; round++) {
          const keys = Array.from({ length: 30 }, (_, i) => `key ${i % 7}`)
          published.push(...(await emitEvents(w.app, tenant, keys)).map((id, i) => ({ id, key: keys[i] as string })))
        }
      }
      await flow(5)
      await waitFor(() => expect(before.received.length).toBeGreaterThan(0))
      await Promise.all([flow(5), broker.kill()])
      await waitFor(async () => expect(['closed', 'refused']).toContain((await pipeline.state()).last_error?.code))
      await flow(2)
      expect((await pipeline.state()).lag).toBeGreaterThanOrEqual(60)

      await broker.start()
      const after = await aQueue(broker.uri, target)
      await after.listen()
      w.advanceTime(2 * MINUTE)
      await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, last_error: null, failures: 0, next_try_at: null }))
      const ids = published.map(({ id }) => id)
      const arrived = await waitFor(() => {
        const arrived = [...new Set([...before.ids(), ...after.ids()])]
        expect(arrived).toHaveLength(ids.length)
        return arrived
      })
      const keyOf = new Map(published.map(({ id, key }) => [id, key]))
      expect(Map.groupBy(arrived, (id) => keyOf.get(id))).toEqual(Map.groupBy(ids, (id) => keyOf.get(id)))
      await after.close()
    })
  })
})

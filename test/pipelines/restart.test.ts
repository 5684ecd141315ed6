import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/platform/time.ts'
import { aQueue, type Broker, rabbitmq, startBroker, startProxy, withBroker } from '../support/broker.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

describe.skipIf(!rabbitmq)(withBroker, () => {
  let w: Awaited<ReturnType<typeof world>>
  let broker: Broker
  beforeAll(async () => {
    ;[w, broker] = await Promise.all([world(), startBroker()])
    w.startPublishing()
  })
  afterAll(() => broker?.stop())

  test('delivers every event in key order when the broker is killed and restarted', async () => {
    const pipeline = await aPipeline(w, { rabbitmq: broker })
    const before = await aQueue(broker.uri, { name: 'durable' })
    await before.listen()
    const published: { id: string; key: string }[] = []
    const flow = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        const keys = Array.from({ length: 30 }, (_, i) => `key ${i % 7}`)
        published.push(...(await emitEvents(w.app, w, keys)).map((id, i) => ({ id, key: keys[i] as string })))
      }
    }
    await flow(5)
    await waitFor(() => expect(before.received.length).toBeGreaterThan(0))
    await Promise.all([flow(5), broker.kill()])
    await waitFor(async () => expect(['closed', 'refused']).toContain((await pipeline.state()).last_error?.code))
    await flow(2)
    expect((await pipeline.state()).lag).toBeGreaterThanOrEqual(60)

    await broker.start()
    const after = await aQueue(broker.uri, { name: 'durable' })
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
    expect(queue.ids()).toEqual([...first, ...second])
    await queue.close()
    proxy.close()
  })

  test('delivers every event at least once despite repeated disconnects', async () => {
    const tenant = await w.tenant()
    const proxy = await startProxy(broker.port)
    const queue = await aQueue(broker.uri, { exchange: 'cut' })
    await queue.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { uri: proxy.uri, exchange: 'cut' } })
    const published: string[] = []
    for (let round = 0; round < 6; round++) {
      published.push(...(await emitEvents(w.app, tenant, Array(40).fill('the same'))))
      proxy.cut()
      w.advanceTime(2 * MINUTE)
    }
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 240, last_error: null }))
    await waitFor(() => expect([...new Set(queue.ids())]).toEqual(published))
    await queue.close()
    proxy.close()
  })
})

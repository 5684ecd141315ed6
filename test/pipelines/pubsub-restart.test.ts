import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MINUTE } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { startProxy } from '../support/broker.ts'
import { aSubscription, type Emulator, emulator, startEmulator, withEmulator } from '../support/emulator.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { openReceiver } from '../support/receiver.ts'
import { aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }

describe.skipIf(!emulator)(withEmulator, () => {
  let w: Awaited<ReturnType<typeof world>>
  let google: Emulator
  let proxy: Awaited<ReturnType<typeof startProxy>>
  beforeAll(async () => {
    google = await startEmulator()
    proxy = await startProxy(Number(new URL(google.endpoint).port))
    w = await world({ env: { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: `http://127.0.0.1:${proxy.port}` } })
    w.startPublishing()
  })
  afterAll(async () => {
    proxy?.close()
    await google?.kill()
  })

  test('delivers every event in key order despite repeated disconnects', async () => {
    const tenant = await w.tenant()
    const topic = { ...cloud_pubsub, topic: 'cut-off' }
    const subscription = await aSubscription(google, topic, { ordered: true })
    const pipeline = await aPipeline(tenant, { cloud_pubsub: topic })
    const published: string[] = []
    for (let round = 0; round < 6; round++) {
      published.push(...(await emitEvents(w.app, tenant, Array(40).fill('the same'))))
      proxy.cut()
      w.advanceTime(2 * MINUTE)
    }
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 240, last_error: null }))
    await waitFor(async () => expect([...new Set(await subscription.ids())]).toEqual(published))
  })

  // The emulator keeps topics in memory, so the test recreates the topic. The real service keeps them.
  test('delivers events emitted during an outage after a restart while webhooks continue', async () => {
    const receiver = await openReceiver()
    atEnd(receiver.close)
    await w.startDelivery()
    const tenant = await w.tenant()
    await aWebhook(tenant, { url: receiver.url })
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

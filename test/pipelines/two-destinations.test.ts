import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aQueue, type Broker, rabbitmq, startBroker, withBroker } from '../support/broker.ts'
import { aSubscription, type Emulator, emulator, startEmulator, withEmulator } from '../support/emulator.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }

describe.skipIf(!emulator || !rabbitmq)(`${withBroker} and ${withEmulator}`, () => {
  let w: Awaited<ReturnType<typeof world>>
  let google: Emulator
  let broker: Broker
  let publisher: ReturnType<typeof w.startPublishing>
  beforeAll(async () => {
    ;[google, broker] = await Promise.all([startEmulator(), startBroker()])
    w = await world({ env: { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: google.endpoint } })
    publisher = w.startPublishing()
  })
  afterAll(() => Promise.all([google?.kill(), broker?.stop()]))

  test('delivers every event to both destinations, each at its own pace', async () => {
    const queue = await aQueue(broker.uri)
    await queue.listen()
    const subscription = await aSubscription(google, cloud_pubsub, { ordered: true })
    const pipeline = await aPipeline(w, { cloud_pubsub, rabbitmq: broker })
    const first = await emitEvents(w.app, w, ['a', 'a'])
    await waitFor(async () => expect([queue.ids(), await subscription.ids()]).toEqual([first, first]))
    await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'missing-topic' } })
    const second = await emitEvents(w.app, w, ['a', 'a', 'a'])
    await waitFor(async () => expect(await pipeline.state('cloud_pubsub')).toMatchObject({ last_error: { code: 'topic_missing' }, lag: 3 }))
    await waitFor(async () => expect(await pipeline.state('rabbitmq')).toMatchObject({ last_error: null, lag: 0, delivered: 5 }))
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second]))
    await pipeline.enable('cloud_pubsub')
    // A running publisher notices the change at its next poll, so a new one starts with it.
    await publisher.stop()
    publisher = w.startPublishing()
    const third = await emitEvents(w.app, w, ['a'])
    await pipeline.put({ cloud_pubsub })
    await waitFor(async () => expect(await subscription.ids()).toEqual([...first, ...second, ...third]))
    expect(await pipeline.state('rabbitmq')).toMatchObject({ lag: 1, delivered: 5 })
    await pipeline.enable('rabbitmq', 'cloud_pubsub')
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second, ...third]))
    await queue.close()
  })
})

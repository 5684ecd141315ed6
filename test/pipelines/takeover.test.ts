import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOUR } from '../../src/platform/time.ts'
import { aQueue, type Broker, rabbitmq, startBroker, withBroker } from '../support/broker.ts'
import { query } from '../support/cluster.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { startProcess } from '../support/process.ts'
import { waitFor } from '../support/webhooks.ts'
import { ENCRYPTION_KEY, replica, temporaryFolder, world } from '../support/world.ts'

describe.skipIf(!rabbitmq)(withBroker, () => {
  let w: Awaited<ReturnType<typeof world>>
  let broker: Broker
  beforeAll(async () => {
    ;[w, broker] = await Promise.all([world(), startBroker()])
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
    const queue = await aQueue(broker.uri)
    await queue.listen()
    const pipeline = await aPipeline(w, { rabbitmq: broker })
    await worker.waitForOutput(/pipeline claimed/)
    const successor = w.startPublishing()
    const published: string[] = []
    const flow = async () => {
      for (let round = 0; round < 20; round++) published.push(...(await emitEvents(w.app, w, Array(10).fill(`key ${round % 3}`))))
    }
    const killed = waitFor(() => expect(queue.received.length).toBeGreaterThan(0)).then(() => worker.stop('SIGKILL'))
    await Promise.all([flow(), killed])
    // Expire the lease now instead of waiting for it.
    await query(w.url, 'update pipeline_outlets set leased_until = now()')
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
    await waitFor(() => expect([...new Set(queue.ids())]).toEqual(published))
    await Promise.all([queue.close(), successor.stop()])
  })

  test('delivers every event once from two replicas with different clocks, and continues when one stops', async () => {
    const tenant = await w.tenant()
    const other = await replica()
    const queue = await aQueue(broker.uri, { exchange: 'shared' })
    await queue.listen()
    await aPipeline(tenant, { rabbitmq: { ...broker, exchange: 'shared' } })
    const first = await emitEvents(w.app, tenant, Array(120).fill('a'))
    const leader = other.startPublishing()
    await waitFor(() => expect(queue.received.length).toBeGreaterThan(0))
    w.advanceTime(HOUR)
    w.startPublishing()
    const second = await emitEvents(w.app, tenant, Array(30).fill('b'))
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second]))
    await leader.stop()
    const third = await emitEvents(w.app, tenant, ['c', 'c'])
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...second, ...third]))
    await queue.close()
  })

  test('does not repeat events that another process published', async () => {
    const tenant = await w.tenant()
    const queue = await aQueue(broker.uri, { exchange: 'meanwhile' })
    await queue.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { ...broker, exchange: 'meanwhile' } })
    const publisher = w.startPublishing()
    const first = await emitEvents(w.app, tenant, ['a', 'a'])
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2 }))
    const change = (set: string) => query(w.url, `update pipeline_outlets set ${set} where team_id = $1`, [tenant.team_id])
    await change("holder = gen_random_uuid(), leased_until = now() + interval '1 hour'")
    await emitEvents(w.app, tenant, ['a', 'a', 'a'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 2 })
    await change('after_no = (select max(no) from events where events.team_id = pipeline_outlets.team_id), leased_until = now()')
    const last = await emitEvents(w.app, tenant, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...last]))
    await Promise.all([queue.close(), publisher.stop()])
  })
})

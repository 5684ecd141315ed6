import { expect, test } from 'vitest'
import { HOUR } from '../../src/platform/time.ts'
import { type Published, startAmqpBroker } from '../support/amqp-broker.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

/** A pipeline to a broker that answers each message as told, and two events for it. */
async function published(answer: Parameters<typeof startAmqpBroker>[0]) {
  const broker = await startAmqpBroker(answer)
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'events' } })
  await emitEvents(w.app, tenant, ['a', 'a'])
  await w.runJobs()
  return { broker, pipeline }
}

const ids = (messages: Published[]) => messages.map(({ properties }) => properties['messageId'])

test('asks the broker to confirm, to store and to return every message', async () => {
  const { broker, pipeline } = await published(() => 'ack')
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0, last_error: null }))
  expect(broker.methods.indexOf('ConfirmSelect')).toBeGreaterThan(0)
  expect(broker.methods.indexOf('ConfirmSelect')).toBeLessThan(broker.methods.indexOf('BasicPublish'))
  expect(broker.published).toMatchObject(
    Array(2).fill({ exchange: 'events', routingKey: 'endpoint.disabled', mandatory: true, properties: { deliveryMode: 2 } }),
  )
  expect(new Set(ids(broker.published)).size).toBe(2)
})

test.each([
  ['nack', 'nacked'],
  ['return', 'unroutable'],
] as const)('an event that the broker answers with %s does not count as published', async (answer, code) => {
  let refused: unknown
  const { broker, pipeline } = await published(({ properties }) => {
    refused ??= properties['messageId']
    return properties['messageId'] === refused ? answer : 'ack'
  })
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 0, last_error: { code } }))
  expect(new Set(ids(broker.published))).toContain(refused)
})

test('an event that the broker does not answer does not count as published', async () => {
  let answer: 'ack' | undefined
  const { broker, pipeline } = await published(() => answer)
  await waitFor(() => expect(broker.published).toHaveLength(1))
  answer = 'ack'
  w.stopTime()
  broker.hangUp()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 0, lag: 2, last_error: { code: 'closed' } }))
  w.advanceTime(HOUR)
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0, last_error: null }))
  const [first, ...others] = ids(broker.published)
  expect(others).toEqual([first, expect.any(String)])
})

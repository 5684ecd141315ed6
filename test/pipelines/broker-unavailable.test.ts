import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { waits } from '../../src/delivery/pipelines/rules-failure.ts'
import { strictPolicy } from '../../src/platform/outbound/address.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { reservePort } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const w = await world()

/** Starts a TCP server that is not a broker. */
async function startListener(respond: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    respond(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  atEnd(async () => server.close())
  return { server, uri: `amqp://courier:only-between-us@127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const pipelineWithEvent = async (uri: string) => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { rabbitmq: { uri, exchange: 'events' } })
  await emitEvents(w.app, tenant, ['a'])
  return { tenant, pipeline }
}

test('retries an unreachable broker with growing delays', async () => {
  const { pipeline } = await pipelineWithEvent(`amqp://courier:only-between-us@127.0.0.1:${await reservePort()}`)
  const publisher = await w.startDelivery()
  const delays = new Map<number, number>()
  for (let failures = 0; failures < 7; ) {
    const state = await waitFor(async () => {
      const state = await pipeline.state()
      expect(state.failures).toBeGreaterThan(failures)
      return state
    })
    expect(state).toMatchObject({ last_error: { code: 'refused' }, delivered: 0, lag: 1 })
    failures = state.failures
    delays.set(failures, Date.parse(state.next_try_at as string) - Date.parse(state.last_error?.at as string))
    w.advanceTime(2 * MINUTE)
  }
  for (const [failures, wait] of delays) {
    const least = waits[Math.min(failures, waits.length) - 1] as number
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(least * 1.2)
  }
  await publisher.stop()
})

test('reports a protocol error for a server that is not a broker', async () => {
  const { uri } = await startListener((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const { pipeline } = await pipelineWithEvent(uri)
  const publisher = await w.startDelivery()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'protocol' }, lag: 1 }))
  await publisher.stop()
})

test('does not connect to an address that the policy no longer allows', async () => {
  let connections = 0
  const { uri } = await startListener(() => connections++)
  const { pipeline } = await pipelineWithEvent(uri)
  const publisher = await w.startDelivery(undefined, { policy: { ...strictPolicy, https_only: false } })
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'forbidden_address' } }))
  await publisher.stop()
  const stricter = await w.startDelivery(undefined, { policy: strictPolicy })
  await pipeline.put({})
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'uri_refused' } }))
  await stricter.stop()
  expect(connections).toBe(0)
})

test('stops without waiting for a silent broker and records no failure', async () => {
  // A server that leaves received bytes unread does not see the end of the connection.
  const { server, uri } = await startListener((socket) => socket.resume())
  const { tenant, pipeline } = await pipelineWithEvent(uri)
  const connected = once(server, 'connection') as Promise<[Socket]>
  const publisher = await w.startDelivery()
  const [socket] = await connected
  const ended = once(socket, 'close')
  await Promise.all([publisher.stop(), ended])
  expect(await pipeline.state()).toMatchObject({ failures: 0, last_error: null, lag: 1 })
  expect(await query(w.url, 'select owner from event_logs where team_id = $1', [tenant.team_id])).toEqual([{ owner: null }])
})

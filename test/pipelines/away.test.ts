import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { waits } from '../../src/delivery/pipelines/rules-failure.ts'
import { strictPolicy } from '../../src/platform/outbound/address.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { query } from '../support/cluster.ts'
import { aPipeline, tell } from '../support/pipelines.ts'
import { soon } from '../support/webhooks.ts'
import { atEnd, world } from '../support/world.ts'

const w = await world()

/** Something that listens and is no broker. */
async function aListener(answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  atEnd(async () => server.close())
  return { server, uri: `amqp://courier:only-between-us@127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const oneEvent = async (uri: string) => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { rabbitmq: { uri, exchange: 'events' } })
  await tell(w.app, tenant, ['a'])
  return { tenant, pipeline }
}

test('a broker that is away is tried again and again, later each time', async () => {
  const { pipeline } = await oneEvent('amqp://courier:only-between-us@127.0.0.1:9999')
  const publisher = w.publisher()
  const waited = new Map<number, number>()
  for (let failures = 0; failures < 7; ) {
    const one = await soon(async () => {
      const one = await pipeline.state()
      expect(one.failures).toBeGreaterThan(failures)
      return one
    })
    expect(one).toMatchObject({ last_error: { code: 'refused' }, delivered: 0, lag: 1 })
    failures = one.failures
    waited.set(failures, Date.parse(one.next_try_at as string) - Date.parse(one.last_error?.at as string))
    w.passes(2 * MINUTE)
  }
  for (const [failures, wait] of waited) {
    const least = waits[Math.min(failures, waits.length) - 1] as number
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(least * 1.2)
  }
  await publisher.stop()
})

test('something else than a broker is told from one', async () => {
  const { uri } = await aListener((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const { pipeline } = await oneEvent(uri)
  const publisher = w.publisher()
  await soon(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'protocol' }, lag: 1 }))
  await publisher.stop()
})

test('an address that may no longer be reached is not connected to', async () => {
  let connections = 0
  const { uri } = await aListener(() => connections++)
  const { pipeline } = await oneEvent(uri)
  const publisher = w.publisher({ policy: { ...strictPolicy, https_only: false } })
  await soon(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'forbidden_address' } }))
  await publisher.stop()
  const stricter = w.publisher({ policy: strictPolicy })
  await pipeline.put({})
  await soon(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code: 'uri_refused' } }))
  await stricter.stop()
  expect(connections).toBe(0)
})

test('stopping does not wait for a broker that never answers, and notes no failure', async () => {
  const { server, uri } = await aListener(() => {})
  const { tenant, pipeline } = await oneEvent(uri)
  const connected = once(server, 'connection') as Promise<[Socket]>
  const publisher = w.publisher()
  const [socket] = await connected
  const ended = once(socket, 'close')
  await Promise.all([publisher.stop(), ended])
  expect(await pipeline.state()).toMatchObject({ failures: 0, last_error: null, lag: 1 })
  expect(await query(w.url, 'select holder, leased_until from pipeline_outlets where team_id = $1', [tenant.team_id])).toEqual([
    { holder: null, leased_until: null },
  ])
})

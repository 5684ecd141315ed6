import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { aQueue, type Broker, bodyOf, rabbitmq, startBroker, withBroker } from '../support/broker.ts'
import { newCertificate } from '../support/certificate.ts'
import { moveAllEvents } from '../support/events.ts'
import { placeOrder } from '../support/orders.ts'
import { aPipeline, emitEvents, stateOf } from '../support/pipelines.ts'
import { reservePort } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

describe.skipIf(!rabbitmq)(withBroker, () => {
  const certificate = newCertificate(['127.0.0.1', 'localhost'])
  let w: Awaited<ReturnType<typeof world>>
  let broker: Broker
  beforeAll(async () => {
    ;[w, broker] = await Promise.all([world(), startBroker(certificate)])
    await w.startDelivery(undefined, { ca: certificate.cert })
  })
  afterAll(() => broker?.stop())

  let exchangeCount = 0
  /** Creates a team with a pipeline to its own exchange, and a queue bound to it. */
  async function setUp({
    pipeline: body = {},
    queue: queueOptions = {},
    consume = true,
  }: {
    pipeline?: object
    queue?: object
    consume?: boolean
  } = {}) {
    const tenant = await w.tenant()
    const exchange = `events-${++exchangeCount}`
    const queue = await aQueue(broker.uri, { exchange, ...queueOptions })
    if (consume) await queue.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange }, ...body })
    return { tenant, exchange, queue, pipeline }
  }
  const loggedBy = async ({ api }: Tenant) => (await api.listEvents({ query: { limit: 500 } })).events

  test('publishes every event once, in log order, with the same body as webhooks', async () => {
    const { tenant, queue, pipeline } = await setUp()
    const user_id = await aUser(tenant.api)
    await placeOrder(tenant.api, 'walk_in_test', { user_id })
    await emitEvents(w.app, tenant, ['a', 'b', 'a', 'a', 'b', 'c'])
    const order = await placeOrder(tenant.api, 'testkit', { user_id })
    await w.runJobs()
    const logged = await loggedBy(tenant)
    expect(logged.filter(({ data }) => (data as { id?: string }).id === order.id).length).toBeGreaterThan(1)
    await waitFor(() => expect(queue.received.length).toBeGreaterThanOrEqual(logged.length))
    expect(queue.events()).toEqual(logged.map(({ cursor: _, ...event }) => event))
    await waitFor(async () =>
      expect(await pipeline.state()).toMatchObject({
        delivered: logged.length,
        lag: 0,
        last_error: null,
        last_delivered_at: expect.any(String),
      }),
    )
  })

  test('sets the event type as routing key and the event ID as message ID, and compresses above 1 KiB', async () => {
    const { tenant, queue } = await setUp({ pipeline: { event_type_prefixes: ['endpoint.', 'labtest.'] } })
    await emitEvents(w.app, tenant, ['small'])
    await placeOrder(tenant.api)
    await w.runJobs()
    const [small, large] = await waitFor(() => {
      const [small, large] = queue.received
      if (!small || !large) throw new Error('not yet')
      return [small, large] as const
    })
    const [first, second] = (await loggedBy(tenant)).filter(({ event_type }) => event_type !== 'user.created')
    expect(small.fields.routingKey).toBe('endpoint.disabled')
    expect(small.properties).toMatchObject({
      messageId: first?.event_id,
      type: 'endpoint.disabled',
      contentType: 'application/json',
      contentEncoding: undefined,
      deliveryMode: 2,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(small.content.length).toBeLessThanOrEqual(1024)
    expect(JSON.parse(small.content.toString())).toMatchObject({ event_id: first?.event_id })
    expect(large.fields.routingKey).toBe('labtest.order.created')
    expect(large.properties).toMatchObject({
      messageId: second?.event_id,
      contentEncoding: 'gzip',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    })
    expect(gunzipSync(large.content).length).toBeGreaterThan(1024)
    expect(bodyOf(large).event_id).toBe(second?.event_id)
  })

  test('publishes only event types with a selected prefix', async () => {
    const { tenant, queue, pipeline } = await setUp({ pipeline: { event_type_prefixes: ['labtest.order.created', 'provider.'] } })
    await emitEvents(w.app, tenant, ['a', 'b'])
    await placeOrder(tenant.api)
    await w.runJobs()
    await emitEvents(w.app, tenant, ['c'])
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 0 }))
    await waitFor(() => expect(queue.events().map(({ event_type }) => event_type)).toEqual(['labtest.order.created']))
  })

  test('publishes retained events first with push_historical_data', async () => {
    const tenant = await w.tenant()
    const before = await emitEvents(w.app, tenant, ['a', 'b'])
    const queue = await aQueue(broker.uri, { exchange: 'late' })
    await queue.listen()
    await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'late' }, push_historical_data: true })
    const after = await emitEvents(w.app, tenant, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual([...before, ...after]))
  })

  test('publishes nothing while paused and the missed events after it resumes', async () => {
    const { tenant, queue, pipeline } = await setUp()
    const first = await emitEvents(w.app, tenant, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual(first))
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1 }))
    await pipeline.pause()
    const meanwhile = await emitEvents(w.app, tenant, ['a', 'b', 'a'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 1 })
    await pipeline.resume()
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...meanwhile]))
  })

  test('publishes nothing after the pipeline is deleted, even when it is created again', async () => {
    const { tenant, queue, pipeline, exchange } = await setUp()
    const first = await emitEvents(w.app, tenant, ['a'])
    await waitFor(() => expect(queue.ids()).toEqual(first))
    await pipeline.remove()
    await emitEvents(w.app, tenant, ['b'])
    const again = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange } })
    const later = await emitEvents(w.app, tenant, ['c'])
    await waitFor(() => expect(queue.ids()).toEqual([...first, ...later]))
    await waitFor(async () => expect(await again.state()).toMatchObject({ delivered: 1 }))
  })

  test('publishes only user.deleted for a user who was erased before publishing', async () => {
    const { tenant, queue, pipeline } = await setUp()
    await pipeline.pause()
    const [erased, kept] = [await aUser(tenant.api), await aUser(tenant.api)]
    await placeOrder(tenant.api, 'walk_in_test', { user_id: erased })
    await placeOrder(tenant.api, 'walk_in_test', { user_id: kept })
    await w.runJobs()
    await tenant.api.deleteUser({ params: { user_id: erased } })
    w.advanceTime(8 * DAY)
    await w.runJobs()
    await pipeline.resume()
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
    await waitFor(() => {
      expect(new Set(queue.events().map(({ user_id }) => user_id))).toEqual(new Set([kept, null]))
      expect(queue.events().filter(({ user_id }) => !user_id)).toMatchObject([{ event_type: 'user.deleted', data: { user_id: erased } }])
    })
  })

  test('publishes partial results only if the team enabled them', async () => {
    const { tenant, queue, pipeline } = await setUp()
    const { admin, org_id, team_id } = tenant
    const emitEvent = async (partial: boolean) => {
      const data = { webhook_id: team_id, because: 'gone' as const }
      await inTransaction(w.app, (app) =>
        emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: 'a', data, at: w.app.wall(), partial }),
      )
      await moveAllEvents(w.app)
    }
    for (const partial of [true, false, true]) await emitEvent(partial)
    await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 0 }))
    // The lag leaves out the last event, but the publisher must have passed it too. Otherwise it would be published once enabled.
    const isPastAll =
      'select from pipeline_destinations o where team_id = $1 and after_no = (select max(no) from events where team_id = o.team_id)'
    await waitFor(async () => expect(await query(w.url, isPastAll, [team_id])).toHaveLength(1))
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { partial_webhooks_enabled: true } } })
    await emitEvent(true)
    await waitFor(() => expect(queue.received).toHaveLength(2))
    const [, second, , fourth] = (await loggedBy(tenant)).map(({ event_id }) => event_id)
    expect(queue.ids()).toEqual([second, fourth])
  })

  test('publishes over TLS to a broker with a trusted certificate', async () => {
    const { tenant, queue, pipeline, exchange } = await setUp({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
    await pipeline.put({ rabbitmq: { uri: broker.tlsUri, exchange }, preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] } })
    const ids = await emitEvents(w.app, tenant, ['a', 'b'])
    await waitFor(() => expect(queue.ids()).toEqual(ids))
  })

  describe('failures', () => {
    const failsWith = async ({ pipeline }: Awaited<ReturnType<typeof setUp>>, code: string) => {
      const failing = await waitFor(async () => {
        const state = await pipeline.state()
        expect(state.last_error).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].+\.$/) })
        return state
      })
      expect(failing).toMatchObject({ failing_since: expect.any(String), next_try_at: expect.any(String) })
      expect(failing.failures).toBeGreaterThan(0)
      expect(JSON.stringify(failing)).not.toContain('broker-secret')
      return failing
    }

    test('reports a wrong password and continues after it is corrected', async () => {
      const run = await setUp()
      await run.pipeline.put({ rabbitmq: { uri: broker.uriFor('assay', 'wrong'), exchange: run.exchange } })
      const ids = await emitEvents(w.app, run.tenant, ['a', 'b'])
      await failsWith(run, 'login')
      const repaired = await run.pipeline.put({ rabbitmq: { uri: broker.uri, exchange: run.exchange } })
      expect(stateOf(repaired)).toMatchObject({ last_error: null, lag: 2 })
      await waitFor(() => expect(run.queue.ids()).toEqual(ids))
    })

    test.each([
      ['a missing virtual host', 'vhost', () => `${broker.uri}/nowhere`, 'events'],
      ['a missing exchange', 'exchange_missing', () => broker.uri, 'nowhere'],
      ['a closed port', 'refused', async () => `amqp://a:b@127.0.0.1:${await reservePort()}`, 'events'],
      ['a failed TLS handshake', 'tls', () => `amqps://a:b@127.0.0.1:${broker.port}`, 'events'],
    ])('reports %s as %s', async (_, code, uri, exchange) => {
      const run = await setUp({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
      const address = await uri()
      await run.pipeline.put({ rabbitmq: { uri: address, exchange }, preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] } })
      await emitEvents(w.app, run.tenant, ['a'])
      expect(await failsWith(run, code)).toMatchObject({ delivered: 0, lag: 1 })
    })

    test('keeps an unroutable event until a queue is bound, without resending later events on every attempt', async () => {
      const run = await setUp({ queue: { pattern: 'labtest.#' }, pipeline: { event_type_prefixes: ['endpoint.', 'labtest.'] } })
      const ids = await emitEvents(w.app, run.tenant, ['a', 'b'])
      await placeOrder(run.tenant.api)
      await moveAllEvents(w.app)
      for (let attempts = 1; attempts <= 4; attempts++) {
        await waitFor(async () => expect((await run.pipeline.state()).failures).toBeGreaterThanOrEqual(attempts))
        w.advanceTime(2 * MINUTE)
      }
      await failsWith(run, 'unroutable')
      expect(run.queue.received.length).toBeLessThanOrEqual(1)
      await run.queue.channel.bindQueue(run.queue.name, run.exchange, 'endpoint.#')
      w.advanceTime(2 * MINUTE)
      await waitFor(async () => expect(await run.pipeline.state()).toMatchObject({ lag: 0, last_error: null, failures: 0 }))
      const events = (await loggedBy(run.tenant)).filter(({ event_type }) => event_type !== 'user.created')
      const logged = events.map(({ event_id }) => event_id)
      await waitFor(() => expect(new Set(run.queue.ids())).toEqual(new Set(logged)))
      expect(run.queue.ids().filter((id) => ids.includes(id))).toEqual(ids)
      expect(run.queue.received.length).toBeLessThanOrEqual(logged.length + 1)
    })

    test('reports a full queue and resends the rejected events once there is room', async () => {
      const full = { arguments: { 'x-max-length': 3, 'x-overflow': 'reject-publish' } }
      const run = await setUp({ queue: full, consume: false })
      const ids = await emitEvents(w.app, run.tenant, Array(8).fill('the same'))
      expect(await failsWith(run, 'nacked')).toMatchObject({ delivered: 3, lag: 5 })
      await run.queue.listen()
      w.advanceTime(MINUTE)
      await waitFor(async () =>
        expect(await run.pipeline.state()).toMatchObject({ delivered: 8, lag: 0, last_error: null, failing_since: null }),
      )
      await waitFor(() => expect([...new Set(run.queue.ids())]).toEqual(ids))
    })
  })

  test('reports published events, failures by reason and lag as metrics', async () => {
    const run = await setUp({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
    await emitEvents(w.app, run.tenant, ['a', 'b'])
    const text = await (await fetch(`${w.base}/metrics`)).text()
    const value = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      )
    expect(value(`assay_pipeline_lag{team_id="${run.tenant.team_id}",destination="rabbitmq"}`)).toBe(2)
    expect(value(`assay_pipeline_oldest_waiting_seconds{team_id="${run.tenant.team_id}",destination="rabbitmq"}`)).toBeGreaterThanOrEqual(0)
    expect(value('assay_pipeline_published_total{destination="rabbitmq"}')).toBeGreaterThan(20)
    expect(value('assay_pipeline_failures_total{destination="rabbitmq",reason="login"}')).toBeGreaterThan(0)
  })
})

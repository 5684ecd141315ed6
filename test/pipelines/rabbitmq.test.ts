import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { numberEvents } from '../../src/delivery/events/log.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { aQueue, type Broker, bodyOf, rabbitmq, startBroker, withBroker } from '../support/broker.ts'
import { newCertificate } from '../support/certificate.ts'
import { aUser, place } from '../support/orders.ts'
import { aPipeline, stateOf, tell } from '../support/pipelines.ts'
import { soon } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

describe.skipIf(!rabbitmq)(withBroker, () => {
  const certificate = newCertificate(['127.0.0.1', 'localhost'])
  let w: Awaited<ReturnType<typeof world>>
  let broker: Broker
  beforeAll(async () => {
    ;[w, broker] = await Promise.all([world(), startBroker(certificate)])
    w.publisher({ ca: certificate.cert })
  })
  afterAll(() => broker?.stop())

  let made = 0
  /** A team with a pipeline into an exchange of its own, and a queue on it that is listened to. */
  async function story({ pipeline: body = {}, queue = {}, listens = true }: { pipeline?: object; queue?: object; listens?: boolean } = {}) {
    const tenant = await w.tenant()
    const exchange = `events-${++made}`
    const queue_ = await aQueue(broker.uri, { exchange, ...queue })
    if (listens) await queue_.listen()
    const pipeline = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange }, ...body })
    return { tenant, exchange, queue: queue_, pipeline }
  }
  const loggedBy = async ({ api }: Tenant) => (await api.listEvents({ query: { limit: 500 } })).events

  test('gets every event once, in the order of the log, as webhooks tell it', async () => {
    const { tenant, queue, pipeline } = await story()
    const user_id = await aUser(tenant.api)
    await place(tenant.api, 'walk_in_test', { user_id })
    await tell(w.app, tenant, ['a', 'b', 'a', 'a', 'b', 'c'])
    const order = await place(tenant.api, 'testkit', { user_id })
    await w.runJobs()
    const logged = await loggedBy(tenant)
    expect(logged.filter(({ data }) => (data as { id?: string }).id === order.id).length).toBeGreaterThan(1)
    await soon(() => expect(queue.received.length).toBeGreaterThanOrEqual(logged.length))
    expect(queue.events()).toEqual(logged.map(({ cursor: _, ...event }) => event))
    await soon(async () =>
      expect(await pipeline.state()).toMatchObject({
        delivered: logged.length,
        lag: 0,
        last_error: null,
        last_delivered_at: expect.any(String),
      }),
    )
  })

  test('gets the type as routing key, the id to tell what it has seen, and gzip above 1 KiB', async () => {
    const { tenant, queue } = await story({ pipeline: { event_type_prefixes: ['endpoint.', 'labtest.'] } })
    await tell(w.app, tenant, ['small'])
    await place(tenant.api)
    await w.runJobs()
    const [small, large] = await soon(() => {
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

  test('gets the types that begin with the prefixes', async () => {
    const { tenant, queue, pipeline } = await story({ pipeline: { event_type_prefixes: ['labtest.order.created', 'provider.'] } })
    await tell(w.app, tenant, ['a', 'b'])
    await place(tenant.api)
    await w.runJobs()
    await tell(w.app, tenant, ['c'])
    await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 0 }))
    expect(queue.events().map(({ event_type }) => event_type)).toEqual(['labtest.order.created'])
  })

  test('gets what was kept before it was there, where it is asked for', async () => {
    const tenant = await w.tenant()
    const before = await tell(w.app, tenant, ['a', 'b'])
    const queue = await aQueue(broker.uri, { exchange: 'late' })
    await queue.listen()
    await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange: 'late' }, push_historical_data: true })
    const after = await tell(w.app, tenant, ['a'])
    await soon(() => expect(queue.ids()).toEqual([...before, ...after]))
  })

  test('gets nothing while the pipeline is paused, and then what happened meanwhile', async () => {
    const { tenant, queue, pipeline } = await story()
    const first = await tell(w.app, tenant, ['a'])
    await soon(() => expect(queue.ids()).toEqual(first))
    await pipeline.pause()
    const meanwhile = await tell(w.app, tenant, ['a', 'b', 'a'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 1 })
    await pipeline.resume()
    await soon(() => expect(queue.ids()).toEqual([...first, ...meanwhile]))
  })

  test('gets nothing of a pipeline that was deleted', async () => {
    const { tenant, queue, pipeline, exchange } = await story()
    const first = await tell(w.app, tenant, ['a'])
    await soon(() => expect(queue.ids()).toEqual(first))
    await pipeline.remove()
    await tell(w.app, tenant, ['b'])
    const again = await aPipeline(tenant, { rabbitmq: { uri: broker.uri, exchange } })
    const later = await tell(w.app, tenant, ['c'])
    await soon(() => expect(queue.ids()).toEqual([...first, ...later]))
    await soon(async () => expect(await again.state()).toMatchObject({ delivered: 1 }))
  })

  test('gets nothing about a user that was erased meanwhile, but that it was deleted', async () => {
    const { tenant, queue, pipeline } = await story()
    await pipeline.pause()
    const [gone, stays] = [await aUser(tenant.api), await aUser(tenant.api)]
    await place(tenant.api, 'walk_in_test', { user_id: gone })
    await place(tenant.api, 'walk_in_test', { user_id: stays })
    await w.runJobs()
    await tenant.api.deleteUser({ params: { user_id: gone } })
    w.passes(8 * DAY)
    await w.runJobs()
    await pipeline.resume()
    await soon(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
    await soon(() => expect(queue.received.length).toBeGreaterThan(0))
    expect(new Set(queue.events().map(({ user_id }) => user_id))).toEqual(new Set([stays, null]))
    expect(queue.events().filter(({ user_id }) => !user_id)).toMatchObject([{ event_type: 'user.deleted', data: { user_id: gone } }])
  })

  test('gets partial reports where the team asked for them', async () => {
    const { tenant, queue, pipeline } = await story()
    const { admin, org_id, team_id } = tenant
    const say = async (partial: boolean) => {
      const data = { webhook_id: team_id, because: 'gone' as const }
      await inTransaction(w.app, (app) =>
        emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: 'a', data, at: w.app.wall(), partial }),
      )
      await numberEvents(w.app)
    }
    for (const partial of [true, false, true]) await say(partial)
    await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 0 }))
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { partial_webhooks_enabled: true } } })
    await say(true)
    await soon(() => expect(queue.received).toHaveLength(2))
    const [, second, , fourth] = (await loggedBy(tenant)).map(({ event_id }) => event_id)
    expect(queue.ids()).toEqual([second, fourth])
  })

  test('speaks TLS to a broker whose certificate it trusts', async () => {
    const { tenant, queue, pipeline, exchange } = await story({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
    await pipeline.put({ rabbitmq: { uri: broker.tlsUri, exchange }, preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] } })
    const ids = await tell(w.app, tenant, ['a', 'b'])
    await soon(() => expect(queue.ids()).toEqual(ids))
  })

  describe('that does not take events', () => {
    const failsWith = async ({ pipeline }: Awaited<ReturnType<typeof story>>, code: string) => {
      const failing = await soon(async () => {
        const one = await pipeline.state()
        expect(one.last_error).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].+\.$/) })
        return one
      })
      expect(failing).toMatchObject({ failing_since: expect.any(String), next_try_at: expect.any(String) })
      expect(failing.failures).toBeGreaterThan(0)
      expect(JSON.stringify(failing)).not.toContain('broker-secret')
      return failing
    }

    test('because of the password: shown, and repaired by the right one', async () => {
      const one = await story()
      await one.pipeline.put({ rabbitmq: { uri: broker.uriFor('assay', 'wrong'), exchange: one.exchange } })
      const ids = await tell(w.app, one.tenant, ['a', 'b'])
      await failsWith(one, 'login')
      const repaired = await one.pipeline.put({ rabbitmq: { uri: broker.uri, exchange: one.exchange } })
      expect(stateOf(repaired)).toMatchObject({ last_error: null, lag: 2 })
      await soon(() => expect(one.queue.ids()).toEqual(ids))
    })

    test.each([
      ['the virtual host', 'vhost', () => `${broker.uri}/nowhere`, 'events'],
      ['the exchange', 'exchange_missing', () => broker.uri, 'nowhere'],
      ['the port', 'refused', () => 'amqp://a:b@127.0.0.1:9', 'events'],
      ['the certificate', 'tls', () => `amqps://a:b@127.0.0.1:${broker.port}`, 'events'],
    ])('because of %s: shown as %s', async (_, code, uri, exchange) => {
      const one = await story({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
      const address = uri().replace(':9', code === 'refused' ? ':9999' : ':9')
      await one.pipeline.put({ rabbitmq: { uri: address, exchange }, preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] } })
      await tell(w.app, one.tenant, ['a'])
      expect(await failsWith(one, code)).toMatchObject({ delivered: 0, lag: 1 })
    })

    test('because no queue is bound for the type: kept until one is, and those behind it do not come with every try', async () => {
      const one = await story({ queue: { pattern: 'labtest.#' }, pipeline: { event_type_prefixes: ['endpoint.', 'labtest.'] } })
      const ids = await tell(w.app, one.tenant, ['a', 'b'])
      await place(one.tenant.api)
      await numberEvents(w.app)
      for (let tries = 1; tries <= 4; tries++) {
        await soon(async () => expect((await one.pipeline.state()).failures).toBeGreaterThanOrEqual(tries))
        w.passes(2 * MINUTE)
      }
      await failsWith(one, 'unroutable')
      expect(one.queue.received.length).toBeLessThanOrEqual(1)
      await one.queue.channel.bindQueue(one.queue.name, one.exchange, 'endpoint.#')
      w.passes(2 * MINUTE)
      await soon(async () => expect(await one.pipeline.state()).toMatchObject({ lag: 0, last_error: null, failures: 0 }))
      const events = (await loggedBy(one.tenant)).filter(({ event_type }) => event_type !== 'user.created')
      const logged = events.map(({ event_id }) => event_id)
      await soon(() => expect(new Set(one.queue.ids())).toEqual(new Set(logged)))
      expect(one.queue.ids().filter((id) => ids.includes(id))).toEqual(ids)
      expect(one.queue.received.length).toBeLessThanOrEqual(logged.length + 1)
    })

    test('because a queue is full: it nacks, and what it refused comes once there is room', async () => {
      const full = { arguments: { 'x-max-length': 3, 'x-overflow': 'reject-publish' } }
      const one = await story({ queue: full, listens: false })
      const ids = await tell(w.app, one.tenant, Array(8).fill('the same'))
      expect(await failsWith(one, 'nacked')).toMatchObject({ delivered: 3, lag: 5 })
      await one.queue.listen()
      w.passes(MINUTE)
      await soon(async () =>
        expect(await one.pipeline.state()).toMatchObject({ delivered: 8, lag: 0, last_error: null, failing_since: null }),
      )
      expect([...new Set(one.queue.ids())]).toEqual(ids)
    })
  })

  test('is measured: published, failures by reason, and what waits', async () => {
    const one = await story({ pipeline: { preferences: { preferred: 'rabbitmq', enabled: [] } } })
    await tell(w.app, one.tenant, ['a', 'b'])
    const text = await (await fetch(`${w.base}/metrics`)).text()
    const value = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      )
    expect(value(`assay_pipeline_lag{team_id="${one.tenant.team_id}",destination="rabbitmq"}`)).toBe(2)
    expect(value(`assay_pipeline_oldest_waiting_seconds{team_id="${one.tenant.team_id}",destination="rabbitmq"}`)).toBeGreaterThanOrEqual(0)
    expect(value('assay_pipeline_published_total{destination="rabbitmq"}')).toBeGreaterThan(20)
    expect(value('assay_pipeline_failures_total{destination="rabbitmq",reason="login"}')).toBeGreaterThan(0)
  })
})

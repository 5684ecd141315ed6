import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { emitTo } from '../support/delivery.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { aPipeline, deploymentOf, emitEvents, stateOf } from '../support/pipelines.ts'
import { eventually } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

const w = await world({ env: { PUBSUB_PROJECTS: 'harbor-events,example.com:harbor-lab' } })

const uri = 'amqps://courier:broker-password@broker.example.com:5671/labs'
const rabbitmq = { uri, exchange: 'events' }
const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }
const put = ({ admin, ...tenant }: Tenant, body: object = {}) =>
  admin.upsertPipelines({ params: deploymentOf(tenant), body: { team_ids: [tenant.team_id], rabbitmq, ...body } })
const pipelinesOf = async ({ admin, ...tenant }: Tenant) => (await admin.listPipelines({ params: deploymentOf(tenant) })).pipelines

const inFull = { format: 'full', include_client_user_id: false }

describe('pipelines', () => {
  test('creates, lists, updates, pauses and deletes a pipeline', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq, event_type_prefixes: ['labtest.', 'labtest.'] })
    expect(pipeline.created).toEqual({
      team_id: tenant.team_id,
      push_historical_data: false,
      provider_raw_data: false,
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] },
      cloud_pubsub: null,
      rabbitmq: { uri: 'amqps://***:***@broker.example.com:5671/labs', exchange: 'events', ...inFull },
      svix: null,
      azure_amqp: null,
      event_type_prefixes: ['labtest.'],
      destinations: [
        {
          destination: 'rabbitmq',
          delivered: 0,
          last_delivered_at: null,
          lag: 0,
          failures: 0,
          failing_since: null,
          last_error: null,
          next_try_at: null,
          created_at: expect.any(String),
        },
      ],
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await pipelinesOf(tenant)).toEqual([pipeline.created])
    const changed = await pipeline.put({ rabbitmq: { ...rabbitmq, exchange: 'other' }, event_type_prefixes: [] })
    expect(changed).toMatchObject({ rabbitmq: { exchange: 'other' }, event_type_prefixes: null, created_at: pipeline.created.created_at })
    expect(await pipeline.pause()).toMatchObject({ preferences: { preferred: 'rabbitmq', enabled: [] }, rabbitmq: changed.rabbitmq })
    expect(await pipeline.remove()).toMatchObject([{ team_id: tenant.team_id }])
    expect(await pipelinesOf(tenant)).toEqual([])
    expect(await pipeline.remove()).toEqual([])
  })

  test('each destination has a format, which stays unless it is sent', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq: { ...rabbitmq, format: 'thin' }, cloud_pubsub })
    expect(pipeline.created).toMatchObject({ rabbitmq: { ...inFull, format: 'thin' }, cloud_pubsub: inFull })
    const changed = await pipeline.put({ rabbitmq: { ...rabbitmq, include_client_user_id: true }, cloud_pubsub })
    expect(changed).toMatchObject({ rabbitmq: { format: 'thin', include_client_user_id: true }, cloud_pubsub: inFull })
    await pipeline.remove()
    expect((await aPipeline(tenant, { rabbitmq })).created).toMatchObject({ rabbitmq: inFull })
  })

  test('starts after every event that was emitted before, also if it is not in the log yet', async () => {
    const tenant = await w.tenant()
    await emitTo(w.app, tenant.team_id, ['before'])
    const pipeline = await aPipeline(tenant, { rabbitmq })
    await emitEvents(w.app, tenant, ['after'])
    expect(await pipeline.state()).toMatchObject({ lag: 1 })
  })

  test('a deletion waits for the log of the team before it locks the pipeline', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq })
    const commit = await runUncommitted(w.url, 'select from event_logs where team_id = $1 for update', [tenant.team_id])
    const removed = pipeline.remove()
    await eventually(async () => (await lockWaits(w.url)).length)
    expect(await query(w.url, 'select team_id from pipelines where team_id = $1 for update nowait', [tenant.team_id])).toHaveLength(1)
    await commit()
    expect(await removed).toMatchObject([{ team_id: tenant.team_id }])
  })

  test('counts only events of the selected types in the lag', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq, event_type_prefixes: ['endpoint.'] })
    await emitEvents(w.app, tenant, ['a', 'b', 'c'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 0 })
    expect(stateOf(await pipeline.put({ event_type_prefixes: ['labtest.'] }))).toMatchObject({ lag: 0 })
  })

  test('starts with new events, or with all retained events if push_historical_data is set', async () => {
    const [recent, historical] = [await w.tenant(), await w.tenant()]
    for (const tenant of [recent, historical]) await emitEvents(w.app, tenant, ['a', 'b'])
    const [fromNow, fromFirst] = [
      await aPipeline(recent, { rabbitmq }),
      await aPipeline(historical, { rabbitmq, push_historical_data: true }),
    ]
    expect([fromNow.created.push_historical_data, stateOf(fromNow.created).lag]).toEqual([false, 0])
    expect([fromFirst.created.push_historical_data, stateOf(fromFirst.created).lag]).toEqual([true, 2])
  })

  test('never returns the broker credentials and stores them encrypted', async () => {
    const tenant = await w.tenant()
    await put(tenant)
    const responses = JSON.stringify([await pipelinesOf(tenant), await put(tenant)])
    const [row] = await query<Record<string, unknown>>(w.url, 'select * from pipeline_destinations where team_id = $1', [tenant.team_id])
    const storedValues = Object.values(row ?? {}).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
    for (const secret of ['courier', 'broker-password'])
      for (const text of [responses, storedValues.join('\n')]) expect(text.includes(secret), secret).toBe(false)
  })

  test('accepts the masked URI for the same broker and rejects it for another', async () => {
    const tenant = await w.tenant()
    const [created] = await put(tenant)
    const maskedUri = created?.rabbitmq?.uri as string
    expect(await put(tenant, { rabbitmq: { uri: maskedUri, exchange: 'other' } })).toMatchObject([
      { rabbitmq: { uri: maskedUri, exchange: 'other' } },
    ])
    const otherBroker = { uri: maskedUri.replace('broker', 'evil'), exchange: 'events' }
    expect(await errorOf(put(tenant, { rabbitmq: otherBroker }))).toMatchObject({
      status: 400,
      detail: { error_type: 'BROKER_URI_REFUSED', reason: 'credentials', error_message: expect.stringContaining('user name and password') },
    })
  })
})

describe('pipelines with two destinations', () => {
  const settings = ({ preferences, cloud_pubsub, rabbitmq, destinations }: Awaited<ReturnType<typeof put>>[number]) => ({
    ...preferences,
    has: [cloud_pubsub && 'cloud_pubsub', rabbitmq && 'rabbitmq'].filter(Boolean),
    lags: Object.fromEntries(destinations.map(({ destination, lag }) => [destination, lag])),
  })

  test('enables every destination in the request', async () => {
    const [topic, both] = [await w.tenant(), await w.tenant()]
    const only = await aPipeline(topic, { cloud_pubsub })
    expect(only.created).toMatchObject({
      cloud_pubsub,
      rabbitmq: null,
      preferences: { preferred: 'cloud_pubsub', enabled: ['cloud_pubsub'] },
    })
    expect(settings((await aPipeline(both, { cloud_pubsub, rabbitmq })).created)).toMatchObject({
      preferred: 'cloud_pubsub',
      enabled: ['cloud_pubsub', 'rabbitmq'],
      has: ['cloud_pubsub', 'rabbitmq'],
    })
  })

  test('enables a destination added later, starts it with new events and keeps the position of the other', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq })
    await emitEvents(w.app, tenant, ['a', 'b'])
    expect(settings(await pipeline.put({ cloud_pubsub }))).toEqual({
      preferred: 'rabbitmq',
      enabled: ['rabbitmq', 'cloud_pubsub'],
      has: ['cloud_pubsub', 'rabbitmq'],
      lags: { cloud_pubsub: 0, rabbitmq: 2 },
    })
    await emitEvents(w.app, tenant, ['c'])
    expect(settings(await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'other' } })).lags).toEqual({
      cloud_pubsub: 1,
      rabbitmq: 3,
    })
  })

  test('starts a destination added later with all retained events if push_historical_data is set', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq })
    await emitEvents(w.app, tenant, ['a', 'b', 'c'])
    expect(settings(await pipeline.put({ cloud_pubsub, push_historical_data: true })).lags).toEqual({ cloud_pubsub: 3, rabbitmq: 3 })
    expect(await pipeline.get()).toMatchObject({ push_historical_data: true })
  })

  test('pauses each destination separately and keeps it paused when its settings change', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { cloud_pubsub, rabbitmq })
    expect(settings(await pipeline.enable('rabbitmq'))).toMatchObject({ enabled: ['rabbitmq'], has: ['cloud_pubsub', 'rabbitmq'] })
    expect(settings(await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'other' } }))).toMatchObject({ enabled: ['rabbitmq'] })
    expect(await pipeline.get()).toMatchObject({ cloud_pubsub: { topic: 'other' } })
  })

  test('rejects enabling a destination that is not configured', async () => {
    const tenant = await w.tenant()
    await put(tenant)
    const preferences = { preferred: 'rabbitmq', enabled: ['rabbitmq', 'cloud_pubsub'] }
    expect(await errorOf(put(tenant, { preferences }))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'DESTINATION_REQUIRED',
        destination: 'cloud_pubsub',
        error_message: expect.stringContaining('Send cloud_pubsub with project, topic and message_ordering'),
      },
    })
    expect(await pipelinesOf(tenant)).toMatchObject([{ preferences: { enabled: ['rabbitmq'] } }])
  })

  test('keeps both destinations when they are created concurrently', async () => {
    const tenant = await w.tenant()
    const params = deploymentOf(tenant)
    const body = { team_ids: [tenant.team_id] }
    await Promise.all(
      [{ rabbitmq }, { cloud_pubsub }].map((destination) => tenant.admin.upsertPipelines({ params, body: { ...body, ...destination } })),
    )
    const [pipeline] = await pipelinesOf(tenant)
    expect(pipeline?.preferences.enabled.toSorted()).toEqual(['cloud_pubsub', 'rabbitmq'])
    expect(pipeline?.destinations).toHaveLength(2)
  })
})

describe('invalid pipelines', () => {
  test.each([
    ['azure_amqp', { azure_amqp: { connection_string: 'c', default_event_hub: 'h' } }, 'Event Hubs is not supported'],
    ['svix', { svix: { regional: true } }, 'Webhooks deliver independently of pipelines'],
    ['svix', { preferences: { preferred: 'svix', enabled: ['svix', 'rabbitmq'] } }, 'Webhooks deliver independently of pipelines'],
    ['azure_amqp', { preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'azure_amqp'] } }, 'Send rabbitmq'],
  ])('rejects %s: %o', async (destination, body, words) => {
    const tenant = await w.tenant()
    expect(await errorOf(put(tenant, body))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'DESTINATION_NOT_SUPPORTED',
        destination,
        supported: ['cloud_pubsub', 'rabbitmq'],
        error_message: expect.stringContaining(words),
      },
    })
    expect(await pipelinesOf(tenant)).toEqual([])
  })

  test('rejects a project that PUBSUB_PROJECTS does not list', async () => {
    const tenant = await w.tenant()
    const otherProject = { ...cloud_pubsub, project: 'another-project' }
    expect(await errorOf(put(tenant, { cloud_pubsub: otherProject }))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'PUBSUB_PROJECT_REFUSED',
        project: 'another-project',
        error_message: expect.stringContaining('PUBSUB_PROJECTS'),
      },
    })
    expect(await pipelinesOf(tenant)).toEqual([])
  })

  test.each([
    [{ provider_raw_data: true }, 'RAW_DATA_NOT_PUSHED'],
    [{ rabbitmq: null }, 'DESTINATION_REQUIRED'],
    [{ rabbitmq: { uri: 'amqp://a:b@10.0.0.1', exchange: 'events' } }, 'BROKER_URI_REFUSED'],
  ])('rejects %o with %s', async (body, error_type) => {
    const tenant = await w.tenant()
    expect(await errorOf(put(tenant, body))).toMatchObject({ status: 400, detail: { error_type } })
    expect(await pipelinesOf(tenant)).toEqual([])
  })

  test.each([
    [{ team_ids: [] }, ['body', 'team_ids']],
    [{ event_type_prefixes: ['Labtest*'] }, ['body', 'event_type_prefixes', 0]],
    [{ rabbitmq: { uri, exchange: '' } }, ['body', 'rabbitmq', 'exchange']],
    [{ rabbitmq: { uri, exchange: 'é'.repeat(200) } }, ['body', 'rabbitmq', 'exchange']],
    [{ preferences: { preferred: 'kafka', enabled: [] } }, ['body', 'preferences', 'preferred']],
    [{ cloud_pubsub: { ...cloud_pubsub, project: 'short' } }, ['body', 'cloud_pubsub', 'project']],
    [{ cloud_pubsub: { ...cloud_pubsub, project: 'harbor-events/topics/x' } }, ['body', 'cloud_pubsub', 'project']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: 'projects/p/topics/t' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: 'google-like' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: '1st' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, message_ordering: null } }, ['body', 'cloud_pubsub', 'message_ordering']],
  ])('rejects %o with a validation error', async (body, loc) => {
    expect(await errorOf(put(await w.tenant(), body))).toMatchObject({ status: 422, detail: [{ loc }] })
  })

  test('rejects a deletion without team IDs', async () => {
    const { admin, ...tenant } = await w.tenant()
    expect(await errorOf(admin.deletePipelines({ params: deploymentOf(tenant), query: { team_id: [] } }))).toMatchObject({ status: 422 })
  })

  test('rejects an unknown team and creates no pipeline for the other teams', async () => {
    const tenant = await w.tenant()
    expect(await errorOf(put(tenant, { team_ids: [tenant.team_id, newUuid()] }))).toMatchObject({
      status: 404,
      detail: { error_type: 'TEAM_NOT_FOUND' },
    })
    expect(await pipelinesOf(tenant)).toEqual([])
  })
})

test('limits a Team Management Key to the pipelines of its teams', async () => {
  const tenant = await w.tenant()
  const { admin, org_id, team_id } = tenant
  const { id: sibling } = await admin.createTeam({ params: { org_id }, body: { name: 'Sibling', region: 'us' } })
  await put(tenant, { team_ids: [team_id, sibling] })
  const { key } = await admin.createManagementKey({
    params: { org_id },
    body: { label: 'narrow', role: 'team_admin', team_role_bindings: [{ team_id }] },
  })
  const narrow: Tenant = { ...tenant, admin: createClient(w.base, { 'x-management-key': key }) }
  expect((await pipelinesOf(narrow)).map((pipeline) => pipeline.team_id)).toEqual([team_id])
  expect(await errorOf(put(narrow, { team_ids: [sibling] }))).toMatchObject({ status: 404 })
  expect(await narrow.admin.deletePipelines({ params: deploymentOf(tenant), query: { team_id: [sibling] } })).toEqual([])
  expect((await pipelinesOf(tenant)).map((pipeline) => pipeline.team_id).sort()).toEqual([team_id, sibling].sort())
})

test('creates a single pipeline for concurrent requests', async () => {
  const tenant = await w.tenant()
  await Promise.all([put(tenant), put(tenant), put(tenant)])
  expect(await pipelinesOf(tenant)).toHaveLength(1)
})

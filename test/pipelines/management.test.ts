import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { query } from '../support/cluster.ts'
import { aPipeline, deploymentOf, stateOf, tell } from '../support/pipelines.ts'
import { newUuid } from '../support/seeded.ts'
import { refusal, type Tenant, world } from '../support/world.ts'

const w = await world({ env: { PUBSUB_PROJECTS: 'harbour-events,example.com:harbour-lab' } })

const uri = 'amqps://courier:only-between-us@broker.example.com:5671/labs'
const rabbitmq = { uri, exchange: 'events' }
const cloud_pubsub = { project: 'harbour-events', topic: 'health', message_ordering: true }
const put = ({ admin, ...tenant }: Tenant, body: object = {}) =>
  admin.upsertPipelines({ params: deploymentOf(tenant), body: { team_ids: [tenant.team_id], rabbitmq, ...body } })
const pipelinesOf = async ({ admin, ...tenant }: Tenant) => (await admin.listPipelines({ params: deploymentOf(tenant) })).pipelines

describe('a pipeline', () => {
  test('is made, listed, changed, paused and deleted', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq, event_type_prefixes: ['labtest.', 'labtest.'] })
    expect(pipeline.made).toEqual({
      team_id: tenant.team_id,
      push_historical_data: false,
      provider_raw_data: false,
      preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq'] },
      cloud_pubsub: null,
      rabbitmq: { uri: 'amqps://***:***@broker.example.com:5671/labs', exchange: 'events' },
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
    expect(await pipelinesOf(tenant)).toEqual([pipeline.made])
    const changed = await pipeline.put({ rabbitmq: { ...rabbitmq, exchange: 'other' }, event_type_prefixes: [] })
    expect(changed).toMatchObject({ rabbitmq: { exchange: 'other' }, event_type_prefixes: null, created_at: pipeline.made.created_at })
    expect(await pipeline.pause()).toMatchObject({ preferences: { preferred: 'rabbitmq', enabled: [] }, rabbitmq: changed.rabbitmq })
    expect(await pipeline.remove()).toMatchObject([{ team_id: tenant.team_id }])
    expect(await pipelinesOf(tenant)).toEqual([])
    expect(await pipeline.remove()).toEqual([])
  })

  test('says how many events wait that it takes', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq, event_type_prefixes: ['endpoint.'] })
    await tell(w.app, tenant, ['a', 'b', 'c'])
    expect(await pipeline.state()).toMatchObject({ lag: 3, delivered: 0 })
    expect(stateOf(await pipeline.put({ event_type_prefixes: ['labtest.'] }))).toMatchObject({ lag: 0 })
  })

  test('begins with what happens from now on, or with all that is kept', async () => {
    const [now, all] = [await w.tenant(), await w.tenant()]
    for (const tenant of [now, all]) await tell(w.app, tenant, ['a', 'b'])
    const [fromNow, fromFirst] = [await aPipeline(now, { rabbitmq }), await aPipeline(all, { rabbitmq, push_historical_data: true })]
    expect([fromNow.made.push_historical_data, stateOf(fromNow.made).lag]).toEqual([false, 0])
    expect([fromFirst.made.push_historical_data, stateOf(fromFirst.made).lag]).toEqual([true, 2])
  })

  test('keeps user and password to itself', async () => {
    const tenant = await w.tenant()
    await put(tenant)
    const answers = JSON.stringify([await pipelinesOf(tenant), await put(tenant)])
    const [row] = await query<Record<string, unknown>>(w.url, 'select * from pipeline_outlets where team_id = $1', [tenant.team_id])
    const kept = Object.values(row ?? {}).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
    for (const secret of ['courier', 'only-between-us'])
      for (const text of [answers, kept.join('\n')]) expect(text.includes(secret), secret).toBe(false)
  })

  test('takes its URI back as it was answered, and for no other broker', async () => {
    const tenant = await w.tenant()
    const [made] = await put(tenant)
    const shown = made?.rabbitmq?.uri as string
    expect(await put(tenant, { rabbitmq: { uri: shown, exchange: 'other' } })).toMatchObject([
      { rabbitmq: { uri: shown, exchange: 'other' } },
    ])
    const moved = { uri: shown.replace('broker', 'evil'), exchange: 'events' }
    expect(await refusal(put(tenant, { rabbitmq: moved }))).toMatchObject({
      status: 400,
      detail: { error_type: 'BROKER_URI_REFUSED', reason: 'credentials', error_message: expect.stringContaining('user name and password') },
    })
  })
})

describe('of two destinations', () => {
  const settings = ({ preferences, cloud_pubsub, rabbitmq, destinations }: Awaited<ReturnType<typeof put>>[number]) => ({
    ...preferences,
    has: [cloud_pubsub && 'cloud_pubsub', rabbitmq && 'rabbitmq'].filter(Boolean),
    lags: Object.fromEntries(destinations.map(({ destination, lag }) => [destination, lag])),
  })

  test('those that are sent are enabled', async () => {
    const [topic, both] = [await w.tenant(), await w.tenant()]
    const only = await aPipeline(topic, { cloud_pubsub })
    expect(only.made).toMatchObject({ cloud_pubsub, rabbitmq: null, preferences: { preferred: 'cloud_pubsub', enabled: ['cloud_pubsub'] } })
    expect(settings((await aPipeline(both, { cloud_pubsub, rabbitmq })).made)).toMatchObject({
      preferred: 'cloud_pubsub',
      enabled: ['cloud_pubsub', 'rabbitmq'],
      has: ['cloud_pubsub', 'rabbitmq'],
    })
  })

  test('one that is added later is enabled with it, begins by itself, and the other keeps its place', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq })
    await tell(w.app, tenant, ['a', 'b'])
    expect(settings(await pipeline.put({ cloud_pubsub }))).toEqual({
      preferred: 'rabbitmq',
      enabled: ['rabbitmq', 'cloud_pubsub'],
      has: ['cloud_pubsub', 'rabbitmq'],
      lags: { cloud_pubsub: 0, rabbitmq: 2 },
    })
    await tell(w.app, tenant, ['c'])
    expect(settings(await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'other' } })).lags).toEqual({
      cloud_pubsub: 1,
      rabbitmq: 3,
    })
  })

  test('one that is added later begins with all that is kept, where that is asked for', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { rabbitmq })
    await tell(w.app, tenant, ['a', 'b', 'c'])
    expect(settings(await pipeline.put({ cloud_pubsub, push_historical_data: true })).lags).toEqual({ cloud_pubsub: 3, rabbitmq: 3 })
    expect(await pipeline.get()).toMatchObject({ push_historical_data: true })
  })

  test('each is paused by itself, and one that is paused stays so when it is changed', async () => {
    const tenant = await w.tenant()
    const pipeline = await aPipeline(tenant, { cloud_pubsub, rabbitmq })
    expect(settings(await pipeline.enable('rabbitmq'))).toMatchObject({ enabled: ['rabbitmq'], has: ['cloud_pubsub', 'rabbitmq'] })
    expect(settings(await pipeline.put({ cloud_pubsub: { ...cloud_pubsub, topic: 'other' } }))).toMatchObject({ enabled: ['rabbitmq'] })
    expect(await pipeline.get()).toMatchObject({ cloud_pubsub: { topic: 'other' } })
  })

  test('one cannot be enabled that is not there', async () => {
    const tenant = await w.tenant()
    await put(tenant)
    const preferences = { preferred: 'rabbitmq', enabled: ['rabbitmq', 'cloud_pubsub'] }
    expect(await refusal(put(tenant, { preferences }))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'DESTINATION_REQUIRED',
        destination: 'cloud_pubsub',
        error_message: expect.stringContaining('send cloud_pubsub with project, topic and message_ordering'),
      },
    })
    expect(await pipelinesOf(tenant)).toMatchObject([{ preferences: { enabled: ['rabbitmq'] } }])
  })

  test('those that are made in the same moment are both there', async () => {
    const tenant = await w.tenant()
    const params = deploymentOf(tenant)
    const body = { team_ids: [tenant.team_id] }
    await Promise.all([{ rabbitmq }, { cloud_pubsub }].map((sent) => tenant.admin.upsertPipelines({ params, body: { ...body, ...sent } })))
    const [one] = await pipelinesOf(tenant)
    expect(one?.preferences.enabled.toSorted()).toEqual(['cloud_pubsub', 'rabbitmq'])
    expect(one?.destinations).toHaveLength(2)
  })
})

describe('is refused', () => {
  test.each([
    ['azure_amqp', { azure_amqp: { connection_string: 'c', default_event_hub: 'h' } }, 'Event Hubs is not supported'],
    ['svix', { svix: { regional: true } }, 'Webhooks deliver independently of pipelines'],
    ['svix', { preferences: { preferred: 'svix', enabled: ['svix', 'rabbitmq'] } }, 'Webhooks deliver independently of pipelines'],
    ['azure_amqp', { preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'azure_amqp'] } }, 'send rabbitmq'],
  ])('%s as %o', async (destination, body, words) => {
    const tenant = await w.tenant()
    expect(await refusal(put(tenant, body))).toMatchObject({
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

  test('a project that the operator did not open, with what the operator can do', async () => {
    const tenant = await w.tenant()
    const elsewhere = { ...cloud_pubsub, project: 'somebody-else' }
    expect(await refusal(put(tenant, { cloud_pubsub: elsewhere }))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'PUBSUB_PROJECT_REFUSED',
        project: 'somebody-else',
        error_message: expect.stringContaining('PUBSUB_PROJECTS'),
      },
    })
    expect(await pipelinesOf(tenant)).toEqual([])
  })

  test.each([
    [{ provider_raw_data: true }, 'RAW_DATA_NOT_PUSHED'],
    [{ rabbitmq: null }, 'DESTINATION_REQUIRED'],
    [{ rabbitmq: { uri: 'amqp://a:b@10.0.0.1', exchange: 'events' } }, 'BROKER_URI_REFUSED'],
  ])('%o with %s', async (body, error_type) => {
    const tenant = await w.tenant()
    expect(await refusal(put(tenant, body))).toMatchObject({ status: 400, detail: { error_type } })
    expect(await pipelinesOf(tenant)).toEqual([])
  })

  test.each([
    [{ team_ids: [] }, ['body', 'team_ids']],
    [{ event_type_prefixes: ['Labtest*'] }, ['body', 'event_type_prefixes', 0]],
    [{ rabbitmq: { uri, exchange: '' } }, ['body', 'rabbitmq', 'exchange']],
    [{ rabbitmq: { uri, exchange: 'é'.repeat(200) } }, ['body', 'rabbitmq', 'exchange']],
    [{ preferences: { preferred: 'kafka', enabled: [] } }, ['body', 'preferences', 'preferred']],
    [{ cloud_pubsub: { ...cloud_pubsub, project: 'short' } }, ['body', 'cloud_pubsub', 'project']],
    [{ cloud_pubsub: { ...cloud_pubsub, project: 'harbour-events/topics/x' } }, ['body', 'cloud_pubsub', 'project']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: 'projects/p/topics/t' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: 'google-like' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, topic: '1st' } }, ['body', 'cloud_pubsub', 'topic']],
    [{ cloud_pubsub: { ...cloud_pubsub, message_ordering: null } }, ['body', 'cloud_pubsub', 'message_ordering']],
  ])('%o as of the wrong shape', async (body, loc) => {
    expect(await refusal(put(await w.tenant(), body))).toMatchObject({ status: 422, detail: [{ loc }] })
  })

  test('a deletion that names nobody', async () => {
    const { admin, ...tenant } = await w.tenant()
    expect(await refusal(admin.deletePipelines({ params: deploymentOf(tenant), query: { team_id: [] } }))).toMatchObject({ status: 422 })
  })

  test('an unknown team, and then no other team of the call gets a pipeline', async () => {
    const tenant = await w.tenant()
    expect(await refusal(put(tenant, { team_ids: [tenant.team_id, newUuid()] }))).toMatchObject({
      status: 404,
      detail: { error_type: 'TEAM_NOT_FOUND' },
    })
    expect(await pipelinesOf(tenant)).toEqual([])
  })
})

test('a Team Management Key reaches the pipelines of its teams only', async () => {
  const tenant = await w.tenant()
  const { admin, org_id, team_id } = tenant
  const { id: sibling } = await admin.createTeam({ params: { org_id }, body: { name: 'Sibling', region: 'us' } })
  await put(tenant, { team_ids: [team_id, sibling] })
  const { key } = await admin.createManagementKey({
    params: { org_id },
    body: { label: 'narrow', role: 'team_admin', team_role_bindings: [{ team_id }] },
  })
  const narrow: Tenant = { ...tenant, admin: createClient(w.base, { 'x-management-key': key }) }
  expect((await pipelinesOf(narrow)).map((one) => one.team_id)).toEqual([team_id])
  expect(await refusal(put(narrow, { team_ids: [sibling] }))).toMatchObject({ status: 404 })
  expect(await narrow.admin.deletePipelines({ params: deploymentOf(tenant), query: { team_id: [sibling] } })).toEqual([])
  expect((await pipelinesOf(tenant)).map((one) => one.team_id).sort()).toEqual([team_id, sibling].sort())
})

test('two that are made in the same moment are one', async () => {
  const tenant = await w.tenant()
  await Promise.all([put(tenant), put(tenant), put(tenant)])
  expect(await pipelinesOf(tenant)).toHaveLength(1)
})

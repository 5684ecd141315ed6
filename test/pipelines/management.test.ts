import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { client } from '../../src/contract/client.ts'
import { query } from '../support/cluster.ts'
import { aPipeline, deploymentOf, tell } from '../support/pipelines.ts'
import { refusal, type Tenant, world } from '../support/world.ts'

const w = await world()

const uri = 'amqps://courier:only-between-us@broker.example.com:5671/labs'
const rabbitmq = { uri, exchange: 'events' }
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
      delivered: 0,
      last_delivered_at: null,
      lag: 0,
      failures: 0,
      failing_since: null,
      last_error: null,
      next_try_at: null,
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
    expect(await pipeline.get()).toMatchObject({ lag: 3, delivered: 0 })
    expect(await pipeline.put({ event_type_prefixes: ['labtest.'] })).toMatchObject({ lag: 0 })
  })

  test('begins with what happens from now on, or with all that is kept', async () => {
    const [now, all] = [await w.tenant(), await w.tenant()]
    for (const tenant of [now, all]) await tell(w.app, tenant, ['a', 'b'])
    expect((await aPipeline(now, { rabbitmq })).made).toMatchObject({ push_historical_data: false, lag: 0 })
    expect((await aPipeline(all, { rabbitmq, push_historical_data: true })).made).toMatchObject({ push_historical_data: true, lag: 2 })
  })

  test('keeps user and password to itself', async () => {
    const tenant = await w.tenant()
    await put(tenant)
    const answers = JSON.stringify([await pipelinesOf(tenant), await put(tenant)])
    const [row] = await query<Record<string, unknown>>(w.url, 'select * from pipelines where team_id = $1', [tenant.team_id])
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
      detail: { error_type: 'BROKER_URI_REFUSED', reason: 'credentials', error_message: expect.stringContaining('user and password') },
    })
  })
})

describe('is refused', () => {
  test.each([
    ['cloud_pubsub', { cloud_pubsub: { project: 'p', topic: 't', message_ordering: true } }, 'Pub/Sub is not supported'],
    ['azure_amqp', { azure_amqp: { connection_string: 'c', default_event_hub: 'h' } }, 'Event Hubs is not supported'],
    ['svix', { svix: { regional: true } }, 'Webhooks deliver beside pipelines'],
    ['svix', { preferences: { preferred: 'svix', enabled: ['svix', 'rabbitmq'] } }, 'Webhooks deliver beside pipelines'],
    ['cloud_pubsub', { preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'cloud_pubsub'] } }, 'send rabbitmq'],
  ])('%s as %o', async (destination, body, words) => {
    const tenant = await w.tenant()
    expect(await refusal(put(tenant, body))).toMatchObject({
      status: 400,
      detail: {
        error_type: 'DESTINATION_NOT_SUPPORTED',
        destination,
        supported: ['rabbitmq'],
        error_message: expect.stringContaining(words),
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
  ])('%o as of the wrong shape', async (body, loc) => {
    expect(await refusal(put(await w.tenant(), body))).toMatchObject({ status: 422, detail: [{ loc }] })
  })

  test('a deletion that names nobody', async () => {
    const { admin, ...tenant } = await w.tenant()
    expect(await refusal(admin.deletePipelines({ params: deploymentOf(tenant), query: { team_id: [] } }))).toMatchObject({ status: 422 })
  })

  test('an unknown team, and then no other team of the call gets a pipeline', async () => {
    const tenant = await w.tenant()
    expect(await refusal(put(tenant, { team_ids: [tenant.team_id, randomUUID()] }))).toMatchObject({
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
  const narrow: Tenant = { ...tenant, admin: client(w.base, { 'x-management-key': key }) }
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

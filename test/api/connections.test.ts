import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { sourceSlugs, sources } from '../../src/contract/tenants/sources.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { connectionFor, failConnection, openConnection } from '../../src/wearables/connections/actions.ts'
import { noteDevice } from '../../src/wearables/connections/devices.ts'
import { query } from '../support/cluster.ts'
import { aConnectedUser, aUser, toldOfConnections } from '../support/connections.ts'
import { newUuid } from '../support/seeded.ts'
import { aSample, push } from '../support/wearables.ts'
import { refusal, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const connect = ({ api }: Tenant, user_id: string, provider: 'apple_health_kit' | 'omron_ble' | 'manual' = 'apple_health_kit') =>
  api.connectPushSource({ params: { provider }, body: { user_id } })

describe('the catalogue of sources', () => {
  const inFile = JSON.parse(readFileSync(new URL('../../catalog/catalog.json', import.meta.url), 'utf8')).wearable_sources

  test.each((inFile ?? []) as { slug: keyof typeof sources; source_id: number }[])('has $slug as the catalogue file has it', (row) => {
    const { name, update_model, timezone_affinity, source_types, summary_resources, timeseries_resources } =
      row as never as typeof sources.oura
    expect(sources[row.slug]).toMatchObject({
      ...{ id: row.source_id, name, update_model, timezone_affinity, source_types, summary_resources, timeseries_resources },
    })
  })

  test('numbers every source once', () => {
    const ids = sourceSlugs.map((slug) => sources[slug].id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is listed with what a source can be read for', async () => {
    const listed = await w.api.listSources()
    expect(listed).toHaveLength(sourceSlugs.length)
    expect(listed.find(({ slug }) => slug === 'dexcom_v3')).toEqual({
      name: 'Dexcom',
      slug: 'dexcom_v3',
      description: 'Continuous glucose from Dexcom sensors.',
      logo: expect.stringMatching(/\/assets\/sources\/dexcom_v3\.svg$/),
      auth_type: 'oauth',
      supported_resources: ['glucose'],
    })
  })

  test('is narrowed by source_type', async () => {
    const meters = await w.api.listSources({ query: { source_type: 'ble' } })
    expect(meters.map(({ slug }) => slug).sort()).toEqual(
      ['accuchek_ble', 'beurer_ble', 'contour_ble', 'freestyle_libre_ble', 'omron_ble', 'onetouch_ble'].sort(),
    )
    expect(await refusal(w.api.listSources({ query: { source_type: 'shoe' as never } }))).toMatchObject({ status: 422 })
  })

  test('has a picture of every source at our own address, and of nothing else', async () => {
    for (const slug of sourceSlugs) {
      const answer = await fetch(`${w.base}/assets/sources/${slug}.svg`)
      expect([slug, answer.status, answer.headers.get('content-type')]).toEqual([slug, 200, 'image/svg+xml'])
    }
    for (const file of ['nothing.svg', 'oura', 'oura.png', '..%2f..%2fpackage.json'])
      expect((await fetch(`${w.base}/assets/sources/${file}`)).status).toBe(404)
  })
})

test('a phone is connected once, shown on the user and told once', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  expect(await connect(t, user_id)).toEqual({ success: true })
  expect(await connect(t, user_id)).toEqual({ success: true })

  const logo = expect.stringMatching(/\/assets\/sources\/apple_health_kit\.svg$/)
  const provider = { name: 'Apple HealthKit', slug: 'apple_health_kit', logo }
  const { connected_sources } = await t.api.getUser({ params: { user_id } })
  expect(connected_sources).toEqual([{ created_on: expect.any(String), provider, source: provider }])
  expect((await t.api.listUsers()).users[0]?.connected_sources).toEqual(connected_sources)

  const { providers } = await t.api.listConnections({ params: { user_id } })
  expect(providers).toHaveLength(1)
  expect(providers[0]).toMatchObject({ ...provider, status: 'connected', external_user_id: null, error_details: null })
  expect(providers[0]?.resource_availability['heartrate']).toEqual({ status: 'available', scope_requirements: null })

  const told = await toldOfConnections(w.app, t.team_id)
  expect(told).toEqual([
    {
      ...{ event_type: 'provider.connection.created', user_id },
      data: expect.objectContaining({ user_id, provider, source: provider, external_user_id: null }),
    },
  ])
})

test('two requests at once make one connection', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await Promise.all(Array.from({ length: 6 }, () => connect(t, user_id)))
  expect(await toldOfConnections(w.app, t.team_id)).toHaveLength(1)
})

test('a source that does not push cannot be connected so', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { provider: 'fitbit' as never }
  expect(await refusal(t.api.connectPushSource({ params, body: { user_id } }))).toMatchObject({ status: 422 })
})

test('a connection that ends is gone at once, and can be made again', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  const params = { user_id, provider: 'apple_health_kit' as const }
  expect(await t.api.endConnection({ params })).toEqual({ success: true })
  expect(await t.api.listConnections({ params })).toEqual({ providers: [] })
  expect((await t.api.getUser({ params })).connected_sources).toEqual([])
  expect(await refusal(t.api.endConnection({ params }))).toMatchObject({ status: 404, detail: { error_type: 'CONNECTION_NOT_FOUND' } })

  await w.runJobs()
  await connect(t, user_id)
  expect(await query(w.url, 'select ended_at from connections where user_id = $1', [user_id])).toEqual([{ ended_at: null }])
  expect(await toldOfConnections(w.app, t.team_id)).toHaveLength(2)
})

test('nothing more is taken of a source that was disconnected, until it is connected again', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { user_id, provider: 'apple_health_kit' as const }
  const pushed = () => push(t.api, user_id, 'heartrate', [aSample('2026-03-01T09:00:00Z', 60)])
  await t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-9' } })
  await t.api.endConnection({ params })
  const ended = { status: 400, detail: { error_type: 'CONNECTION_ENDED' } }
  expect(await refusal(pushed())).toMatchObject(ended)
  await w.runJobs()
  expect(await refusal(pushed())).toMatchObject(ended)
  expect(await query(w.url, 'select account_hash from connections where user_id = $1', [user_id])).toEqual([{ account_hash: null }])
  await connect(t, user_id)
  expect(await pushed()).toMatchObject({ created: 1 })

  await t.api.deleteUser({ params })
  await t.api.undoDeleteUser({ query: { user_id } })
  expect(await refusal(pushed())).toMatchObject(ended)
})

test('a source is connected anew where its connection ends at that very moment', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  const [before] = await query(w.url, 'select id from connections where user_id = $1', [user_id])
  // Somebody else is faster between looking for a place and taking the one that is there.
  await query(
    w.url,
    `create function end_meanwhile() returns trigger language plpgsql as $$ begin
       update connections set ended_at = now() where id = '${before?.['id']}'; return null;
     end $$`,
  )
  await query(w.url, 'create trigger ends after insert on connections for each statement execute function end_meanwhile()')
  const params = { provider: 'apple_health_kit' as const }
  const answer = t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-7' } })
  await answer.finally(() => query(w.url, 'drop function end_meanwhile cascade'))
  expect((await t.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ external_user_id: 'account-7' }])
})

test('deleting a user ends its connections, and undoing it does not bring them back', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  await t.api.deleteUser({ params: { user_id } })
  await t.api.undoDeleteUser({ query: { user_id } })
  expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
})

test('whoever was deleted a moment ago is connected to nothing any more', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const user = await requireUser(w.app, t.team_id, user_id)
  await t.api.deleteUser({ params: { user_id } })
  await expect(openConnection(w.app, user, 'apple_health_kit', 'push')).rejects.toMatchObject({ kind: 'not_found' })
  expect(await query(w.url, 'select id from connections where user_id = $1', [user_id])).toEqual([])
  expect(await toldOfConnections(w.app, t.team_id)).toEqual([])
})

test('a connection that breaks says so, and is told once', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const user = await requireUser(w.app, t.team_id, user_id)
  const connection = await openConnection(w.app, user, 'oura', 'oauth')
  const because = { error_type: 'token_refresh_failed', message: 'The source no longer accepts the connection.' }
  await failConnection(w.app, connection, because)
  await failConnection(w.app, connection, because)

  const { providers } = await t.api.listConnections({ params: { user_id } })
  expect(providers[0]).toMatchObject({
    status: 'error',
    error_details: { error_type: 'token_refresh_failed', error_message: because.message, errored_at: expect.any(String) },
  })
  const [, ...told] = await toldOfConnections(w.app, t.team_id)
  expect(told).toEqual([
    {
      event_type: 'provider.connection.error',
      user_id,
      data: { user_id, provider: 'oura', error_type: 'token_refresh_failed', message: because.message, error_details: because.message },
    },
  ])
  expect(await t.api.getMetrics()).toMatchObject({ number_of_connected_sources: 1, number_of_errored_connected_sources: 1 })
  expect((await connectionFor(w.app, user, 'oura'))?.status).toBe('error')
})

test('a phone may name the account at its source', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { provider: 'manual' as const }
  await t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-7' } })
  expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ external_user_id: 'account-7' })
  expect(JSON.stringify(await query(w.url, 'select * from connections where user_id = $1', [user_id]))).not.toContain('account-7')
})

test('connections pause a week after the end of ingestion, and not a day before', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  await t.api.patchUser({ params: { user_id }, body: { ingestion_end: w.app.now() } })
  const status = async () => (await t.api.listConnections({ params: { user_id } })).providers[0]?.status
  await t.api.moveClock({ body: { advance_seconds: 6 * 24 * 3600 } })
  await w.runJobs()
  expect(await status()).toBe('connected')
  await t.api.moveClock({ body: { advance_seconds: 24 * 3600 + 60 } })
  await w.runJobs()
  expect(await status()).toBe('paused')
})

test('connected sources are counted by week', async () => {
  const t = await w.tenant()
  const [first, second] = [await aUser(t.api), await aUser(t.api)]
  await connect(t, first)
  await t.api.moveClock({ body: { advance_seconds: 14 * 24 * 3600 } })
  await connect(t, second)
  const { number_of_connected_sources_by_week: weeks } = await t.api.getMetrics()
  expect(weeks.map(({ value, all }) => ({ value, all }))).toEqual([
    { value: 1, all: 1 },
    { value: 1, all: 2 },
  ])
  const [one, two] = weeks.map(({ date }) => Date.parse(date))
  expect((two as number) - (one as number)).toBe(14 * 24 * 3600 * 1000)
})

describe('devices', () => {
  test('are read with what the source said, and told when they are new or changed', async () => {
    const t = await w.tenant()
    const { user_id, device_id } = await aConnectedUser(w.app, t.api, t.team_id)
    const user = await requireUser(w.app, t.team_id, user_id)
    const same = { source_type: 'watch', device_model: 'Tidemark 2' }
    expect(await noteDevice(w.app, user, 'apple_health_kit', same)).toBe(device_id)
    expect(await noteDevice(w.app, user, 'apple_health_kit', { ...same, device_version: '2.5' })).toBe(device_id)
    expect(await noteDevice(w.app, user, 'apple_health_kit', { source_type: 'phone', device_model: 'Tidemark Phone' })).not.toBe(device_id)

    const device = {
      ...{ id: device_id, user_id, provider: 'apple_health_kit', source_type: 'watch', device_model: 'Tidemark 2', device_version: '2.5' },
      ...{ app_id: null, device_manufacturer: null, device_id: null },
    }
    expect(await t.api.getDevice({ params: { user_id, device_id } })).toEqual(device)
    expect((await t.api.listDevices({ params: { user_id } })).map(({ source_type }) => source_type)).toEqual(['watch', 'phone'])
    const told = await toldOfConnections(w.app, t.team_id)
    expect(told.map(({ event_type }) => event_type)).toEqual([
      'provider.connection.created',
      'provider.device.created',
      'provider.device.updated',
      'provider.device.created',
    ])
    expect(told[2]?.data).toEqual(device)
  })

  test('of nobody, or of somebody else, are not found', async () => {
    const t = await w.tenant()
    const { user_id, device_id } = await aConnectedUser(w.app, t.api, t.team_id)
    const other = await aUser(t.api)
    for (const params of [
      { user_id, device_id: newUuid() },
      { user_id: other, device_id },
    ])
      expect(await refusal(t.api.getDevice({ params }))).toMatchObject({ status: 404, detail: { error_type: 'DEVICE_NOT_FOUND' } })
  })

  test('are gone with their user', async () => {
    const t = await w.tenant()
    const { user_id } = await aConnectedUser(w.app, t.api, t.team_id)
    await t.api.deleteUser({ params: { user_id } })
    await t.api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    for (const table of ['devices', 'connections'])
      expect(await query(w.url, `select 1 from ${table} where user_id = $1`, [user_id])).toEqual([])
  })
})

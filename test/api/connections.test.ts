import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { sourceSlugs, sources } from '../../src/contract/tenants/sources.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { connectionFor, ensureConnection, failConnection } from '../../src/wearables/connections/actions.ts'
import { recordDevice } from '../../src/wearables/connections/devices.ts'
import { aConnectedUser, connectionEvents } from '../support/connections.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
  w.setTimeToNoon()
})

const connect = ({ api }: Tenant, user_id: string, provider: 'apple_health_kit' | 'omron_ble' | 'manual' = 'apple_health_kit') =>
  api.connectPushSource({ params: { provider }, body: { user_id } })

describe('the source catalog', () => {
  const catalogSources = JSON.parse(readFileSync(new URL('../../catalog/catalog.json', import.meta.url), 'utf8')).wearable_sources

  test.each((catalogSources ?? []) as { slug: keyof typeof sources; source_id: number }[])('matches the catalog file for $slug', (row) => {
    const { name, update_model, timezone_affinity, source_types, summary_resources, timeseries_resources } =
      row as never as typeof sources.oura
    expect(sources[row.slug]).toMatchObject({
      ...{ id: row.source_id, name, update_model, timezone_affinity },
      // An adapter can read more resources, and from more kinds of devices, than the file lists.
      source_types: expect.arrayContaining(source_types),
      summary_resources: expect.arrayContaining(summary_resources),
      timeseries_resources: expect.arrayContaining(timeseries_resources),
    })
  })

  test('gives every source a unique ID', () => {
    const ids = sourceSlugs.map((slug) => sources[slug].id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('is listed with the supported resources of each source', async () => {
    const listed = await w.api.listSources()
    expect(listed).toHaveLength(sourceSlugs.length)
    expect(listed.find(({ slug }) => slug === 'dexcom_v3')).toEqual({
      name: 'Dexcom',
      slug: 'dexcom_v3',
      description: 'Continuous glucose from Dexcom sensors.',
      logo: expect.stringMatching(/\/assets\/sources\/dexcom_v3\.svg$/),
      auth_type: 'oauth',
      supported_resources: ['glucose', 'carbohydrates', 'insulin_injection', 'note', 'workout_duration'],
    })
  })

  test('can be filtered by source_type', async () => {
    const meters = await w.api.listSources({ query: { source_type: 'ble' } })
    expect(meters.map(({ slug }) => slug).sort()).toEqual(
      ['accuchek_ble', 'beurer_ble', 'contour_ble', 'freestyle_libre_ble', 'omron_ble', 'onetouch_ble'].sort(),
    )
    expect(await errorOf(w.api.listSources({ query: { source_type: 'shoe' as never } }))).toMatchObject({ status: 422 })
  })

  test('serves a logo for every source and 404 for any other file', async () => {
    for (const slug of sourceSlugs) {
      const response = await fetch(`${w.base}/assets/sources/${slug}.svg`)
      expect([slug, response.status, response.headers.get('content-type')]).toEqual([slug, 200, 'image/svg+xml'])
    }
    for (const file of ['nothing.svg', 'oura', 'oura.png', '..%2f..%2fpackage.json'])
      expect((await fetch(`${w.base}/assets/sources/${file}`)).status).toBe(404)
  })
})

test('connecting a phone twice creates one connection on the user and one event', async () => {
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

  const events = await connectionEvents(w.app, t.team_id)
  expect(events).toEqual([
    {
      ...{ event_type: 'provider.connection.created', user_id },
      data: expect.objectContaining({ user_id, provider, source: provider, external_user_id: null }),
    },
  ])
})

test('concurrent requests create one connection', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await Promise.all(Array.from({ length: 6 }, () => connect(t, user_id)))
  expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
})

test('rejects a push connection for a source that does not push', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { provider: 'fitbit' as never }
  expect(await errorOf(t.api.connectPushSource({ params, body: { user_id } }))).toMatchObject({ status: 422 })
})

test('ending a connection removes it at once and allows a new one', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  const params = { user_id, provider: 'apple_health_kit' as const }
  expect(await t.api.endConnection({ params })).toEqual({ success: true })
  expect(await t.api.listConnections({ params })).toEqual({ providers: [] })
  expect((await t.api.getUser({ params })).connected_sources).toEqual([])
  expect(await errorOf(t.api.endConnection({ params }))).toMatchObject({ status: 404, detail: { error_type: 'CONNECTION_NOT_FOUND' } })

  await w.runJobs()
  await connect(t, user_id)
  expect(await query(w.url, 'select ended_at from connections where user_id = $1', [user_id])).toEqual([{ ended_at: null }])
  expect(await connectionEvents(w.app, t.team_id)).toHaveLength(2)
})

test('rejects data from a disconnected source until it is connected again', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { user_id, provider: 'apple_health_kit' as const }
  const pushSample = () => push(t.api, user_id, 'heartrate', [aSample('2026-03-01T09:00:00Z', 60)])
  await t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-9' } })
  await t.api.endConnection({ params })
  const ended = { status: 400, detail: { error_type: 'CONNECTION_ENDED' } }
  expect(await errorOf(pushSample())).toMatchObject(ended)
  await w.runJobs()
  expect(await errorOf(pushSample())).toMatchObject(ended)
  expect(await query(w.url, 'select account_hash from connections where user_id = $1', [user_id])).toEqual([{ account_hash: null }])
  await connect(t, user_id)
  expect(await pushSample()).toMatchObject({ created: 1 })

  await t.api.deleteUser({ params })
  await t.api.undoDeleteUser({ query: { user_id } })
  expect(await errorOf(pushSample())).toMatchObject(ended)
})

test('reconnects a source whose connection ends during the request', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  const [before] = await query(w.url, 'select id from connections where user_id = $1', [user_id])
  // The trigger ends the connection after the insert attempt and before the existing row is read.
  await query(
    w.url,
    `create function end_meanwhile() returns trigger language plpgsql as $$ begin
       update connections set ended_at = now() where team_id = '${t.team_id}' and id = '${before?.['id']}'; return null;
     end $$`,
  )
  await query(w.url, 'create trigger ends after insert on connections for each statement execute function end_meanwhile()')
  const params = { provider: 'apple_health_kit' as const }
  const request = t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-7' } })
  await request.finally(() => query(w.url, 'drop function end_meanwhile cascade'))
  expect((await t.api.listConnections({ params: { user_id } })).providers).toMatchObject([{ external_user_id: 'account-7' }])
})

test('deleting a user ends their connections, and undoing the deletion does not restore them', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  await connect(t, user_id)
  await t.api.deleteUser({ params: { user_id } })
  await t.api.undoDeleteUser({ query: { user_id } })
  expect(await t.api.listConnections({ params: { user_id } })).toEqual({ providers: [] })
})

test('rejects a connection for a user deleted a moment earlier', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const user = await requireUser(w.app, t.team_id, user_id)
  await t.api.deleteUser({ params: { user_id } })
  await expect(ensureConnection(w.app, user, 'apple_health_kit', 'push')).rejects.toMatchObject({ kind: 'not_found' })
  expect(await query(w.url, 'select id from connections where user_id = $1', [user_id])).toEqual([])
  expect(await connectionEvents(w.app, t.team_id)).toEqual([])
})

test('a failed connection reports its error and emits one event', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const user = await requireUser(w.app, t.team_id, user_id)
  const connection = await ensureConnection(w.app, user, 'oura', 'oauth')
  const error = { error_type: 'token_refresh_failed', message: 'The source no longer accepts the connection.' }
  await failConnection(w.app, connection, error)
  await failConnection(w.app, connection, error)

  const { providers } = await t.api.listConnections({ params: { user_id } })
  expect(providers[0]).toMatchObject({
    status: 'error',
    error_details: { error_type: 'token_refresh_failed', error_message: error.message, errored_at: expect.any(String) },
  })
  const [, ...events] = await connectionEvents(w.app, t.team_id)
  expect(events).toEqual([
    {
      event_type: 'provider.connection.error',
      user_id,
      data: { user_id, provider: 'oura', error_type: 'token_refresh_failed', message: error.message, error_details: error.message },
    },
  ])
  expect(await t.api.getMetrics()).toMatchObject({ number_of_connected_sources: 1, number_of_errored_connected_sources: 1 })
  expect((await connectionFor(w.app, user, 'oura'))?.status).toBe('error')
})

test('returns the provider_id of a connection and stores it encrypted', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const params = { provider: 'manual' as const }
  await t.api.connectPushSource({ params, body: { user_id, provider_id: 'account-7' } })
  expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ external_user_id: 'account-7' })
  expect(JSON.stringify(await query(w.url, 'select * from connections where user_id = $1', [user_id]))).not.toContain('account-7')
})

test('pauses connections a week after ingestion_end, not earlier', async () => {
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

test('counts connected sources by week', async () => {
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
  const [firstWeek, secondWeek] = weeks.map(({ date }) => Date.parse(date))
  expect((secondWeek as number) - (firstWeek as number)).toBe(14 * 24 * 3600 * 1000)
})

describe('devices', () => {
  test('are returned as reported by the source and emit events when created or updated', async () => {
    const t = await w.tenant()
    const { user_id, device_id } = await aConnectedUser(w.app, t.api, t.team_id)
    const user = await requireUser(w.app, t.team_id, user_id)
    const same = { source_type: 'watch', device_model: 'Tidemark 2' }
    expect(await recordDevice(w.app, user, 'apple_health_kit', same)).toBe(device_id)
    expect(await recordDevice(w.app, user, 'apple_health_kit', { ...same, device_version: '2.5' })).toBe(device_id)
    expect(await recordDevice(w.app, user, 'apple_health_kit', { source_type: 'phone', device_model: 'Tidemark Phone' })).not.toBe(
      device_id,
    )

    const device = {
      ...{ id: device_id, user_id, provider: 'apple_health_kit', source_type: 'watch', device_model: 'Tidemark 2', device_version: '2.5' },
      ...{ app_id: null, device_manufacturer: null, device_id: null },
    }
    expect(await t.api.getDevice({ params: { user_id, device_id } })).toEqual(device)
    expect((await t.api.listDevices({ params: { user_id } })).map(({ source_type }) => source_type)).toEqual(['watch', 'phone'])
    const events = await connectionEvents(w.app, t.team_id)
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'provider.connection.created',
      'provider.device.created',
      'provider.device.updated',
      'provider.device.created',
    ])
    expect(events[2]?.data).toEqual(device)
  })

  test('return 404 for an unknown ID or another user', async () => {
    const t = await w.tenant()
    const { user_id, device_id } = await aConnectedUser(w.app, t.api, t.team_id)
    const other = await aUser(t.api)
    for (const params of [
      { user_id, device_id: newUuid() },
      { user_id: other, device_id },
    ])
      expect(await errorOf(t.api.getDevice({ params }))).toMatchObject({ status: 404, detail: { error_type: 'DEVICE_NOT_FOUND' } })
  })

  test('are erased with their user', async () => {
    const t = await w.tenant()
    const { user_id } = await aConnectedUser(w.app, t.api, t.team_id)
    await t.api.deleteUser({ params: { user_id } })
    await t.api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    for (const table of ['devices', 'connections'])
      expect(await query(w.url, `select 1 from ${table} where user_id = $1`, [user_id])).toEqual([])
  })
})

import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY } from '../../src/platform/time.ts'
import { getAccess } from '../../src/wearables/connections/access.ts'
import { type Connection, connectionFor } from '../../src/wearables/connections/actions.ts'
import { connectionEvents } from '../support/connections.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

/** Nothing listens there, so that a test never contacts the source. */
const nowhere = 'http://127.0.0.1:9'
const env = { OAUTH_SOURCES: JSON.stringify({ oura: { api_url: nowhere, token_url: nowhere } }) }

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env })
})

const deploymentParams = (t: Tenant) => ({ org_id: t.org_id, env: 'sandbox' as const, region: 'us' as const })

/** Creates a tenant that has its own Oura credentials. */
async function aTenant() {
  const t = await w.tenant()
  const body = { team_id: t.team_id, provider: 'oura' as const, client_id: 'app', client_secret: 'secret' }
  await t.admin.putTeamCredential({ params: deploymentParams(t), body })
  return t
}

const importEntry = (user_id: string, change: object = {}) => ({
  ...{ user_id, access_token: `access of ${user_id}`, refresh_token: `refresh of ${user_id}`, provider_id: `account of ${user_id}` },
  ...{ expires_at: Math.floor(Date.now() / 1000) + 3600, oauth_scopes: ['daily'] },
  ...change,
})

describe('bulk import', () => {
  test('connects the users of the team, emits an event for each and encrypts the tokens', async () => {
    const t = await aTenant()
    const users = [await aUser(t.api), await aUser(t.api)]
    const foreignUser = await aUser(w.api)
    const connections = [...users, foreignUser].map((user_id) => importEntry(user_id))
    const response = await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect(response).toEqual({ user_ids_imported: users, user_ids_failed: [foreignUser] })

    const { providers } = await t.api.listConnections({ params: { user_id: users[0] as string } })
    expect(providers[0]).toMatchObject({ slug: 'oura', status: 'connected', external_user_id: `account of ${users[0]}` })
    expect(providers[0]?.resource_availability).toMatchObject({ sleep: { status: 'available' }, heartrate: { status: 'unavailable' } })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(2)
    const connection = (await connectionFor(w.app, { team_id: t.team_id, user_id: users[0] as string }, 'oura')) as Connection
    expect(await getAccess(w.app, connection)).toMatchObject({ state: 'ready', access_token: `access of ${users[0]}` })
    for (const table of ['bulk_items', 'connections'])
      expect(JSON.stringify(await query(w.url, `select * from ${table}`))).not.toContain('refresh of')
  })

  test('returns 202 at once without wait_for_completion, and a job imports the connections', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    const request = { body: { provider: 'oura', connections: [importEntry(user_id)] }, headers: { 'x-service-api-key': t.team_api_key } }
    const response = await sendRequest(w.base, endpoints.bulkImport, request)
    expect(response).toMatchObject({ status: 202, body: { user_ids_imported: [], user_ids_failed: [] } })
    expect((await t.api.listBulkOps()).data).toMatchObject([
      { type: 'link_bulk_import', status: 'in_progress', pending: 1, processed: 0, ended_at: null },
    ])
    await w.runJobs()
    expect((await t.api.listBulkOps()).data).toEqual([
      {
        ...{ type: 'link_bulk_import', status: 'success', provider: 'oura', pending: 0, processed: 1 },
        ...{ started_at: expect.any(String), ended_at: expect.any(String) },
      },
    ])
    expect((await t.api.listConnections({ params: { user_id } })).providers).toHaveLength(1)
    expect(await query(w.url, 'select sealed from bulk_items where user_id = $1', [user_id])).toEqual([{ sealed: null }])
  })

  test('resumes after a crashed process and imports nothing twice', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    await t.api.bulkImport({ body: { provider: 'oura', connections: [importEntry(user_id)] } })
    await query(w.url, "update bulk_items set claimed_until = now() + interval '1 minute' where user_id = $1", [user_id])
    await w.runJobs()
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'in_progress', pending: 1 })
    await query(w.url, "update bulk_items set claimed_until = now() - interval '1 second' where user_id = $1", [user_id])
    await Promise.all([w.runJobs(), w.runJobs()])
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'success', pending: 0, processed: 1 })
    expect(await connectionEvents(w.app, t.team_id)).toHaveLength(1)
  })

  test('deletes the pending items of an erased user and reports a failure', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    await t.api.bulkImport({ body: { provider: 'oura', connections: [importEntry(user_id)] } })
    await t.api.deleteUser({ params: { user_id } })
    await t.api.moveClock({ body: { advance_seconds: (8 * DAY) / 1000 } })
    expect(await query(w.url, 'select 1 from bulk_items where user_id = $1', [user_id])).toEqual([])
    await w.runJobs()
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'failure', pending: 0, processed: 1 })
  })

  test('fails for an account of another user when the team rejects duplicate connections', async () => {
    const t = await aTenant()
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    const [first, second] = [await aUser(t.api), await aUser(t.api)]
    const connections = [first, second].map((user_id) => importEntry(user_id, { provider_id: 'the same' }))
    const response = await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect(response).toEqual({ user_ids_imported: [first], user_ids_failed: [second] })
  })

  test('rejects a source without credentials, an empty or oversized list, and invalid fields', async () => {
    const t = await aTenant()
    const entry = importEntry(await aUser(t.api))
    for (const [provider, error_type] of [
      ['strava', 'SOURCE_NOT_CONFIGURED'],
      ['fitbit', 'SOURCE_RETIRED'],
    ] as const)
      expect(await errorOf(t.api.bulkImport({ body: { provider, connections: [entry] } }))).toMatchObject({
        status: 400,
        detail: { error_type },
      })
    for (const connections of [[], Array(1001).fill(entry), [{ ...entry, access_token: '' }], [{ ...entry, expires_at: 1.5 }]])
      expect(await errorOf(t.api.bulkImport({ body: { provider: 'oura', connections } }))).toMatchObject({ status: 422 })
  })
})

test('lists the bulk operations of the team newest first, in pages', async () => {
  const t = await aTenant()
  const [first, second] = [importEntry(await aUser(t.api)), importEntry(await aUser(t.api))]
  for (const connections of [[first], [first, second], [second, first, first]])
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
  const page = await t.api.listBulkOps({ query: { page_size: 2 } })
  expect(page.data.map(({ processed }) => processed)).toEqual([3, 2])
  const next = await t.api.listBulkOps({ query: { page_size: 2, next_cursor: page.next_cursor } })
  expect([next.data.map(({ processed }) => processed), next.next_cursor]).toEqual([[1], null])
  expect((await (await w.tenant()).api.listBulkOps()).data).toEqual([])
  expect(await errorOf(t.api.listBulkOps({ query: { page_size: 51 } }))).toMatchObject({ status: 422 })
})

describe('bulk export', () => {
  test('returns the imported connections, filters by user_ids and rejects an invalid next_token', async () => {
    const t = await aTenant()
    const users = [await aUser(t.api), await aUser(t.api)]
    const connections = users.map((user_id) => importEntry(user_id))
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    await t.api.connectPushSource({ params: { provider: 'manual' }, body: { user_id: users[0] as string } })
    expect(await t.api.bulkExport({ body: { provider: 'oura' } })).toEqual({ data: connections, next_token: null })
    expect((await t.api.bulkExport({ body: { provider: 'oura', user_ids: [users[1] as string] } })).data).toEqual([connections[1]])
    expect((await t.api.bulkExport({ body: { provider: 'oura', user_ids: [newUuid()] } })).data).toEqual([])
    expect((await (await w.tenant()).api.bulkExport({ body: { provider: 'oura', user_ids: users } })).data).toEqual([])
    expect(await errorOf(t.api.bulkExport({ body: { provider: 'oura', next_token: 'x' } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'next_token'] }],
    })
  })

  test('round-trips a connection without a refresh token, account ID, expiry or scopes', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    const connections = [importEntry(user_id, { refresh_token: '', provider_id: '', expires_at: 0, oauth_scopes: null })]
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect((await t.api.bulkExport({ body: { provider: 'oura' } })).data).toEqual(connections)
    const connection = (await connectionFor(w.app, { team_id: t.team_id, user_id }, 'oura')) as Connection
    expect(await getAccess(w.app, connection)).toMatchObject({ state: 'ready', access_token: `access of ${user_id}` })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]?.external_user_id).toBeNull()
  })

  test('rejects a read-only key', async () => {
    const t = await aTenant()
    const body = { label: 'reader', team_id: t.team_id, read_only: true }
    const { value } = await t.admin.createTeamKey({ params: deploymentParams(t), body })
    const request = { body: { provider: 'oura' }, headers: { 'x-service-api-key': value } }
    expect(await sendRequest(w.base, endpoints.bulkExport, request)).toMatchObject({ status: 403 })
  })
})

test('bulk pause pauses the connections of the team and excludes them from refreshes', async () => {
  const t = await aTenant()
  const [first, second] = [await aUser(t.api), await aUser(t.api)]
  await t.api.bulkImport({ body: { provider: 'oura', connections: [importEntry(first)], wait_for_completion: true } })
  const response = await t.api.bulkPause({ body: { provider: 'oura', user_ids: [first, second] } })
  expect(response).toEqual({ user_ids_paused: [first], user_ids_failed: [second] })
  expect((await t.api.listConnections({ params: { user_id: first } })).providers[0]).toMatchObject({ status: 'paused' })
  expect(await t.api.refreshUser({ params: { user_id: first } })).toMatchObject({ refreshed_sources: [], failed_sources: [] })
  const foreign = await (await w.tenant()).api.bulkPause({ body: { provider: 'oura', user_ids: [first] } })
  expect(foreign).toEqual({ user_ids_paused: [], user_ids_failed: [first] })
})

test('bulk historical pull fails for a source without an adapter and for an unknown user', async () => {
  const t = await aTenant()
  const [first, second] = [await aUser(t.api), newUuid()]
  const credential = { team_id: t.team_id, provider: 'wahoo' as const, client_id: 'app', client_secret: 'secret' }
  await t.admin.putTeamCredential({ params: deploymentParams(t), body: credential })
  await t.api.bulkImport({ body: { provider: 'wahoo', connections: [importEntry(first)], wait_for_completion: true } })
  const body = { provider: 'wahoo' as const, user_ids: [first, second], wait_for_completion: true }
  // No adapter fetches data from Wahoo.
  expect(await t.api.bulkTriggerHistoricalPull({ body })).toEqual({ user_ids_triggered: [], user_ids_failed: [first, second] })
  expect((await t.api.listBulkOps()).data[0]).toMatchObject({
    type: 'link_bulk_historical_trigger',
    status: 'failure',
    pending: 0,
    processed: 2,
  })
})

test('deletes bulk operations after a month', async () => {
  const instance = await world({ env })
  const user_id = await aUser(instance.api)
  const body = { provider: 'oura' as const, user_ids: [user_id], wait_for_completion: true }
  await instance.api.bulkTriggerHistoricalPull({ body })
  instance.advanceTime(31 * DAY)
  await instance.runJobs()
  expect((await instance.api.listBulkOps()).data).toEqual([])
})

describe('pull preferences', () => {
  const days = (historical_days_to_pull: number) => ({ historical_days_to_pull })
  const daysWithLimit = (n: number) => ({ ...days(n), historical_days_to_pull_limit: 90 })

  test('are set per team and source, listed in pages and deleted', async () => {
    const t = await w.tenant()
    const params = deploymentParams(t)
    const second = await t.admin.createTeam({ params, body: { name: 'Second', region: 'us' } })
    const providers = { oura: { default: days(30), resource_overrides: { sleep: days(60) } }, fitbit: { default: days(0) } }
    const expected = {
      fitbit: { default: daysWithLimit(0), resource_overrides: null },
      oura: { default: daysWithLimit(30), resource_overrides: { sleep: daysWithLimit(60) } },
    }
    const team_ids = [t.team_id, second.id]
    const put = await t.admin.putPullPreferences({ params, body: { team_ids, providers } })
    expect(put).toEqual({ data_pull_preferences: team_ids.map((team_id) => ({ team_id, providers: expected })), next_cursor: null })

    const page = await t.admin.listPullPreferences({ params, query: { limit: 1 } })
    expect(page.data_pull_preferences).toHaveLength(1)
    const next = await t.admin.listPullPreferences({ params, query: { limit: 1, next_cursor: page.next_cursor } })
    expect([...page.data_pull_preferences, ...next.data_pull_preferences].map(({ team_id }) => team_id).sort()).toEqual(team_ids.sort())
    const narrow = await t.admin.listPullPreferences({ params, query: { team_id: [second.id], provider: ['oura'] } })
    expect(narrow.data_pull_preferences).toEqual([{ team_id: second.id, providers: { oura: expected.oura } }])

    expect(await t.admin.deletePullPreferences({ params, query: { team_id: [second.id], provider: ['oura'] } })).toEqual({ success: true })
    await t.admin.deletePullPreferences({ params, query: { team_id: [t.team_id] } })
    expect((await t.admin.listPullPreferences({ params })).data_pull_preferences).toEqual([
      { team_id: second.id, providers: { fitbit: expected.fitbit } },
    ])
  })

  test.each([
    ['more days than the source offers', { oura: { default: days(91) } }],
    ['more days of one resource than the source offers', { oura: { default: days(1), resource_overrides: { sleep: days(91) } } }],
    ['a resource the source does not offer', { oura: { default: days(1), resource_overrides: { glucose: days(1) } } }],
    ['a negative number of days', { oura: { default: days(-1) } }],
  ])('reject %s', async (_, providers) => {
    const t = await w.tenant()
    const put = t.admin.putPullPreferences({ params: deploymentParams(t), body: { team_ids: [t.team_id], providers } })
    expect(await errorOf(put)).toMatchObject({ status: 422, detail: [{ loc: expect.arrayContaining(['body', 'providers', 'oura']) }] })
  })

  test('return 404 for a team of another organization and change nothing', async () => {
    const t = await w.tenant()
    const body = { team_ids: [t.team_id, w.team_id], providers: { oura: { default: days(1) } } }
    expect(await errorOf(t.admin.putPullPreferences({ params: deploymentParams(t), body }))).toMatchObject({ status: 404 })
    expect(await errorOf(t.admin.deletePullPreferences({ params: deploymentParams(t), query: { team_id: [w.team_id] } }))).toMatchObject({
      status: 404,
    })
    expect((await t.admin.listPullPreferences({ params: deploymentParams(t) })).data_pull_preferences).toEqual([])
    expect(
      (await t.admin.listPullPreferences({ params: deploymentParams(t), query: { team_id: [w.team_id] } })).data_pull_preferences,
    ).toEqual([])
  })
})

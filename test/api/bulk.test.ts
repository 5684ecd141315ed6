import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY } from '../../src/platform/time.ts'
import { accessTo } from '../../src/wearables/connections/access.ts'
import { type Connection, connectionFor } from '../../src/wearables/connections/actions.ts'
import { query } from '../support/cluster.ts'
import { aUser, toldOfConnections } from '../support/connections.ts'
import { newUuid } from '../support/seeded.ts'
import { refusal, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const here = (t: Tenant) => ({ org_id: t.org_id, env: 'sandbox' as const, region: 'us' as const })

/** A tenant with credentials of its own at a source. */
async function aTenant() {
  const t = await w.tenant()
  const body = { team_id: t.team_id, provider: 'oura' as const, client_id: 'app', client_secret: 'secret' }
  await t.admin.putTeamCredential({ params: here(t), body })
  return t
}

const recipe = (user_id: string, change: object = {}) => ({
  ...{ user_id, access_token: `access of ${user_id}`, refresh_token: `refresh of ${user_id}`, provider_id: `account of ${user_id}` },
  ...{ expires_at: Math.floor(Date.now() / 1000) + 3600, oauth_scopes: ['daily'] },
  ...change,
})

describe('importing connections', () => {
  test('that were made elsewhere connects users, and tells of each', async () => {
    const t = await aTenant()
    const users = [await aUser(t.api), await aUser(t.api)]
    const stranger = await aUser(w.api)
    const connections = [...users, stranger].map((user_id) => recipe(user_id))
    const answer = await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect(answer).toEqual({ user_ids_imported: users, user_ids_failed: [stranger] })

    const { providers } = await t.api.listConnections({ params: { user_id: users[0] as string } })
    expect(providers[0]).toMatchObject({ slug: 'oura', status: 'connected', external_user_id: `account of ${users[0]}` })
    expect(providers[0]?.resource_availability).toMatchObject({ sleep: { status: 'available' }, heartrate: { status: 'unavailable' } })
    expect(await toldOfConnections(w.app, t.team_id)).toHaveLength(2)
    const connection = (await connectionFor(w.app, { team_id: t.team_id, user_id: users[0] as string }, 'oura')) as Connection
    expect(await accessTo(w.app, connection)).toEqual({ state: 'ready', access_token: `access of ${users[0]}` })
    const kept = JSON.stringify(await query(w.url, 'select * from bulk_items, connections'))
    expect(kept).not.toContain('refresh of')
  })

  test('answers 202 at once where nobody waits, and a job does the rest', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    const sent = { body: { provider: 'oura', connections: [recipe(user_id)] }, headers: { 'x-service-api-key': t.team_api_key } }
    const answer = await sendRequest(w.base, endpoints.bulkImport, sent)
    expect(answer).toMatchObject({ status: 202, body: { user_ids_imported: [], user_ids_failed: [] } })
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

  test('goes on where a process died, and imports nothing twice', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    await t.api.bulkImport({ body: { provider: 'oura', connections: [recipe(user_id)] } })
    await query(w.url, "update bulk_items set claimed_until = now() + interval '1 minute' where user_id = $1", [user_id])
    await w.runJobs()
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'in_progress', pending: 1 })
    await query(w.url, 'update bulk_items set claimed_until = now() where user_id = $1', [user_id])
    await Promise.all([w.runJobs(), w.runJobs()])
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'success', pending: 0, processed: 1 })
    expect(await toldOfConnections(w.app, t.team_id)).toHaveLength(1)
  })

  test('keeps nothing of a user who was erased meanwhile', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    await t.api.bulkImport({ body: { provider: 'oura', connections: [recipe(user_id)] } })
    await t.api.deleteUser({ params: { user_id } })
    await t.api.moveClock({ body: { advance_seconds: (8 * DAY) / 1000 } })
    expect(await query(w.url, 'select 1 from bulk_items where user_id = $1', [user_id])).toEqual([])
    await w.runJobs()
    expect((await t.api.listBulkOps()).data[0]).toMatchObject({ status: 'failure', pending: 0, processed: 1 })
  })

  test('fails for an account that another user has, where the team wants that', async () => {
    const t = await aTenant()
    await t.admin.patchTeam({ params: t, body: { sandbox: { reject_duplicate_connection: true } } })
    const [one, two] = [await aUser(t.api), await aUser(t.api)]
    const connections = [one, two].map((user_id) => recipe(user_id, { provider_id: 'the same' }))
    const answer = await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect(answer).toEqual({ user_ids_imported: [one], user_ids_failed: [two] })
  })

  test('is refused for a source at which nobody has an account, and with nobody or too many to import', async () => {
    const t = await aTenant()
    const one = recipe(await aUser(t.api))
    const body = { provider: 'fitbit' as const, connections: [one] }
    expect(await refusal(t.api.bulkImport({ body }))).toMatchObject({ status: 400, detail: { error_type: 'SOURCE_NOT_CONFIGURED' } })
    for (const connections of [[], Array(1001).fill(one), [{ ...one, access_token: '' }], [{ ...one, expires_at: 1.5 }]])
      expect(await refusal(t.api.bulkImport({ body: { provider: 'oura', connections } }))).toMatchObject({ status: 422 })
  })
})

test('operations are listed newest first, in pages, and of the own team', async () => {
  const t = await aTenant()
  const [one, two] = [recipe(await aUser(t.api)), recipe(await aUser(t.api))]
  for (const connections of [[one], [one, two], [two, one, one]])
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
  const first = await t.api.listBulkOps({ query: { page_size: 2 } })
  expect(first.data.map(({ processed }) => processed)).toEqual([3, 2])
  const second = await t.api.listBulkOps({ query: { page_size: 2, next_cursor: first.next_cursor } })
  expect([second.data.map(({ processed }) => processed), second.next_cursor]).toEqual([[1], null])
  expect((await (await w.tenant()).api.listBulkOps()).data).toEqual([])
  expect(await refusal(t.api.listBulkOps({ query: { page_size: 51 } }))).toMatchObject({ status: 422 })
})

describe('exporting connections', () => {
  test('gives back what was imported, in pages', async () => {
    const t = await aTenant()
    const users = [await aUser(t.api), await aUser(t.api)]
    const connections = users.map((user_id) => recipe(user_id))
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    await t.api.connectPushSource({ params: { provider: 'manual' }, body: { user_id: users[0] as string } })
    expect(await t.api.bulkExport({ body: { provider: 'oura' } })).toEqual({ data: connections, next_token: null })
    expect((await t.api.bulkExport({ body: { provider: 'oura', user_ids: [users[1] as string] } })).data).toEqual([connections[1]])
    expect((await t.api.bulkExport({ body: { provider: 'oura', user_ids: [newUuid()] } })).data).toEqual([])
    expect((await (await w.tenant()).api.bulkExport({ body: { provider: 'oura', user_ids: users } })).data).toEqual([])
    expect(await refusal(t.api.bulkExport({ body: { provider: 'oura', next_token: 'x' } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'next_token'] }],
    })
  })

  test('gives back what a source does not have as nothing, and that can be imported', async () => {
    const t = await aTenant()
    const user_id = await aUser(t.api)
    const connections = [recipe(user_id, { refresh_token: '', provider_id: '', expires_at: 0, oauth_scopes: null })]
    await t.api.bulkImport({ body: { provider: 'oura', connections, wait_for_completion: true } })
    expect((await t.api.bulkExport({ body: { provider: 'oura' } })).data).toEqual(connections)
    const connection = (await connectionFor(w.app, { team_id: t.team_id, user_id }, 'oura')) as Connection
    expect(await accessTo(w.app, connection)).toEqual({ state: 'ready', access_token: `access of ${user_id}` })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]?.external_user_id).toBeNull()
  })

  test('is not for keys that only read', async () => {
    const t = await aTenant()
    const body = { label: 'reader', team_id: t.team_id, read_only: true }
    const { value } = await t.admin.createTeamKey({ params: here(t), body })
    const sent = { body: { provider: 'oura' }, headers: { 'x-service-api-key': value } }
    expect(await sendRequest(w.base, endpoints.bulkExport, sent)).toMatchObject({ status: 403 })
  })
})

test('pausing connections stops them until the user connects again', async () => {
  const t = await aTenant()
  const [one, two] = [await aUser(t.api), await aUser(t.api)]
  await t.api.bulkImport({ body: { provider: 'oura', connections: [recipe(one)], wait_for_completion: true } })
  const answer = await t.api.bulkPause({ body: { provider: 'oura', user_ids: [one, two] } })
  expect(answer).toEqual({ user_ids_paused: [one], user_ids_failed: [two] })
  expect((await t.api.listConnections({ params: { user_id: one } })).providers[0]).toMatchObject({ status: 'paused' })
  expect(await t.api.refreshUser({ params: { user_id: one } })).toMatchObject({ refreshed_sources: [], failed_sources: [] })
  const theirs = await (await w.tenant()).api.bulkPause({ body: { provider: 'oura', user_ids: [one] } })
  expect(theirs).toEqual({ user_ids_paused: [], user_ids_failed: [one] })
})

test('history is fetched anew from sources that can be asked; a user without one fails', async () => {
  const t = await aTenant()
  const [one, two] = [await aUser(t.api), newUuid()]
  await t.api.bulkImport({ body: { provider: 'oura', connections: [recipe(one)], wait_for_completion: true } })
  const body = { provider: 'oura' as const, user_ids: [one, two], wait_for_completion: true }
  // There is no adapter that fetches from this source, and nobody pretends that there is.
  expect(await t.api.bulkTriggerHistoricalPull({ body })).toEqual({ user_ids_triggered: [], user_ids_failed: [one, two] })
  expect((await t.api.listBulkOps()).data[0]).toMatchObject({
    type: 'link_bulk_historical_trigger',
    status: 'failure',
    pending: 0,
    processed: 2,
  })
})

test('operations are forgotten after a month', async () => {
  const late = await world()
  const user_id = await aUser(late.api)
  const body = { provider: 'oura' as const, user_ids: [user_id], wait_for_completion: true }
  await late.api.bulkTriggerHistoricalPull({ body })
  late.passes(31 * DAY)
  await late.runJobs()
  expect((await late.api.listBulkOps()).data).toEqual([])
})

describe('how far back a team wants data', () => {
  const days = (historical_days_to_pull: number) => ({ historical_days_to_pull })
  const limited = (n: number) => ({ ...days(n), historical_days_to_pull_limit: 90 })

  test('is set for teams and sources, read in pages, and forgotten', async () => {
    const t = await w.tenant()
    const params = here(t)
    const second = await t.admin.createTeam({ params, body: { name: 'Second', region: 'us' } })
    const providers = { oura: { default: days(30), resource_overrides: { sleep: days(60) } }, fitbit: { default: days(0) } }
    const shown = {
      fitbit: { default: limited(0), resource_overrides: null },
      oura: { default: limited(30), resource_overrides: { sleep: limited(60) } },
    }
    const team_ids = [t.team_id, second.id]
    const put = await t.admin.putPullPreferences({ params, body: { team_ids, providers } })
    expect(put).toEqual({ data_pull_preferences: team_ids.map((team_id) => ({ team_id, providers: shown })), next_cursor: null })

    const page = await t.admin.listPullPreferences({ params, query: { limit: 1 } })
    expect(page.data_pull_preferences).toHaveLength(1)
    const next = await t.admin.listPullPreferences({ params, query: { limit: 1, next_cursor: page.next_cursor } })
    expect([...page.data_pull_preferences, ...next.data_pull_preferences].map(({ team_id }) => team_id).sort()).toEqual(team_ids.sort())
    const narrow = await t.admin.listPullPreferences({ params, query: { team_id: [second.id], provider: ['oura'] } })
    expect(narrow.data_pull_preferences).toEqual([{ team_id: second.id, providers: { oura: shown.oura } }])

    expect(await t.admin.deletePullPreferences({ params, query: { team_id: [second.id], provider: ['oura'] } })).toEqual({ success: true })
    await t.admin.deletePullPreferences({ params, query: { team_id: [t.team_id] } })
    expect((await t.admin.listPullPreferences({ params })).data_pull_preferences).toEqual([
      { team_id: second.id, providers: { fitbit: shown.fitbit } },
    ])
  })

  test.each([
    ['more days than the source has', { oura: { default: days(91) } }],
    ['more days of one resource', { oura: { default: days(1), resource_overrides: { sleep: days(91) } } }],
    ['a resource that the source does not have', { oura: { default: days(1), resource_overrides: { glucose: days(1) } } }],
    ['less than nothing', { oura: { default: days(-1) } }],
  ])('cannot be %s', async (_, providers) => {
    const t = await w.tenant()
    const put = t.admin.putPullPreferences({ params: here(t), body: { team_ids: [t.team_id], providers } })
    expect(await refusal(put)).toMatchObject({ status: 422, detail: [{ loc: expect.arrayContaining(['body', 'providers', 'oura']) }] })
  })

  test('is set for none where one team is a stranger', async () => {
    const t = await w.tenant()
    const body = { team_ids: [t.team_id, w.team_id], providers: { oura: { default: days(1) } } }
    expect(await refusal(t.admin.putPullPreferences({ params: here(t), body }))).toMatchObject({ status: 404 })
    expect(await refusal(t.admin.deletePullPreferences({ params: here(t), query: { team_id: [w.team_id] } }))).toMatchObject({
      status: 404,
    })
    expect((await t.admin.listPullPreferences({ params: here(t) })).data_pull_preferences).toEqual([])
    expect((await t.admin.listPullPreferences({ params: here(t), query: { team_id: [w.team_id] } })).data_pull_preferences).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { HOUR, MINUTE } from '../../src/platform/time.ts'
import { getAccess } from '../../src/wearables/connections/access.ts'
import { openAccount } from '../../src/wearables/connections/account.ts'
import type { Connection } from '../../src/wearables/connections/actions.ts'
import { knownSources } from '../../src/wearables/providers/oauth-sources.ts'
import { refreshUser } from '../../src/wearables/pulls/refresh.ts'
import { connectionEvents } from '../support/connections.ts'
import { holdLock } from '../support/hold-lock.ts'
import { oauthWorld } from '../support/oauth.ts'
import { onEveryServer, query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, replica, world } from '../support/world.ts'

const { w, source, OAUTH_SOURCES, connect, connectionOf } = await oauthWorld()

describe('access tokens', () => {
  test('renews an expired access token with a rotating refresh token', async () => {
    const t = await w.tenant()
    const advanced = await world({ env: { OAUTH_SOURCES } })
    const { user_id } = await connect(t)
    const connection = await connectionOf(t, user_id)
    const first = await getAccess(w.app, connection)
    expect(await getAccess(w.app, connection)).toEqual(first)
    advanced.advanceTime(HOUR)
    const second = await getAccess(advanced.app, connection)
    expect(second).toMatchObject({ state: 'ready' })
    expect(second).not.toEqual(first)
    advanced.advanceTime(HOUR)
    const third = await getAccess(advanced.app, connection)
    expect(third).toMatchObject({ state: 'ready' })
    expect(third).not.toEqual(second)
  })

  test('renews a token once for concurrent callers on all replicas, stores it, and returns the same token to all', async () => {
    const t = await w.tenant()
    const other = await replica({ env: { OAUTH_SOURCES } })
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    const connection = await connectionOf(t, user_id)
    const requestCount = source.requests.length
    let release = () => {}
    source.behavior.holdUntil = new Promise<void>((done) => {
      release = done
    })
    const calls = Array.from({ length: 8 }, (_, i) => getAccess(i % 2 ? other.app : w.app, connection))
    // All callers have read the expired token while the source delays its response.
    await waitFor(() => expect(source.requests.length).toBeGreaterThan(requestCount))
    await Promise.all(Array.from({ length: 8 }, () => connectionOf(t, user_id)))
    let returned = 0
    for (const call of calls) void call.then(() => returned++)
    const unlock = await holdLock(w.app, (db) =>
      db.selectFrom('connections').select('id').where('team_id', '=', t.team_id).where('user_id', '=', user_id).forUpdate().execute(),
    )
    release()
    source.behavior.holdUntil = undefined
    // The source has replaced the tokens. Nobody gets the new one until it is stored.
    const storing = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query ilike 'update%connections%'"
    await waitFor(async () => expect(await onEveryServer(w.url, storing)).not.toEqual([]))
    expect(returned).toBe(0)
    await unlock()
    const results = await Promise.all(calls)
    expect(source.requests).toHaveLength(requestCount + 1)
    expect(results).toMatchObject(Array(8).fill({ state: 'ready', access_token: expect.any(String) }))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    const key = (await userSealingKey(w.app, t.team_id, user_id)) as SealingKey
    expect(openAccount(key, await connectionOf(t, user_id)).tokens?.access_token).toBe(
      (results[0] as { access_token: string }).access_token,
    )
  })

  test('another process renews the token if the one that was renewing died', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    const dead = "expires_at = now() - interval '1 minute', renewing_until = now() + interval '30 seconds'"
    await query(w.url, `update connections set ${dead} where user_id = $1`, [user_id])
    const later = await replica({ env: { OAUTH_SOURCES } })
    later.advanceTime(MINUTE)
    const renewed = await getAccess(later.app, await connectionOf(t, user_id))
    expect(renewed).toMatchObject({ state: 'ready' })
    expect(await getAccess(w.app, await connectionOf(t, user_id))).toEqual(renewed)
  })

  test('marks the connection as failed and emits an event when the source rejects the refresh token', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.behavior.rejectRefreshTokens = true
    const response = await errorOf(t.api.refreshUser({ params: { user_id } }))
    source.behavior.rejectRefreshTokens = false
    expect(response).toMatchObject({ status: 400, detail: { error_type: 'REFRESH_FAILED' } })
    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    expect((await connectionEvents(w.app, t.team_id)).at(-1)).toMatchObject({
      event_type: 'provider.connection.error',
      data: { provider: 'fitbit', error_type: 'token_refresh_failed' },
    })
    expect((await connect(t, { user_id })).redirectParams).toMatchObject({ state: 'success' })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ status: 'connected', error_details: null })
  })

  test('keeps the connection while the source is down', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.behavior.down = true
    const connection = await connectionOf(t, user_id)
    expect(await getAccess(w.app, connection)).toEqual({ state: 'unavailable' })
    source.behavior.down = false
    expect(await getAccess(w.app, connection)).toMatchObject({ state: 'ready' })
  })

  test.each([
    ['a proxy error page', 403, '<html>Forbidden</html>'],
    ['an unknown address', 404, '{"message":"no route"}'],
    ['a refusal without a body', 400, ''],
    ['no tokens', 200, '{"access_token":null}'],
    ['a truncated response', 200, '{"access_token":"abc'],
    ['a rejection of our client credentials', 401, '{"error":"invalid_client"}'],
  ])('keeps the connection when the source responds with %s', async (_, status, body) => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    const connection = await connectionOf(t, user_id)
    source.behavior.respondWith = { status, body }
    const response = await getAccess(w.app, connection)
    source.behavior.respondWith = undefined
    expect(response).toEqual({ state: 'unavailable' })
    expect(await getAccess(w.app, connection)).toMatchObject({ state: 'ready' })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ status: 'connected' })
  })

  test('keeps the refresh token when the source returns no new one', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    source.behavior.keepRefreshToken = true
    for (let i = 0; i < 2; i++) {
      await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
      expect(await getAccess(w.app, await connectionOf(t, user_id))).toMatchObject({ state: 'ready' })
    }
    source.behavior.keepRefreshToken = false
  })

  test('revokes the token after a disconnect, once the source is reachable', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.endConnection({ params: { user_id, provider: 'fitbit' } })
    const before = source.revoked.length
    source.behavior.down = true
    await w.runJobs()
    source.behavior.down = false
    expect(await query(w.url, 'select deregister_tries from connections where user_id = $1', [user_id])).toEqual([{ deregister_tries: 1 }])
    await query(w.url, "update connections set deregister_at = now() - interval '1 second' where user_id = $1", [user_id])
    await w.runJobs()
    expect(source.revoked).toHaveLength(before + 1)
    const [row] = await query(w.url, 'select id, sealed, account_hash, deregister_at from connections where user_id = $1', [user_id])
    expect(row).toMatchObject({ account_hash: null, deregister_at: null })
    const key = (await userSealingKey(w.app, t.team_id, user_id)) as SealingKey
    expect(openAccount(key, row as Connection)).toEqual({ external_user_id: null })
  })

  test('a source that refuses the credentials of the application has revoked nothing, so it is asked again', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    const before = source.revoked.length
    await t.api.endConnection({ params: { user_id, provider: 'fitbit' } })
    source.behavior.respondWith = { status: 401, body: '{"error":"invalid_client"}' }
    await w.runJobs()
    source.behavior.respondWith = undefined
    expect(await query(w.url, 'select deregister_tries from connections where user_id = $1', [user_id])).toEqual([{ deregister_tries: 1 }])
    await query(w.url, "update connections set deregister_at = now() - interval '1 second' where user_id = $1", [user_id])
    await w.runJobs()
    expect(source.revoked).toHaveLength(before + 1)
  })

  test('revokes the token with Basic at a source that takes the credentials in the body for tokens', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t, {}, { oauth_provider: 'strava' })
    expect(source.requests.at(-1)).toMatchObject({ form: { client_id: source.client.id }, authorization: undefined })
    const before = source.revoked.length
    await t.api.endConnection({ params: { user_id, provider: 'strava' } })
    await w.runJobs()
    expect(source.revoked).toHaveLength(before + 1)
  })

  test('Strava takes the credentials in the body for tokens and by HTTP Basic for their end', () => {
    expect(knownSources.strava).toMatchObject({
      client_auth: 'body',
      revoke_auth: 'basic',
      revoke_url: 'https://www.strava.com/oauth/revoke',
    })
  })
})

describe('refreshing a user', () => {
  test('lists the refreshed sources and skips push sources', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    expect(await t.api.refreshUser({ params: { user_id } })).toEqual({
      ...{ success: true, user_id, refreshed_sources: ['fitbit'], in_progress_sources: [], failed_sources: [] },
    })
  })

  test('reports sources that are still in progress', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    let release = () => {}
    source.behavior.holdUntil = new Promise<void>((done) => {
      release = done
    })
    const caller = { team_id: t.team_id } as Parameters<typeof refreshUser>[1]
    const response = await refreshUser(w.app, caller, user_id, 0.05)
    release()
    source.behavior.holdUntil = undefined
    expect(response).toMatchObject({ success: true, refreshed_sources: [], in_progress_sources: ['fitbit'], failed_sources: [] })
    expect([endpoints.refreshUser.isStillRunning(response), endpoints.refreshUser.isStillRunning({ in_progress_sources: [] })]).toEqual([
      true,
      false,
    ])
  })

  test('limits refreshes to eight per hour and user', async () => {
    const advanced = await world()
    const [user_id, other] = [await aUser(advanced.api), await aUser(advanced.api)]
    for (let i = 0; i < 8; i++) await advanced.api.refreshUser({ params: { user_id } })
    expect(await errorOf(advanced.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 429,
      detail: { error_type: 'TOO_MANY_REFRESHES' },
    })
    expect(await advanced.api.refreshUser({ params: { user_id: other } })).toMatchObject({ success: true })
    const { headers } = await sendRaw(`${advanced.base}/v2/user/refresh/${user_id}`, 'POST', {
      headers: { 'x-service-api-key': advanced.team_api_key },
    })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    advanced.advanceTime(HOUR)
    expect(await advanced.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
  })

  test.each([4, 61, 'soon'])('rejects a timeout of %s seconds', async (timeout) => {
    const user_id = await aUser(w.api)
    expect(await errorOf(w.api.refreshUser({ params: { user_id }, query: { timeout: timeout as number } }))).toMatchObject({ status: 422 })
  })

  test('returns 404 for a user of another team', async () => {
    const user_id = await aUser((await w.tenant()).api)
    expect(await errorOf(w.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'USER_NOT_FOUND' },
    })
  })
})

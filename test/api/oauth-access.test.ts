import { describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { HOUR } from '../../src/platform/time.ts'
import { accessTo } from '../../src/wearables/connections/access.ts'
import { openAccount } from '../../src/wearables/connections/account.ts'
import type { Connection } from '../../src/wearables/connections/actions.ts'
import { refreshUser } from '../../src/wearables/connections/refresh.ts'
import { query } from '../support/cluster.ts'
import { aUser, connectionEvents } from '../support/connections.ts'
import { oauthWorld } from '../support/oauth.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, world } from '../support/world.ts'

const { w, source, OAUTH_SOURCES, connect, connectionOf } = await oauthWorld()

describe('access', () => {
  test('is renewed when it ends, with a refresh token that rotates', async () => {
    const t = await w.tenant()
    const late = await world({ env: { OAUTH_SOURCES } })
    const { user_id } = await connect(t)
    const connection = await connectionOf(t, user_id)
    const first = await accessTo(w.app, connection)
    expect(await accessTo(w.app, connection)).toEqual(first)
    late.advanceTime(HOUR)
    const second = await accessTo(late.app, connection)
    expect(second).toMatchObject({ state: 'ready' })
    expect(second).not.toEqual(first)
    late.advanceTime(HOUR)
    const third = await accessTo(late.app, connection)
    expect(third).toMatchObject({ state: 'ready' })
    expect(third).not.toEqual(second)
  })

  test('is renewed by one of many who need it at once, and they all get the same', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    const connection = await connectionOf(t, user_id)
    const asked = source.requests.length
    let goOn = () => {}
    source.behavior.holdUntil = new Promise<void>((done) => {
      goOn = done
    })
    const calls = Array.from({ length: 8 }, () => accessTo(w.app, connection))
    // Everybody has looked while the source still thinks.
    await waitFor(() => expect(source.requests.length).toBeGreaterThan(asked))
    await Promise.all(Array.from({ length: 8 }, () => connectionOf(t, user_id)))
    goOn()
    source.behavior.holdUntil = undefined
    const all = await Promise.all(calls)
    expect(source.requests).toHaveLength(asked + 1)
    expect(all).toEqual(Array(8).fill({ state: 'ready', access_token: expect.any(String) }))
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1)
  })

  test('that a source no longer gives breaks the connection, and the customer is told', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.behavior.rejectRefreshTokens = true
    const answer = await errorOf(t.api.refreshUser({ params: { user_id } }))
    source.behavior.rejectRefreshTokens = false
    expect(answer).toMatchObject({ status: 400, detail: { error_type: 'REFRESH_FAILED' } })
    const { providers } = await t.api.listConnections({ params: { user_id } })
    expect(providers[0]).toMatchObject({ status: 'error', error_details: { error_type: 'token_refresh_failed' } })
    expect((await connectionEvents(w.app, t.team_id)).at(-1)).toMatchObject({
      event_type: 'provider.connection.error',
      data: { provider: 'fitbit', error_type: 'token_refresh_failed' },
    })
    expect((await connect(t, { user_id })).redirectParams).toMatchObject({ state: 'success' })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ status: 'connected', error_details: null })
  })

  test('outlives a source that is down for a while', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    source.behavior.down = true
    const connection = await connectionOf(t, user_id)
    expect(await accessTo(w.app, connection)).toEqual({ state: 'unavailable' })
    source.behavior.down = false
    expect(await accessTo(w.app, connection)).toMatchObject({ state: 'ready' })
  })

  test.each([
    ['a page of a proxy', 403, '<html>Forbidden</html>'],
    ['an address that is gone', 404, '{"message":"no route"}'],
    ['a refusal without a word', 400, ''],
    ['no tokens', 200, '{"access_token":null}'],
    ['half of an answer', 200, '{"access_token":"abc'],
    ['credentials of ours that it does not know', 401, '{"error":"invalid_client"}'],
  ])('outlives a source that answers with %s', async (_, status, body) => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    const connection = await connectionOf(t, user_id)
    source.behavior.respondWith = { status, body }
    const answer = await accessTo(w.app, connection)
    source.behavior.respondWith = undefined
    expect(answer).toEqual({ state: 'unavailable' })
    expect(await accessTo(w.app, connection)).toMatchObject({ state: 'ready' })
    expect((await t.api.listConnections({ params: { user_id } })).providers[0]).toMatchObject({ status: 'connected' })
  })

  test('keeps its refresh token where the source gives no new one', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    source.behavior.keepRefreshToken = true
    for (let i = 0; i < 2; i++) {
      await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
      expect(await accessTo(w.app, await connectionOf(t, user_id))).toMatchObject({ state: 'ready' })
    }
    source.behavior.keepRefreshToken = false
  })

  test('is given back when the user disconnects, once the source can be reached', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.endConnection({ params: { user_id, provider: 'fitbit' } })
    const before = source.revoked.length
    source.behavior.down = true
    await w.runJobs()
    source.behavior.down = false
    expect(await query(w.url, 'select farewells from connections where user_id = $1', [user_id])).toEqual([{ farewells: 1 }])
    await query(w.url, "update connections set farewell_at = now() - interval '1 second' where user_id = $1", [user_id])
    await w.runJobs()
    expect(source.revoked).toHaveLength(before + 1)
    const [left] = await query(w.url, 'select id, sealed, account_hash, farewell_at from connections where user_id = $1', [user_id])
    expect(left).toMatchObject({ account_hash: null, farewell_at: null })
    const key = (await userSealingKey(w.app, t.team_id, user_id)) as SealingKey
    expect(openAccount(key, left as Connection)).toEqual({ external_user_id: null })
  })
})

describe('asking for news', () => {
  test('says which sources were asked; those that push are not', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await t.api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
    expect(await t.api.refreshUser({ params: { user_id } })).toEqual({
      ...{ success: true, user_id, refreshed_sources: ['fitbit'], in_progress_sources: [], failed_sources: [] },
    })
  })

  test('answers 202 while a source takes longer', async () => {
    const t = await w.tenant()
    const { user_id } = await connect(t)
    await query(w.url, "update connections set expires_at = now() - interval '1 minute' where user_id = $1", [user_id])
    let goOn = () => {}
    source.behavior.holdUntil = new Promise<void>((done) => {
      goOn = done
    })
    const caller = { team_id: t.team_id } as Parameters<typeof refreshUser>[1]
    const answer = await refreshUser(w.app, caller, user_id, 0.05)
    goOn()
    source.behavior.holdUntil = undefined
    expect(answer).toMatchObject({ success: true, refreshed_sources: [], in_progress_sources: ['fitbit'], failed_sources: [] })
    expect([endpoints.refreshUser.isStillRunning(answer), endpoints.refreshUser.isStillRunning({ in_progress_sources: [] })]).toEqual([
      true,
      false,
    ])
  })

  test('is possible eight times an hour for each user', async () => {
    const late = await world()
    const [user_id, other] = [await aUser(late.api), await aUser(late.api)]
    for (let i = 0; i < 8; i++) await late.api.refreshUser({ params: { user_id } })
    expect(await errorOf(late.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 429,
      detail: { error_type: 'TOO_MANY_REFRESHES' },
    })
    expect(await late.api.refreshUser({ params: { user_id: other } })).toMatchObject({ success: true })
    late.advanceTime(HOUR)
    expect(await late.api.refreshUser({ params: { user_id } })).toMatchObject({ success: true })
  })

  test.each([4, 61, 'soon'])('does not wait for %s seconds', async (timeout) => {
    const user_id = await aUser(w.api)
    expect(await errorOf(w.api.refreshUser({ params: { user_id }, query: { timeout: timeout as number } }))).toMatchObject({ status: 422 })
  })

  test('is not possible for a stranger', async () => {
    const user_id = await aUser((await w.tenant()).api)
    expect(await errorOf(w.api.refreshUser({ params: { user_id } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'USER_NOT_FOUND' },
    })
  })
})

import { VitalClient } from '@tryvital/vital-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { newUuid } from '../support/seeded.ts'
import { world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let sdk: VitalClient
let team: Awaited<ReturnType<typeof w.tenant>>
beforeAll(async () => {
  w = await world()
  team = await w.tenant()
  sdk = new VitalClient({ apiKey: team.team_api_key, environment: w.base, maxRetries: 0 })
  const params = { org_id: team.org_id, env: 'sandbox' as const, region: 'us' as const }
  const body = { team_id: team.team_id, provider: 'oura' as const, client_id: 'app', client_secret: 'secret' }
  await team.admin.putTeamCredential({ params, body })
  await team.admin.putTeamCredential({ params, body: { ...body, provider: 'wahoo' } })
})

const aUser = async () => (await sdk.user.create({ clientUserId: `sdk-${newUuid()}` })).userId
const aToken = async (userId: string) => (await sdk.link.token({ userId })).linkToken

describe('the public SDK, unmodified', () => {
  test('lists sources', async () => {
    const all = await sdk.providers.getAll()
    expect(all.find(({ slug }) => slug === 'oura')).toMatchObject({
      name: 'Oura',
      authType: 'oauth',
      supportedResources: expect.arrayContaining(['sleep']),
    })
    expect((await sdk.providers.getAll({ sourceType: 'ble' })).length).toBe(6)
  })

  test('connects a phone, reads connections and devices, refreshes and disconnects', async () => {
    const userId = await aUser()
    expect(await sdk.link.connectManualProvider('apple_health_kit', { userId })).toEqual({ success: true })
    expect((await sdk.user.get(userId)).connectedSources).toMatchObject([
      { provider: { slug: 'apple_health_kit' }, source: { slug: 'apple_health_kit' } },
    ])
    const connected = await sdk.user.getConnectedProviders(userId)
    expect(connected['providers']).toMatchObject([{ slug: 'apple_health_kit', status: 'connected', createdOn: expect.any(Date) }])
    expect(await sdk.user.getDevices(userId)).toEqual([])
    expect(await sdk.user.refresh(userId, { timeout: 5 })).toMatchObject({
      success: true,
      userId,
      refreshedSources: [],
      inProgressSources: [],
      failedSources: [],
    })
    expect(await sdk.user.getUserSignInToken(userId)).toMatchObject({ userId, signInToken: expect.stringMatching(/^ut_/) })
    expect(await sdk.user.deregisterProvider(userId, 'apple_health_kit')).toEqual({ success: true })
    expect((await sdk.user.getConnectedProviders(userId))['providers']).toEqual([])
  })

  test('links by OAuth, password, code and email with a link token', async () => {
    const userId = await aUser()
    const vitalLinkToken = await aToken(userId)
    expect(await sdk.link.isTokenValid({ token: vitalLinkToken })).toEqual({ valid: true })
    const providers = await sdk.link.getAllProviders({ vitalLinkToken })
    expect(providers.map(({ slug }) => slug)).toEqual(expect.arrayContaining(['oura', 'peloton', 'freestyle_libre']))
    const started = await sdk.link.generateOauthLink('oura', { vitalLinkToken })
    expect(started).toMatchObject({ slug: 'oura', oauthUrl: expect.stringContaining('code_challenge=') })

    const wrong = await sdk.link.connectPasswordProvider('peloton', { vitalLinkToken, username: 'rider', password: 'wrong' })
    expect(wrong).toMatchObject({ state: 'error', errorType: 'provider_credential_error', connected: false })
    const pending = await sdk.link.connectPasswordProvider('peloton', { vitalLinkToken, username: 'rider', password: 'mfa' })
    expect(pending).toMatchObject({ state: 'pending_provider_mfa', providerMfa: { method: 'sms' } })
    const done = await sdk.link.completePasswordProviderMfa('peloton', { vitalLinkToken, mfaCode: '123456' })
    expect(done).toMatchObject({ state: 'success', connected: true })
    const email = { vitalLinkToken: await aToken(userId), email: 'reader@example.org', region: 'us' as const }
    expect(await sdk.link.connectEmailAuthProvider('freestyle_libre', email)).toMatchObject({ state: 'success' })
    expect((await sdk.user.get(userId)).connectedSources.map(({ provider }) => provider.slug)).toEqual(['peloton', 'freestyle_libre'])
  })

  test('imports, lists, exports and pauses connections and triggers historical pulls', async () => {
    const userId = await aUser()
    const connection = {
      userId,
      accessToken: 'a',
      refreshToken: 'r',
      providerId: newUuid(),
      expiresAt: 4_000_000_000,
      oauthScopes: ['daily'],
    }
    const pendingImport = await sdk.link.bulkImport({ provider: 'wahoo', connections: [connection] })
    expect(pendingImport).toEqual({ userIdsImported: [], userIdsFailed: [] })
    await w.runJobs()
    const done = await sdk.link.bulkImport({ provider: 'wahoo', connections: [connection], waitForCompletion: true })
    expect(done).toEqual({ userIdsImported: [userId], userIdsFailed: [] })
    expect((await sdk.link.listBulkOps({ pageSize: 10 })).data).toMatchObject([
      { type: 'link_bulk_import', status: 'success', pending: 0, processed: 1, startedAt: expect.any(Date) },
      { status: 'success' },
    ])
    expect(await sdk.link.bulkExport({ provider: 'wahoo' })).toMatchObject({ data: [connection] })
    expect(await sdk.link.bulkTriggerHistoricalPull({ provider: 'wahoo', userIds: [userId], waitForCompletion: true })).toMatchObject({
      user_ids_failed: [userId],
    })
    expect(await sdk.link.bulkPause({ provider: 'wahoo', userIds: [userId] })).toMatchObject({ user_ids_paused: [userId] })
  })
})

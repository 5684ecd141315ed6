import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { errorOf, replica, world } from '../support/world.ts'

const w = await world()
const other = await replica()
const clocks = [w, other]
const at = Date.now()
for (const clock of clocks) clock.stopTime(at)
const pass = (ms: number) => {
  for (const clock of clocks) clock.advanceTime(ms)
}

type RateLimit = { requests_per_second: number; burst?: number }

async function aTeam(rate_limit: RateLimit | null, keyLimit?: RateLimit) {
  const { org_id, admin } = w
  const team = await admin.createTeam({ params: { org_id }, body: { name: 'Limited', region: 'us', rate_limit } })
  const key = await admin.createTeamKey({
    params: { org_id, env: 'sandbox', region: 'us' },
    body: { label: 'limited', team_id: team.id, ...(keyLimit ? { rate_limit: keyLimit } : {}) },
  })
  return { team, key }
}

const get = (key: string, path = '/v2/user', { base }: { base: string } = w) =>
  sendRaw(`${base}${path}`, 'GET', { headers: { 'x-service-api-key': key } })

/** How many of these requests are accepted, sent one after another to both services in turn. */
async function countAccepted(key: string, requests: number) {
  let accepted = 0
  for (let i = 0; i < requests; i++) if ((await get(key, '/v2/user', clocks[i % 2] ?? w)).status === 200) accepted++
  return accepted
}

describe('without a fixed rate', () => {
  test('responses have no rate headers', async () => {
    const { headers } = await get(w.team_api_key)
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null])
  })
})

describe('a team with a fixed rate', () => {
  test('is accepted up to its burst, and then at its rate, over all services together', async () => {
    const { key } = await aTeam({ requests_per_second: 4, burst: 10 })
    expect(await countAccepted(key.value, 16)).toBe(10)
    pass(500)
    expect(await countAccepted(key.value, 6)).toBe(2)
    pass(60_000)
    expect(await countAccepted(key.value, 14)).toBe(10)
  })

  test('gets its whole burst for requests that arrive together', async () => {
    const { key } = await aTeam({ requests_per_second: 1, burst: 20 })
    const responses = await Promise.all(Array.from({ length: 60 }, () => get(key.value)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
  })

  test('reads how many requests are left, and when to retry', async () => {
    const { key } = await aTeam({ requests_per_second: 2, burst: 4 })
    const first = await get(key.value)
    expect(first.status).toBe(200)
    expect(first.headers.get('ratelimit-policy')).toBe('"team";q=4;w=2')
    expect(first.headers.get('ratelimit')).toBe('"team";r=3;t=1')
    for (let i = 0; i < 3; i++) expect((await get(key.value)).status).toBe(200)
    const refused = await get(key.value)
    expect(refused).toMatchObject({ status: 429, body: { detail: { error_type: 'RATE_LIMITED' } } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit')).toBe('"team";r=0;t=2')
    pass(1000)
    expect((await get(key.value)).status).toBe(200)
  })

  test('spends more on a read of many years', async () => {
    const { key } = await aTeam({ requests_per_second: 1, burst: 12 })
    const user_id = await aUser(createClient(w.base, { 'x-service-api-key': key.value }))
    const read = (from: string) => get(key.value, `/v2/timeseries/${user_id}/heartrate/grouped?start_date=${from}&end_date=2026-01-01`)
    expect((await read('1826-01-01')).headers.get('ratelimit')).toMatch(/r=1;/)
    expect((await read('2025-12-31')).status).toBe(200)
    expect((await read('2025-12-31')).status).toBe(429)
  })

  test('shares its rate among its keys, and does not affect other teams', async () => {
    const { team, key } = await aTeam({ requests_per_second: 1, burst: 2 })
    const params = { org_id: w.org_id, env: 'sandbox' as const, region: 'us' as const }
    const second = await w.admin.createTeamKey({ params, body: { label: 'second', team_id: team.id } })
    const statuses = []
    for (const secret of [key.value, second.value, second.value, w.team_api_key]) statuses.push((await get(secret)).status)
    expect(statuses).toEqual([200, 200, 429, 200])
  })

  test('can get another rate, or none', async () => {
    const { team, key } = await aTeam({ requests_per_second: 1 })
    const params = { org_id: w.org_id, team_id: team.id }
    expect((await w.admin.getTeam({ params })).rate_limit).toEqual({ requests_per_second: 1 })
    expect(await countAccepted(key.value, 3)).toBe(1)
    await w.admin.patchTeam({ params, body: { name: 'Renamed' } })
    expect(await countAccepted(key.value, 3)).toBe(0)
    expect((await w.admin.patchTeam({ params, body: { rate_limit: null } })).rate_limit).toBe(null)
    // No wake-up reaches the other service.
    pass(1000)
    expect(await countAccepted(key.value, 3)).toBe(3)
  })
})

test('a Team Management Key can lower the rates of its team and its keys, and not raise or remove them', async () => {
  const { team, key } = await aTeam({ requests_per_second: 5, burst: 10 }, { requests_per_second: 2 })
  const params = { org_id: w.org_id, team_id: team.id }
  const keyParams = { org_id: w.org_id, env: 'sandbox' as const, region: 'us' as const, api_key_id: key.id }
  const role = { role: 'team_admin' as const, team_role_bindings: [{ team_id: team.id }] }
  const bound = await w.admin.createManagementKey({ params, body: { label: 'bound', ...role } })
  const admin = createClient(w.base, { 'x-management-key': bound.key })
  const refused = { status: 403, detail: { error_type: 'ORG_KEY_REQUIRED' } }
  for (const rate_limit of [null, { requests_per_second: 6 }, { requests_per_second: 5, burst: 11 }])
    expect(await errorOf(admin.patchTeam({ params, body: { rate_limit } }))).toMatchObject(refused)
  for (const rate_limit of [null, { requests_per_second: 3 }])
    expect(await errorOf(admin.patchTeamKey({ params: keyParams, body: { rate_limit } }))).toMatchObject(refused)
  expect((await admin.patchTeam({ params, body: { name: 'Slower', rate_limit: { requests_per_second: 4 } } })).rate_limit).toEqual({
    requests_per_second: 4,
  })
  const lowered = await admin.patchTeamKey({ params: keyParams, body: { rate_limit: { requests_per_second: 1 } } })
  expect(lowered.rate_limit).toEqual({ requests_per_second: 1 })
  expect((await w.admin.patchTeam({ params, body: { rate_limit: null } })).rate_limit).toBe(null)
})

describe('a key with a fixed rate', () => {
  test('is limited by itself and by its team', async () => {
    const { key } = await aTeam({ requests_per_second: 10, burst: 20 }, { requests_per_second: 1, burst: 3 })
    const { headers } = await get(key.value)
    expect(headers.get('ratelimit-policy')).toBe('"key";q=3;w=3, "team";q=20;w=2')
    expect(await countAccepted(key.value, 5)).toBe(2)
  })

  test('can be changed', async () => {
    const { key } = await aTeam(null)
    const params = { org_id: w.org_id, env: 'sandbox' as const, region: 'us' as const, api_key_id: key.id }
    const patched = await w.admin.patchTeamKey({ params, body: { rate_limit: { requests_per_second: 1, burst: 2 } } })
    expect(patched).toMatchObject({ id: key.id, label: 'limited', rate_limit: { requests_per_second: 1, burst: 2 } })
    expect(await countAccepted(key.value, 4)).toBe(2)
    expect(await w.admin.patchTeamKey({ params, body: { label: 'renamed' } })).toEqual({ ...patched, label: 'renamed' })
    const stranger = await w.tenant({ org: 'Meadow Care', team: 'Meadow' })
    const foreign = stranger.admin.patchTeamKey({ params: { ...params, org_id: stranger.org_id }, body: { label: 'mine' } })
    expect(await errorOf(foreign)).toMatchObject({ status: 404, detail: { error_type: 'API_KEY_NOT_FOUND' } })
  })
})

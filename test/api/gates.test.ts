import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import type { Table } from '../../src/http/endpoint-table.ts'
import { handlers } from '../../src/http/handlers.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { setPlan } from '../../src/tenants/teams/orgs.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

/** An endpoint that exists only in this test, because it must not change. */
const preview: Row = {
  method: 'get',
  path: '/v3/preview',
  auth: 'team',
  tag: 'Beta',
  summary: 'An endpoint in closed beta',
  beta: 'preview',
  subjects: {},
  returns: z.object({ enabled: z.boolean() }),
}
const table: Table = {
  endpoints: { ...endpoints, preview },
  handlers: { ...handlers, preview: async () => ({ enabled: true }) },
}

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ table })
})

describe('the plan gate', () => {
  const managementEndpoints = Object.entries<Row>(endpoints).filter(([, row]) => row.auth === 'management')
  let launch: Tenant
  beforeAll(async () => {
    launch = await w.tenant({ plan: 'launch' })
  })
  const request = (row: Row, tenant: Tenant) =>
    sendRequest(w.base, row, {
      params: { ...tenant, key_id: newUuid(), env: 'sandbox', region: 'us' },
      headers: { 'x-management-key': tenant.management_key },
      ...(row.body ? { body: {} } : {}),
    })

  test('covers the whole management API', () => {
    expect(managementEndpoints.length).toBeGreaterThanOrEqual(16)
    expect(managementEndpoints.filter(([, row]) => row.plan !== 'scale')).toEqual([])
  })

  test.each(managementEndpoints)('requires the scale plan for %s', async (_, row) => {
    const response = await request(row, launch)
    expect(response).toMatchObject({
      status: 403,
      body: { detail: { error_type: 'PLAN_REQUIRED', error_message: expect.stringContaining('requires the scale plan') } },
    })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('rejects the grow plan and leaves data endpoints open on every plan', async () => {
    for (const plan of ['launch', 'grow', 'scale'] as const) {
      const tenant = await w.tenant({ plan })
      expect((await tenant.api.createUser({ body: { client_user_id: newUuid() } })).team_id).toBe(tenant.team_id)
      expect(await tenant.api.getClock()).toMatchObject({ offset_seconds: 0 })
      expect((await request(endpoints.getOrg, tenant)).status).toBe(plan === 'scale' ? 200 : 403)
    }
  })

  test('follows a change of plan at once', async () => {
    const tenant = await w.tenant({ plan: 'launch' })
    await setPlan(w.app, tenant.org_id, 'scale')
    expect(await tenant.admin.getOrg({ params: tenant })).toMatchObject({ plan: 'scale' })
    const { access_token } = await tenant.admin.createAccessToken({ params: tenant, body: { env: 'sandbox' } })
    await setPlan(w.app, tenant.org_id, 'grow')
    expect(await errorOf(tenant.admin.getOrg({ params: tenant }))).toMatchObject({ status: 403 })
    expect(await createClient(w.base, { authorization: `Bearer ${access_token}` }).listUsers()).toMatchObject({ total: 0 })
  })
})

describe('the closed-beta gate', () => {
  const request = (headers: Record<string, string>) => sendRequest(w.base, preview, { headers })

  test('returns 403 to every team that the operator has not enabled', async () => {
    const [enabledTeam, other] = [await w.tenant(), await w.tenant()]
    const { access_token } = await enabledTeam.admin.createAccessToken({ params: enabledTeam, body: { env: 'sandbox' } })
    const credentials = [{ 'x-service-api-key': enabledTeam.team_api_key }, { authorization: `Bearer ${access_token}` }] as Record<
      string,
      string
    >[]
    const closed = {
      status: 403,
      body: { detail: { error_type: 'CLOSED_BETA', error_message: expect.stringContaining('closed beta (preview)') } },
    }
    for (const headers of credentials) {
      const response = await request(headers)
      expect(response).toMatchObject(closed)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    }
    await setBetas(w.app, enabledTeam.team_id, ['preview', 'other'])
    for (const headers of credentials) expect(await request(headers)).toMatchObject({ status: 200, body: { enabled: true } })
    expect(await request({ 'x-service-api-key': other.team_api_key })).toMatchObject(closed)
    await setBetas(w.app, enabledTeam.team_id, ['other'])
    for (const headers of credentials) expect(await request(headers)).toMatchObject(closed)
  })

  test('returns 401 without a key', async () => {
    expect(await request({})).toMatchObject({ status: 401 })
  })
})

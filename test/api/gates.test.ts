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

/** No endpoint of today is in closed beta, so the gate is shown on one that stands beside the table. */
const tomorrow: Row = {
  method: 'get',
  path: '/v3/tomorrow',
  auth: 'team',
  tag: 'Beta',
  summary: 'Something in closed beta',
  beta: 'tomorrow',
  subjects: {},
  returns: z.object({ answer: z.string() }),
}
const table: Table = {
  endpoints: { ...endpoints, tomorrow },
  handlers: { ...handlers, tomorrow: async () => ({ answer: 'yes' }) },
}

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ table })
})

describe('the plan gate', () => {
  const managed = Object.entries<Row>(endpoints).filter(([, row]) => row.auth === 'management')
  let launch: Tenant
  beforeAll(async () => {
    launch = await w.tenant({ plan: 'launch' })
  })
  const ask = (row: Row, tenant: Tenant) =>
    sendRequest(w.base, row, {
      params: { ...tenant, key_id: newUuid(), env: 'sandbox', region: 'us' },
      headers: { 'x-management-key': tenant.management_key },
      ...(row.body ? { body: {} } : {}),
    })

  test('stands before the whole management API', () => {
    expect(managed.length).toBeGreaterThanOrEqual(16)
    expect(managed.filter(([, row]) => row.plan !== 'scale')).toEqual([])
  })

  test.each(managed)('%s answers only on the top plan', async (_, row) => {
    const answer = await ask(row, launch)
    expect(answer).toMatchObject({
      status: 403,
      body: { detail: { error_type: 'PLAN_REQUIRED', error_message: expect.stringContaining('scale plan only') } },
    })
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('grow is not the top plan, and data routes work on every plan', async () => {
    for (const plan of ['launch', 'grow', 'scale'] as const) {
      const tenant = await w.tenant({ plan })
      expect((await tenant.api.createUser({ body: { client_user_id: newUuid() } })).team_id).toBe(tenant.team_id)
      expect(await tenant.api.getClock()).toMatchObject({ offset_seconds: 0 })
      expect((await ask(endpoints.getOrg, tenant)).status).toBe(plan === 'scale' ? 200 : 403)
    }
  })

  test('opens and shuts with the plan, at once', async () => {
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
  const ask = (headers: Record<string, string>) => sendRequest(w.base, tomorrow, { headers })

  test('answers in JSON until the operator enables the team, then and only then for that team', async () => {
    const [invited, other] = [await w.tenant(), await w.tenant()]
    const { access_token } = await invited.admin.createAccessToken({ params: invited, body: { env: 'sandbox' } })
    const credentials = [{ 'x-service-api-key': invited.team_api_key }, { authorization: `Bearer ${access_token}` }] as Record<
      string,
      string
    >[]
    const closed = {
      status: 403,
      body: { detail: { error_type: 'CLOSED_BETA', error_message: expect.stringContaining('closed beta (tomorrow)') } },
    }
    for (const headers of credentials) {
      const answer = await ask(headers)
      expect(answer).toMatchObject(closed)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    }
    await setBetas(w.app, invited.team_id, ['tomorrow', 'someday'])
    for (const headers of credentials) expect(await ask(headers)).toMatchObject({ status: 200, body: { answer: 'yes' } })
    expect(await ask({ 'x-service-api-key': other.team_api_key })).toMatchObject(closed)
    await setBetas(w.app, invited.team_id, ['someday'])
    for (const headers of credentials) expect(await ask(headers)).toMatchObject(closed)
  })

  test('nobody without a key learns of it', async () => {
    expect(await ask({})).toMatchObject({ status: 401 })
  })
})

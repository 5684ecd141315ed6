import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { handlers } from '../../src/http/handlers.ts'
import { revokeLabKey } from '../../src/tenants/keys/lab-keys.ts'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { newDatabase, replica, world } from '../support/world.ts'

const someTeam = newUuid()

/** A sample lab endpoint. Its handler returns the team ID, which is audited but not sent to the lab. */
const work: Row = {
  method: 'post',
  path: '/lab/v1/work',
  auth: 'lab',
  tag: 'Partner lab API',
  summary: 'A lab action for a team',
  subjects: { team_id: 'result.team_id' },
  returns: z.object({ done: z.boolean() }),
}
const table = {
  endpoints: { ...endpoints, work },
  handlers: { ...handlers, work: async () => ({ done: true, team_id: someTeam }) },
}

let w: Awaited<ReturnType<typeof world>>
let partnerLab: Awaited<ReturnType<typeof w.partnerLab>>
beforeAll(async () => {
  w = await world({ table })
  partnerLab = await w.partnerLab()
})

type Headers = Record<string, string>
const getOwnLab = (headers: Headers) => sendRequest(w.base, endpoints.getOwnLab, { headers })
const errorResponse = (error_type: string) => ({
  status: 401,
  body: { detail: { error_type, error_message: expect.stringMatching(/^[A-Z].+\.$/) } },
})

describe('partner lab endpoints', () => {
  test('accept a lab key and return its own lab', async () => {
    expect(partnerLab.lab_key).toMatch(/^lks_us_[0-9A-Za-z]{46}$/)
    expect(await partnerLab.lab.getOwnLab()).toMatchObject({ id: 1, slug: 'quillmoor', name: 'Quillmoor Reference Laboratory' })
    expect(await (await w.partnerLab(3)).lab.getOwnLab()).toMatchObject({ id: 3, slug: 'larkstone' })
  })

  test('reject a revoked lab key', async () => {
    const { lab_key, key_id } = await w.partnerLab()
    expect(await getOwnLab({ 'x-lab-key': lab_key })).toMatchObject({ status: 200 })
    await revokeLabKey(w.app, key_id)
    expect(await getOwnLab({ 'x-lab-key': lab_key })).toMatchObject(errorResponse('INVALID_LAB_KEY'))
  })

  test.each<[string, Headers]>([
    ['a request without a credential', {}],
    ['an empty key', { 'x-lab-key': '' }],
    ['whitespace', { 'x-lab-key': '  ' }],
  ])('reject %s and name the header to send', async (_, headers) => {
    const response = await getOwnLab(headers)
    expect(response).toMatchObject(errorResponse('MISSING_LAB_KEY'))
    expect(JSON.stringify(response.body)).toContain('x-lab-key')
  })

  test.each(['garbage', 'lks_us_', `lks_us_${'x'.repeat(46)}`, "' or 1=1 --"])('reject the key %s without echoing it', async (key) => {
    const response = await getOwnLab({ 'x-lab-key': key })
    expect(response).toMatchObject(errorResponse('INVALID_LAB_KEY'))
    expect(JSON.stringify(response.body)).not.toContain(key)
  })

  test.each([
    ['lkp_us_', 'production us'],
    ['lks_eu_', 'sandbox eu'],
    ['lkp_eu_', 'production eu'],
  ])('reject a %s key and name its deployment', async (prefix, name) => {
    const response = await getOwnLab({ 'x-lab-key': newApiKey(prefix) })
    expect(response).toMatchObject(errorResponse('WRONG_DEPLOYMENT_KEY'))
    expect(JSON.stringify(response.body)).toContain(`belongs to the ${name} deployment, but this is sandbox us.`)
  })

  test.each<[string, (key: string) => Headers]>([
    ['x-service-api-key', (key) => ({ 'x-service-api-key': key })],
    ['X-Management-Key', (key) => ({ 'x-management-key': key })],
    ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
  ])('reject a lab key in the %s header and name the right one', async (_, headers) => {
    const response = await getOwnLab(headers(partnerLab.lab_key))
    expect(response).toMatchObject(errorResponse('MISSING_LAB_KEY'))
    expect(JSON.stringify(response.body)).toMatch(/in another header\. Send it in x-lab-key\./)
  })

  test('reject team and management credentials in any header', async () => {
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    const cases: [Headers, string][] = [
      [{ 'x-lab-key': w.team_api_key }, 'TEAM_KEY_NOT_ALLOWED'],
      [{ 'x-service-api-key': w.team_api_key }, 'TEAM_KEY_NOT_ALLOWED'],
      [{ 'x-vital-api-key': w.team_api_key }, 'TEAM_KEY_NOT_ALLOWED'],
      [{ authorization: `Bearer ${access_token}` }, 'TEAM_KEY_NOT_ALLOWED'],
      [{ 'x-lab-key': w.management_key }, 'MANAGEMENT_KEY_NOT_ALLOWED'],
      [{ 'x-management-key': w.management_key }, 'MANAGEMENT_KEY_NOT_ALLOWED'],
      [{ 'x-service-org-key': w.management_key }, 'MANAGEMENT_KEY_NOT_ALLOWED'],
      [{ 'x-service-api-key': w.management_key }, 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ]
    for (const [headers, error_type] of cases) expect(await getOwnLab(headers)).toMatchObject(errorResponse(error_type))
  })
})

describe('a lab key', () => {
  const others = Object.entries<Row>(endpoints).filter(([, row]) => ['team', 'management'].includes(row.auth))

  test.each(others)('cannot call %s', async (_, row) => {
    const header = row.auth === 'team' ? 'x-service-api-key' : 'x-management-key'
    for (const headers of [{ 'x-lab-key': partnerLab.lab_key }, { [header]: partnerLab.lab_key }] as Headers[])
      expect(await sendRequest(w.base, row, { params: w, headers, ...(row.body ? { body: {} } : {}) })).toMatchObject(
        errorResponse('LAB_KEY_NOT_ALLOWED'),
      )
  })

  test('is rejected in the header of another credential', async () => {
    const management = { params: w, headers: { 'x-service-api-key': partnerLab.lab_key } }
    expect(await sendRequest(w.base, endpoints.getOrg, management)).toMatchObject(errorResponse('LAB_KEY_NOT_ALLOWED'))
    const misplaced = { params: w, headers: { 'x-lab-key': w.management_key } }
    expect(await sendRequest(w.base, endpoints.getOrg, misplaced)).toMatchObject(errorResponse('MISSING_MANAGEMENT_KEY'))
    const token = { headers: { authorization: `Bearer ${partnerLab.lab_key}` } }
    expect(await sendRequest(w.base, endpoints.listUsers, token)).toMatchObject(errorResponse('INVALID_ACCESS_TOKEN'))
  })
})

describe('a lab request', () => {
  const sendAudited = async (row: Row, lab_key = partnerLab.lab_key) => {
    const request_id = newUuid()
    const { body } = await sendRequest(w.base, row, { headers: { 'x-lab-key': lab_key, 'x-request-id': request_id } })
    const columns = 'actor_kind, actor_id, org_id, team_id, action, status'
    return { body, rows: await query(w.url, `select ${columns} from ${auditRows} where request_id = $1`, [request_id]) }
  }
  const keyFields = () => ({ actor_kind: 'lab_key', actor_id: partnerLab.key_id, org_id: null, status: 200 })

  test('is audited under its key without an organization', async () => {
    expect((await sendAudited(endpoints.getOwnLab)).rows).toEqual([{ ...keyFields(), team_id: null, action: 'getOwnLab' }])
  })

  test('is audited for the team it concerns', async () => {
    const { body, rows } = await sendAudited(work)
    expect([body, rows]).toEqual([{ done: true }, [{ ...keyFields(), team_id: someTeam, action: 'work' }]])
  })

  test('updates last_used_at of the key, which is not stored in full', async () => {
    await w.runJobs()
    const [row] = await query<{ prefix: string; last_used_at: string }>(w.url, 'select * from lab_keys where id = $1', [partnerLab.key_id])
    expect(row).toMatchObject({ prefix: partnerLab.lab_key.slice(0, 12), last_used_at: expect.anything() })
    expect(JSON.stringify(row)).not.toContain(partnerLab.lab_key)
  })
})

test('rejects a sandbox lab key in production', async () => {
  const eu = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production', REGION: 'eu' } })
  const response = await sendRequest(eu.base, endpoints.getOwnLab, { headers: { 'x-lab-key': partnerLab.lab_key } })
  expect(response).toMatchObject(errorResponse('WRONG_DEPLOYMENT_KEY'))
})

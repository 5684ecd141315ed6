import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { handlers } from '../../src/http/handlers.ts'
import { revokeLabKey } from '../../src/tenants/keys/lab-keys.ts'
import { query } from '../support/cluster.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { newDatabase, replica, world } from '../support/world.ts'

const someTeam = newUuid()

/** Stands for what a lab will do to an order: the action knows whose it is, and the lab does not learn it. */
const work: Row = {
  method: 'post',
  path: '/lab/v1/work',
  auth: 'lab',
  tag: 'Partner lab API',
  summary: 'Something a lab does for a team',
  subjects: { team_id: 'result.team_id' },
  returns: z.object({ done: z.boolean() }),
}
const table = {
  endpoints: { ...endpoints, work },
  handlers: { ...handlers, work: async () => ({ done: true, team_id: someTeam }) },
}

let w: Awaited<ReturnType<typeof world>>
let side: Awaited<ReturnType<typeof w.partnerLab>>
beforeAll(async () => {
  w = await world({ table })
  side = await w.partnerLab()
})

type Headers = Record<string, string>
const getOwnLab = (headers: Headers) => sendRequest(w.base, endpoints.getOwnLab, { headers })
const refusedFor = (error_type: string) => ({
  status: 401,
  body: { detail: { error_type, error_message: expect.stringMatching(/^[A-Z].+\.$/) } },
})

describe('routes of the lab side take a lab key', () => {
  test('which names its deployment and opens its own lab', async () => {
    expect(side.lab_key).toMatch(/^lks_us_[0-9A-Za-z]{46}$/)
    expect(await side.lab.getOwnLab()).toMatchObject({ id: 1, slug: 'quillmoor', name: 'Quillmoor Reference Laboratory' })
    expect(await (await w.partnerLab(3)).lab.getOwnLab()).toMatchObject({ id: 3, slug: 'larkstone' })
  })

  test('until it is revoked, and no longer', async () => {
    const { lab_key, key_id } = await w.partnerLab()
    expect(await getOwnLab({ 'x-lab-key': lab_key })).toMatchObject({ status: 200 })
    await revokeLabKey(w.app, key_id)
    expect(await getOwnLab({ 'x-lab-key': lab_key })).toMatchObject(refusedFor('INVALID_LAB_KEY'))
  })

  test.each<[string, Headers]>([
    ['no credential', {}],
    ['an empty key', { 'x-lab-key': '' }],
    ['white space', { 'x-lab-key': '  ' }],
  ])('%s is refused with what to send', async (_, headers) => {
    const answer = await getOwnLab(headers)
    expect(answer).toMatchObject(refusedFor('MISSING_LAB_KEY'))
    expect(JSON.stringify(answer.body)).toContain('x-lab-key')
  })

  test.each(['garbage', 'lks_us_', `lks_us_${'x'.repeat(46)}`, "' or 1=1 --"])('%s is refused and not repeated', async (key) => {
    const answer = await getOwnLab({ 'x-lab-key': key })
    expect(answer).toMatchObject(refusedFor('INVALID_LAB_KEY'))
    expect(JSON.stringify(answer.body)).not.toContain(key)
  })

  test.each([
    ['lkp_us_', 'production us'],
    ['lks_eu_', 'sandbox eu'],
    ['lkp_eu_', 'production eu'],
  ])('a %s key is refused by the name of its deployment', async (prefix, name) => {
    const answer = await getOwnLab({ 'x-lab-key': newApiKey(prefix) })
    expect(answer).toMatchObject(refusedFor('WRONG_DEPLOYMENT_KEY'))
    expect(JSON.stringify(answer.body)).toContain(`belongs to the ${name} deployment, but this is sandbox us.`)
  })

  test.each<[string, (key: string) => Headers]>([
    ['x-service-api-key', (key) => ({ 'x-service-api-key': key })],
    ['X-Management-Key', (key) => ({ 'x-management-key': key })],
    ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
  ])('one that comes in %s is refused with the header to send it in', async (_, headers) => {
    const answer = await getOwnLab(headers(side.lab_key))
    expect(answer).toMatchObject(refusedFor('MISSING_LAB_KEY'))
    expect(JSON.stringify(answer.body)).toMatch(/x-lab-key.*another header; send it in that one/)
  })

  test('keys of the other kinds are refused by name, whichever header they come in', async () => {
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
    for (const [headers, error_type] of cases) expect(await getOwnLab(headers)).toMatchObject(refusedFor(error_type))
  })
})

describe('a lab key opens nothing else', () => {
  const others = Object.entries<Row>(endpoints).filter(([, row]) => ['team', 'management'].includes(row.auth))

  test.each(others)('%s', async (_, row) => {
    const own = row.auth === 'team' ? 'x-service-api-key' : 'x-management-key'
    for (const headers of [{ 'x-lab-key': side.lab_key }, { [own]: side.lab_key }] as Headers[])
      expect(await sendRequest(w.base, row, { params: w, headers, ...(row.body ? { body: {} } : {}) })).toMatchObject(
        refusedFor('LAB_KEY_NOT_ALLOWED'),
      )
  })

  test('nor in a header that is meant for others', async () => {
    const management = { params: w, headers: { 'x-service-api-key': side.lab_key } }
    expect(await sendRequest(w.base, endpoints.getOrg, management)).toMatchObject(refusedFor('LAB_KEY_NOT_ALLOWED'))
    const misplaced = { params: w, headers: { 'x-lab-key': w.management_key } }
    expect(await sendRequest(w.base, endpoints.getOrg, misplaced)).toMatchObject(refusedFor('MISSING_MANAGEMENT_KEY'))
    const token = { headers: { authorization: `Bearer ${side.lab_key}` } }
    expect(await sendRequest(w.base, endpoints.listUsers, token)).toMatchObject(refusedFor('INVALID_ACCESS_TOKEN'))
  })
})

describe('what a lab does', () => {
  const rowOf = async (row: Row, lab_key = side.lab_key) => {
    const request_id = newUuid()
    const { body } = await sendRequest(w.base, row, { headers: { 'x-lab-key': lab_key, 'x-request-id': request_id } })
    const columns = 'actor_kind, actor_id, org_id, team_id, action, status'
    return { body, rows: await query(w.url, `select ${columns} from audit_log where request_id = $1`, [request_id]) }
  }
  const ofKey = () => ({ actor_kind: 'lab_key', actor_id: side.key_id, org_id: null, status: 200 })

  test('is audited under its key, which belongs to no organisation', async () => {
    expect((await rowOf(endpoints.getOwnLab)).rows).toEqual([{ ...ofKey(), team_id: null, action: 'getOwnLab' }])
  })

  test('is audited for the team that it was about', async () => {
    const { body, rows } = await rowOf(work)
    expect([body, rows]).toEqual([{ done: true }, [{ ...ofKey(), team_id: someTeam, action: 'work' }]])
  })

  test('is noted as the last use of the key, and the key itself is kept as a hash', async () => {
    await w.runJobs()
    const [row] = await query<{ prefix: string; last_used_at: string }>(w.url, 'select * from lab_keys where id = $1', [side.key_id])
    expect(row).toMatchObject({ prefix: side.lab_key.slice(0, 12), last_used_at: expect.anything() })
    expect(JSON.stringify(row)).not.toContain(side.lab_key)
  })
})

test('a key of the sandbox does not open production', async () => {
  const eu = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production', REGION: 'eu' } })
  const answer = await sendRequest(eu.base, endpoints.getOwnLab, { headers: { 'x-lab-key': side.lab_key } })
  expect(answer).toMatchObject(refusedFor('WRONG_DEPLOYMENT_KEY'))
})

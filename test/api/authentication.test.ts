import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { pickOf } from '../../src/contract/pick.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

type Headers = Record<string, string>
const listUsers = (headers: Headers) => sendRequest(w.base, endpoints.listUsers, { headers })
const getOrg = (headers: Headers) => sendRequest(w.base, endpoints.getOrg, { params: w, headers })
const errorResponse = (error_type: string, status = 401) => ({
  status,
  body: { detail: { error_type, error_message: expect.stringMatching(/^[A-Z].+\.$/) } },
})

describe('data endpoints', () => {
  test.each(['x-service-api-key', 'X-Service-API-Key', 'x-vital-api-key'])('accept a team API key in %s', async (header) => {
    expect(await listUsers({ [header]: w.team_api_key })).toMatchObject({ status: 200 })
  })

  test('accept an access token as a Bearer token', async () => {
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    for (const scheme of ['Bearer', 'bearer'])
      expect(await listUsers({ authorization: `${scheme} ${access_token}` })).toMatchObject({ status: 200 })
  })

  test.each<[string, Headers]>([
    ['a request without a credential', {}],
    ['an empty key', { 'x-service-api-key': '' }],
    ['whitespace', { 'x-service-api-key': '   ' }],
    ['an empty Bearer token', { authorization: 'Bearer ' }],
    ['another authorization scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('reject %s and name the header to send', async (_, headers) => {
    const response = await listUsers(headers)
    expect(response).toMatchObject(errorResponse('MISSING_API_KEY'))
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.stringify(response.body)).toContain('x-service-api-key')
  })

  test.each(['garbage', 'sk_us_', `sk_us_${'x'.repeat(46)}`, "' or 1=1 --", 'x'.repeat(5000)])(
    'reject the key %s without echoing it',
    async (key) => {
      for (const [headers, error_type] of [
        [{ 'x-service-api-key': key }, 'INVALID_API_KEY'],
        [{ 'x-vital-api-key': key }, 'INVALID_API_KEY'],
        [{ authorization: `Bearer ${key.replaceAll(' ', '')}` }, 'INVALID_ACCESS_TOKEN'],
      ] as [Headers, string][]) {
        const response = await listUsers(headers)
        expect(response).toMatchObject(errorResponse(error_type))
        if (key.length > 6) expect(JSON.stringify(response.body)).not.toContain(key)
      }
    },
  )

  test('name the right header when a team API key is sent as a Bearer token', async () => {
    const { body } = await listUsers({ authorization: `Bearer ${w.team_api_key}` })
    expect(body).toEqual({
      detail: {
        error_type: 'INVALID_ACCESS_TOKEN',
        error_message: 'Authorization: Bearer accepts access tokens only. Send a team API key in x-service-api-key.',
      },
    })
  })

  test('reject a key with one character changed', async () => {
    const last = w.team_api_key.at(-1) === 'a' ? 'b' : 'a'
    expect(await listUsers({ 'x-service-api-key': w.team_api_key.slice(0, -1) + last })).toMatchObject(errorResponse('INVALID_API_KEY'))
  })

  test('ignore whitespace around a key', async () => {
    expect(await listUsers({ 'x-service-api-key': `  ${w.team_api_key}  ` })).toMatchObject({ status: 200 })
  })

  test.each([
    ['pk_us_', 'production us'],
    ['sk_eu_', 'sandbox eu'],
    ['pk_eu_', 'production eu'],
  ])('reject a %s key and name its deployment', async (prefix, name) => {
    const response = await listUsers({ 'x-service-api-key': newApiKey(prefix) })
    expect(response).toMatchObject(errorResponse('WRONG_DEPLOYMENT_KEY'))
    expect(JSON.stringify(response.body)).toContain(`belongs to the ${name} deployment, but this is sandbox us.`)
  })

  test.each<[string, (key: string) => Headers, string]>([
    ['in x-service-api-key', (key) => ({ 'x-service-api-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['in its own header', (key) => ({ 'x-management-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['in its deprecated header', (key) => ({ 'x-service-org-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['as a Bearer token', (key) => ({ authorization: `Bearer ${key}` }), 'INVALID_ACCESS_TOKEN'],
  ])('reject a management key sent %s', async (_, headers, error_type) => {
    expect(await listUsers(headers(w.management_key))).toMatchObject(errorResponse(error_type))
  })
})

describe('management endpoints', () => {
  test('accept a management key in X-Management-Key', async () => {
    const response = await getOrg({ 'X-Management-Key': w.management_key })
    expect(response.status).toBe(200)
    expect(response.headers.has('deprecation')).toBe(false)
  })

  test.each(['X-Service-Org-Key', 'X-Vital-Org-Key'])('accept a management key in %s and send a Deprecation header', async (header) => {
    const response = await getOrg({ [header]: w.management_key })
    expect(response.status).toBe(200)
    expect(response.headers.get('deprecation')).toBe('@1743465600')
    expect(response.headers.get('link')).toContain('rel="deprecation"')
    const refused = await getOrg({ [header]: 'garbage' })
    expect([refused.status, refused.headers.get('deprecation')]).toEqual([401, '@1743465600'])
  })

  test('prefer X-Management-Key over the deprecated header', async () => {
    const response = await getOrg({ 'x-management-key': w.management_key, 'x-service-org-key': 'garbage' })
    expect([response.status, response.headers.has('deprecation')]).toEqual([200, false])
  })

  test.each<[string, Headers]>([
    ['a request without a credential', {}],
    ['an empty key', { 'x-management-key': '' }],
    ['whitespace', { 'x-management-key': ' ' }],
  ])('reject %s and name the header to send', async (_, headers) => {
    const response = await getOrg(headers)
    expect(response).toMatchObject(errorResponse('MISSING_MANAGEMENT_KEY'))
    expect(JSON.stringify(response.body)).toContain('X-Management-Key')
  })

  test.each([
    ['x-service-api-key', (key: string) => key],
    ['x-vital-api-key', (key: string) => key],
    ['authorization', (key: string) => `Bearer ${key}`],
  ])('reject a management key in the %s header and name the right one', async (name, value) => {
    const response = await getOrg({ [name]: value(w.management_key) })
    expect(response).toMatchObject(errorResponse('MISSING_MANAGEMENT_KEY'))
    expect(JSON.stringify(response.body)).toMatch(/in another header\. Send it in X-Management-Key\./)
  })

  test.each(['garbage', 'mg_', `mg_${'x'.repeat(46)}`])('reject the key %s', async (key) => {
    expect(await getOrg({ 'x-management-key': key })).toMatchObject(errorResponse('INVALID_MANAGEMENT_KEY'))
  })

  test('reject a team API key or access token in any header', async () => {
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    for (const headers of [
      { 'x-management-key': w.team_api_key },
      { 'x-service-api-key': w.team_api_key },
      { 'x-vital-api-key': w.team_api_key },
      { authorization: `Bearer ${access_token}` },
    ] as Headers[])
      expect(await getOrg(headers)).toMatchObject(errorResponse('TEAM_KEY_NOT_ALLOWED'))
    expect(await getOrg({ 'x-management-key': access_token })).toMatchObject(errorResponse('INVALID_MANAGEMENT_KEY'))
  })
})

const protectedEndpoints = Object.entries<Row>(endpoints).filter(([, row]) => row.auth !== 'none')

test.each(protectedEndpoints)('%s requires a credential', async (_, row) => {
  const params = { ...w, user_id: newUuid(), client_user_id: 'x', key_id: newUuid(), env: 'sandbox', region: 'us' }
  const { status, body } = await sendRequest(w.base, row, { params, ...(row.body ? { body: {} } : {}) })
  expect(status).toBe(401)
  expect(body).toMatchObject({ detail: { error_type: expect.stringMatching(/^MISSING_/) } })
})

describe('a Team Management Key', () => {
  let tenant: Tenant & { other: string; otherKeyId: string }
  beforeAll(async () => {
    const created = await w.tenant()
    const params = { org_id: created.org_id, env: 'sandbox' as const, region: 'us' as const }
    const otherTeam = await created.admin.createTeam({ params, body: { name: 'Two', region: 'us', integration_team_id: 'two' } })
    const otherKeyId = (await created.admin.createTeamKey({ params, body: { label: 'theirs', team_id: otherTeam.id } })).id
    const body = { label: 'bound', role: 'team_admin' as const, team_role_bindings: [{ team_id: created.team_id }] }
    const { key } = await created.admin.createManagementKey({ params, body })
    tenant = { ...created, other: otherTeam.id, otherKeyId, management_key: key, admin: createClient(w.base, { 'x-management-key': key }) }
  })
  const deploymentParams = () => ({ org_id: tenant.org_id, env: 'sandbox' as const, region: 'us' as const })

  test('manages its own team', async () => {
    const { admin, team_id } = tenant
    expect(await admin.getTeam({ params: tenant })).toMatchObject({ id: team_id })
    expect(await admin.patchTeam({ params: tenant, body: { integration_team_id: 'one' } })).toMatchObject({ id: team_id })
    expect(await admin.resolveTeam({ params: tenant, body: { integration_team_id: 'one' } })).toMatchObject({ id: team_id })
    const key = await admin.createTeamKey({ params: deploymentParams(), body: { label: 'own', team_id } })
    const { access_token } = await admin.createAccessToken({ params: tenant, body: { env: 'sandbox' } })
    expect(await listUsers({ 'x-service-api-key': key.value })).toMatchObject({ status: 200 })
    expect(await listUsers({ authorization: `Bearer ${access_token}` })).toMatchObject({ status: 200 })
    expect((await admin.deleteTeamKeys({ params: deploymentParams(), query: { api_key_id: [key.id] } })).success).toEqual([key.id])
  })

  test('sees only its own team', async () => {
    const { admin, team_id, other } = tenant
    const teams = async (query: object = {}) => (await admin.listTeams({ params: tenant, query })).teams.map((team) => team.id)
    expect(await teams()).toEqual([team_id])
    expect(await teams({ team_id: other })).toEqual([])
    expect((await admin.listTeamKeys({ params: deploymentParams() })).api_keys.map((key) => key.team_id)).toEqual([team_id])
    expect((await admin.listTeamKeys({ params: deploymentParams(), query: { team_id: other } })).api_keys).toEqual([])
  })

  test('gets 409 for a taken integration_team_id without the ID of the other team', async () => {
    const params = { org_id: tenant.org_id, team_id: tenant.team_id }
    const headers = { 'x-management-key': tenant.management_key }
    const response = await sendRequest(w.base, endpoints.patchTeam, { params, body: { integration_team_id: 'two' }, headers })
    expect(response).toMatchObject(errorResponse('INTEGRATION_TEAM_ID_TAKEN', 409))
    expect(JSON.stringify(response.body)).not.toContain(tenant.other)
  })

  const orgEndpoints = Object.entries<Row>(endpoints).filter(([, row]) => row.scope === 'org')
  test.each(orgEndpoints)('cannot call the organization endpoint %s', async (_, row) => {
    const params = { ...deploymentParams(), team_id: tenant.team_id, key_id: newUuid() }
    const headers = { 'x-management-key': tenant.management_key }
    expect(await sendRequest(w.base, row, { params, headers, ...(row.body ? { body: {} } : {}) })).toMatchObject(
      errorResponse('ORG_KEY_REQUIRED', 403),
    )
  })

  test('has a pinned list of organization endpoints it cannot call', () => {
    expect(orgEndpoints.map(([name]) => name).sort()).toEqual([
      'acknowledgeAuditBreak',
      'assignUnassignedResult',
      'createInvite',
      'createManagementKey',
      'createTeam',
      'deleteInvite',
      'deleteManagementKey',
      'deleteMember',
      'deleteTeam',
      'dismissFailedLabMessage',
      'getOrg',
      'listFailedLabMessages',
      'listInvites',
      'listManagementKeys',
      'listMembers',
      'listOperatedLabConnections',
      'listOperatedLabMessages',
      'listUnassignedResults',
      'patchLabAccount',
      'patchManagementKey',
      'patchMember',
      'patchOrg',
      'processFailedLabMessage',
      'resendOperatedLabMessage',
      'rotateManagementKey',
      'verifyAuditLog',
    ])
  })

  test('gets the same responses for another team as for an unknown ID', async () => {
    const foreign = { team_id: tenant.other, integration_team_id: 'two', api_key_id: tenant.otherKeyId }
    const random = { team_id: newUuid(), integration_team_id: 'unknown', api_key_id: newUuid() }
    expect(await probe(tenant, foreign)).toEqual(await probe(tenant, random))
  })
})

/** The fields that the row knows of a body for several rows. */
const declared = ({ body }: Row, sent: unknown) => (body ? { body: pickOf(body)?.(sent) ?? sent } : {})

const declaredQuery = ({ query }: Row, sent: object) =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => query && name in query.shape))

describe('another organization', () => {
  test('is indistinguishable from an unknown ID', async () => {
    const other = await w.tenant()
    const params = { org_id: other.org_id, env: 'sandbox' as const, region: 'us' as const }
    await other.admin.patchTeam({ params: other, body: { integration_team_id: 'theirs' } })
    const key = await other.admin.createTeamKey({ params, body: { label: 'theirs', team_id: other.team_id } })
    const foreign = { team_id: other.team_id, integration_team_id: 'theirs', api_key_id: key.id }
    const random = { team_id: newUuid(), integration_team_id: 'unknown', api_key_id: newUuid() }
    expect(await probe(w, foreign)).toEqual(await probe(w, random))
    expect(await listUsers({ 'x-service-api-key': key.value })).toMatchObject({ status: 200 })
  })

  const operatorEndpoints = Object.entries<Row>(endpoints).filter(([, row]) => row.operator)
  test.each(operatorEndpoints)('is not the operator of the deployment for %s', async (_, row) => {
    const params = { message_id: ID, unassigned_result_id: ID }
    const headers = { 'x-management-key': w.management_key }
    const body = { team_id: w.team_id, lab: 'quillmoor', control_id: 'L1' }
    expect(await sendRequest(w.base, row, { params, headers, ...declared(row, body) })).toMatchObject(
      errorResponse('OPERATOR_REQUIRED', 403),
    )
  })

  const managementEndpoints = Object.entries<Row>(endpoints).filter(([, row]) => row.auth === 'management' && !row.operator)
  test.each(managementEndpoints)('returns ORG_NOT_FOUND from %s, as an unknown org_id does', async (_, row) => {
    const other = await w.tenant()
    const responses = []
    for (const org_id of [other.org_id, newUuid()]) {
      const ids = {
        key_id: ID,
        api_key_id: ID,
        account_id: ID,
        webhook_id: ID,
        attempt_id: ID,
        event_id: ID,
        job_id: ID,
        person_id: ID,
        invite_id: ID,
      }
      const params = { org_id, team_id: other.team_id, ...ids, env: 'sandbox', region: 'us' }
      const { status, body } = await sendRequest(w.base, row, {
        params,
        headers: { 'x-management-key': w.management_key },
        query: declaredQuery(row, { api_key_id: other.team_id, credential_id: ID, team_id: other.team_id, from: '2026-03-01T00:00:00Z' }),
        ...declared(row, bodies[row.path.split('/').at(-1) as string] ?? bodies[row.method]),
      })
      responses.push([status, body])
    }
    expect(responses[0]).toEqual(responses[1])
    expect(responses[0]).toMatchObject([404, { detail: { error_type: 'ORG_NOT_FOUND' } }])
  })

  const ID = newUuid()
  const bodies: Record<string, object> = {
    webhook: { url: 'https://example.com/hook' },
    invite: { email: 'new-member@harbor.example' },
    headers: { headers: {} },
    rotate: {},
    acknowledgement: { chain_id: newUuid(), seq: 1, to: 1 },
    recover: { since: '2026-01-01T00:00:00Z' },
    replay: { from: '2026-01-01T00:00:00Z' },
    example: { event_type: 'labtest.order.updated' },
    team: { name: 'x', region: 'us' },
    management_key: { label: 'x', role: 'org_admin' },
    '{region}': { label: 'x', team_id: newUuid(), provider: 'fitbit', team_ids: [newUuid()], providers: {} },
    scope_requirements: {},
    resolve_team: { integration_team_id: 'x' },
    create_api_access_token: { env: 'sandbox' },
    patch: { name: 'x', label: 'x', team_id_allowlist: [] },
  }
})

type Ids = { team_id: string; integration_team_id: string; api_key_id: string }

/** Collects the responses of every endpoint that takes a team or team key ID, with the key ID masked. */
async function probe(caller: { org_id: string; management_key: string }, ids: Ids) {
  const params = { org_id: caller.org_id, team_id: ids.team_id, env: 'sandbox', region: 'us' }
  const { team_id } = ids
  const calls: [Row, object][] = [
    [endpoints.getTeam, {}],
    [endpoints.patchTeam, { body: { name: 'Taken over' } }],
    [endpoints.deleteTeam, {}],
    [endpoints.createAccessToken, { body: { env: 'sandbox' } }],
    [endpoints.resolveTeam, { body: { integration_team_id: ids.integration_team_id } }],
    [endpoints.listTeams, { query: { team_id } }],
    [endpoints.listTeamKeys, { query: { team_id } }],
    [endpoints.createTeamKey, { body: { label: 'x', team_id } }],
    [endpoints.deleteTeamKeys, { query: { api_key_id: ids.api_key_id } }],
    [endpoints.createManagementKey, { body: { label: 'x', role: 'team_admin', team_role_bindings: [{ team_id }] } }],
    [endpoints.listManagementKeys, { query: { team_id } }],
  ]
  const responses = []
  for (const [row, options] of calls) {
    const response = await sendRequest(w.base, row, { params, ...options, headers: { 'x-management-key': caller.management_key } })
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    responses.push([row.summary, response.status, headers, JSON.stringify(response.body).replaceAll(ids.api_key_id, 'ID')])
  }
  return responses
}

describe('a path for another deployment', () => {
  test.each([
    ['production', 'us'],
    ['sandbox', 'eu'],
    ['production', 'eu'],
  ] as const)('is rejected with the name of this deployment: %s %s', async (env, region) => {
    const params = { org_id: w.org_id, env, region }
    for (const call of [
      () => w.admin.listTeamKeys({ params }),
      () => w.admin.createTeamKey({ params, body: { label: 'x', team_id: w.team_id } }),
      () => w.admin.deleteTeamKeys({ params, query: { api_key_id: [newUuid()] } }),
    ])
      expect(await errorOf(call())).toMatchObject({
        status: 400,
        detail: {
          error_type: 'WRONG_DEPLOYMENT',
          error_message: expect.stringContaining(`This deployment is sandbox us, but your request names ${env} ${region}.`),
        },
      })
  })

  test('returns 422 for an unknown environment', async () => {
    const call = w.admin.listTeamKeys({ params: { org_id: w.org_id, env: 'staging' as 'sandbox', region: 'us' } })
    expect(await errorOf(call)).toMatchObject({ status: 422, detail: [{ loc: ['path', 'env'] }] })
  })
})

test('an EU production deployment accepts its own keys and rejects sandbox US keys', async () => {
  const eu = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production', REGION: 'eu' } })
  const { api, admin, org_id, team_id } = await eu.tenant()
  await api.listUsers()
  const key = await admin.createTeamKey({ params: { org_id, env: 'production', region: 'eu' }, body: { label: 'x', team_id } })
  expect(key.value).toMatch(/^pk_eu_/)
  const response = await sendRequest(eu.base, endpoints.listUsers, { headers: { 'x-service-api-key': newApiKey('sk_us_') } })
  expect(response).toMatchObject(errorResponse('WRONG_DEPLOYMENT_KEY'))
  expect(JSON.stringify(response.body)).toContain('belongs to the sandbox us deployment, but this is production eu.')
  expect(await admin.getTeam({ params: { org_id, team_id } })).toMatchObject({ environments: ['production'], sandbox: null })
})

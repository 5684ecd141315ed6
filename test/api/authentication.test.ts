import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { newDatabase, refusal, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

type Headers = Record<string, string>
const listUsers = (headers: Headers) => sendRequest(w.base, endpoints.listUsers, { headers })
const getOrg = (headers: Headers) => sendRequest(w.base, endpoints.getOrg, { params: w, headers })
const refusedFor = (error_type: string, status = 401) => ({
  status,
  body: { detail: { error_type, error_message: expect.stringMatching(/^[A-Z].+\.$/) } },
})

describe('data routes take a team API key', () => {
  test.each(['x-service-api-key', 'X-Service-API-Key', 'x-vital-api-key'])('in %s', async (header) => {
    expect(await listUsers({ [header]: w.team_api_key })).toMatchObject({ status: 200 })
  })

  test('or an access token as Bearer', async () => {
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    for (const scheme of ['Bearer', 'bearer'])
      expect(await listUsers({ authorization: `${scheme} ${access_token}` })).toMatchObject({ status: 200 })
  })

  test.each<[string, Headers]>([
    ['no credential', {}],
    ['an empty key', { 'x-service-api-key': '' }],
    ['white space', { 'x-service-api-key': '   ' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('%s is refused with what to send', async (_, headers) => {
    const answer = await listUsers(headers)
    expect(answer).toMatchObject(refusedFor('MISSING_API_KEY'))
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.stringify(answer.body)).toContain('x-service-api-key')
  })

  test.each(['garbage', 'sk_us_', `sk_us_${'x'.repeat(46)}`, "' or 1=1 --", 'x'.repeat(5000)])(
    '%s is refused and not repeated',
    async (key) => {
      for (const [headers, error_type] of [
        [{ 'x-service-api-key': key }, 'INVALID_API_KEY'],
        [{ 'x-vital-api-key': key }, 'INVALID_API_KEY'],
        [{ authorization: `Bearer ${key.replaceAll(' ', '')}` }, 'INVALID_ACCESS_TOKEN'],
      ] as [Headers, string][]) {
        const answer = await listUsers(headers)
        expect(answer).toMatchObject(refusedFor(error_type))
        if (key.length > 6) expect(JSON.stringify(answer.body)).not.toContain(key)
      }
    },
  )

  test('a key as Bearer is told its header', async () => {
    const { body } = await listUsers({ authorization: `Bearer ${w.team_api_key}` })
    expect(body).toEqual({
      detail: {
        error_type: 'INVALID_ACCESS_TOKEN',
        error_message: 'Authorization: Bearer takes access tokens; send a team API key in x-service-api-key.',
      },
    })
  })

  test('a key with one letter changed is another key', async () => {
    const last = w.team_api_key.at(-1) === 'a' ? 'b' : 'a'
    expect(await listUsers({ 'x-service-api-key': w.team_api_key.slice(0, -1) + last })).toMatchObject(refusedFor('INVALID_API_KEY'))
  })

  test('white space around a key does not matter', async () => {
    expect(await listUsers({ 'x-service-api-key': `  ${w.team_api_key}  ` })).toMatchObject({ status: 200 })
  })

  test.each([
    ['pk_us_', 'production us'],
    ['sk_eu_', 'sandbox eu'],
    ['pk_eu_', 'production eu'],
  ])('a %s key is refused by the name of its deployment', async (prefix, name) => {
    const answer = await listUsers({ 'x-service-api-key': newApiKey(prefix) })
    expect(answer).toMatchObject(refusedFor('WRONG_DEPLOYMENT_KEY'))
    expect(JSON.stringify(answer.body)).toContain(`belongs to the ${name} deployment, but this is sandbox us.`)
  })

  test.each<[string, (key: string) => Headers, string]>([
    ['in x-service-api-key', (key) => ({ 'x-service-api-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['in its own header', (key) => ({ 'x-management-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['in its deprecated header', (key) => ({ 'x-service-org-key': key }), 'MANAGEMENT_KEY_NOT_ALLOWED'],
    ['as Bearer', (key) => ({ authorization: `Bearer ${key}` }), 'INVALID_ACCESS_TOKEN'],
  ])('a management key %s is not one', async (_, headers, error_type) => {
    expect(await listUsers(headers(w.management_key))).toMatchObject(refusedFor(error_type))
  })
})

describe('management routes take a management key', () => {
  test('in X-Management-Key', async () => {
    const answer = await getOrg({ 'X-Management-Key': w.management_key })
    expect(answer.status).toBe(200)
    expect(answer.headers.has('deprecation')).toBe(false)
  })

  test.each(['X-Service-Org-Key', 'X-Vital-Org-Key'])('in %s, with word of its deprecation', async (header) => {
    const answer = await getOrg({ [header]: w.management_key })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('deprecation')).toBe('@1743465600')
    expect(answer.headers.get('link')).toContain('rel="deprecation"')
    const refused = await getOrg({ [header]: 'garbage' })
    expect([refused.status, refused.headers.get('deprecation')]).toEqual([401, '@1743465600'])
  })

  test('X-Management-Key comes before the deprecated header', async () => {
    const answer = await getOrg({ 'x-management-key': w.management_key, 'x-service-org-key': 'garbage' })
    expect([answer.status, answer.headers.has('deprecation')]).toEqual([200, false])
  })

  test.each<[string, Headers]>([
    ['no credential', {}],
    ['an empty key', { 'x-management-key': '' }],
    ['white space', { 'x-management-key': ' ' }],
  ])('%s is refused with what to send', async (_, headers) => {
    const answer = await getOrg(headers)
    expect(answer).toMatchObject(refusedFor('MISSING_MANAGEMENT_KEY'))
    expect(JSON.stringify(answer.body)).toContain('X-Management-Key')
  })

  test.each([
    ['x-service-api-key', (key: string) => key],
    ['x-vital-api-key', (key: string) => key],
    ['authorization', (key: string) => `Bearer ${key}`],
  ])('one that comes as %s is refused with the header to send it in', async (name, value) => {
    const answer = await getOrg({ [name]: value(w.management_key) })
    expect(answer).toMatchObject(refusedFor('MISSING_MANAGEMENT_KEY'))
    expect(JSON.stringify(answer.body)).toMatch(/X-Management-Key.*another header; send it in that one/)
  })

  test.each(['garbage', 'mg_', `mg_${'x'.repeat(46)}`])('%s is refused', async (key) => {
    expect(await getOrg({ 'x-management-key': key })).toMatchObject(refusedFor('INVALID_MANAGEMENT_KEY'))
  })

  test('a team API key or access token is not one, whichever header it comes in', async () => {
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    for (const headers of [
      { 'x-management-key': w.team_api_key },
      { 'x-service-api-key': w.team_api_key },
      { 'x-vital-api-key': w.team_api_key },
      { authorization: `Bearer ${access_token}` },
    ] as Headers[])
      expect(await getOrg(headers)).toMatchObject(refusedFor('TEAM_KEY_NOT_ALLOWED'))
    expect(await getOrg({ 'x-management-key': access_token })).toMatchObject(refusedFor('INVALID_MANAGEMENT_KEY'))
  })
})

const guarded = Object.entries<Row>(endpoints).filter(([, row]) => row.auth !== 'none')

test.each(guarded)('%s answers nobody without a credential', async (_, row) => {
  const params = { ...w, user_id: newUuid(), client_user_id: 'x', key_id: newUuid(), env: 'sandbox', region: 'us' }
  const { status, body } = await sendRequest(w.base, row, { params, ...(row.body ? { body: {} } : {}) })
  expect(status).toBe(401)
  expect(body).toMatchObject({ detail: { error_type: expect.stringMatching(/^MISSING_/) } })
})

describe('a Team Management Key', () => {
  let tenant: Tenant & { other: string; key_of_other: string }
  beforeAll(async () => {
    const made = await w.tenant()
    const params = { org_id: made.org_id, env: 'sandbox' as const, region: 'us' as const }
    const two = await made.admin.createTeam({ params, body: { name: 'Two', region: 'us', integration_team_id: 'two' } })
    const key_of_other = (await made.admin.createTeamKey({ params, body: { label: 'theirs', team_id: two.id } })).id
    const body = { label: 'bound', role: 'team_admin' as const, team_role_bindings: [{ team_id: made.team_id }] }
    const { key } = await made.admin.createManagementKey({ params, body })
    tenant = { ...made, other: two.id, key_of_other, management_key: key, admin: createClient(w.base, { 'x-management-key': key }) }
  })
  const here = () => ({ org_id: tenant.org_id, env: 'sandbox' as const, region: 'us' as const })

  test('manages its own team', async () => {
    const { admin, team_id } = tenant
    expect(await admin.getTeam({ params: tenant })).toMatchObject({ id: team_id })
    expect(await admin.patchTeam({ params: tenant, body: { integration_team_id: 'one' } })).toMatchObject({ id: team_id })
    expect(await admin.resolveTeam({ params: tenant, body: { integration_team_id: 'one' } })).toMatchObject({ id: team_id })
    const key = await admin.createTeamKey({ params: here(), body: { label: 'own', team_id } })
    const { access_token } = await admin.createAccessToken({ params: tenant, body: { env: 'sandbox' } })
    expect(await listUsers({ 'x-service-api-key': key.value })).toMatchObject({ status: 200 })
    expect(await listUsers({ authorization: `Bearer ${access_token}` })).toMatchObject({ status: 200 })
    expect((await admin.deleteTeamKeys({ params: here(), query: { api_key_id: [key.id] } })).success).toEqual([key.id])
  })

  test('sees its own team only', async () => {
    const { admin, team_id, other } = tenant
    const teams = async (query: object = {}) => (await admin.listTeams({ params: tenant, query })).teams.map((team) => team.id)
    expect(await teams()).toEqual([team_id])
    expect(await teams({ team_id: other })).toEqual([])
    expect((await admin.listTeamKeys({ params: here() })).api_keys.map((key) => key.team_id)).toEqual([team_id])
    expect((await admin.listTeamKeys({ params: here(), query: { team_id: other } })).api_keys).toEqual([])
  })

  test('learns that an integration_team_id is taken, but not by whom', async () => {
    const params = { org_id: tenant.org_id, team_id: tenant.team_id }
    const headers = { 'x-management-key': tenant.management_key }
    const answer = await sendRequest(w.base, endpoints.patchTeam, { params, body: { integration_team_id: 'two' }, headers })
    expect(answer).toMatchObject(refusedFor('INTEGRATION_TEAM_ID_TAKEN', 409))
    expect(JSON.stringify(answer.body)).not.toContain(tenant.other)
  })

  const orgRows = Object.entries<Row>(endpoints).filter(([, row]) => row.scope === 'org')
  test.each(orgRows)('cannot reach the organisation: %s', async (_, row) => {
    const params = { ...here(), team_id: tenant.team_id, key_id: newUuid() }
    const headers = { 'x-management-key': tenant.management_key }
    expect(await sendRequest(w.base, row, { params, headers, ...(row.body ? { body: {} } : {}) })).toMatchObject(
      refusedFor('ORG_KEY_REQUIRED', 403),
    )
  })

  test('creating and deleting teams, opening lab accounts and everything about management keys and people is of the organisation', () => {
    expect(orgRows.map(([name]) => name).sort()).toEqual([
      'createInvite',
      'createManagementKey',
      'createTeam',
      'deleteInvite',
      'deleteManagementKey',
      'deleteMember',
      'deleteTeam',
      'getOrg',
      'listInvites',
      'listManagementKeys',
      'listMembers',
      'patchLabAccount',
      'patchManagementKey',
      'patchMember',
      'patchOrg',
      'verifyAuditLog',
    ])
  })

  test('another team of the organisation answers byte for byte what a random id answers', async () => {
    const foreign = { team_id: tenant.other, integration_team_id: 'two', api_key_id: tenant.key_of_other }
    const random = { team_id: newUuid(), integration_team_id: 'nobody', api_key_id: newUuid() }
    expect(await probe(tenant, foreign)).toEqual(await probe(tenant, random))
  })
})

describe('another organisation', () => {
  test('answers byte for byte what a random id answers', async () => {
    const other = await w.tenant()
    const params = { org_id: other.org_id, env: 'sandbox' as const, region: 'us' as const }
    await other.admin.patchTeam({ params: other, body: { integration_team_id: 'theirs' } })
    const key = await other.admin.createTeamKey({ params, body: { label: 'theirs', team_id: other.team_id } })
    const foreign = { team_id: other.team_id, integration_team_id: 'theirs', api_key_id: key.id }
    const random = { team_id: newUuid(), integration_team_id: 'nobody', api_key_id: newUuid() }
    expect(await probe(w, foreign)).toEqual(await probe(w, random))
    expect(await listUsers({ 'x-service-api-key': key.value })).toMatchObject({ status: 200 })
  })

  const managed = Object.entries<Row>(endpoints).filter(([, row]) => row.auth === 'management')
  test.each(managed)('its org_id in the path of %s is an unknown one', async (_, row) => {
    const other = await w.tenant()
    const answers = []
    for (const org_id of [other.org_id, newUuid()]) {
      const ids = { key_id: ID, account_id: ID, webhook_id: ID, attempt_id: ID, event_id: ID, job_id: ID, person_id: ID, invite_id: ID }
      const params = { org_id, team_id: other.team_id, ...ids, env: 'sandbox', region: 'us' }
      const { status, body } = await sendRequest(w.base, row, {
        params,
        headers: { 'x-management-key': w.management_key },
        query: { api_key_id: other.team_id, credential_id: ID, team_id: other.team_id },
        ...(row.body ? { body: bodies[row.path.split('/').at(-1) as string] ?? bodies[row.method] } : {}),
      })
      answers.push([status, body])
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject([404, { detail: { error_type: 'ORG_NOT_FOUND' } }])
  })

  const ID = newUuid()
  const bodies: Record<string, object> = {
    webhook: { url: 'https://example.com/hook' },
    invite: { email: 'somebody@harbour.example' },
    headers: { headers: {} },
    rotate: {},
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

/** What each route that takes the id of a team or of a team's key answers, without the id itself. */
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
  const answers = []
  for (const [row, sent] of calls) {
    const answer = await sendRequest(w.base, row, { params, ...sent, headers: { 'x-management-key': caller.management_key } })
    const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    answers.push([row.summary, answer.status, headers, JSON.stringify(answer.body).replaceAll(ids.api_key_id, 'ID')])
  }
  return answers
}

describe('a path that names another deployment', () => {
  test.each([
    ['production', 'us'],
    ['sandbox', 'eu'],
    ['production', 'eu'],
  ] as const)('%s %s answers which one this is', async (env, region) => {
    const params = { org_id: w.org_id, env, region }
    for (const call of [
      () => w.admin.listTeamKeys({ params }),
      () => w.admin.createTeamKey({ params, body: { label: 'x', team_id: w.team_id } }),
      () => w.admin.deleteTeamKeys({ params, query: { api_key_id: [newUuid()] } }),
    ])
      expect(await refusal(call())).toMatchObject({
        status: 400,
        detail: {
          error_type: 'WRONG_DEPLOYMENT',
          error_message: expect.stringContaining(`This deployment is sandbox us, but your request names ${env} ${region}.`),
        },
      })
  })

  test('that does not exist is a wrong path', async () => {
    const call = w.admin.listTeamKeys({ params: { org_id: w.org_id, env: 'staging' as 'sandbox', region: 'us' } })
    expect(await refusal(call)).toMatchObject({ status: 422, detail: [{ loc: ['path', 'env'] }] })
  })
})

test('European production takes its own keys and names itself', async () => {
  const eu = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production', REGION: 'eu' } })
  const { api, admin, org_id, team_id } = await eu.tenant()
  await api.listUsers()
  const key = await admin.createTeamKey({ params: { org_id, env: 'production', region: 'eu' }, body: { label: 'x', team_id } })
  expect(key.value).toMatch(/^pk_eu_/)
  const answer = await sendRequest(eu.base, endpoints.listUsers, { headers: { 'x-service-api-key': newApiKey('sk_us_') } })
  expect(answer).toMatchObject(refusedFor('WRONG_DEPLOYMENT_KEY'))
  expect(JSON.stringify(answer.body)).toContain('belongs to the sandbox us deployment, but this is production eu.')
  expect(await admin.getTeam({ params: { org_id, team_id } })).toMatchObject({ environments: ['production'], sandbox: null })
})

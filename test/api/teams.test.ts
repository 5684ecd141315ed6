import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY } from '../../src/platform/time.ts'
import { auditRows } from '../support/audit.ts'
import { finishErasures } from '../support/erasure.ts'
import { someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { tablesWith } from '../support/tables.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const newTenant = (): Promise<Tenant> => w.tenant()
const aTeam = (change: object = {}) => ({ name: 'Night clinic', region: 'us' as const, ...change })
const defaults = {
  lab_tests_patient_sms_communication_enabled: true,
  lab_tests_patient_email_communication_enabled: true,
  critical_result_notification_email: null,
  brand_information: null,
  logo_url: null,
  reject_duplicate_connection: false,
  sdk_per_device_activity_timeseries: false,
  partial_webhooks_enabled: false,
  minor_ordering_enabled: true,
  patient_experience: false,
  strict_enums: false,
  booking_before_requisition: false,
  simulator: 'manual',
  time_zone: null,
  patient_language: 'en',
  critical_result_contacts: [],
  critical_escalation_minutes: [],
}
const noBrand = { company_website: '', support_email: '', support_contact: '', company_address: '', brand_color: '' }

describe('organizations', () => {
  test('return their name and plan', async () => {
    expect(await w.admin.getOrg({ params: w })).toEqual({ id: w.org_id, name: 'Harbor Health', plan: 'scale', expires_at: null })
  })
  test('can be renamed, and not otherwise changed', async () => {
    const { admin, org_id } = await newTenant()
    const name = 'Lagoon (Nord) & Söhne'
    const withPlan = admin.patchOrg({ params: { org_id }, body: { name, plan: 'launch' } as { name: string } })
    expect(await errorOf(withPlan)).toMatchObject({ status: 422, detail: [{ type: 'unknown_field', loc: ['body'] }] })
    const renamed = await admin.patchOrg({ params: { org_id }, body: { name } })
    expect(renamed).toEqual({ id: org_id, name, plan: 'scale', expires_at: null })
    expect(await admin.getOrg({ params: { org_id } })).toEqual(renamed)
  })
  test.each([{}, { name: '' }, { name: null }, { name: 'x'.repeat(81) }, { name: '<script>' }])('cannot be renamed to %j', async (body) => {
    expect(await errorOf(w.admin.patchOrg({ params: w, body: body as { name: string } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'name'] }],
    })
  })
})

describe('creating a team', () => {
  test('applies the default settings', async () => {
    const team = await w.admin.createTeam({ params: w, body: aTeam() })
    expect(team).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Night clinic',
      created_on: expect.stringMatching(/Z$/),
      region: 'us',
      integration_team_id: null,
      rate_limit: null,
      environments: ['sandbox'],
      sandbox: defaults,
      production: null,
    })
    expect(await w.admin.getTeam({ params: { ...w, team_id: team.id } })).toEqual(team)
  })

  test('stores the given settings', async () => {
    const id = newUuid()
    const settings = {
      lab_tests_patient_sms_communication_enabled: false,
      lab_tests_patient_email_communication_enabled: false,
      critical_result_notification_email: 'lab@harbor.example',
      brand_information: { company_name: 'Harbor', brand_color: '#004488' },
      logo_url: 'https://harbor.example/logo.png',
      reject_duplicate_connection: true,
      sdk_per_device_activity_timeseries: true,
      partial_webhooks_enabled: true,
      minor_ordering_enabled: false,
    }
    const body = aTeam({ id: id.toUpperCase(), integration_team_id: `mine-${id}`, ...settings })
    const team = await w.admin.createTeam({ params: w, body })
    expect(team).toMatchObject({
      id,
      integration_team_id: `mine-${id}`,
      sandbox: { ...settings, brand_information: { ...noBrand, company_name: 'Harbor', brand_color: '#004488' } },
    })
    expect(await w.admin.resolveTeam({ params: w, body: { integration_team_id: `mine-${id}` } })).toEqual(team)
  })

  test('stores the contact encrypted', async () => {
    const created = await w.admin.createTeam({
      params: w,
      body: aTeam({ critical_result_notification_email: 'sealed-mailbox@harbor.example' }),
    })
    const [row] = await query<{ contact: Buffer; team: string }>(w.url, 'select contact, teams::text as team from teams where id = $1', [
      created.id,
    ])
    expect(row?.contact.toString('latin1')).not.toContain('sealed-mailbox')
    expect(row?.team).not.toContain('sealed-mailbox')
  })

  test('rejects another region and names the deployment', async () => {
    expect(await errorOf(w.admin.createTeam({ params: w, body: aTeam({ region: 'eu' }) }))).toMatchObject({
      status: 400,
      detail: { error_type: 'WRONG_DEPLOYMENT', error_message: expect.stringMatching(/^This deployment is sandbox us\b/) },
    })
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'semi;colon' }, 'name'],
    [{ region: 'mars' }, 'region'],
    [{ integration_team_id: '' }, 'integration_team_id'],
    [{ integration_team_id: 'x'.repeat(257) }, 'integration_team_id'],
    [{ id: 'seven' }, 'id'],
    [{ critical_result_notification_email: 'nobody' }, 'critical_result_notification_email'],
    [{ logo_url: 'javascript:alert(1)' }, 'logo_url'],
    [{ brand_information: {} }, 'brand_information'],
    ...[
      ...['Harbor\r\nBcc: all', 'Harbor\u202e', '<b>Harbor</b>', 'harbor.example', '', ' - '].map((company_name) => ({ company_name })),
      { company_name: 'Harbor', company_website: 'https://harbor.example\nCall us' },
      { company_name: 'Harbor', support_contact: 'Ask\u0007' },
      { company_name: 'Harbor', company_address: '<script>' },
      { company_name: 'Harbor', brand_color: 'red;position:fixed' },
    ].map((brand_information): [object, string] => [{ brand_information }, 'brand_information']),
    [{ reject_duplicate_connection: 'yes' }, 'reject_duplicate_connection'],
  ])('rejects %j', async (change, field) => {
    const { status, detail } = await errorOf(w.admin.createTeam({ params: w, body: aTeam(change) }))
    expect([status, (detail as unknown as { loc: string[] }[])[0]?.loc.slice(0, 2)]).toEqual([422, ['body', field]])
  })
})

describe('integration_team_id', () => {
  const create = (tenant: Tenant, integration_team_id: string) =>
    sendRequest(w.base, endpoints.createTeam, {
      params: { org_id: tenant.org_id },
      body: aTeam({ integration_team_id }),
      headers: { 'x-management-key': tenant.management_key },
    })

  test('a second creation returns the team that has the ID', async () => {
    const first = await create(w, 'ward-1')
    const second = await create(w, 'ward-1')
    expect(second).toMatchObject({
      status: 409,
      body: { team_id: (first.body as { id: string }).id, detail: { error_type: 'INTEGRATION_TEAM_ID_TAKEN' } },
    })
  })

  test('twenty equal creations create one team and return its ID in every conflict', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(w, 'ward-race')))
    const created = responses.filter(({ status }) => status === 200).map(({ body }) => (body as { id: string }).id)
    expect(created).toHaveLength(1)
    const others = responses
      .filter(({ status }) => status !== 200)
      .map(({ status, body }) => [status, (body as { team_id: string }).team_id])
    expect(others).toEqual(Array(19).fill([409, created[0]]))
  })

  test('an update cannot take the ID of another team, but can keep or clear its own', async () => {
    const { admin, org_id, ...tenant } = await newTenant()
    const first = await admin.createTeam({ params: { org_id }, body: aTeam({ integration_team_id: 'one' }) })
    const second = await admin.createTeam({ params: { org_id }, body: aTeam({ integration_team_id: 'two' }) })
    const patch = (team_id: string, integration_team_id: string | null) =>
      sendRequest(w.base, endpoints.patchTeam, {
        params: { org_id, team_id },
        body: { integration_team_id },
        headers: { 'x-management-key': tenant.management_key },
      })
    expect(await patch(second.id, 'one')).toMatchObject({ status: 409, body: { team_id: first.id } })
    expect(await patch(first.id, 'one')).toMatchObject({ status: 200, body: { integration_team_id: 'one' } })
    expect(await patch(first.id, null)).toMatchObject({ status: 200, body: { integration_team_id: null } })
    expect(await patch(second.id, 'one')).toMatchObject({ status: 200, body: { integration_team_id: 'one' } })
  })

  test('another organization or the successor of a deleted team can use the same ID', async () => {
    const other = await newTenant()
    const first = (await create(w, 'ward-shared')).body as { id: string }
    expect((await create(other, 'ward-shared')).status).toBe(200)
    await w.admin.deleteTeam({ params: { ...w, team_id: first.id } })
    expect((await create(w, 'ward-shared')).status).toBe(200)
  })

  test('rejects a team ID that is already used', async () => {
    expect(await errorOf(w.admin.createTeam({ params: w, body: aTeam({ id: w.team_id }) }))).toMatchObject({
      status: 409,
      detail: { error_type: 'TEAM_ID_TAKEN' },
    })
  })

  test('rejects the ID of an organization and the nil UUID', async () => {
    for (const id of [w.org_id, '00000000-0000-0000-0000-000000000000'])
      expect(await errorOf(w.admin.createTeam({ params: w, body: aTeam({ id }) }))).toMatchObject({
        status: 409,
        detail: { error_type: 'TEAM_ID_TAKEN' },
      })
  })

  test('returns 404 for an unknown ID', async () => {
    expect(await errorOf(w.admin.resolveTeam({ params: w, body: { integration_team_id: 'nobody' } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'TEAM_NOT_FOUND' },
    })
  })
})

describe('listing teams', () => {
  test('returns every team once, oldest first, in pages', async () => {
    const { admin, org_id, team_id } = await newTenant()
    const created = [team_id]
    for (let i = 0; i < 55; i++) created.push((await admin.createTeam({ params: { org_id }, body: aTeam({ name: `Team ${i}` }) })).id)
    const first = await admin.listTeams({ params: { org_id } })
    const second = await admin.listTeams({ params: { org_id }, query: { next_cursor: first.next_cursor } })
    expect([...first.teams, ...second.teams].map((team) => team.id)).toEqual(created)
    expect([first.teams.length, second.next_cursor]).toEqual([50, null])
    expect(first.teams[0]).toEqual({
      id: team_id,
      name: 'Harbor',
      created_on: expect.stringMatching(/Z$/),
      region: 'us',
      integration_team_id: null,
    })
  })

  test('filters by ID, region and part of a name or integration_team_id', async () => {
    const { admin, org_id, team_id } = await newTenant()
    const params = { org_id }
    const north = await admin.createTeam({ params, body: aTeam({ name: 'Étage Nord_1', integration_team_id: 'emr%77' }) })
    const idsFor = async (query: object) => (await admin.listTeams({ params, query })).teams.map((team) => team.id)
    expect(await idsFor({ team_id: north.id })).toEqual([north.id])
    expect(await idsFor({ team_id: north.id.toUpperCase() })).toEqual([north.id])
    expect(await idsFor({ team_id: newUuid() })).toEqual([])
    expect(await idsFor({ region: ['us'] })).toEqual([team_id, north.id])
    expect(await idsFor({ region: ['eu', 'us'] })).toEqual([team_id, north.id])
    expect(await idsFor({ region: ['eu'] })).toEqual([])
    expect(await idsFor({ search_query: 'étage nord_' })).toEqual([north.id])
    expect(await idsFor({ search_query: 'EMR%' })).toEqual([north.id])
    expect(await idsFor({ search_query: '%' })).toEqual([north.id])
    expect(await idsFor({ search_query: 'south' })).toEqual([])
  })

  test.each([{ team_id: 'x' }, { region: ['mars'] }, { search_query: 'x'.repeat(81) }, { next_cursor: 'made-up' }])(
    'rejects %j',
    async (query) => {
      expect((await errorOf(w.admin.listTeams({ params: w, query: query as { team_id: string } }))).status).toBe(422)
    },
  )
})

describe('team settings', () => {
  const createTeam = async (settings: object = {}) => {
    const team = await w.admin.createTeam({ params: w, body: aTeam(settings) })
    const params = { org_id: w.org_id, team_id: team.id }
    const patch = async (sandbox: object) => (await w.admin.patchTeam({ params, body: { sandbox } })).sandbox
    return { params, patch }
  }

  test('change individually, and null restores the default', async () => {
    const { params, patch } = await createTeam()
    expect(await patch({ minor_ordering_enabled: false, patient_experience: true, reject_duplicate_connection: true })).toEqual({
      ...defaults,
      minor_ordering_enabled: false,
      patient_experience: true,
      reject_duplicate_connection: true,
    })
    expect(await patch({ minor_ordering_enabled: null, patient_experience: null })).toEqual({
      ...defaults,
      reject_duplicate_connection: true,
    })
    expect((await w.admin.getTeam({ params })).sandbox).toEqual({ ...defaults, reject_duplicate_connection: true })
  })

  test('treat null on creation as the default', async () => {
    const team = await w.admin.createTeam({ params: w, body: aTeam({ minor_ordering_enabled: null, partial_webhooks_enabled: null }) })
    expect(team.sandbox).toEqual(defaults)
  })

  test('accept a brand with the characters of company names', async () => {
    const brand_information = {
      ...{ company_name: "St. Brìde's Health (West), Inc.", company_website: 'https://harbor.example/help?lang=en' },
      ...{ support_email: 'help@harbor.example', support_contact: '+1 202-555-0110; care@harbor.example' },
      ...{ company_address: '4 Pier St. #12, Portland, OR 97201', brand_color: 'rgb(0, 68, 136)' },
    }
    const { patch } = await createTeam({ brand_information })
    expect(await patch({ brand_information: { company_name: 'Harbor & Sons Ltd.' } })).toMatchObject({
      brand_information: { ...brand_information, company_name: 'Harbor & Sons Ltd.' },
    })
    expect(await errorOf(patch({ brand_information: { company_name: 'Harbor\nLtd' } }))).toMatchObject({ status: 422 })
  })

  test('merge, clear and delete brand information', async () => {
    const { patch } = await createTeam({ brand_information: { company_name: 'Harbor', company_address: 'Pier 4' } })
    const merged = { ...noBrand, company_name: 'Harbor', company_address: 'Pier 4', support_email: 'help@harbor.example' }
    expect(await patch({ brand_information: { support_email: 'help@harbor.example' } })).toMatchObject({ brand_information: merged })
    expect(await patch({ logo_url: 'https://harbor.example/l.png' })).toMatchObject({ brand_information: merged })
    expect(await patch({ brand_information: { company_address: null } })).toMatchObject({
      brand_information: { ...merged, company_address: '' },
    })
    expect(await errorOf(patch({ brand_information: { company_name: null } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'COMPANY_NAME_REQUIRED' },
    })
    expect(await patch({ brand_information: null })).toEqual({ ...defaults, logo_url: 'https://harbor.example/l.png' })
  })

  test('keep the name if it is absent or null', async () => {
    const { params } = await createTeam({ partial_webhooks_enabled: true })
    expect(await w.admin.patchTeam({ params, body: { name: 'Day clinic' } })).toMatchObject({
      name: 'Day clinic',
      sandbox: { partial_webhooks_enabled: true },
    })
    expect(await w.admin.patchTeam({ params, body: { name: null } })).toMatchObject({ name: 'Day clinic' })
    expect(await w.admin.patchTeam({ params, body: {} })).toMatchObject({ name: 'Day clinic' })
  })

  test('reject another environment and name the deployment', async () => {
    const { params } = await createTeam()
    const call = w.admin.patchTeam({ params, body: { name: 'Moved', production: { minor_ordering_enabled: false } } })
    expect(await errorOf(call)).toMatchObject({
      status: 400,
      detail: { error_type: 'WRONG_DEPLOYMENT', error_message: expect.stringContaining('This deployment is sandbox us') },
    })
    expect((await w.admin.getTeam({ params })).name).toBe('Night clinic')
  })

  test('are returned for the requested environments', async () => {
    const { params } = await createTeam()
    const get = (include_environment: ('sandbox' | 'production')[]) => w.admin.getTeam({ params, query: { include_environment } })
    expect(await get(['sandbox'])).toMatchObject({ environments: ['sandbox'], sandbox: defaults, production: null })
    expect(await get(['sandbox', 'production'])).toMatchObject({ sandbox: defaults, production: null })
    expect(await get(['production'])).toMatchObject({ environments: ['sandbox'], sandbox: null, production: null })
    expect((await errorOf(get(['staging' as 'sandbox']))).status).toBe(422)
  })
})

describe('deleted teams', () => {
  const deleteTeam = async () => {
    const tenant = await newTenant()
    const user = await tenant.api.createUser({
      body: { client_user_id: `user-${newUuid()}`, fallback_birth_date: '1961-07-23' },
      headers: { 'x-idempotency-key': newUuid() },
    })
    await tenant.api.putUserInfo({ params: user, body: someInfo() })
    await tenant.api.createInsurance({ params: user, body: someInsurance() })
    const { access_token } = await tenant.admin.createAccessToken({ params: tenant, body: { env: 'sandbox' } })
    const { key } = await tenant.admin.createManagementKey({
      params: tenant,
      body: { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: tenant.team_id }] },
    })
    expect(await tenant.admin.deleteTeam({ params: tenant })).toEqual({ success: true })
    return { ...tenant, user, access_token, key }
  }

  test('are hidden from management endpoints, and their keys and tokens stop working at once', async () => {
    const { api, admin, access_token, key, ...tenant } = await deleteTeam()
    expect(await errorOf(api.listUsers())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_API_KEY' } })
    const bearer = await sendRequest(w.base, endpoints.listUsers, { headers: { authorization: `Bearer ${access_token}` } })
    expect(bearer).toMatchObject({ status: 401, body: { detail: { error_type: 'INVALID_ACCESS_TOKEN' } } })
    for (const headers of [{}, { 'x-management-key': key }]) {
      expect(await errorOf(admin.getTeam({ params: tenant, headers }))).toMatchObject({ status: 404 })
      expect(await admin.listTeams({ params: tenant, headers })).toMatchObject({ teams: [] })
      expect(await admin.listTeamKeys({ params: { ...tenant, env: 'sandbox', region: 'us' }, headers })).toMatchObject({ api_keys: [] })
      expect(await errorOf(admin.createAccessToken({ params: tenant, body: { env: 'sandbox' }, headers }))).toMatchObject({ status: 404 })
    }
    expect(await errorOf(admin.patchTeam({ params: tenant, body: { name: 'Back' } }))).toMatchObject({ status: 404 })
    expect(await errorOf(admin.deleteTeam({ params: tenant }))).toMatchObject({ status: 404 })
  })

  test('are erased after seven days, except their reserved ID and the audit log', async () => {
    const { team_id, user } = await deleteTeam()
    const ids = [team_id, user.user_id]
    await w.runJobs()
    expect(await tablesWith(w.url, ...ids)).toContain('teams')
    w.advanceTime(7 * DAY - 60_000)
    await w.runJobs()
    expect(await tablesWith(w.url, ...ids)).toEqual(
      expect.arrayContaining(['teams', 'sealing_keys', 'users', 'user_info', 'user_insurances', 'team_api_keys']),
    )
    w.advanceTime(60_000)
    await finishErasures(w)
    expect(await tablesWith(w.url, ...ids)).toEqual(['audit_chains', 'audit_log', 'audit_reviews', 'erased_teams'])
    expect(
      await query(w.url, `select actor_kind, subject from ${auditRows} where action = 'eraseTeam' and team_id = $1`, [team_id]),
    ).toEqual([{ actor_kind: 'job', subject: `team_id:${team_id}` }])
    const body = { id: team_id, name: 'Once more', region: 'us' as const }
    expect(await errorOf(w.admin.createTeam({ params: w, body }))).toMatchObject({ status: 409, detail: { error_type: 'TEAM_ID_TAKEN' } })
  })

  test('count the grace period on their own clock', async () => {
    const { api, admin, ...tenant } = await newTenant()
    await api.moveClock({ body: { advance_seconds: 30 * 86_400 } })
    await admin.deleteTeam({ params: tenant })
    await w.runJobs()
    expect(await tablesWith(w.url, tenant.team_id)).toContain('teams')
    w.advanceTime(7 * DAY + 1)
    await finishErasures(w)
    expect(await tablesWith(w.url, tenant.team_id)).toEqual(['audit_chains', 'audit_log', 'audit_reviews', 'erased_teams'])
  })
})

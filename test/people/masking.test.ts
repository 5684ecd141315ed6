import { beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { HOUR, later } from '../../src/platform/time.ts'
import { checkAudit } from '../../src/tenants/audit/verification.ts'
import { auditRows } from '../support/audit.ts'
import { fastPasswords, joinOrganization, signIn } from '../support/console.ts'
import { findLeaks } from '../support/leaks.ts'
import { leavesOf } from '../support/leaves.ts'
import { placeOrder } from '../support/orders.ts'
import { someInfo, someInsurance } from '../support/people.ts'
import { TIMEOUT_MS } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { listen } from '../support/sse.ts'
import { aSample, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let tenant: Tenant
let user_id: string
let order_id: string
let webhook_id: string
beforeAll(async () => {
  w = await world({ env: fastPasswords })
  w.setTimeToNoon()
  tenant = await w.tenant()
  const { api, admin, org_id, team_id } = tenant
  const hook = { url: `${w.base}/health`, filter_types: ['labtest.*'] }
  webhook_id = (await admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: hook })).id
  ;({ user_id } = await api.createUser({ body: { client_user_id: 'masked-user', fallback_birth_date: '1961-07-23' } }))
  order_id = (await placeOrder(api, 'walk_in_test', { user_id, clinical_notes: 'Zephyrine fainted once', passthrough: 'Quillfeather' })).id
  const proxy = {
    first_name: 'Ysoldemarie',
    last_name: "O'Thistlewick",
    phone_number: '+12025550199',
    address: someInfo().address,
    household_income: 52_000,
  }
  await api.putUserInfo({ params: { user_id }, body: someInfo({ medical_proxy: proxy, race: 'asian' }) })
  await api.createInsurance({ params: { user_id }, body: someInsurance() })
  await w.runJobs()
  await api.simulateOrder({ params: { order_id }, query: {}, body: null })
  await w.runJobs()
})

const asAdmin = async () => (await joinOrganization(w, tenant)).forTeam(tenant.team_id)
const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })

const reads = () => {
  const params = { user_id, order_id, org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox', webhook_id }
  return [
    [endpoints.getUser, { params }],
    [endpoints.listUsers, {}],
    [endpoints.getUserInfo, { params }],
    [endpoints.getInsurance, { params }],
    [endpoints.findPeople, { body: { query: 'Quillfeather' } }],
    [endpoints.getOrder, { params }],
    [endpoints.listOrders, { query: { user_id } }],
    [endpoints.getResults, { params }],
    [endpoints.getResultsMetadata, { params }],
    [endpoints.listEvents, {}],
    [endpoints.readInbox, {}],
    [endpoints.listWebhookMessages, { params }],
  ] as const
}

describe('masking in the console', () => {
  test('masks personal data in every response, but not for API keys', async () => {
    const { send } = await asAdmin()
    let revealed = 0
    for (const [row, request] of reads()) {
      const masked = await send(row, request)
      expect([row.path, masked.status]).toEqual([row.path, 200])
      expect(findLeaks(JSON.stringify(masked.body), row.path)).toEqual([])
      const headers = { 'x-assay-reveal': 'the patient is on the phone' }
      revealed += findLeaks(JSON.stringify((await send(row, { ...request, headers })).body), row.path).length
    }
    expect(revealed).toBeGreaterThan(30)
    expect(await tenant.api.getUserInfo({ params: { user_id } })).toMatchObject({ first_name: 'Zephyrine', dob: '1961-07-23' })
  })

  test('keeps initials and final digits so that rows stay distinguishable', async () => {
    const { api } = await asAdmin()
    const info = await api.getUserInfo({ params: { user_id } })
    expect(info).toMatchObject({
      first_name: 'Z•••',
      last_name: 'Q•••',
      dob: '••••-••-••',
      email: 'z•••@•••',
      phone_number: '••• 43',
      gender: 'female',
      address: { first_line: '•••', city: '•••', zip: '•••', state: 'AZ', country: 'US' },
      medical_proxy: { first_name: 'Y•••', phone_number: '••• 99', household_income: null },
      race: '•••',
    })
    expect((await api.getUser({ params: { user_id } })).fallback_birth_date).toMatchObject({ value: '••••-••-••' })
    const order = await api.getOrder({ params: { order_id } })
    expect(order).toMatchObject({ clinical_notes: '•••', passthrough: '•••', patient_details: { first_name: 'Z•••' } })
    expect((await api.getResults({ params: { order_id } })).metadata).toMatchObject({ patient: 'Z•••', dob: '••••-••-••', age: '•••' })
    expect(order.lab_test.lab).toMatchObject({ city: expect.not.stringContaining('•') })
  })

  test('masks the event stream', async () => {
    const { headers } = await asAdmin()
    const stream = await listen(`${w.base}/events/stream?event_type=labtest.*`, headers)
    const events = [await stream.next(), await stream.next()]
    stream.close()
    const text = JSON.stringify(events)
    expect(events.map((message) => message?.event)).toEqual(['labtest.order.created', 'labtest.order.updated'])
    expect(text).toContain('Z•••')
    expect(findLeaks(text, 'stream')).toEqual([])
  })

  test('masks webhook attempts and audits the user they concern', async () => {
    await w.startDelivery()
    const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const, webhook_id }
    await expect
      .poll(async () => (await tenant.admin.listWebhookAttempts({ params })).data.length, { timeout: TIMEOUT_MS })
      .toBeGreaterThan(0)
    const { data } = await tenant.admin.listWebhookAttempts({ params })
    const { send } = await asAdmin()
    const { body } = await send(endpoints.getWebhookAttempt, { params: { ...params, attempt_id: data[0]?.id } })
    expect((body as { request_body: string }).request_body).toContain('Z•••')
    expect(findLeaks(JSON.stringify(body), 'attempt')).toEqual([])
    await expect.poll(async () => (await tenant.api.readInbox()).messages.length, { timeout: TIMEOUT_MS }).toBeGreaterThan(0)
    const sql = `select distinct action from ${auditRows} where action = any($1) and subject like $2`
    const actions = [{ action: 'getWebhookAttempt' }, { action: 'readInbox' }]
    expect(await query(w.url, `${sql} order by 1`, [actions.map(({ action }) => action), `%user_id:${user_id}%`])).toEqual(actions)
  })

  test('masks locations, birth dates and text in wearable data', async () => {
    await pushSummary(tenant.api, user_id, 'profile', { height: 180, date_of_birth: '1961-07-23' })
    await pushSummary(tenant.api, user_id, 'workouts', aWorkout())
    const window = { start_date: '2026-03-01', end_date: '2026-03-02' }
    const { api } = await asAdmin()
    const [workout] = (await api.listWorkouts({ params: { user_id }, query: window })).workouts
    const params = { workout_id: workout?.id as string }
    await tenant.api.pushWorkoutStream({ params, body: { time: [1_772_384_400], lat: [52.5], lng: [13.4], heartrate: [120] } })
    expect(await api.getWorkoutStream({ params })).toMatchObject({ lat: [null], lng: [null], heartrate: [120] })
    expect(await tenant.api.getWorkoutStream({ params })).toMatchObject({ lat: [52.5] })
    expect(leavesOf(await api.getProfile({ params: { user_id } })).filter((leaf) => /^1961\b/.test(String(leaf)))).toEqual([])
    await pushSummary(tenant.api, user_id, 'meal', { timestamp: '2026-03-01T09:15:00Z', name: 'Soup with Ysoldemarie' })
    expect((await api.listMeals({ params: { user_id }, query: window })).meals).toMatchObject([{ name: '•••' }])
    const raw = await api.listRawWorkouts({ params: { user_id }, query: window })
    expect(raw.workouts).toMatchObject([{ data: { calories: null, start_date: '•••' } }])
  })

  test('masks the response to an update and rejects masked values in a request', async () => {
    const { send, api } = await asAdmin()
    const params = { user_id }
    const changed = await send(endpoints.putUserInfo, { params, body: someInfo() })
    expect(changed).toMatchObject({ status: 200, body: { first_name: 'Z•••' } })
    const form = await api.getUserInfo({ params })
    expect(await send(endpoints.putUserInfo, { params, body: { ...someInfo(), first_name: form.first_name } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'], msg: expect.stringContaining('masked value') }] },
    })
    expect(await tenant.api.getUserInfo({ params })).toMatchObject({ first_name: 'Zephyrine' })
  })

  test('requires a reveal for documents with personal data', async () => {
    const { send } = await asAdmin()
    const params = { order_id }
    for (const row of [endpoints.getResultsPdf, endpoints.getRequisitionPdf, endpoints.getLabelsPdf])
      expect(await send(row, { params, query: { collection_date: '2026-03-01' } })).toMatchObject(refusedFor(403, 'REVEAL_REQUIRED'))
    expect(await send(endpoints.getCollectionInstructionPdf, { params })).toMatchObject({ status: 200 })
    expect(await send(endpoints.getResultsPdf, { params, headers: { 'x-assay-reveal': 'asked by the clinic' } })).toMatchObject({
      status: 200,
    })
  })
})

test('masks a text sample but not a numeric one', async () => {
  const { send } = await asAdmin()
  const at = later(w.app.wall(), -HOUR)
  await push(tenant.api, user_id, 'note', [aSample(at, 'Zephyrine felt wonderfully rested')])
  await push(tenant.api, user_id, 'glucose', [aSample(at, 5.4)])
  const samples = async (resource: string, headers = {}) => {
    const request = { params: { user_id, resource }, query: { start_date: at.slice(0, 10) }, headers }
    return JSON.stringify((await send(endpoints.listSamples, request)).body)
  }
  expect(await samples('note')).toContain('"value":"•••"')
  expect(await samples('note', { 'x-assay-reveal': 'a callback' })).toContain('"value":"Zephyrine felt wonderfully rested"')
  expect(await samples('glucose')).toContain('"value":5.4')
  const { send: again } = await asAdmin()
  expect(JSON.stringify((await again(endpoints.listEvents, { query: { limit: 500 } })).body)).not.toContain('wonderfully rested')
})

describe('revealing', () => {
  const reveal = (reason: string) => ({ 'x-assay-reveal': encodeURIComponent(reason) })

  test('returns unmasked data and records the encrypted reason in the audit log', async () => {
    const { send, session } = await joinOrganization(w, tenant)
    const request_id = newUuid()
    const headers = { ...reveal('für den Rückruf'), 'x-assay-team': tenant.team_id, 'x-request-id': request_id }
    expect(await send(endpoints.getUserInfo, { params: { user_id }, headers })).toMatchObject({
      status: 200,
      body: { first_name: 'Zephyrine' },
    })
    const rows = await query<{ reason: Buffer }>(w.url, `select * from ${auditRows} where request_id = $1`, [request_id])
    expect(rows).toMatchObject([{ actor_kind: 'person', actor_id: session.person?.id, via: 'console', subject: `user_id:${user_id}` }])
    expect(rows[0]?.reason.toString()).not.toContain('Rückruf')
    await w.runJobs()
    expect(await checkAudit(w.app)).toMatchObject({ unchained: 0 })
    expect(await checkAudit(w.app)).not.toHaveProperty('broken')
  })

  test('detects a changed reason in the audit chain', async () => {
    const { send } = await asAdmin()
    await send(endpoints.getUserInfo, { params: { user_id }, headers: reveal('because') })
    await w.runJobs()
    await query(w.url, 'alter table audit_log disable trigger user')
    const set = (sql: string) => query<{ id: string }>(w.url, sql)
    const [row] = await set(
      "update audit_log set reason = reason || '\\x00' where id = (select max(id::text)::uuid from audit_log where reason is not null) returning id",
    )
    expect((await checkAudit(w.app)).broken).toMatchObject({ id: row?.id, reason: 'the row was changed' })
    await set(`update audit_log set reason = substring(reason for length(reason) - 1) where id = '${row?.id}'`)
    await set(`update audit_log set via = null where id = '${row?.id}'`)
    expect((await checkAudit(w.app)).broken).toMatchObject({ id: row?.id })
    await set(`update audit_log set via = 'console' where id = '${row?.id}'`)
    expect(await checkAudit(w.app)).not.toHaveProperty('broken')
    await query(w.url, 'alter table audit_log enable trigger user')
  })

  test.each([
    ['without words', '  '],
    ['that is too short', 'x'],
    ['that is too long', 'x'.repeat(201)],
    ['with an email address', 'asked by someone@clinic.example'],
    ['with a phone number', 'called from 202 555-0143'],
    ['with control characters', 'line\nbreak'],
  ])('reveals nothing for a reason %s', async (_, reason) => {
    const { send } = await asAdmin()
    const response = await send(endpoints.getUserInfo, { params: { user_id }, headers: reveal(reason) })
    if (reason.trim()) expect(response).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'x-assay-reveal'] }] } })
    expect(JSON.stringify(response.body)).not.toContain('Zephyrine')
  })

  test.each(['support', 'read_only'] as const)('refuses a reveal by %s', async (role) => {
    const { forTeam } = await joinOrganization(w, tenant, { role })
    const { send } = forTeam(tenant.team_id)
    expect(await send(endpoints.getUserInfo, { params: { user_id } })).toMatchObject({ status: 200, body: { first_name: 'Z•••' } })
    const request_id = newUuid()
    const headers = { ...reveal('curiosity'), 'x-request-id': request_id }
    expect(await send(endpoints.getUserInfo, { params: { user_id }, headers })).toMatchObject(refusedFor(403, 'REVEAL_NOT_ALLOWED'))
    expect(await query(w.url, `select action, status from ${auditRows} where request_id = $1`, [request_id])).toEqual([
      { action: 'getUserInfo', status: 403 },
    ])
  })

  test('allows a reveal in a session that was started with a key', async () => {
    for (const body of [{ management_key: tenant.management_key }, { team_api_key: tenant.team_api_key }]) {
      const { forTeam } = await signIn(w.base, body)
      const { send } = forTeam(tenant.team_id)
      expect(await send(endpoints.getUserInfo, { params: { user_id } })).toMatchObject({ body: { first_name: 'Z•••' } })
      expect(await send(endpoints.getUserInfo, { params: { user_id }, headers: reveal('a callback') })).toMatchObject({
        body: { first_name: 'Zephyrine' },
      })
    }
  })
})

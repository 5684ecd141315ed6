import { beforeAll, describe, expect, test } from 'vitest'
import { ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { eventsOf } from '../support/events.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aPhysician, aProxy, countRows, errorsIn, type Fixtures, NOW, orderBody, orderRules, TODAY } from '../support/order-rules.ts'
import { statusesOf } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { expectClientError, sendRaw } from '../support/raw-requests.ts'
import { newApiKey } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { replica, type Tenant } from '../support/world.ts'

type Json = Record<string, unknown>

const w = await replica()
w.setTime(NOW)
const team = await w.tenant()
const tests: Record<string, string> = {}
beforeAll(async () => {
  const { data } = await team.api.listLabTests({ query: { lab_test_limit: 500 } })
  for (const { slug, id } of data) tests[slug] = id
})

const fixturesOf = async ({ api }: Tenant): Promise<Fixtures> => ({ user_id: await aUser(api), tests })
const post = (body: unknown, key = team.team_api_key, path = '/v3/order') =>
  sendRaw(w.base + path, 'POST', { headers: { 'x-service-api-key': key }, body: JSON.stringify(body) })
const orderOf = (response: { body: object }) => (response.body as { order: Json & { events: { status: string }[] } }).order

/** Sends an order that must be rejected, and asserts that nothing is written and no patient data is repeated. */
async function expectRejected(body: unknown, key?: string) {
  const before = await countRows(w.url)
  const response = await post(body, key)
  expectClientError(response)
  expect(await countRows(w.url)).toEqual(before)
  return errorsIn(response)
}

async function expectPlaced(body: unknown, key?: string) {
  const response = await post(body, key)
  expect(response.status, response.text).toBe(200)
  return orderOf(response)
}

test.each(orderRules)('enforces %s (%#)', async (refusal, broken, kept) => {
  const fixtures = await fixturesOf(team)
  expect(await expectRejected(orderBody(fixtures, broken))).toEqual([refusal])
  expect(statusesOf(await expectPlaced(orderBody(fixtures, kept)))).toEqual(['ordered'])
})

describe('users, lab tests and lab accounts of other teams', () => {
  test('returns 404 for a user of another team or one scheduled for deletion', async () => {
    const other = await w.tenant()
    const fixtures = await fixturesOf(team)
    expect(await expectRejected(orderBody(fixtures), other.team_api_key)).toEqual(['404 USER_NOT_FOUND'])
    await expectPlaced(orderBody(fixtures))
    await team.api.deleteUser({ params: { user_id: fixtures.user_id } })
    expect(await expectRejected(orderBody(fixtures))).toEqual(['404 USER_SCHEDULED_FOR_DELETION'])
  })

  test('rejects a lab test of another team and an archived one', async () => {
    const other = await w.tenant()
    const body = { name: 'Ours', method: 'walk_in_test' as const, description: '', marker_ids: [1001, 1002] }
    const { id } = await other.api.createLabTest({ body })
    const order_set = { lab_test_ids: [id] }
    expect(await expectRejected({ ...orderBody(await fixturesOf(team)), order_set })).toEqual(['400 UNKNOWN_LAB_TEST'])
    const fixtures = await fixturesOf(other)
    await expectPlaced({ ...orderBody(fixtures), order_set }, other.team_api_key)
    await other.api.patchLabTest({ params: { lab_test_id: id }, body: { active: false } })
    expect(await expectRejected({ ...orderBody(fixtures), order_set }, other.team_api_key)).toEqual(['400 LAB_TEST_NOT_ACTIVE'])
  })

  test('requires one active lab account of the team and lab that may bill in the state', async () => {
    const other = await w.tenant()
    const fixtures = await fixturesOf(other)
    const physician = aPhysician()
    const account = (change: object = {}) => aLabAccount(w.app.db, { ...other, ...change })
    const place = (change: Json) => expectPlaced(orderBody(fixtures, { physician, ...change }), other.team_api_key)
    const refuse = (change: Json) => expectRejected(orderBody(fixtures, { physician, ...change }), other.team_api_key)

    const otherLab = await account({ lab_id: 2 })
    expect(await refuse({ lab_account_id: otherLab })).toEqual(['400 LAB_ACCOUNT_OF_ANOTHER_LAB'])
    const suspended = await account({ status: 'suspended' })
    expect(await refuse({})).toEqual(['400 LAB_ACCOUNT_INACTIVE'])
    expect(await refuse({ lab_account_id: suspended })).toEqual(['400 LAB_ACCOUNT_INACTIVE'])
    const first = await account()
    await place({})
    expect(await refuse({ lab_account_id: suspended })).toEqual(['400 LAB_ACCOUNT_INACTIVE'])
    expect(await refuse({ address: { state: 'NV', zip: '89101' } })).toEqual(['400 BILLING_TYPE_NOT_ALLOWED'])
    await place({ address: { state: 'CA', zip: '94110' } })
    expect(await refuse({ billing_type: 'patient_bill' })).toEqual(['400 BILLING_TYPE_NOT_ALLOWED'])
    await account()
    expect(await refuse({})).toEqual(['400 LAB_ACCOUNT_AMBIGUOUS'])
    await place({ lab_account_id: first })
    await place({ order_set: { lab_test_ids: [tests['essential-wellness']], lab_account_id: first } })
    expect(
      await refuse({ lab_account_id: first, order_set: { lab_test_ids: [tests['essential-wellness']], lab_account_id: otherLab } }),
    ).toEqual(['400 LAB_ACCOUNTS_DIFFER'])
    expect(await expectRejected(orderBody(await fixturesOf(team), { lab_account_id: first }))).toEqual(['400 UNKNOWN_LAB_ACCOUNT'])
  })
})

test('rejects minors, even with a proxy, if the team disables minor ordering', async () => {
  const other = await w.tenant()
  const fixtures = await fixturesOf(other)
  const child = orderBody(fixtures, { details: { dob: '2015-06-01', medical_proxy: aProxy() } })
  await expectPlaced(child, other.team_api_key)
  const params = { org_id: other.org_id, team_id: other.team_id }
  await other.admin.patchTeam({ params, body: { sandbox: { minor_ordering_enabled: false } } })
  expect(await expectRejected(child, other.team_api_key)).toEqual(['400 MINORS_NOT_ALLOWED'])
  await expectPlaced(orderBody(fixtures, { details: { dob: '2009-03-10' } }), other.team_api_key)
})

test('applies the age of consent that the operator sets per state', async () => {
  const strict = await replica({ env: { CONSENT_AGES: 'AL=19' } })
  strict.setTime(NOW)
  const alabama = { details: { dob: '2009-03-10' }, address: { state: 'Alabama', zip: '35203' } }
  const fixtures = await fixturesOf(team)
  const place = (change: Json) =>
    sendRaw(`${strict.base}/v3/order`, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key },
      body: JSON.stringify(orderBody(fixtures, change)),
    })
  expect(errorsIn(await place(alabama))).toEqual(['422 minor_without_proxy patient_details.medical_proxy'])
  expect((await place({ ...alabama, details: { dob: '2008-03-10' } })).status).toBe(200)
  expect((await place({ details: { dob: '2009-03-10' } })).status).toBe(200)
  await expectPlaced(orderBody(fixtures, alabama))
})

test('accepts a minor whose stored demographics name a proxy', async () => {
  const fixtures = await fixturesOf(team)
  const child = { details: { dob: '2015-06-01' } }
  expect(await expectRejected(orderBody(fixtures, child))).toEqual(['422 minor_without_proxy patient_details.medical_proxy'])
  await expectPlaced(orderBody(fixtures, { details: { dob: '2015-06-01', medical_proxy: aProxy() } }))
  expect(await expectPlaced(orderBody(fixtures, child))).toMatchObject({ patient_details: { medical_proxy: { first_name: 'Ottoline' } } })
})

test('reports all errors of a stage at once: schema, values, then rules', async () => {
  const fixtures = await fixturesOf(team)
  const child = { dob: '2015-06-01', medical_proxy: null }
  expect(
    await expectRejected(orderBody(fixtures, { details: { ...child, gender: 'x' }, address: { zip: '1' }, activate_by: '2027-03-09' })),
  ).toEqual(['422 enum patient_details.gender', '422 format_error patient_address.zip'])
  expect(
    await expectRejected(orderBody(fixtures, { details: child, activate_by: '2027-03-09', billing_type: 'patient_bill_passthrough' })),
  ).toEqual(['422 minor_without_proxy patient_details.medical_proxy', '422 activate_by_in_the_past activate_by'])
  expect(
    await expectRejected(orderBody(fixtures, { billing_type: 'commercial_insurance', address: { state: 'NJ', zip: '07001' } })),
  ).toEqual(['400 INSURANCE_REQUIRED', '400 ICD_CODES_REQUIRED', '400 PHYSICIAN_REQUIRED'])
})

test('ships an unregistered testkit only to states that the lab serves', async () => {
  const fixtures = await fixturesOf(team)
  const kit = (state: string, zip: string) => {
    const shipping_details = { receiver_name: 'Front Desk', ...anAddress({ state, zip }), phone_number: '+12025550143' }
    return { user_id: fixtures.user_id, lab_test_id: tests['heart-and-sugar-card'], shipping_details }
  }
  for (const state of ['NY', 'ny', 'New York']) {
    const before = await countRows(w.url)
    const response = await post(kit(state, '10001'), team.team_api_key, '/v3/order/testkit')
    expectClientError(response)
    expect(errorsIn(response)).toEqual(['400 LAB_DOES_NOT_SERVE_STATE'])
    expect(await countRows(w.url)).toEqual(before)
  }
  expect((await post(kit('Connecticut', '06101'), team.team_api_key, '/v3/order/testkit')).status).toBe(200)
})

test('allows a read-only key to validate but not to place an order', async () => {
  const read_only_key = newApiKey('sk_us_')
  await ensureTeamKey(w.app, read_only_key, { label: 'reader', team_id: team.team_id, read_only: true })
  const body = orderBody(await fixturesOf(team))
  expect(await expectRejected(body, read_only_key)).toEqual(['403 READ_ONLY_KEY'])
  expect(await post(body, read_only_key, '/v3/order/validate')).toMatchObject({ status: 200, body: { valid: true } })
})

describe('placed orders', () => {
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const ordered = { id: 1, created_at: instant, status: 'received.walk_in_test.ordered', status_detail: null }

  test('returns the complete order, as reads and events do', async () => {
    const fixtures = await fixturesOf(team)
    const consents = [{ consentType: 'hipaa-authorization' }]
    const body = orderBody(fixtures, { consents, passthrough: 'ref 7', clinical_notes: 'fasting', icd_codes: ['e785'], priority: true })
    const response = await post(body)
    expect(response.body).toEqual({ order: expect.any(Object), status: 'success', message: 'Order created successfully' })
    const order = orderOf(response)
    expect(order).toEqual({
      id: uuid,
      user_id: fixtures.user_id,
      team_id: team.team_id,
      patient_details: {
        ...people[0],
        dob: '1961-07-23T00:00:00+00:00',
        gender: 'female',
        medical_proxy: null,
        household_income: null,
        household_size: null,
        race: 'Not Specified',
        ethnicity: 'Not Specified',
        sexual_orientation: 'Not Specified',
        gender_identity: 'Not Specified',
      },
      patient_address: { receiver_name: '', ...anAddress(), access_notes: null, phone_number: null },
      lab_test: expect.objectContaining({
        id: tests['essential-wellness'],
        method: 'walk_in_test',
        status: 'active',
        auto_generated: false,
      }),
      details: { type: 'walk_in_test', data: { id: uuid, appointment_id: null, created_at: instant, updated_at: instant } },
      sample_id: null,
      notes: null,
      clinical_notes: 'fasting',
      created_at: instant,
      updated_at: instant,
      events: [ordered],
      last_event: ordered,
      status: 'received',
      physician: null,
      health_insurance_id: null,
      requisition_form_url: null,
      priority: true,
      shipping_details: null,
      activate_by: null,
      activate_at: null,
      passthrough: 'ref 7',
      billing_type: 'client_bill',
      icd_codes: ['E78.5'],
      icd_codes_by_test: null,
      has_abn: false,
      interpretation: null,
      has_missing_results: null,
      expected_result_by_date: null,
      worst_case_result_by_date: null,
      origin: 'initial',
      order_transaction: {
        id: uuid,
        status: 'active',
        orders: [
          {
            id: order['id'],
            low_level_status: 'ordered',
            low_level_status_created_at: instant,
            origin: 'initial',
            parent_id: null,
            created_at: instant,
            updated_at: instant,
          },
        ],
      },
      warnings: [],
    })
    expect(await team.api.getOrder({ params: { order_id: order['id'] as string } })).toEqual(order)
    const events = await eventsOf(w.app, team.team_id, { order_id: order['id'] as string })
    expect(events).toMatchObject([{ event_type: 'labtest.order.created', user_id: fixtures.user_id, data: order }])
  })

  test('accepts unusual values with warnings', async () => {
    const fixtures = await fixturesOf(team)
    const order = await expectPlaced(
      orderBody(fixtures, {
        details: { ...people[1], phone_number: '555-0178' },
        address: { state: 'Arizona' },
        physician: aPhysician({ npi: '1234567890' }),
      }),
    )
    expect(order['warnings']).toEqual(
      [
        ['npi_invalid', 'physician.npi'],
        ['name_transliterated', 'patient_details.first_name'],
        ['name_transliterated', 'patient_details.last_name'],
        ['phone_unusual', 'patient_details.phone_number'],
        ['state_normalised', 'patient_address.state'],
      ].map(([code, path = '']) => ({ code, path: ['body', ...path.split('.')], message: expect.any(String) })),
    )
    expect(order).toMatchObject({
      patient_details: { first_name: people[1].first_name, last_name: people[1].last_name, phone_number: '555-0178' },
      patient_address: { state: 'AZ' },
      physician: { first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567890' },
    })
    expect(Object.keys(order['physician'] as object)).toEqual(['first_name', 'last_name', 'npi'])
  })

  test('stores the demographics of the user', async () => {
    const fixtures = await fixturesOf(team)
    await expectPlaced(orderBody(fixtures, { details: { race: 'asian' } }))
    const params = { user_id: fixtures.user_id }
    expect(await team.api.getUserInfo({ params })).toMatchObject({ ...people[0], race: 'asian', ethnicity: null, address: anAddress() })
    const before = await countRows(w.url)
    const moved = { details: { email: people[2].email }, address: { first_line: '9 Cove Road' } }
    await expectPlaced(orderBody(fixtures, moved))
    expect(await team.api.getUserInfo({ params })).toMatchObject({
      ...{ ...people[0], email: people[2].email, race: 'asian' },
      address: anAddress({ first_line: '9 Cove Road' }),
    })
    expect((await countRows(w.url))?.['user_info']).toBe(before?.['user_info'])
  })

  test('ignores fields that only the server sets', async () => {
    const fixtures = await fixturesOf(team)
    const other = await w.tenant()
    const serverFields = {
      id: other.team_id,
      team_id: other.team_id,
      status: 'completed',
      origin: 'redraw',
      has_abn: true,
      price: 0,
      sample_id: 'MINE',
      interpretation: 'normal',
      events: [],
      warnings: [],
      low_level: 'completed',
      transaction_id: other.team_id,
      parent_id: other.team_id,
      lab_test: { price: 0 },
      activate_at: NOW,
    }
    const order = await expectPlaced({ ...orderBody(fixtures), ...serverFields })
    expect(order).toMatchObject({ team_id: team.team_id, status: 'received', origin: 'initial', has_abn: false, sample_id: null })
    expect(order).toMatchObject({ interpretation: null, activate_at: null, last_event: ordered, lab_test: { price: expect.any(Number) } })
    expect(order['id']).not.toBe(other.team_id)
    expect((order['lab_test'] as { price: number }).price).toBeGreaterThan(0)
    expect(order['warnings']).toHaveLength(1)
  })
})

describe('size limits', () => {
  const MB = 1024 * 1024
  const image = (bytes: number) => ({ content: Buffer.alloc(bytes, 1).toString('base64'), content_type: 'image/jpeg' })

  test('stores four images of 5 MB and rejects a larger one', async () => {
    const fixtures = await fixturesOf(team)
    const front_image = image(5 * MB)
    const body = orderBody(fixtures, {
      physician: aPhysician({ signature_image: front_image }),
      health_insurance: { front_image, back_image: front_image, patient_signature_image: front_image },
    })
    const before = await countRows(w.url)
    await expectPlaced(body)
    expect((await countRows(w.url))?.['order_images']).toBe((before?.['order_images'] ?? 0) + 4)
    expect(await expectRejected(orderBody(fixtures, { health_insurance: { front_image: image(5 * MB + 1) } }))).toEqual([
      '422 value_error health_insurance.front_image.content',
    ])
  })

  test('rejects a 10 MB passthrough and a 31 MB body with a short error', async () => {
    const fixtures = await fixturesOf(team)
    expect(await expectRejected(orderBody(fixtures, { passthrough: 'x'.repeat(10 * MB) }))).toEqual(['422 too_big passthrough'])
    expect(await expectRejected(orderBody(fixtures, { passthrough: 'x'.repeat(31 * MB) }))).toEqual(['413 BODY_TOO_LARGE'])
  })

  test('rejects lists of 100,000 entries with a short error', async () => {
    const fixtures = await fixturesOf(team)
    const many = (entry: unknown) => Array(100_000).fill(entry)
    expect(await expectRejected(orderBody(fixtures, { icd_codes: many('E78.5') }))).toEqual(['422 too_big icd_codes'])
    expect(await expectRejected(orderBody(fixtures, { icd_codes: many(1) }))).toEqual(['422 too_big icd_codes'])
    expect(await expectRejected(orderBody(fixtures, { consents: many({}), aoe_answers: many({ marker_id: 'x' }) }))).toEqual([
      '422 too_big consents',
      '422 too_big aoe_answers',
    ])
    await expectPlaced(orderBody(fixtures, { details: { dob: TODAY, medical_proxy: aProxy() } }))
  })
})

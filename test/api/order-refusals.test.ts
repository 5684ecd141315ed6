import { beforeAll, describe, expect, test } from 'vitest'
import { ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { eventsOf } from '../support/events.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aPhysician, aProxy, countRows, errorsIn, type Fixtures, NOW, orderBody, orderRules, TODAY } from '../support/order-rules.ts'
import { aUser, statusesOf } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { expectClientError, sendRaw } from '../support/raw.ts'
import { newApiKey } from '../support/seeded.ts'
import { replica, type Tenant } from '../support/world.ts'

type Json = Record<string, unknown>

const here = await replica()
here.setTime(NOW)
const team = await here.tenant()
const tests: Record<string, string> = {}
beforeAll(async () => {
  const { data } = await team.api.listLabTests({ query: { lab_test_limit: 500 } })
  for (const { slug, id } of data) tests[slug] = id
})

const knownOf = async ({ api }: Tenant): Promise<Fixtures> => ({ user_id: await aUser(api), tests })
const post = (body: unknown, key = team.team_api_key, path = '/v3/order') =>
  sendRaw(here.base + path, 'POST', { headers: { 'x-service-api-key': key }, body: JSON.stringify(body) })
const orderOf = (answer: { body: object }) => (answer.body as { order: Json & { events: { status: string }[] } }).order

/** Sends what must be refused: nothing is written, and nothing of the patient's is repeated. */
async function refused(body: unknown, key?: string) {
  const before = await countRows(here.app.db)
  const answer = await post(body, key)
  expectClientError(answer)
  expect(await countRows(here.app.db)).toEqual(before)
  return errorsIn(answer)
}

async function placed(body: unknown, key?: string) {
  const answer = await post(body, key)
  expect(answer.status, answer.text).toBe(200)
  return orderOf(answer)
}

test.each(orderRules)('%s (%#)', async (refusal, broken, kept) => {
  const known = await knownOf(team)
  expect(await refused(orderBody(known, broken))).toEqual([refusal])
  expect(statusesOf(await placed(orderBody(known, kept)))).toEqual(['ordered'])
})

describe('a user, test or account that is not the team’s', () => {
  test('a user of another team, or one that awaits its deletion, is not found', async () => {
    const other = await here.tenant()
    const known = await knownOf(team)
    expect(await refused(orderBody(known), other.team_api_key)).toEqual(['404 USER_NOT_FOUND'])
    await placed(orderBody(known))
    await team.api.deleteUser({ params: { user_id: known.user_id } })
    expect(await refused(orderBody(known))).toEqual(['404 USER_SCHEDULED_FOR_DELETION'])
  })

  test('a test of another team is unknown, an archived one inactive', async () => {
    const other = await here.tenant()
    const body = { name: 'Ours', method: 'walk_in_test' as const, description: '', marker_ids: [1001, 1002] }
    const { id } = await other.api.createLabTest({ body })
    const order_set = { lab_test_ids: [id] }
    expect(await refused({ ...orderBody(await knownOf(team)), order_set })).toEqual(['400 UNKNOWN_LAB_TEST'])
    const known = await knownOf(other)
    await placed({ ...orderBody(known), order_set }, other.team_api_key)
    await other.api.patchLabTest({ params: { lab_test_id: id }, body: { active: false } })
    expect(await refused({ ...orderBody(known), order_set }, other.team_api_key)).toEqual(['400 LAB_TEST_NOT_ACTIVE'])
  })

  test('a lab account must be the team’s, active, of that lab, allowed to bill there, and only one', async () => {
    const other = await here.tenant()
    const known = await knownOf(other)
    const physician = aPhysician()
    const account = (change: object = {}) => aLabAccount(here.app.db, { ...other, ...change })
    const place = (change: Json) => placed(orderBody(known, { physician, ...change }), other.team_api_key)
    const refuse = (change: Json) => refused(orderBody(known, { physician, ...change }), other.team_api_key)

    const elsewhere = await account({ lab_id: 2 })
    expect(await refuse({ lab_account_id: elsewhere })).toEqual(['400 LAB_ACCOUNT_OF_ANOTHER_LAB'])
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
      await refuse({ lab_account_id: first, order_set: { lab_test_ids: [tests['essential-wellness']], lab_account_id: elsewhere } }),
    ).toEqual(['400 LAB_ACCOUNTS_DIFFER'])
    expect(await refused(orderBody(await knownOf(team), { lab_account_id: first }))).toEqual(['400 UNKNOWN_LAB_ACCOUNT'])
  })
})

test('a team may forbid minors, with a proxy too', async () => {
  const other = await here.tenant()
  const known = await knownOf(other)
  const child = orderBody(known, { details: { dob: '2015-06-01', medical_proxy: aProxy() } })
  await placed(child, other.team_api_key)
  const params = { org_id: other.org_id, team_id: other.team_id }
  await other.admin.patchTeam({ params, body: { sandbox: { minor_ordering_enabled: false } } })
  expect(await refused(child, other.team_api_key)).toEqual(['400 MINORS_NOT_ALLOWED'])
  await placed(orderBody(known, { details: { dob: '2009-03-10' } }), other.team_api_key)
})

test('where a state has an age of its own, the operator says so', async () => {
  const strict = await replica({ env: { CONSENT_AGES: 'AL=19' } })
  strict.setTime(NOW)
  const alabama = { details: { dob: '2009-03-10' }, address: { state: 'Alabama', zip: '35203' } }
  const known = await knownOf(team)
  const sent = (change: Json) =>
    sendRaw(`${strict.base}/v3/order`, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key },
      body: JSON.stringify(orderBody(known, change)),
    })
  expect(errorsIn(await sent(alabama))).toEqual(['422 minor_without_proxy patient_details.medical_proxy'])
  expect((await sent({ ...alabama, details: { dob: '2008-03-10' } })).status).toBe(200)
  expect((await sent({ details: { dob: '2009-03-10' } })).status).toBe(200)
  await placed(orderBody(known, alabama))
})

test('a proxy that the demographics name is enough', async () => {
  const known = await knownOf(team)
  const child = { details: { dob: '2015-06-01' } }
  expect(await refused(orderBody(known, child))).toEqual(['422 minor_without_proxy patient_details.medical_proxy'])
  await placed(orderBody(known, { details: { dob: '2015-06-01', medical_proxy: aProxy() } }))
  expect(await placed(orderBody(known, child))).toMatchObject({ patient_details: { medical_proxy: { first_name: 'Ottoline' } } })
})

test('everything that is wrong is told at once: of the shape, then of the values, then of the rules', async () => {
  const known = await knownOf(team)
  const child = { dob: '2015-06-01', medical_proxy: null }
  expect(await refused(orderBody(known, { details: { ...child, gender: 'x' }, address: { zip: '1' }, activate_by: '2027-03-09' }))).toEqual(
    ['422 enum patient_details.gender', '422 format_error patient_address.zip'],
  )
  expect(await refused(orderBody(known, { details: child, activate_by: '2027-03-09', billing_type: 'patient_bill_passthrough' }))).toEqual([
    '422 minor_without_proxy patient_details.medical_proxy',
    '422 activate_by_in_the_past activate_by',
  ])
  expect(await refused(orderBody(known, { billing_type: 'commercial_insurance', address: { state: 'NJ', zip: '07001' } }))).toEqual([
    '400 INSURANCE_REQUIRED',
    '400 ICD_CODES_REQUIRED',
    '400 PHYSICIAN_REQUIRED',
  ])
})

test('a kit without a patient goes only where its lab works, however the state is written', async () => {
  const known = await knownOf(team)
  const kit = (state: string, zip: string) => {
    const shipping_details = { receiver_name: 'Front Desk', ...anAddress({ state, zip }), phone_number: '+12025550143' }
    return { user_id: known.user_id, lab_test_id: tests['heart-and-sugar-card'], shipping_details }
  }
  for (const state of ['NY', 'ny', 'New York']) {
    const before = await countRows(here.app.db)
    const answer = await post(kit(state, '10001'), team.team_api_key, '/v3/order/testkit')
    expectClientError(answer)
    expect(errorsIn(answer)).toEqual(['400 LAB_DOES_NOT_SERVE_STATE'])
    expect(await countRows(here.app.db)).toEqual(before)
  }
  expect((await post(kit('Connecticut', '06101'), team.team_api_key, '/v3/order/testkit')).status).toBe(200)
})

test('a read-only key may check an order but not place one', async () => {
  const read_only_key = newApiKey('sk_us_')
  await ensureTeamKey(here.app, read_only_key, { label: 'reader', team_id: team.team_id, read_only: true })
  const body = orderBody(await knownOf(team))
  expect(await refused(body, read_only_key)).toEqual(['403 READ_ONLY_KEY'])
  expect(await post(body, read_only_key, '/v3/order/validate')).toMatchObject({ status: 200, body: { valid: true } })
})

describe('what is placed', () => {
  const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const ordered = { id: 1, created_at: instant, status: 'received.walk_in_test.ordered', status_detail: null }

  test('is answered as the complete order, read back the same and told the same', async () => {
    const known = await knownOf(team)
    const consents = [{ consentType: 'hipaa-authorization' }]
    const body = orderBody(known, { consents, passthrough: 'ref 7', clinical_notes: 'fasting', icd_codes: ['e785'], priority: true })
    const answer = await post(body)
    expect(answer.body).toEqual({ order: expect.any(Object), status: 'success', message: 'Order created successfully' })
    const order = orderOf(answer)
    expect(order).toEqual({
      id: uuid,
      user_id: known.user_id,
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
    const told = (await eventsOf(here.app, team.team_id)).filter((event) => event.order_id === order['id'])
    expect(told).toMatchObject([{ event_type: 'labtest.order.created', user_id: known.user_id, data: order }])
  })

  test('is taken with a warning where a lab may stumble', async () => {
    const known = await knownOf(team)
    const order = await placed(
      orderBody(known, {
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

  test('records the demographics of the user', async () => {
    const known = await knownOf(team)
    await placed(orderBody(known, { details: { race: 'asian' } }))
    const params = { user_id: known.user_id }
    expect(await team.api.getUserInfo({ params })).toMatchObject({ ...people[0], race: 'asian', ethnicity: null, address: anAddress() })
    const before = await countRows(here.app.db)
    await placed(orderBody(known, { details: { ...people[2], race: 'asian' } }))
    expect(await team.api.getUserInfo({ params })).toMatchObject({ ...people[2], address: anAddress() })
    expect((await countRows(here.app.db))?.['user_info']).toBe(before?.['user_info'])
  })

  test('has only what may be given: the rest is ours to say', async () => {
    const known = await knownOf(team)
    const other = await here.tenant()
    const ours = {
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
    const order = await placed({ ...orderBody(known), ...ours })
    expect(order).toMatchObject({ team_id: team.team_id, status: 'received', origin: 'initial', has_abn: false, sample_id: null })
    expect(order).toMatchObject({ interpretation: null, activate_at: null, last_event: ordered, lab_test: { price: expect.any(Number) } })
    expect(order['id']).not.toBe(other.team_id)
    expect((order['lab_test'] as { price: number }).price).toBeGreaterThan(0)
    expect(order['warnings']).toHaveLength(1)
  })
})

describe('what is large', () => {
  const MB = 1024 * 1024
  const image = (bytes: number) => ({ content: Buffer.alloc(bytes, 1).toString('base64'), content_type: 'image/jpeg' })

  test('images of 5 MB are kept, all four; one byte more is refused', async () => {
    const known = await knownOf(team)
    const front_image = image(5 * MB)
    const body = orderBody(known, {
      physician: aPhysician({ signature_image: front_image }),
      health_insurance: { front_image, back_image: front_image, patient_signature_image: front_image },
    })
    const before = await countRows(here.app.db)
    await placed(body)
    expect((await countRows(here.app.db))?.['order_images']).toBe((before?.['order_images'] ?? 0) + 4)
    expect(await refused(orderBody(known, { health_insurance: { front_image: image(5 * MB + 1) } }))).toEqual([
      '422 value_error health_insurance.front_image.content',
    ])
  })

  test('10 MB of notes are refused in a few words, and so is a body that no order needs', async () => {
    const known = await knownOf(team)
    expect(await refused(orderBody(known, { passthrough: 'x'.repeat(10 * MB) }))).toEqual(['422 too_big passthrough'])
    expect(await refused(orderBody(known, { passthrough: 'x'.repeat(31 * MB) }))).toEqual(['413 BODY_TOO_LARGE'])
  })

  test('100,000 entries are refused in a few words', async () => {
    const known = await knownOf(team)
    const many = (entry: unknown) => Array(100_000).fill(entry)
    expect(await refused(orderBody(known, { icd_codes: many('E78.5') }))).toEqual(['422 too_big icd_codes'])
    expect(await refused(orderBody(known, { icd_codes: many(1) }))).toEqual(['422 too_big icd_codes'])
    expect(await refused(orderBody(known, { consents: many({}), aoe_answers: many({ marker_id: 'x' }) }))).toEqual([
      '422 too_big consents',
      '422 too_big aoe_answers',
    ])
    await placed(orderBody(known, { details: { dob: TODAY, medical_proxy: aProxy() } }))
  })
})

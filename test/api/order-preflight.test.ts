import { beforeAll, describe, expect, test } from 'vitest'
import { aPhysician, aProxy, countRows, errorsIn, type Fixtures, NOW, orderBody, orderRules } from '../support/order-rules.ts'
import { people, personalWords } from '../support/people.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { aUser } from '../support/users.ts'
import { replica } from '../support/world.ts'

type Finding = { path: (string | number)[]; code: string; message: string; remedy: string; severity: string; status: number | null }

const w = await replica()
w.setTime(NOW)
const team = await w.tenant()
let known: Fixtures
let before: Awaited<ReturnType<typeof countRows>>
beforeAll(async () => {
  const { data } = await team.api.listLabTests({ query: { lab_test_limit: 500 } })
  known = { user_id: await aUser(team.api), tests: Object.fromEntries(data.map(({ slug, id }) => [slug, id])) }
  before = await countRows(w.url)
})

const post = (path: string, body: unknown) =>
  sendRaw(w.base + path, 'POST', { headers: { 'x-service-api-key': team.team_api_key }, body: JSON.stringify(body) })

/** Validates a body, and asserts that the request returns 200, writes nothing and repeats no patient data. */
async function validate(body: unknown) {
  const { status, text, body: response } = await post('/v3/order/validate', body)
  expect(status, text).toBe(200)
  const { valid, problems } = response as { valid: boolean; problems: Finding[] }
  expect(valid).toBe(problems.every(({ severity }) => severity === 'advisory'))
  for (const { path, message, remedy, severity, status, code } of problems) {
    expect(path[0]).toBe('body')
    expect(message).toMatch(/^\w.{5,}\.$/)
    expect(remedy, code).toMatch(/^\w.{5}/)
    expect([severity, status]).toEqual(severity === 'advisory' ? ['advisory', null] : ['hard', expect.any(Number)])
  }
  for (const word of personalWords) expect(text).not.toContain(word)
  expect(await countRows(w.url)).toEqual(before)
  return problems
}

const summaryOf = ({ status, code, path }: Finding) => `${status ?? 'advisory'} ${code} ${path.slice(1).join('.')}`
const hardOf = (problems: Finding[]) => problems.filter(({ severity }) => severity === 'hard').map(summaryOf)
const withoutPath = (text: string) => (text.startsWith('422') ? text : text.split(' ').slice(0, 2).join(' '))

test.each(orderRules)('rejects what POST /v3/order rejects: %s (%#)', async (_, broken, kept) => {
  const body = orderBody(known, broken)
  const refused = errorsIn(await post('/v3/order', body))
  expect(hardOf(await validate(body)).map(withoutPath)).toEqual(refused)
  expect(hardOf(await validate(orderBody(known, kept)))).toEqual([])
})

describe('findings of one request', () => {
  test('include values, rules and advice', async () => {
    const problems = await validate(
      orderBody(known, {
        details: { ...people[1], dob: '2015-06-01', phone_number: '555' },
        address: { state: 'New Jersey', zip: '10001' },
        physician: null,
        billing_type: 'commercial_insurance',
        icd_codes: ['nonsense'],
        activate_by: '2027-03-09',
        priority: true,
        aoe_answers: [{ marker_id: 9, question_id: 9, answer: '' }],
      }),
    )
    expect(problems.map(summaryOf)).toEqual([
      '422 minor_without_proxy patient_details.medical_proxy',
      '422 aoe_marker_unknown aoe_answers.0.marker_id',
      '422 activate_by_in_the_past activate_by',
      '400 INSURANCE_REQUIRED health_insurance',
      '400 ICD_CODE_INVALID icd_codes.0',
      '400 PHYSICIAN_REQUIRED physician',
      'advisory name_transliterated patient_details.first_name',
      'advisory name_transliterated patient_details.last_name',
      'advisory phone_unusual patient_details.phone_number',
      'advisory state_normalised patient_address.state',
      'advisory zip_not_in_state patient_address.zip',
      'advisory no_site_nearby patient_address.zip',
      'advisory consents_missing consents',
    ])
  })

  test('include schema errors and rule violations together', async () => {
    const problems = await validate(
      orderBody(known, {
        user_id: 7,
        details: { dob: '2015-06-01', email: undefined },
        address: { zip: 'Marrowbone', phone_number: '1' },
        order_set: { add_on: { marker_ids: [1001] } },
        physician: aPhysician({ npi: '12' }),
        consents: [{ consentType: 'oral' }],
        activate_by: '2027-03-09',
      }),
    )
    expect(problems.map(summaryOf)).toEqual([
      '422 type_error user_id',
      '422 missing patient_details.email',
      '422 format_error patient_address.zip',
      '422 enum consents.0.consentType',
      '400 COLLECTION_METHOD_REQUIRED collection_method',
      '422 minor_without_proxy patient_details.medical_proxy',
      '422 activate_by_in_the_past activate_by',
      'advisory npi_invalid physician.npi',
    ])
  })

  test('include an unknown user and unknown tests, and every check that needs neither', async () => {
    const unknown = 'ffffffff-0000-4000-8000-000000000000'
    const child = { details: { dob: '2015-06-01' } }
    expect(hardOf(await validate(orderBody(known, { ...child, user_id: unknown, lab_test_id: unknown })))).toEqual([
      '404 USER_NOT_FOUND user_id',
      '400 UNKNOWN_LAB_TEST order_set.lab_test_ids',
      '422 minor_without_proxy patient_details.medical_proxy',
    ])
    expect(hardOf(await validate(orderBody(known, { ...child, user_id: unknown, billing_type: 'patient_bill_passthrough' })))).toEqual([
      '404 USER_NOT_FOUND user_id',
      '422 minor_without_proxy patient_details.medical_proxy',
      '400 BILLING_TYPE_NOT_SUPPORTED billing_type',
    ])
  })

  test('include unknown tests, markers and lab accounts together', async () => {
    const unknown = 'ffffffff-0000-4000-8000-000000000000'
    const lab_test_ids = [known.tests['colon-fit-home'], unknown, known.tests['gut-inflammation-home']]
    const order_set = { lab_test_ids, add_on: { marker_ids: [99_999_999] }, lab_account_id: unknown }
    expect(hardOf(await validate(orderBody(known, { lab_test_id: undefined, order_set, collection_method: 'testkit' })))).toEqual([
      '400 UNKNOWN_LAB_TEST order_set.lab_test_ids',
      '400 UNKNOWN_LAB_ACCOUNT lab_account_id',
      '400 UNKNOWN_MARKER order_set.add_on',
      '400 LAB_TEST_NOT_ACTIVE order_set.lab_test_ids',
    ])
  })

  test('name each missing field of an empty body', async () => {
    expect((await validate({})).map(summaryOf)).toEqual([
      '422 missing user_id',
      '422 missing patient_details',
      '422 missing patient_address',
      '400 NO_TESTS_NAMED order_set',
      'advisory consents_missing consents',
    ])
  })
})

test('returns the path, message and remedy of a finding', async () => {
  expect(await validate(orderBody(known, { address: { zip: '8500' }, consents: [{ consentType: 'terms-of-use' }] }))).toEqual([
    {
      path: ['body', 'patient_address', 'zip'],
      code: 'format_error',
      message: 'The value has the wrong format.',
      remedy: 'Must be five digits, optionally followed by a hyphen and four digits.',
      severity: 'hard',
      status: 422,
    },
  ])
  expect(await validate(orderBody(known, { order_set: null, consents: [{ consentType: 'terms-of-use' }] }))).toEqual([
    {
      path: ['body', 'order_set'],
      code: 'NO_TESTS_NAMED',
      message: 'The order names no lab test and no marker.',
      remedy: 'Send order_set.lab_test_ids or order_set.add_on.',
      severity: 'hard',
      status: 400,
    },
  ])
})

test('reports only advice for a valid order, which becomes the warnings of the order', async () => {
  const body = orderBody(known, {
    details: { ...people[1], medical_proxy: aProxy({ phone_number: '5' }) },
    consents: [{ consentType: 'hipaa-authorization' }],
  })
  const advice = await validate(body)
  expect(advice.map(summaryOf)).toEqual([
    'advisory name_transliterated patient_details.first_name',
    'advisory name_transliterated patient_details.last_name',
    'advisory phone_unusual patient_details.medical_proxy.phone_number',
  ])
  const { order } = (await post('/v3/order', body)).body as unknown as { order: { warnings: { code: string; path: string[] }[] } }
  expect(order.warnings.map(({ code, path }) => [code, path])).toEqual(advice.map(({ code, path }) => [code, path]))
})

test.each(['[]', 'null', '"order"', '7'])('rejects a body that is not an object: %s', async (body) => {
  const response = await sendRaw(`${w.base}/v3/order/validate`, 'POST', { headers: { 'x-service-api-key': team.team_api_key }, body })
  expect(errorsIn(response)).toEqual(['422 type_error '])
})

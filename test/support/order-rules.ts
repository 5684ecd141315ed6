import { aPatient } from './orders.ts'
import { anAddress, people } from './people.ts'
import { query } from './query.ts'

type Json = Record<string, unknown>
/** `tests` maps slugs to lab test IDs. */
export type Fixtures = { user_id: string; tests: Record<string, string> }
type Change = Json | ((fixtures: Fixtures) => Json)

/** A rule of placing orders: its error, an order that violates it, and one that just satisfies it. */
type Rule = [error: string, invalid: Change, valid: Change]

/** The day of the orders. */
export const TODAY = '2027-03-10'
export const NOW = `${TODAY}T18:00:00.000Z`

/** The body of an order. `details` and `address` change parts of the patient; undefined fields are omitted. */
export function orderBody({ user_id, tests }: Fixtures, change: Change = {}): Json {
  const { details, address, ...rest } = typeof change === 'function' ? change({ user_id, tests }) : change
  return {
    user_id,
    patient_details: aPatient(details as object),
    patient_address: anAddress(address as object),
    order_set: { lab_test_ids: [tests['essential-wellness']] },
    ...rest,
  }
}

type HttpResponse = { status: number; body: { detail?: unknown } }
type ErrorItem = { type: string; loc: unknown[] } & { error_type: string; loc: unknown[] }

/** The errors of a response, each as status, code and path. */
export function errorsIn({ status, body }: HttpResponse): string[] {
  const { detail } = body
  if (Array.isArray(detail)) return (detail as ErrorItem[]).map(({ type, loc }) => `${status} ${type} ${loc.slice(1).join('.')}`)
  const { error_type, errors } = detail as { error_type: string; errors?: ErrorItem[] }
  return errors ? errors.map((item) => `${status} ${item.error_type}`) : [`${status} ${error_type}`]
}

const countedTables = [
  ...['orders', 'order_events', 'order_images', 'lab_samples', 'results', 'team_lab_tests'],
  ...['events', 'user_info', 'user_insurances'],
]

/** Counts the rows of every table that an order writes. */
export async function countRows(url: string) {
  const counts = countedTables.map((table) => `(select count(*)::int from ${table}) as ${table}`)
  return (await query<Record<string, number>>(url, `select ${counts.join(', ')}`))[0]
}

export const aProxy = (change: object = {}) => ({
  first_name: 'Ottoline',
  last_name: 'Quillfeather',
  address: anAddress(),
  phone_number: '+12025550111',
  ...change,
})
export const aPhysician = (change: object = {}) => ({ first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893', ...change })

const x = (count: number) => 'x'.repeat(count)
const png = { content: 'iVBORw0KGgo=', content_type: 'image/png' }
const details = (change: Json) => ({ details: change })
const address = (change: Json) => ({ address: change })
const tests =
  (...slugs: string[]) =>
  ({ tests }: Fixtures) => ({ order_set: { lab_test_ids: slugs.map((slug) => tests[slug]) } })
const orderOf = (slug: string, change: Json) => (fixtures: Fixtures) => ({ ...tests(slug)(fixtures), ...change })
const addOn = (add_on: Json, collection_method?: string) => ({ order_set: { add_on }, collection_method })

const shapeRules: Rule[] = [
  ['422 missing user_id', { user_id: undefined }, {}],
  ['422 format_error user_id', { user_id: 'me' }, ({ user_id }) => ({ user_id: user_id.toUpperCase() })],
  ['422 missing patient_details', { patient_details: undefined }, {}],
  ['422 missing patient_address', { patient_address: undefined }, {}],
  ['422 too_small patient_details.first_name', details({ first_name: '' }), details({ first_name: 'Q' })],
  ['422 too_small patient_details.last_name', details({ last_name: '  ' }), details({ last_name: ' Q ' })],
  ['422 too_big patient_details.first_name', details({ first_name: x(51) }), details({ first_name: x(50) })],
  ['422 too_big patient_details.last_name', details({ last_name: x(51) }), details({ last_name: x(50) })],
  ['422 type_error patient_details.first_name', details({ first_name: people }), {}],
  ['422 missing patient_details.dob', details({ dob: undefined }), details({ dob: '19610723' })],
  ['422 value_error patient_details.dob', details({ dob: '1981-02-29' }), details({ dob: '1980-02-29' })],
  ['422 value_error patient_details.dob', details({ dob: '1980-05-04T10:00:00Z' }), details({ dob: '1980-05-04T00:00:00Z' })],
  ['422 enum patient_details.gender', details({ gender: 'Quillfeather' }), details({ gender: 'unknown' })],
  ['422 missing patient_details.phone_number', details({ phone_number: undefined }), details({ phone_number: '5' })],
  ['422 format_error patient_details.email', details({ email: 'zephyrine.quillfeather' }), details({ email: 'z@q.example' })],
  ['422 enum patient_details.race', details({ race: 'martian' }), details({ race: 'asian' })],
  ['422 enum patient_details.ethnicity', details({ ethnicity: 'Hispanic' }), details({ ethnicity: 'hispanic' })],
  ['422 enum patient_details.sexual_orientation', details({ sexual_orientation: '' }), details({ sexual_orientation: null })],
  ['422 enum patient_details.gender_identity', details({ gender_identity: 'none' }), details({ gender_identity: 'genderqueer' })],
  ['422 type_error patient_details.household_income', details({ household_income: 1.5 }), details({ household_income: 0 })],
  ['422 too_small patient_details.household_size', details({ household_size: -1 }), details({ household_size: 1 })],
  [
    '422 missing patient_details.medical_proxy.phone_number',
    details({ medical_proxy: aProxy({ phone_number: undefined }) }),
    details({ medical_proxy: aProxy() }),
  ],
  ['422 format_error patient_address.zip', address({ zip: '8500' }), address({ zip: '85004' })],
  ['422 format_error patient_address.zip', address({ zip: '85004-12' }), address({ zip: '85004-1234' })],
  ['422 format_error patient_address.zip', address({ zip: '850041234' }), address({ zip: '85004' })],
  ['422 too_big patient_address.access_notes', address({ access_notes: x(1001) }), address({ access_notes: x(1000) })],
  ['422 missing patient_address.first_line', address({ first_line: undefined }), address({ second_line: null })],
  ['422 missing patient_address.city', address({ city: undefined }), {}],
  ['422 too_small patient_address.state', address({ state: ' ' }), address({ state: 'az' })],
  ['422 missing patient_address.country', address({ country: undefined }), address({ country: 'U.S.' })],
  ['422 format_error lab_test_id', { lab_test_id: '7' }, { lab_test_id: null }],
  ['422 type_error order_set', { order_set: [] }, {}],
  ['422 format_error order_set.lab_test_ids.0', { order_set: { lab_test_ids: ['lipids'] } }, {}],
  ['422 enum collection_method', { collection_method: 'drone' }, { collection_method: 'walk_in_test' }],
  ['422 enum billing_type', { billing_type: 'barter' }, { billing_type: 'client_bill' }],
  ['422 type_error priority', { priority: 'yes' }, { priority: true }],
  ['422 too_big icd_codes', { icd_codes: Array(101).fill('E78.5') }, { icd_codes: Array(100).fill('E78.5') }],
  ['422 type_error icd_codes.0', { icd_codes: [785] }, { icd_codes: [] }],
  ['422 enum consents.0.consentType', { consents: [{ consentType: 'oral' }] }, { consents: [{ consentType: 'terms-of-use' }] }],
  [
    '422 format_error consents.0.timeOfConsent',
    { consents: [{ consentType: 'privacy-policy', timeOfConsent: '2027-03-09T10:00:00' }] },
    { consents: [{ consentType: 'privacy-policy', timeOfConsent: '2027-03-09T10:00:00+02:00' }] },
  ],
  ['422 format_error activate_by', { activate_by: '2027-02-30' }, { activate_by: '2028-02-29' }],
  ['422 missing aoe_answers.0.answer', { aoe_answers: [{ marker_id: 1001, question_id: 700010 }] }, { aoe_answers: [] }],
  ['422 too_big passthrough', { passthrough: x(10_001) }, { passthrough: x(10_000) }],
  ['422 too_big clinical_notes', { clinical_notes: x(1001) }, { clinical_notes: x(1000) }],
  ['422 format_error lab_account_id', { lab_account_id: 'mine' }, { lab_account_id: null }],
  ['422 format_error creator_member_id', { creator_member_id: 'me' }, { creator_member_id: '5f0c8f9e-4a0e-4a5b-8a67-6a7c4f1f2b11' }],
  ['422 missing physician.npi', { physician: aPhysician({ npi: undefined }) }, { physician: aPhysician() }],
  [
    '422 enum physician.signature_image.content_type',
    { physician: aPhysician({ signature_image: { ...png, content_type: 'image/gif' } }) },
    { physician: aPhysician({ signature_image: png }) },
  ],
  [
    '422 value_error health_insurance.back_image.content',
    { health_insurance: { back_image: { ...png, content: 'Quillfeather!' } } },
    { health_insurance: { back_image: png } },
  ],
  ['422 missing health_insurance.front_image.content', { health_insurance: { front_image: { content_type: 'image/png' } } }, {}],
  [
    '422 enum health_insurance.responsible_relationship',
    { health_insurance: { responsible_relationship: 'Friend' } },
    { health_insurance: { responsible_relationship: 'Other' } },
  ],
]

const patientRules: Rule[] = [
  [
    '422 birth_date_in_the_future patient_details.dob',
    details({ dob: '2027-03-11', medical_proxy: aProxy() }),
    details({ dob: TODAY, medical_proxy: aProxy() }),
  ],
  ['422 minor_without_proxy patient_details.medical_proxy', details({ dob: '2009-03-11' }), details({ dob: '2009-03-10' })],
  [
    '422 minor_without_proxy patient_details.medical_proxy',
    details({ dob: '2015-06-01', medical_proxy: null }),
    details({ dob: '2015-06-01', medical_proxy: aProxy() }),
  ],
  ['422 activate_by_in_the_past activate_by', { activate_by: '2027-03-09' }, { activate_by: TODAY }],
]

const answer = (marker_id: number, question_id: number, text: string) => ({ marker_id, question_id, answer: text })
const lead = [answer(5050, 700040, 'INIT'), answer(5050, 700050, 'ven')]
const leadOrder = (...aoe_answers: object[]) => orderOf('occupational-lead', { aoe_answers })
const clearance = (volume: string) =>
  orderOf('creatinine-clearance', {
    aoe_answers: [volume, '24', '170', '65.5'].map((text, i) => answer(1051, 700070 + 10 * i, text)),
  })

const answerRules: Rule[] = [
  ['422 aoe_marker_unknown aoe_answers.2.marker_id', leadOrder(...lead, answer(1050, 700040, 'INIT')), leadOrder(...lead)],
  ['422 aoe_question_unknown aoe_answers.2.question_id', leadOrder(...lead, answer(5050, 700041, 'x')), leadOrder(...lead)],
  ['422 aoe_question_unknown aoe_answers.2.question_id', leadOrder(...lead, answer(5005, 700040, 'INIT')), leadOrder(...lead)],
  ['422 aoe_answer_missing aoe_answers', leadOrder(...lead.slice(1)), leadOrder(...lead)],
  ['422 aoe_answer_missing aoe_answers', leadOrder(...lead.slice(1), answer(5050, 700040, ' ')), leadOrder(...lead)],
  ['422 aoe_answer_code aoe_answers.0.answer', leadOrder(answer(5050, 700040, 'First'), ...lead.slice(1)), leadOrder(...lead)],
  ['422 aoe_answer_duplicate aoe_answers.2', leadOrder(...lead, answer(5050, 700040, 'REPEAT')), leadOrder(...lead)],
  ['422 aoe_answer_not_a_number aoe_answers.0.answer', clearance('a liter'), clearance('1500')],
]

const unknown = 'ffffffff-0000-4000-8000-000000000000'
const wellness = tests('essential-wellness')

const testRules: Rule[] = [
  ['400 NO_TESTS_NAMED', { order_set: undefined }, ({ tests }) => ({ order_set: undefined, lab_test_id: tests['essential-wellness'] })],
  ['400 NO_TESTS_NAMED', { order_set: { lab_test_ids: [], add_on: null } }, wellness],
  ['400 MARKERS_REQUIRED', addOn({}, 'walk_in_test'), addOn({ marker_ids: [1001] }, 'walk_in_test')],
  [
    '400 MARKERS_REQUIRED',
    addOn({ marker_ids: [], provider_ids: null }, 'walk_in_test'),
    addOn({ provider_ids: ['QM10007'] }, 'walk_in_test'),
  ],
  [
    '400 MARKERS_NAMED_TWICE',
    addOn({ marker_ids: [1001], provider_ids: ['QM10007'] }, 'walk_in_test'),
    addOn({ marker_ids: [1001], provider_ids: [] }, 'walk_in_test'),
  ],
  ['400 COLLECTION_METHOD_REQUIRED', addOn({ marker_ids: [1001] }), addOn({ marker_ids: [1001] }, 'at_home_phlebotomy')],
  ['400 SEVERAL_LABS', tests('essential-wellness', 'thyroid-complete'), tests('essential-wellness', 'heart-health-advanced')],
  ['400 SEVERAL_LABS', addOn({ marker_ids: [1001, 2001] }, 'walk_in_test'), addOn({ marker_ids: [2001, 2002] }, 'walk_in_test')],
  [
    '400 SEVERAL_METHODS',
    tests('essential-wellness', 'iron-and-anemia'),
    (fixtures) => ({ ...tests('essential-wellness', 'iron-and-anemia')(fixtures), collection_method: 'walk_in_test' }),
  ],
  ['400 UNKNOWN_LAB_TEST', { order_set: { lab_test_ids: [unknown] } }, wellness],
  ['400 UNKNOWN_LAB_TEST', { lab_test_id: unknown }, wellness],
  ['400 LAB_TEST_NOT_ACTIVE', tests('gut-inflammation-home'), tests('colon-fit-home')],
  ['400 UNKNOWN_MARKER', addOn({ marker_ids: [999_999] }, 'walk_in_test'), addOn({ marker_ids: [1002] }, 'walk_in_test')],
  ['400 MARKER_NOT_A_LA_CARTE', addOn({ marker_ids: [3001] }, 'testkit'), tests('heart-and-sugar-card')],
]

const policy = { payor_code: 'OAKMU', insurance_id: 'MEMBER-55501' }
const withInsurance = (change: Json = {}) => ({
  billing_type: 'commercial_insurance',
  health_insurance: policy,
  icd_codes: ['E78.5'],
  ...change,
})
const spousePolicy = { ...policy, responsible_relationship: 'Spouse' }

const labRules: Rule[] = [
  [
    '400 LAB_DOES_NOT_SERVE_STATE',
    orderOf('thyroid-complete', address({ state: 'AK', zip: '99501' })),
    orderOf('thyroid-complete', address({ state: 'OR', zip: '97035' })),
  ],
  [
    '400 LAB_DOES_NOT_SERVE_STATE',
    orderOf('heart-and-sugar-card', address({ state: 'New York', zip: '10001' })),
    orderOf('heart-and-sugar-card', address({ state: 'Connecticut', zip: '06101' })),
  ],
  ['400 METHOD_NOT_OFFERED', { collection_method: 'testkit' }, orderOf('heart-and-sugar-card', { collection_method: 'testkit' })],
  [
    '400 METHOD_NOT_OFFERED',
    orderOf('thyroid-complete', { collection_method: 'on_site_collection' }),
    { collection_method: 'on_site_collection' },
  ],
  ['400 BILLING_TYPE_NOT_SUPPORTED', { billing_type: 'patient_bill_passthrough' }, { billing_type: 'patient_bill' }],
  [
    '400 PHYSICIAN_REQUIRED',
    address({ state: 'NY', zip: '10001' }),
    { ...address({ state: 'NY', zip: '10001' }), physician: aPhysician({ licensed_states: ['NY'] }) },
  ],
  ['400 UNKNOWN_LAB_ACCOUNT', { lab_account_id: unknown }, {}],
  ['400 INSURANCE_REQUIRED', withInsurance({ health_insurance: undefined }), withInsurance()],
  [
    '400 INSURANCE_REQUIRED',
    withInsurance({ health_insurance: { payor_code: 'OAKMU' } }),
    withInsurance({ health_insurance: { front_image: png } }),
  ],
  [
    '400 GUARANTOR_REQUIRED',
    withInsurance({ health_insurance: spousePolicy }),
    withInsurance({ health_insurance: { ...spousePolicy, responsible_details: aProxy() } }),
  ],
  [
    '400 ICD_CODES_REQUIRED',
    withInsurance({ icd_codes: [] }),
    withInsurance({ icd_codes: null, health_insurance: { ...policy, diagnosis_codes: ['E78.5'] } }),
  ],
  ['400 ICD_CODE_INVALID', withInsurance({ icd_codes: ['E78.5', 'E78.55555'] }), withInsurance({ icd_codes: ['E78.5', 'e1165'] })],
]

const userRules: Rule[] = [['404 USER_NOT_FOUND', { user_id: unknown }, {}]]

/** Every rule that a body alone can violate. */
export const orderRules: Rule[] = [...shapeRules, ...patientRules, ...answerRules, ...testRules, ...labRules, ...userRules]

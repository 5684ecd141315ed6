import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AoE } from '../../src/contract/labs/catalog.ts'
import { NewOrder } from '../../src/contract/labs/new-order.ts'
import { countryCode, stateCode } from '../../src/labs/geography/rules-states.ts'
import { aoeFindings, resolveAoeAnswers } from '../../src/labs/orders/checks/rules-aoe.ts'
import { needsAbn, normalizeIcdCodes } from '../../src/labs/orders/checks/rules-billing.ts'
import { type OrderContext, orderFindings } from '../../src/labs/orders/checks/rules-checks.ts'
import { findingsFrom, problemFrom } from '../../src/labs/orders/checks/rules-findings.ts'
import { ageOfConsent, isNpi, normalizePhone, transmissionName } from '../../src/labs/orders/checks/rules-people.ts'
import { problem } from '../../src/platform/problem.ts'
import { ageOn } from '../../src/platform/time.ts'
import { anAddress, people } from '../support/people.ts'

type Json = Record<string, unknown>

const catalog = JSON.parse(readFileSync(new URL('../../catalog/catalog.json', import.meta.url), 'utf8'))
const labs = catalog.labs as OrderContext['lab'][]
const [quillmoor, wrenfield] = labs as [OrderContext['lab'], OrderContext['lab'], OrderContext['lab']]
const aoeOf = (slug: string): AoE => catalog.markers.find((marker: Json) => marker['slug'] === slug).aoe

const proxy = { first_name: 'Ottoline', last_name: 'Quillfeather', address: anAddress(), phone_number: '+12025550111' }
const patient = (change: Json = {}) => ({ ...people[0], gender: 'female', ...change })

const anOrder = ({ details = {}, address = {}, ...change }: Json & { details?: Json; address?: Json } = {}) =>
  NewOrder.parse({
    user_id: '5f0c8f9e-4a0e-4a5b-8a67-6a7c4f1f2b11',
    patient_details: patient(details),
    patient_address: anAddress(address),
    consents: [{ consentType: 'hipaa-authorization' }],
    ...change,
  })

const platform = { org_id: null, delegated_flow: 'not_delegated', allowed_billing: {} }
const own = { org_id: 'org', delegated_flow: 'order_delegated', allowed_billing: { client_bill: ['AZ'], commercial_insurance: ['AZ'] } }

const context = (change: Partial<OrderContext> = {}): OrderContext => ({
  now: '2026-03-01T18:00:00.000Z',
  zone: 'America/Phoenix',
  minor_ordering_enabled: true,
  lab: quillmoor,
  tests: [],
  markers: [],
  method: 'walk_in_test',
  coverage: 'served',
  account: platform,
  record: undefined,
  consent_ages: {},
  payor_known: true,
  ...change,
})

const hardOf = (order: NewOrder, given: Partial<OrderContext> = {}) =>
  orderFindings(order, context(given))
    .filter(({ severity }) => severity === 'hard')
    .map(({ code, status, path }) => `${status} ${code} ${path.join('.')}`)
const advisoriesOf = (order: NewOrder, given: Partial<OrderContext> = {}) =>
  orderFindings(order, context(given))
    .filter(({ severity }) => severity === 'advisory')
    .map(({ code, path }) => `${code} ${path.join('.')}`)

test('an ordinary order has no findings', () => expect(orderFindings(anOrder(), context())).toEqual([]))

describe('patient age', () => {
  const WITHOUT = ['422 minor_without_proxy patient_details.medical_proxy']

  test('requires a medical proxy one day before the 18th birthday and none on it', () => {
    expect(hardOf(anOrder({ details: { dob: '2008-03-02' } }))).toEqual(WITHOUT)
    expect(hardOf(anOrder({ details: { dob: '2008-03-01' } }))).toEqual([])
  })

  test('accepts a proxy on the order or in the demographics', () => {
    const child = { dob: '2015-06-01' }
    expect(hardOf(anOrder({ details: { ...child, medical_proxy: proxy } }))).toEqual([])
    const { first_name, last_name } = anOrder().patient_details
    const record = { first_name: ` ${first_name.toUpperCase()}`, last_name, ...child, medical_proxy: proxy }
    expect(hardOf(anOrder({ details: child }), { record })).toEqual([])
    expect(hardOf(anOrder({ details: { ...child, medical_proxy: null } }), { record })).toEqual(WITHOUT)
    expect(hardOf(anOrder({ details: child }), { record: { ...record, first_name: 'Another' } })).toEqual(WITHOUT)
    expect(hardOf(anOrder({ details: child }), { record: { ...record, dob: '2015-06-02' } })).toEqual(WITHOUT)
    expect(hardOf(anOrder({ details: child }), { record: { ...record, medical_proxy: null } })).toEqual(WITHOUT)
  })

  test('a patient born on February 29 comes of age on March 1', () => {
    const leapling = anOrder({ details: { dob: '2008-02-29' } })
    expect(hardOf(leapling, { now: '2026-02-28T18:00:00.000Z' })).toEqual(WITHOUT)
    expect(hardOf(leapling, { now: '2026-03-01T18:00:00.000Z' })).toEqual([])
    expect(ageOn('2008-02-29', '2028-02-29')).toBe(20)
  })

  test('counts days in the time zone of the patient', () => {
    const order = anOrder({ details: { dob: '2008-03-02' } })
    expect(hardOf(order, { now: '2026-03-02T06:59:00.000Z' })).toEqual(WITHOUT)
    expect(hardOf(order, { now: '2026-03-02T07:00:00.000Z' })).toEqual([])
  })

  test('rejects a future birth date and accepts the current day', () => {
    const born = (dob: string) => anOrder({ details: { dob, medical_proxy: proxy } })
    expect(hardOf(born('2026-03-02'))).toEqual(['422 birth_date_in_the_future patient_details.dob'])
    expect(hardOf(born('2026-03-01'))).toEqual([])
    expect(hardOf(born('2026-03-02'), { zone: 'Pacific/Guam' })).toEqual([])
  })

  test('rejects minors if the team disables minor ordering', () => {
    const child = anOrder({ details: { dob: '2015-06-01', medical_proxy: proxy } })
    expect(hardOf(child, { minor_ordering_enabled: false })).toEqual(['400 MINORS_NOT_ALLOWED patient_details.dob'])
    expect(hardOf(anOrder(), { minor_ordering_enabled: false })).toEqual([])
  })

  test('applies the ages of consent the operator sets per state', () => {
    const alabama = anOrder({ details: { dob: '2008-03-01' }, address: { state: 'AL', zip: '35203' } })
    expect(hardOf(alabama)).toEqual([])
    expect(hardOf(alabama, { consent_ages: { AL: 19 } })).toEqual(WITHOUT)
    expect(ageOfConsent(undefined, { AL: 19 })).toBe(18)
  })

  test('warns about a minor at home, a proxy named like the patient and an implausible age', () => {
    const child = anOrder({ details: { dob: '2015-06-01', medical_proxy: { ...proxy, first_name: 'zephyrine ' } } })
    expect(advisoriesOf(child, { method: 'at_home_phlebotomy' })).toEqual([
      'minor_at_home collection_method',
      'proxy_is_patient patient_details.medical_proxy',
    ])
    expect(advisoriesOf(anOrder({ details: { dob: '1900-03-01' } }))).toEqual(['birth_date_implausible patient_details.dob'])
    // 125 years old.
    for (const dob of ['1900-03-02', '1901-03-01']) expect(advisoriesOf(anOrder({ details: { dob } }))).toEqual([])
  })
})

describe('AoE questions', () => {
  const lead = { id: 1, aoe: aoeOf('lead-blood') }
  const afp = { id: 2, aoe: aoeOf('afp-maternal') }
  const lipids = { id: 3, aoe: aoeOf('lipid-panel') }
  const plain = { id: 4, aoe: null }
  const answer = (marker_id: number, question_id: number, text: string) => ({ marker_id, question_id, answer: text })
  const leadAnswers = [answer(1, 700040, 'INIT'), answer(1, 700050, 'ven')]
  const codesOf = (...args: Parameters<typeof aoeFindings>) => aoeFindings(...args).map(({ code, path }) => `${code} ${path.join('.')}`)

  test('accept an answer code in any case', () => {
    expect(codesOf([lead], leadAnswers)).toEqual([])
    expect(codesOf([lead], [answer(1, 700040, 'First test'), answer(1, 700050, 'CAP')])).toEqual(['aoe_answer_code aoe_answers.0.answer'])
  })

  test('require an answer if the lab does, and a blank does not count', () => {
    expect(codesOf([lead], [answer(1, 700040, 'INIT')])).toEqual(['aoe_answer_missing aoe_answers'])
    expect(codesOf([lead], [answer(1, 700040, 'INIT'), answer(1, 700050, ' ')])).toEqual(['aoe_answer_missing aoe_answers'])
    expect(codesOf([lead], [])).toHaveLength(2)
    expect(aoeFindings([lead], [])[0]?.message).toContain('question 700040')
  })

  test('reject answers to unknown markers, unknown questions and duplicates', () => {
    const stray = (extra: ReturnType<typeof answer>) => codesOf([lead, plain], [...leadAnswers, extra])
    expect(stray(answer(9, 700040, 'INIT'))).toEqual(['aoe_marker_unknown aoe_answers.2.marker_id'])
    expect(stray(answer(4, 700040, 'INIT'))).toEqual(['aoe_question_unknown aoe_answers.2.question_id'])
    expect(stray(answer(1, 700130, 'INIT'))).toEqual(['aoe_question_unknown aoe_answers.2.question_id'])
    expect(stray(answer(1, 700040, 'REPEAT'))).toEqual(['aoe_answer_duplicate aoe_answers.2'])
  })

  test('accept numbers, dates and several codes', () => {
    const answersWith = (change: Record<number, string> = {}) => {
      const texts = { 700130: '20260901', 700140: 'US', 700150: '140.5', 700160: '1', 700170: 'N', 700180: 'N', 700200: 'valp, CARB' }
      return Object.entries({ ...texts, ...change }).map(([id, text]) => answer(2, Number(id), text))
    }
    expect(codesOf([afp], answersWith())).toEqual([])
    expect(codesOf([afp], answersWith({ 700150: '140 lb' }))).toEqual(['aoe_answer_not_a_number aoe_answers.2.answer'])
    expect(codesOf([afp], answersWith({ 700200: 'VALP,ASPIRIN' }))).toEqual(['aoe_answer_code aoe_answers.6.answer'])
    expect(codesOf([afp], answersWith({ 700140: 'US,LMP' }))).toEqual(['aoe_answer_code aoe_answers.1.answer'])
    const odd = aoeFindings([afp], answersWith({ 700130: '1 September', 700150: '5' }))
    expect(odd.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['advisory aoe_answer_form', 'advisory aoe_answer_out_of_range'])
  })

  test('about fasting default to the lab test', () => {
    expect(codesOf([lipids], [])).toEqual([])
    const required = { ...lipids, aoe: { questions: (lipids.aoe?.questions ?? []).map((question) => ({ ...question, required: true })) } }
    expect(codesOf([required], [])).toEqual([])
    expect(resolveAoeAnswers([lipids], [], true)).toEqual([answer(3, 700010, 'Y')])
    expect(resolveAoeAnswers([lipids], [], false)).toEqual([answer(3, 700010, 'N')])
    expect(resolveAoeAnswers([lipids], [answer(3, 700010, 'n')], true)).toEqual([answer(3, 700010, 'N')])
  })

  test('are recorded with the codes of the lab', () => {
    expect(resolveAoeAnswers([afp, plain], [answer(2, 700200, 'carb, valp,CARB'), answer(2, 700150, ' 140 ')], false)).toEqual([
      answer(2, 700150, '140'),
      answer(2, 700200, 'CARB,VALP'),
    ])
  })

  test('in free text keep their spelling', () => {
    const [question] = afp.aoe.questions as [AoE['questions'][number]]
    const open = { id: 4, aoe: { questions: [{ ...question, type: 'text' as const, answers: [] }] } }
    const text = 'Left arm, then Right arm'
    expect(resolveAoeAnswers([open], [answer(4, question.id, ` ${text} `)], false)).toEqual([answer(4, question.id, text)])
  })

  test('reject an order without answers with 422', () => {
    expect(hardOf(anOrder(), { markers: [{ id: 1, aoe: aoeOf('lead-blood') }] })).toEqual([
      '422 aoe_answer_missing aoe_answers',
      '422 aoe_answer_missing aoe_answers',
    ])
  })
})

test('rejects a past activate_by and accepts the current day', () => {
  expect(hardOf(anOrder({ activate_by: '2026-02-28' }))).toEqual(['422 activate_by_in_the_past activate_by'])
  expect(hardOf(anOrder({ activate_by: '2026-03-01' }))).toEqual([])
  expect(hardOf(anOrder({ activate_by: null }))).toEqual([])
})

describe('lab', () => {
  test('must serve the state, as a code or a name', () => {
    const NOT_SERVED = ['400 LAB_DOES_NOT_SERVE_STATE patient_address.state']
    expect(hardOf(anOrder({ address: { state: 'AK', zip: '99501' } }), { lab: wrenfield })).toEqual(NOT_SERVED)
    expect(hardOf(anOrder({ address: { state: 'alaska', zip: '99501' } }), { lab: wrenfield })).toEqual(NOT_SERVED)
    expect(hardOf(anOrder({ address: { state: 'AK', zip: '99501' } }))).toEqual([])
  })

  test('requires a physician in some states', () => {
    const newYork = { state: 'NY', zip: '10001' }
    const physician = { first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' }
    expect(hardOf(anOrder({ address: newYork }))).toEqual(['400 PHYSICIAN_REQUIRED physician'])
    expect(hardOf(anOrder({ address: newYork, physician }))).toEqual([])
  })

  test('accepts a priority order with a warning if it does not support STAT', () => {
    expect(advisoriesOf(anOrder({ priority: true }), { lab: wrenfield })).toEqual(['stat_not_supported priority'])
    expect(advisoriesOf(anOrder({ priority: true }))).toEqual([])
  })
})

describe('billing', () => {
  test('rejects a billing type the lab does not support', () => {
    expect(hardOf(anOrder({ billing_type: 'patient_bill_passthrough' }))).toEqual(['400 BILLING_TYPE_NOT_SUPPORTED billing_type'])
    expect(hardOf(anOrder({ billing_type: 'patient_bill' }))).toEqual([])
  })

  test('rejects a billing type the lab account does not have in the state', () => {
    const physician = { first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' }
    expect(hardOf(anOrder({ physician }), { account: own })).toEqual([])
    expect(hardOf(anOrder({ physician, billing_type: 'patient_bill' }), { account: own })).toEqual([
      '400 BILLING_TYPE_NOT_ALLOWED billing_type',
    ])
    expect(hardOf(anOrder({ physician, address: { state: 'CA', zip: '94110' } }), { account: own })).toEqual([
      '400 BILLING_TYPE_NOT_ALLOWED billing_type',
    ])
  })

  test('the platform account bills in DC and the territories', () => {
    expect(hardOf(anOrder({ address: { state: 'DC', zip: '20001' } }))).toEqual([])
    expect(hardOf(anOrder({ address: { state: 'PR', zip: '00901' } }))).toEqual([])
  })
})

describe('commercial insurance', () => {
  const billing_type = 'commercial_insurance'
  const self = { relationship: 'Self', has_guarantor: false }
  const spouse = { relationship: 'Spouse', has_guarantor: false }
  const NONE = '400 INSURANCE_REQUIRED health_insurance'
  const GUARANTOR = '400 GUARANTOR_REQUIRED health_insurance.responsible_details'
  const CODES = '400 ICD_CODES_REQUIRED icd_codes'
  const icd_codes = ['e785']

  test('reports every missing requirement', () => {
    expect(hardOf(anOrder({ billing_type }))).toEqual([NONE, CODES])
    expect(hardOf(anOrder({ billing_type }), { insurance: spouse })).toEqual([GUARANTOR, CODES])
    expect(hardOf(anOrder({ billing_type, icd_codes }), { insurance: self })).toEqual([])
    expect(hardOf(anOrder({ billing_type, icd_codes }), { insurance: { ...spouse, has_guarantor: true } })).toEqual([])
  })

  test('rejects a malformed ICD code, which is a warning for other billing types', () => {
    const codes = ['E78.5', 'E78.55555']
    expect(hardOf(anOrder({ billing_type, icd_codes: codes }), { insurance: self })).toEqual(['400 ICD_CODE_INVALID icd_codes.1'])
    expect(hardOf(anOrder({ icd_codes: codes }))).toEqual([])
    expect(advisoriesOf(anOrder({ icd_codes: codes }))).toEqual(['icd_code_malformed icd_codes.1'])
  })

  test('accepts a policy sent with the order in health_insurance', () => {
    const policy = { payor_code: 'OAKMU', insurance_id: 'MEMBER-55501', diagnosis_codes: ['E78.5'] }
    expect(hardOf(anOrder({ billing_type, health_insurance: policy }))).toEqual([])
    expect(hardOf(anOrder({ billing_type, health_insurance: {}, icd_codes }))).toEqual([NONE])
    const spousePolicy = { ...policy, responsible_relationship: 'Spouse' }
    expect(hardOf(anOrder({ billing_type, health_insurance: spousePolicy }))).toEqual([GUARANTOR])
    expect(hardOf(anOrder({ billing_type, health_insurance: { ...spousePolicy, responsible_details: proxy } }))).toEqual([])
  })

  test('warns about an unknown payor', () => {
    expect(advisoriesOf(anOrder(), { payor_known: false })).toEqual(['payor_unknown health_insurance.payor_code'])
  })
})

test('requires an advance beneficiary notice if Medicare has no covered diagnosis', () => {
  const payor_name = 'Medicare (federal, inferred by state)'
  expect(needsAbn({ payor_name, icd_codes: [] })).toBe(true)
  expect(needsAbn({ payor_name, icd_codes: ['Z1231', 'z00.00'] })).toBe(true)
  expect(needsAbn({ payor_name, icd_codes: ['Z12.31', 'E78.5'] })).toBe(false)
  expect(needsAbn({ payor_name, icd_codes: ['Z79.4'] })).toBe(false)
  expect(needsAbn({ payor_name: 'Oakmeadow Mutual Health', icd_codes: [] })).toBe(false)
  for (const payor_name of ['Silverpine Medicare Advantage', 'Medicare Part C', 'Medicare Part D'])
    expect(needsAbn({ payor_name, icd_codes: [] })).toBe(false)
})

test('normalizes and deduplicates diagnosis codes', () =>
  expect(normalizeIcdCodes(['e785', 'E78.5', 'I10', 'what?'])).toEqual(['E78.5', 'I10', 'what?']))

describe('patient names', () => {
  const charset = (charset: string) => ({ name_rules: { charset } })

  test.each([
    ['José', 'Jose'],
    ['Jose\u0301', 'Jose'],
    ['O’Connor', "O'Connor"],
    ['Weiß', 'Weiss'],
    ['Æsa Bjørn', 'AEsa Bjorn'],
    ['Łucja', 'Lucja'],
    ['中文', '??'],
  ])('transliterates %s to %s for an ASCII lab', (name, transmitted) =>
    expect(transmissionName(name, charset('latin_ascii'))).toBe(transmitted),
  )

  test('keep the letters the charset of the lab contains', () => {
    expect(transmissionName('José Łukasz', charset('latin_1'))).toBe('José Lukasz')
    expect(transmissionName('中文', charset('utf_8'))).toBe('中文')
    expect(transmissionName('Bartholomäus the Elder', wrenfield, 'first_name')).toBe('Bartholomaus th')
  })

  test('are accepted with a warning if they change on the way to the lab', () => {
    const orderFor = (first_name: string) => anOrder({ details: { first_name } })
    expect(advisoriesOf(orderFor('José'))).toEqual(['name_transliterated patient_details.first_name'])
    expect(advisoriesOf(orderFor('中文'))).toEqual(['name_not_transmissible patient_details.first_name'])
    expect(advisoriesOf(orderFor('x'.repeat(21)))).toEqual(['name_too_long patient_details.first_name'])
    expect(advisoriesOf(orderFor('x'.repeat(20)))).toEqual([])
    expect(hardOf(orderFor('中文'))).toEqual([])
  })

  test('are rejected by a strict lab if they change', () => {
    const strict = { ...quillmoor, name_rules: { ...quillmoor.name_rules, strict: true } }
    expect(hardOf(anOrder({ details: { last_name: 'O’Connor' } }), { lab: strict })).toEqual([
      '422 name_transliterated patient_details.last_name',
    ])
    expect(hardOf(anOrder(), { lab: strict })).toEqual([])
  })
})

describe('warnings', () => {
  test('warns about an unusual phone number', () => {
    expect(advisoriesOf(anOrder({ details: { phone_number: 'ask her sister' } }))).toEqual(['phone_unusual patient_details.phone_number'])
    expect(normalizePhone('(415) 555-2671')).toBe('+14155552671')
    expect(normalizePhone('1 415.555.2671')).toBe('+14155552671')
    expect(normalizePhone('+1123456789')).toBe('+1123456789')
    expect(normalizePhone('+0123456789')).toBeUndefined()
    expect(normalizePhone('5552671')).toBeUndefined()
  })

  test('warns about an unusual address', () => {
    expect(advisoriesOf(anOrder({ address: { state: 'Arizona' } }))).toEqual(['state_normalised patient_address.state'])
    expect(advisoriesOf(anOrder({ address: { state: 'Bavaria' } }))).toEqual(['state_unknown patient_address.state'])
    expect(advisoriesOf(anOrder({ address: { zip: '10001' } }))).toEqual(['zip_not_in_state patient_address.zip'])
    expect(advisoriesOf(anOrder({ address: { country: 'Germany' } }))).toEqual(['country_not_us patient_address.country'])
    expect(advisoriesOf(anOrder({ address: { country: 'U.S.' } }))).toEqual([])
  })

  test('warns about a place that no collection site or phlebotomist serves', () => {
    const advisoriesAt = (change: Partial<OrderContext>) => advisoriesOf(anOrder(), change)
    expect(advisoriesAt({ coverage: 'not_served' })).toEqual(['no_site_nearby patient_address.zip'])
    expect(advisoriesAt({ coverage: 'distance_unknown' })).toEqual(['distance_unknown patient_address.zip'])
    expect(advisoriesAt({ coverage: 'unlisted' })).toEqual([])
    expect(advisoriesAt({ coverage: 'not_served', method: 'at_home_phlebotomy' })).toEqual(['home_draw_not_offered patient_address.zip'])
    expect(advisoriesAt({ coverage: 'unlisted', method: 'at_home_phlebotomy' })).toEqual([])
  })

  test('warns about an invalid NPI and a physician not licensed in the state', () => {
    const physician = { first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567890', licensed_states: ['NM', 'Utah'] }
    expect(advisoriesOf(anOrder({ physician }))).toEqual(['npi_invalid physician.npi', 'physician_not_licensed physician.licensed_states'])
    expect(advisoriesOf(anOrder({ physician: { ...physician, npi: '1234567893', licensed_states: ['arizona'] } }))).toEqual([])
    expect(isNpi('1234567893')).toBe(true)
    expect(isNpi('123456789')).toBe(false)
  })

  test('warns about a missing physician, missing consents and an invalid image', () => {
    expect(advisoriesOf(anOrder(), { account: own })).toEqual(['physician_expected physician'])
    expect(advisoriesOf(anOrder({ consents: [] }))).toEqual(['consents_missing consents'])
    const front_image = { content: 'aGVsbG8=', content_type: 'image/png' }
    expect(advisoriesOf(anOrder({ health_insurance: { front_image } }))).toEqual(['image_unlike_its_type health_insurance.front_image'])
  })
})

describe('error response', () => {
  const minor = anOrder({ details: { dob: '2015-06-01' }, billing_type: 'patient_bill_passthrough' })

  test('reports 422 errors before 400 errors', () => {
    const refusal = problemFrom(orderFindings(minor, context()))
    expect(refusal).toMatchObject({
      kind: 'invalid',
      detail: [{ type: 'minor_without_proxy', loc: ['body', 'patient_details', 'medical_proxy'] }],
    })
  })

  test('names the first violated rule and lists the others', () => {
    const refusal = problemFrom(orderFindings(anOrder({ billing_type: 'commercial_insurance' }), context()))
    expect(refusal).toMatchObject({
      kind: 'refused',
      detail: { error_type: 'INSURANCE_REQUIRED', errors: [{ error_type: 'INSURANCE_REQUIRED' }, { error_type: 'ICD_CODES_REQUIRED' }] },
    })
  })

  test('is undefined if every finding is a warning', () =>
    expect(problemFrom(orderFindings(anOrder({ consents: [] }), context()))).toBeUndefined())

  test('converts a lab test error to a finding', () => {
    expect(findingsFrom(problem('NO_TESTS_NAMED', 'Name some.'))).toEqual([
      {
        path: ['order_set'],
        code: 'NO_TESTS_NAMED',
        message: 'The order names no lab test and no marker.',
        remedy: 'Name some.',
        severity: 'hard',
        status: 400,
      },
    ])
  })

  test.each([
    ['The order names no lab test and no marker. Send order_set.', 'Send order_set.'],
    ['The order names no lab test and no marker.', 'Send order_set.lab_test_ids or order_set.add_on.'],
  ])('does not repeat its message in its remedy: %s', (text, remedy) => {
    expect(findingsFrom(problem('NO_TESTS_NAMED', text))).toMatchObject([{ message: 'The order names no lab test and no marker.', remedy }])
  })

  test('never repeats patient data', () => {
    const order = anOrder({
      details: { first_name: 'Bartholomäus', dob: '2031-01-01', phone_number: 'call Marrowbone' },
      address: { state: 'Marrowbone', country: 'US' },
      aoe_answers: [{ marker_id: 9, question_id: 9, answer: 'Quillfeather' }],
      icd_codes: ['Marrowbone'],
    })
    const texts = orderFindings(order, context()).map(({ message, remedy }) => `${message} ${remedy}`)
    expect(texts).toHaveLength(6)
    expect(texts.join()).not.toMatch(/Barthol|2031|Marrowbone|Quillfeather/)
  })
})

test.each(['a', '1', ' ', '=', '-', '.', 'é', '1.', 'a@', '?'])('checks 60,000 repetitions of %j in under two seconds', (unit) => {
  const long = unit.repeat(60_000)
  const before = process.cpuUsage()
  for (const reads of [stateCode, countryCode, normalizePhone, isNpi, (text: string) => normalizeIcdCodes([text, `${text}!`])]) reads(long)
  transmissionName(long, quillmoor)
  needsAbn({ payor_name: `medicare ${long}`, icd_codes: [long] })
  aoeFindings([{ id: 1, aoe: aoeOf('creatinine-clearance-24h') }], [{ marker_id: 1, question_id: 700070, answer: `${long}x` }])
  NewOrder.safeParse({
    patient_details: patient({ dob: long, email: `${long}!`, first_name: long }),
    patient_address: anAddress({ zip: long }),
  })
  // CPU time, because elapsed time also counts other processes on a busy machine. A regular expression that backtracks takes ten seconds.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(2000)
})

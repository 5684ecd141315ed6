import type { ErrorName } from '../errors.ts'

/** `either`: an error at strict labs and on strict endpoints, otherwise a warning. */
type Severity = 'error' | 'warning' | 'either'

/** One check of an order: when it reports its code, and the remedy. */
export type OrderCheck = { severity: Severity; field: string; meaning: string; remedy: string }

const checks = <const T extends Record<string, OrderCheck>>(rows: T): T => rows

const aoeChecks = checks({
  aoe_answer_missing: {
    severity: 'either',
    field: 'aoe_answers',
    meaning:
      'A required question of an ordered marker has no answer and no default. Registering a kit without aoe_answers gives a warning.',
    remedy: 'Add the answer with its marker_id and question_id.',
  },
  aoe_answer_duplicate: {
    severity: 'error',
    field: 'aoe_answers.{i}',
    meaning: 'The same question of the same marker is answered twice.',
    remedy: 'Answer each question once. Separate several codes of a multi_choice question with commas.',
  },
  aoe_marker_unknown: {
    severity: 'error',
    field: 'aoe_answers.{i}.marker_id',
    meaning: 'The answer names a marker that is not part of the order.',
    remedy: 'Remove the answer.',
  },
  aoe_question_unknown: {
    severity: 'error',
    field: 'aoe_answers.{i}.question_id',
    meaning: 'The marker does not ask this question.',
    remedy: 'Take the question_id from `aoe` of the marker in GET /v3/lab_tests/markers.',
  },
  aoe_answer_code: {
    severity: 'error',
    field: 'aoe_answers.{i}.answer',
    meaning: 'A choice question is answered with a code that it does not offer.',
    remedy: 'Send one of the codes in `answers` of the question.',
  },
  aoe_answer_not_a_number: {
    severity: 'error',
    field: 'aoe_answers.{i}.answer',
    meaning: 'A numeric question is answered with something that is not a number.',
    remedy: 'Send digits, with a point before decimals.',
  },
  aoe_answer_out_of_range: {
    severity: 'warning',
    field: 'aoe_answers.{i}.answer',
    meaning: 'A number is outside the range that the question states in `constraint`.',
    remedy: 'Check the value and its unit.',
  },
  aoe_answer_form: {
    severity: 'warning',
    field: 'aoe_answers.{i}.answer',
    meaning: 'A text answer does not match the format that the question states in `constraint`.',
    remedy: 'Write the answer in that format.',
  },
})

const patientChecks = checks({
  birth_date_in_the_future: {
    severity: 'error',
    field: 'patient_details.dob',
    meaning: 'The birth date is in the future.',
    remedy: 'Send the day on which the patient was born.',
  },
  birth_date_implausible: {
    severity: 'warning',
    field: 'patient_details.dob',
    meaning: 'The patient would be older than 125 years.',
    remedy: 'Check the birth date.',
  },
  minor_without_proxy: {
    severity: 'error',
    field: 'patient_details.medical_proxy',
    meaning:
      'The patient is a minor, and neither the order nor the demographics of the user name a medical proxy. A recorded proxy counts only if the name and the birth date are the same, and not if medical_proxy is null.',
    remedy: 'Send medical_proxy, or record it with PATCH /v2/user/{user_id}/info.',
  },
  minor_at_home: {
    severity: 'warning',
    field: 'collection_method',
    meaning: 'The patient is under 18, and phlebotomists do not visit minors at home.',
    remedy: 'Choose another collection_method.',
  },
  proxy_is_patient: {
    severity: 'warning',
    field: 'patient_details.medical_proxy',
    meaning: 'The medical proxy has the same name as the patient.',
    remedy: 'Name the adult who makes medical decisions for the patient.',
  },
  patient_differs_from_user: {
    severity: 'warning',
    field: 'patient_details',
    meaning:
      'The name or the birth date differs from the demographics of the user. The order leaves the demographics as they are, and does not use the recorded insurance and proxy.',
    remedy: 'Create a user for each patient. If the demographics are wrong, correct them with PATCH /v2/user/{user_id}/info.',
  },
  name_not_transmissible: {
    severity: 'either',
    field: 'patient_details.first_name',
    meaning: 'The lab cannot store some letters of first_name or last_name. An error at labs with strict name rules.',
    remedy: 'Send the name in Latin letters.',
  },
  name_transliterated: {
    severity: 'either',
    field: 'patient_details.first_name',
    meaning: 'The lab stores first_name or last_name with plain letters instead of accented ones. An error at labs with strict name rules.',
    remedy: 'Accept the plain spelling, or send the spelling that the lab should use.',
  },
  name_too_long: {
    severity: 'either',
    field: 'patient_details.first_name',
    meaning: 'first_name or last_name is longer than the lab can store. An error at labs with strict name rules.',
    remedy: 'Shorten the name as the patient would.',
  },
  phone_unusual: {
    severity: 'warning',
    field: 'patient_details.phone_number',
    meaning: 'A phone number of the patient, the proxy or the address is in an unknown format.',
    remedy: 'Send it in E.164 format, such as +14155550123.',
  },
  consents_missing: {
    severity: 'warning',
    field: 'consents',
    meaning: 'The order has neither consents nor a physician.',
    remedy: 'Send the consents that the patient gave.',
  },
})

const addressChecks = checks({
  country_not_us: {
    severity: 'warning',
    field: 'patient_address.country',
    meaning: 'The address is outside the United States, where the labs operate.',
    remedy: 'Send `US` if the address is in the United States.',
  },
  state_unknown: {
    severity: 'warning',
    field: 'patient_address.state',
    meaning: 'The state is not a US state or territory.',
    remedy: 'Send its two-letter code, such as CA.',
  },
  state_normalised: {
    severity: 'warning',
    field: 'patient_address.state',
    meaning: 'The state was written out or in lower case and is stored as its two-letter code.',
    remedy: 'Send the two-letter code.',
  },
  zip_not_in_state: {
    severity: 'warning',
    field: 'patient_address.zip',
    meaning: 'The ZIP code belongs to another state.',
    remedy: 'Check the state and the ZIP code.',
  },
  no_site_nearby: {
    severity: 'warning',
    field: 'patient_address.zip',
    meaning: 'The catalog has no collection site of the lab within 100 miles of the ZIP code.',
    remedy: 'Choose a lab with a site nearby, or another collection method. GET /v3/order/area/info shows both.',
  },
  distance_unknown: {
    severity: 'warning',
    field: 'patient_address.zip',
    meaning: 'The location of the ZIP code is unknown, so the distance to the collection sites is too.',
    remedy: 'Check the ZIP code. The operator can add its location to the catalog.',
  },
  home_draw_not_offered: {
    severity: 'warning',
    field: 'patient_address.zip',
    meaning: 'The catalog has no phlebotomy service that visits patients in the ZIP code.',
    remedy: 'Choose another collection method. GET /v3/order/area/info shows what is available.',
  },
})

const clinicalChecks = checks({
  activate_by_in_the_past: {
    severity: 'error',
    field: 'activate_by',
    meaning: "The day has passed, both in UTC and in the patient's time zone.",
    remedy: 'Send today or a later day, or leave activate_by out.',
  },
  sample_id_taken: {
    severity: 'error',
    field: 'sample_id',
    meaning: 'Another order of the lab has this sample_id. POST /v3/order/import and the partner lab API report this code.',
    remedy: 'Send the ID that is printed on the specimen.',
  },
  stat_not_supported: {
    severity: 'warning',
    field: 'priority',
    meaning: 'The lab does not offer STAT orders, so `priority` has no effect.',
    remedy: 'Leave `priority` out. The lab processes the order normally.',
  },
  physician_expected: {
    severity: 'warning',
    field: 'physician',
    meaning: 'Orders through this lab account should name a physician.',
    remedy: 'Send `physician`.',
  },
  physician_not_licensed: {
    severity: 'warning',
    field: 'physician.licensed_states',
    meaning: "The physician is not licensed in the patient's state.",
    remedy: 'Add the state to licensed_states, or name a physician who is licensed there.',
  },
  npi_invalid: {
    severity: 'warning',
    field: 'physician.npi',
    meaning: 'The NPI is not ten digits with a valid check digit.',
    remedy: 'Check the NPI.',
  },
  image_unlike_its_type: {
    severity: 'warning',
    field: 'physician.signature_image',
    meaning: 'The bytes of an image do not match its content_type. The path names the image.',
    remedy: 'Check content_type and `content`.',
  },
})

const insuranceChecks = checks({
  icd_code_malformed: {
    severity: 'warning',
    field: 'icd_codes.{i}',
    meaning: 'A diagnosis code is not in ICD-10-CM format. With commercial_insurance the order is rejected with ICD_CODE_INVALID instead.',
    remedy: 'Send a code such as E78.5.',
  },
  icd_code_invalid: {
    severity: 'error',
    field: 'icd_codes_by_test.{i}.icd_codes.{i}',
    meaning: 'A diagnosis code of a single test is not in ICD-10-CM format.',
    remedy: 'Send a code such as E78.5.',
  },
  diagnosis_test_unknown: {
    severity: 'error',
    field: 'icd_codes_by_test.{i}',
    meaning: 'Diagnoses name a lab test or a marker that is not part of the order.',
    remedy: 'Name a lab test or a marker of the order.',
  },
  diagnosis_test_duplicate: {
    severity: 'error',
    field: 'icd_codes_by_test.{i}',
    meaning: 'Diagnoses name the same lab test or marker twice.',
    remedy: 'Name each test once, with all of its codes.',
  },
  payor_unknown: {
    severity: 'warning',
    field: 'health_insurance.payor_code',
    meaning: 'Neither the catalog nor the team has a payor with this code.',
    remedy: 'Find the code with GET /v3/insurance/search/payor, or create the payor with POST /v3/payor.',
  },
})

/** Every code that an order check reports. The rules take their codes from this table. */
export const orderChecks = { ...aoeChecks, ...patientChecks, ...addressChecks, ...clinicalChecks, ...insuranceChecks }

export const orderCheckTopics: Record<string, Record<string, OrderCheck>> = {
  'Questions at order entry (AoE)': aoeChecks,
  'Patient, proxy and consent': patientChecks,
  Address: addressChecks,
  'Schedule, physician and images': clinicalChecks,
  'Diagnosis and payor': insuranceChecks,
}

type CodesOf<S extends Severity> = {
  [N in keyof typeof orderChecks]: (typeof orderChecks)[N]['severity'] extends S ? N : never
}[keyof typeof orderChecks]

export type OrderFaultCode = CodesOf<'error' | 'either'>
export type OrderWarningCode = CodesOf<'warning' | 'either'>

/** The error types that reject an order, and the field each of them is about. */
export const orderRefusals = {
  USER_NOT_FOUND: ['user_id'],
  USER_SCHEDULED_FOR_DELETION: ['user_id'],
  NO_TESTS_NAMED: ['order_set'],
  SEVERAL_LABS: ['order_set'],
  MARKER_NOT_ORDERABLE: ['order_set'],
  UNKNOWN_LAB_TEST: ['order_set', 'lab_test_ids'],
  LAB_TEST_NOT_ACTIVE: ['order_set', 'lab_test_ids'],
  MARKERS_REQUIRED: ['order_set', 'add_on'],
  MARKERS_NAMED_TWICE: ['order_set', 'add_on'],
  UNKNOWN_MARKER: ['order_set', 'add_on'],
  MARKER_NOT_A_LA_CARTE: ['order_set', 'add_on'],
  COLLECTION_METHOD_REQUIRED: ['collection_method'],
  SEVERAL_METHODS: ['collection_method'],
  METHOD_NOT_OFFERED: ['collection_method'],
  UNKNOWN_LAB_ACCOUNT: ['lab_account_id'],
  LAB_ACCOUNT_INACTIVE: ['lab_account_id'],
  LAB_ACCOUNT_AMBIGUOUS: ['lab_account_id'],
  LAB_ACCOUNTS_DIFFER: ['lab_account_id'],
  LAB_ACCOUNT_OF_ANOTHER_LAB: ['lab_account_id'],
  MINORS_NOT_ALLOWED: ['patient_details', 'dob'],
  LAB_DOES_NOT_SERVE_STATE: ['patient_address', 'state'],
  PHYSICIAN_REQUIRED: ['physician'],
  BILLING_TYPE_NOT_SUPPORTED: ['billing_type'],
  BILLING_TYPE_NOT_ALLOWED: ['billing_type'],
  INSURANCE_REQUIRED: ['health_insurance'],
  GUARANTOR_REQUIRED: ['health_insurance', 'responsible_details'],
  ICD_CODES_REQUIRED: ['icd_codes'],
  ICD_CODE_INVALID: ['icd_codes'],
} as const satisfies Partial<Record<ErrorName, readonly string[]>>

export type OrderRefusal = keyof typeof orderRefusals

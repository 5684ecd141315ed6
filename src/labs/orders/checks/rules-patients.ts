import type { NewOrder } from '../../../contract/labs/new-order.ts'
import { ageOn } from '../../../platform/time.ts'
import { isUnitedStates, stateCode, zipMatches } from '../../geography/rules-states.ts'
import { dayIn } from '../../geography/rules-zones.ts'
import { type Finding, fieldError, findingIf, ruleError, warning } from './rules-findings.ts'
import { ADULT_AGE_YEARS, ageOfConsent, type ConsentAges, maxNameLength, normalizePhone, transmissionName } from './rules-people.ts'

export type PatientContext = {
  /** An ISO 8601 time. */
  now: string
  zone: string
  method: string
  minor_ordering_enabled: boolean
  /** The operator's table of states with their own age of consent. */
  consent_ages: ConsentAges
  /** The demographics of the user, if there are any. */
  record: PatientRecord | undefined
}
type Person = { first_name: string; last_name: string; dob: string }
export type PatientRecord = Person & { medical_proxy?: object | null | undefined }
type Patient = Pick<NewOrder, 'patient_details' | 'patient_address'>
type Lab = { name: string; name_rules: Record<string, unknown> }

const MAX_AGE_YEARS = 125

export const personFindings = (patient: Patient, context: PatientContext): Finding[] => [
  ...ageFindings(patient, context),
  ...proxyFindings(patient),
  ...recordFindings(patient, context),
]

/** Gap 317: a user can order for several people, such as children. Only the name and the birth date tell them apart. */
export const isPersonOfRecord = (person: Person, record: Person | undefined) =>
  record !== undefined && person.dob === record.dob && nameOf(person) === nameOf(record)

/** The recorded proxy, if the order is for the person of the record and does not say that there is none. */
export const recordedProxy = <R extends PatientRecord>(
  details: Person & { medical_proxy?: object | null | undefined },
  record: R | undefined,
): R['medical_proxy'] => (details.medical_proxy === undefined && isPersonOfRecord(details, record) ? record?.medical_proxy : undefined)

/** Whether the order is for somebody other than the user. Without demographics, nobody can tell. */
export const isOtherPerson = (person: Person, record: Person | undefined) => record !== undefined && !isPersonOfRecord(person, record)

export function recordFindings({ patient_details }: Patient, { record }: Pick<PatientContext, 'record'>): Finding[] {
  return findingIf(isOtherPerson(patient_details, record), () =>
    warning(
      'patient_differs_from_user',
      ['patient_details'],
      'The name or the birth date differs from the demographics of the user, which stay as they are. The recorded insurance does not count.',
      'Create a user for each patient. If the demographics are wrong, correct them with PATCH /v2/user/{user_id}/info.',
    ),
  )
}

export function ageFindings({ patient_details, patient_address }: Patient, context: PatientContext): Finding[] {
  const { dob } = patient_details
  const medical_proxy = patient_details.medical_proxy ?? recordedProxy(patient_details, context.record)
  const today = dayIn(context.zone, context.now)
  const path = ['patient_details', 'dob']
  // A birth date is rejected only if it is in the future both in UTC and in the patient's zone, so that a newborn is accepted.
  if (dob > today && dob > context.now.slice(0, 10))
    return [fieldError('birth_date_in_the_future', path, 'The birth date is in the future.', 'Send the day on which the patient was born.')]
  const age = ageOn(dob, today)
  const minor = age < ageOfConsent(stateCode(patient_address.state), context.consent_ages)
  return [
    ...findingIf(minor && !context.minor_ordering_enabled, () =>
      ruleError(
        'MINORS_NOT_ALLOWED',
        path,
        'The patient is a minor, and minor_ordering_enabled is off for this team.',
        'Turn on minor_ordering_enabled for the team.',
      ),
    ),
    ...findingIf(minor && !medical_proxy, () =>
      fieldError(
        'minor_without_proxy',
        ['patient_details', 'medical_proxy'],
        'The patient is a minor and requires a medical proxy.',
        'Send medical_proxy, or record it with PATCH /v2/user/{user_id}/info.',
      ),
    ),
    ...findingIf(age < ADULT_AGE_YEARS && context.method === 'at_home_phlebotomy', () =>
      warning('minor_at_home', ['collection_method'], 'Phlebotomists do not visit minors at home.', 'Choose another collection_method.'),
    ),
    ...findingIf(age > MAX_AGE_YEARS, () =>
      warning('birth_date_implausible', path, `The patient would be older than ${MAX_AGE_YEARS} years.`, 'Check the birth date.'),
    ),
  ]
}

export function proxyFindings({ patient_details }: Patient): Finding[] {
  const { medical_proxy: proxy } = patient_details
  return findingIf(proxy && nameOf(proxy) === nameOf(patient_details), () =>
    warning(
      'proxy_is_patient',
      ['patient_details', 'medical_proxy'],
      'The medical proxy has the same name as the patient.',
      'Name the adult who makes medical decisions for the patient.',
    ),
  )
}

/** The name without differences of case, spacing and Unicode form. */
const nameOf = ({ first_name, last_name }: { first_name: string; last_name: string }) =>
  `${first_name} ${last_name}`.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()

/** Names that the lab must alter are warnings, or errors at labs with strict name rules. */
export function nameFindings({ patient_details }: Patient, lab: Lab): Finding[] {
  const newFinding = lab.name_rules['strict'] === true ? fieldError : warning
  return (['first_name', 'last_name'] as const).flatMap((field) => {
    const path = ['patient_details', field]
    const name = patient_details[field]
    const transmitted = transmissionName(name, lab)
    const max = maxNameLength(lab, field) ?? Number.POSITIVE_INFINITY
    return [
      ...findingIf(transmitted.split('?').length > name.split('?').length, () =>
        newFinding('name_not_transmissible', path, `${lab.name} cannot store some letters of the name.`, 'Send the name in Latin letters.'),
      ),
      ...findingIf(transmitted !== name && !transmitted.includes('?'), () =>
        newFinding(
          'name_transliterated',
          path,
          `${lab.name} stores the name with plain letters instead of accented ones.`,
          'Accept the plain spelling, or send the spelling that the lab should use.',
        ),
      ),
      ...findingIf(transmitted.length > max, () =>
        newFinding(
          'name_too_long',
          path,
          `${lab.name} stores at most ${max} letters of the name.`,
          'Shorten the name as the patient would.',
        ),
      ),
    ]
  })
}

export function phoneFindings({ patient_details, patient_address }: Patient): Finding[] {
  const phones: [Finding['path'], string | null | undefined][] = [
    [['patient_details', 'phone_number'], patient_details.phone_number],
    [['patient_details', 'medical_proxy', 'phone_number'], patient_details.medical_proxy?.phone_number],
    [['patient_address', 'phone_number'], patient_address.phone_number],
  ]
  return phones
    .filter(([, phone]) => phone?.trim() && !normalizePhone(phone))
    .map(([path]) =>
      warning('phone_unusual', path, 'The format of the phone number is unknown.', 'Send it in E.164 format, such as +14155550123.'),
    )
}

export function addressFindings({ patient_address: { state, zip, country } }: Patient): Finding[] {
  const pathOf = (field: string) => ['patient_address', field]
  if (!isUnitedStates(country))
    return [
      warning(
        'country_not_us',
        pathOf('country'),
        'The address is outside the United States, where the labs operate.',
        'Send US if the address is in the United States.',
      ),
    ]
  const code = stateCode(state)
  if (!code)
    return [warning('state_unknown', pathOf('state'), 'The state is not a US state or territory.', 'Send its two-letter code, such as CA.')]
  return [
    ...findingIf(code !== state, () =>
      warning('state_normalised', pathOf('state'), 'The state is stored as its two-letter code.', 'Send the two-letter code, such as CA.'),
    ),
    ...findingIf(!zipMatches(code, zip), () =>
      warning('zip_not_in_state', pathOf('zip'), 'The ZIP code belongs to another state.', 'Check the state and the ZIP code.'),
    ),
  ]
}

import { createHash } from 'node:crypto'
import type { Segment } from '../codec/rules-message.ts'
import { formatDay } from '../codec/rules-time.ts'
import { type Cell, componentsOf, segment, withSuffix } from '../codec/rules-write.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { fitting } from './rules-lengths.ts'
import type { Coverage, Person, Writing } from './rules-order.ts'
import { addressOf, inCharset, nameOf, phoneOf, providerOf } from './rules-people.ts'

/** PID, PV1, and the insurance and the guarantor as the profile wants them. A cancellation bills nobody. */
export function patientSegments(writing: Writing): Segment[] {
  const { profile, envelope } = writing
  return [
    patientSegment(writing),
    ...(profile.patient.patient_class
      ? [segment('PV1', { 1: '1', 2: profile.patient.patient_class, 7: profile.patient.attending_physician ? providerOf(writing) : null })]
      : []),
    ...(envelope.action === 'NW' ? billingSegments(writing) : []),
  ]
}

/** The ID of a patient at the lab. One that is too long becomes a shorter one, which is always the same. */
export function patientIdOf({ patient: { max_id } }: Pick<Profile, 'patient'>, id: string) {
  if (max_id === null || id.length <= max_id) return id
  const digest = createHash('sha256').update(id).digest('hex')
  return BigInt(`0x${digest}`).toString(36).toUpperCase().slice(0, max_id)
}

function patientSegment({ profile, order }: Writing) {
  const { patient } = order
  const rules = profile.patient
  const id = withSuffix(patientIdOf(profile, patient.id), rules.id_suffix)
  const billing = profile.billing.type_in.includes('PID-18.4') ? profile.billing.types[order.billing_type] : null
  return segment('PID', {
    1: '1',
    ...Object.fromEntries(rules.id_in.map((place) => [Number(place.slice(4)), id])),
    5: nameOf(profile, patient),
    7: formatDay(patient.dob),
    8: rules.sex[patient.gender],
    10: patient.race && rules.race ? componentsOf(rules.race[patient.race]) : null,
    11: addressOf(profile, patient.address),
    13: phoneOf(profile, patient.phone_number),
    18: rules.account_in ? [order.account, null, null, billing] : null,
    22: patient.ethnicity && rules.ethnicity ? componentsOf(rules.ethnicity[patient.ethnicity]) : null,
  })
}

const billingSegments = (writing: Writing): Segment[] => [
  ...insuranceSegments(writing),
  ...(needsGuarantor(writing) ? [guarantorSegment(writing)] : []),
]

function insuranceSegments({ profile, order }: Writing): Segment[] {
  const { coverage, billing_type } = order
  const { insurance, type_in, types } = profile.billing
  if (insurance === 'never' || (insurance === 'if_insured' && !coverage)) return []
  const bill = { 47: type_in.includes('IN1-47') ? types[billing_type] : null }
  return [segment('IN1', { 1: '1', ...(coverage ? coverageFields(profile, coverage) : {}), ...bill })]
}

const coverageFields = (profile: Profile, coverage: Coverage): Record<number, Cell> => ({
  2: fittingWhole(profile, 'IN1', 2, inCharset(profile, coverage.payor_code)),
  // A payor that nobody knows has its name as code.
  3: fitting(profile, 'IN1', 3, inCharset(profile, coverage.payor_code)),
  4: inCharset(profile, coverage.payor_name),
  5: addressOf(profile, coverage.payor_address),
  8: coverage.group_id && inCharset(profile, coverage.group_id),
  16: nameOf(profile, coverage.insured),
  17: profile.billing.relationships[coverage.relationship],
  18: coverage.insured.dob && formatDay(coverage.insured.dob),
  19: addressOf(profile, coverage.insured.address),
  36: inCharset(profile, coverage.member_id),
})

/** A code that is cut off could be that of another payor. */
const fittingWhole = (profile: Profile, name: string, field: number, code: string) =>
  fitting(profile, name, field, code) === code ? code : null

const needsGuarantor = ({ profile, order }: Writing) =>
  ({ never: false, if_insured: !!order.coverage, unless_client_bill: order.billing_type !== 'client_bill' })[profile.billing.guarantor]

function guarantorSegment({ profile, order }: Writing) {
  const guarantor: Person = order.guarantor ?? order.patient
  const isPatient = guarantor === order.patient
  return segment('GT1', {
    1: '1',
    3: nameOf(profile, guarantor),
    5: addressOf(profile, guarantor.address),
    6: phoneOf(profile, guarantor.phone_number),
    8: isPatient ? formatDay(order.patient.dob) : null,
    9: isPatient ? profile.patient.sex[order.patient.gender] : null,
    11: profile.billing.relationships[isPatient ? 'Self' : (order.coverage?.relationship ?? 'Other')],
  })
}

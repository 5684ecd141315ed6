import { isEnd, type Method } from '../../contract/labs/lifecycle.ts'
import { nameOf } from '../hl7/messages/rules-people.ts'
import type { ReportedPatient, ResultGroup } from '../hl7/messages/rules-results.ts'
import type { Profile } from '../hl7/profiles/rules-profile.ts'
import { transmissionName } from '../orders/checks/rules-people.ts'
import { classifyReport } from '../orders/rules.ts'

/** A lab of the catalog, and how it writes HL7. */
export type ConnectedLab = { id: number; profile: Profile }

export type OrderedPatient = { first_name: string; last_name: string; dob: string; gender: keyof Profile['patient']['sex'] }

/** Whether name, birth date and sex agree. Names count in the letters that the lab received; a part that the lab left out does not agree. */
export function isSamePatient(reported: ReportedPatient, patient: OrderedPatient | null, profile: Profile): boolean {
  return patient !== null && comparisonsOf(reported, patient, profile).every(({ agrees }) => agrees)
}

/** The parts of a patient that a message has and that differ. */
export function differencesOf(reported: ReportedPatient, patient: OrderedPatient | null, profile: Profile): string[] {
  if (!patient) return isNamed(reported) ? ['patient'] : []
  return comparisonsOf(reported, patient, profile).flatMap(({ part, value, agrees }) => (value && !agrees ? part : []))
}

/** Whether a message names its patient: by name and birth date. */
export const isNamed = ({ first_name, last_name, dob }: ReportedPatient) => Boolean(first_name && last_name && dob)

function comparisonsOf({ last_name, first_name, dob, sex }: ReportedPatient, patient: OrderedPatient, profile: Profile) {
  const [last, first] = nameOf(profile, patient) as [string, string]
  return [
    { part: 'last name', value: last_name, agrees: isSameName(last_name, [patient.last_name, last]) },
    { part: 'first name', value: first_name, agrees: isSameName(first_name, [patient.first_name, first]) },
    { part: 'birth date', value: dob, agrees: dob === patient.dob.slice(0, 10) },
    { part: 'sex', value: sex, agrees: sex?.toUpperCase() === profile.patient.sex[patient.gender]?.toUpperCase() },
  ]
}

const isSameName = (reported: string, names: string[]) =>
  foldName(reported) !== '' && names.some((name) => foldName(name) === foldName(reported))

/** Without case, accents and punctuation. A name in another script stays as it is. */
export function foldName(name: string) {
  const plain = transmissionName(name, { name_rules: { charset: 'latin_ascii' } }).toUpperCase()
  const letters = plain.replace(/[^A-Z0-9]/g, '')
  return plain.includes('?') || !letters ? name.trim().toUpperCase() : letters
}

type OrderState = { method: Method; low_level: string; registrable: boolean; events: { low_level: string }[]; sent_at: string | null }

/** Whether an order can take results: it is open, complete (a correction follows), ended, or no specimen can have been collected. */
export function stateOf(order: OrderState): 'open' | 'completed' | 'ended' | 'not_collected' {
  if (['completed', 'corrected'].includes(order.low_level)) return 'completed'
  if (isEnd(order.method, order.low_level)) return 'ended'
  return order.sent_at && canComplete(order) ? 'open' : 'not_collected'
}

function canComplete(order: OrderState) {
  try {
    return classifyReport(order, 'completed') === 'accept'
  } catch {
    return false
  }
}

/** The order numbers to look for: as the lab returned it, and without the number of the test. */
export const numbersOf = (number: string, { order }: Profile) => (order.number_per_test ? [number, number.replace(/-\d+$/, '')] : [number])

/** Groups without an order number belong to the specimen or the only order of the message: reflex tests have none. */
export function withNumbers(groups: ResultGroup[]): ResultGroup[] {
  const numbered = groups.filter(({ order_number }) => order_number)
  const numbers = new Set(numbered.map(({ order_number }) => order_number))
  const numberOf = (group: ResultGroup) => {
    if (group.order_number) return group.order_number
    const sibling = group.filler_number ? numbered.find(({ filler_number }) => filler_number === group.filler_number) : undefined
    return sibling?.order_number ?? (numbers.size === 1 ? ([...numbers][0] as string) : null)
  }
  return groups.map((group) => ({ ...group, order_number: numberOf(group) }))
}

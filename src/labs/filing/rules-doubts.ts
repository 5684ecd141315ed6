import type { Message } from '../hl7/codec/rules-message.ts'
import { readValue, segmentsOf } from '../hl7/codec/rules-read.ts'
import { patientIdOf } from '../hl7/messages/rules-patient.ts'
import type { PatientResults, ReportedPatient, ResultGroup } from '../hl7/messages/rules-results.ts'
import type { Profile } from '../hl7/profiles/rules-profile.ts'
import { differencesOf, isNamed, type OrderedPatient } from '../matching/rules-match.ts'
import type { StatusReport } from './rules-status.ts'

/** What Assay knows of an order that a lab reports a status of. */
export type KnownOrder = {
  number: string
  account: string | null | undefined
  user_id: string
  patient: OrderedPatient | null
  /** Whether the lab gave this order one of the numbers in the message before. */
  isFillerKnown: boolean
  tests: number
}

/** A status of one order, with the groups that name it. */
export type OrderStatus = { status: StatusReport; groups: ResultGroup[]; message: Message }

/** Why a status may be about another order, for a person; null if it is applied. It contains no values. */
export function doubtAbout(
  { status, groups, message }: OrderStatus,
  { account, patient }: PatientResults,
  order: KnownOrder,
  profile: Profile,
): string | null {
  const differing = [
    ...(account !== null && account !== order.account ? ['lab account'] : []),
    ...(patient.ids.length && !hasOwnId(patient, order, profile) ? ['patient ID'] : []),
    ...differencesOf(patient, order.patient, profile),
  ]
  if (differing.length) return `these fields of the message differ from the order: ${differing.join(', ')}`
  const named = namedTests(groups, message, order.number, profile)
  if (status.type === 'cancelled' && named && named < order.tests) return `the message names ${named} of ${order.tests} tests`
  if (!endsOrder(status) || isIdentified(patient, order, profile) || order.isFillerKnown) return null
  return 'the message names neither the patient nor a number that the lab gave the order'
}

/** Whether a message says by itself which patient it is about. */
export const isIdentified = (patient: ReportedPatient, order: { user_id: string }, profile: Profile) =>
  hasOwnId(patient, order, profile) || isNamed(patient)

const hasOwnId = ({ ids }: ReportedPatient, { user_id }: { user_id: string }, profile: Profile) =>
  ids.some((id) => [user_id, patientIdOf(profile, user_id)].some((own) => own.toUpperCase() === id.toUpperCase()))

const endsOrder = ({ type }: StatusReport) => type === 'cancelled' || type === 'rejected_specimen'

/** How many tests of an order a message names; undefined if it names the whole order. */
function namedTests(groups: ResultGroup[], message: Message, number: string, { order }: Profile): number | undefined {
  if (order.grouping === 'one_orc') return undefined
  if (!order.number_per_test) return groups.filter(({ code }) => code.local ?? code.loinc).length || undefined
  const placers = ['ORC', 'OBR'].flatMap((name) => segmentsOf(message, name).map((segment) => readValue(segment, 2)))
  if (placers.includes(number)) return undefined
  return new Set(placers.filter((placer) => placer.replace(/-\d+$/, '') === number)).size || undefined
}

import { hasWords } from '../../contract/common.ts'
import { interpretations } from '../../contract/labs/results.ts'
import type { Comparison } from '../../contract/labs/unmatched-console.ts'
import { problem } from '../../platform/problem.ts'
import type { ReportedPatient } from '../hl7/messages/rules-results.ts'
import { foldName } from '../matching/rules-match.ts'
import { type Candidate, confidenceOf, presentCandidate, type State, scoreOf } from './rules-candidates.ts'

type OrderedPatient = { first_name: string; last_name: string; dob: string; gender: string }

/** The parts of an order that are compared with a result. */
export type ComparedOrder = {
  id: string
  user_id: string
  transaction_id: string
  low_level: string
  state: State
  sample_id: string | null
  created_at: string
  lab_test: { name: string; lab: { name: string } | null; markers: { name: string }[] }
  account: string | null
  patient: OrderedPatient | null
}

type Reported = { patient: ReportedPatient; number: string | null; account: string | null; lab: string; tests: string[] }

/** Puts a result and a candidate side by side. What agreed when the result arrived counts, except for parts of the patient. */
export function compareWith(reported: Reported, candidate: Candidate, order: ComparedOrder, users: string[]): Comparison {
  const { reasons } = presentCandidate(candidate, order, users)
  const score = scoreOf(candidate)
  const patient = comparePatients(reported.patient, order.patient, candidate.is_patient)
  return {
    ...{ order_id: order.id, user_id: order.user_id, test: order.lab_test.name, status: order.low_level, ordered_at: order.created_at },
    ...{ score, confidence: confidenceOf(score), reasons, files_on: filesOn(candidate, order.state) },
    order: [
      { field: 'order_number', reported: reported.number, ordered: order.sample_id, agrees: candidate.is_number },
      { field: 'lab', reported: reported.lab, ordered: order.lab_test.lab?.name ?? null, agrees: candidate.is_lab },
      { field: 'lab_account', reported: reported.account, ordered: order.account, agrees: candidate.is_account },
      {
        field: 'tests',
        reported: reported.tests.join(', ') || null,
        ordered: order.lab_test.markers.map(({ name }) => name).join(', ') || null,
        agrees: candidate.overlap.matched === candidate.overlap.ordered && candidate.overlap.matched === candidate.overlap.reported,
      },
    ],
    patient,
    needs_note: differingFields(patient).length > 0,
  }
}

/** Sorts the worst values first. */
export const criticalFirst = <T extends { interpretation: string }>(values: T[]): T[] =>
  values.toSorted((a, b) => severityOf(b) - severityOf(a))

const severityOf = ({ interpretation }: { interpretation: string }) => (interpretations as readonly string[]).indexOf(interpretation)

/** An order that takes no results is recreated. */
export function filesOn({ is_lab, is_number }: Candidate, state: State): 'order' | 'recreation' | 'nothing' {
  if (!is_lab) return 'nothing'
  return takesResult(state, is_number) ? 'order' : 'recreation'
}

/** A complete order takes only results of its own specimen. */
export const takesResult = (state: State, isOwnSpecimen: boolean) => state === 'open' || (state === 'completed' && isOwnSpecimen)

const sexes: Record<string, string> = { female: 'F', male: 'M' }

const differingFields = (patient: Comparison['patient']) => patient.flatMap(({ field, agrees }) => (agrees ? [] : [field]))

/** Gap 372: if the message differs from the order or leaves something out, a person must explain why the patient is the same. */
export function checkNote(
  reported: ReportedPatient,
  patient: OrderedPatient | null,
  { note, isSame }: { note: string | null | undefined; isSame: boolean },
) {
  const differing = differingFields(comparePatients(reported, patient, isSame))
  if (differing.length && !hasWords(note))
    throw problem(
      'DIFFERENCE_NOTE_REQUIRED',
      `The patient in the message differs from the patient of the order: ${differing.join(', ')}. If it is the same person, send the reason in \`note\`.`,
      { differing },
    )
}

function comparePatients(reported: ReportedPatient, patient: OrderedPatient | null, isSame: boolean): Comparison['patient'] {
  const sex = sexes[patient?.gender ?? ''] ?? null
  const row = (
    field: Comparison['patient'][number]['field'],
    one: string | null,
    other: string | null,
    fold: (text: string) => string,
  ): Comparison['patient'][number] => ({
    ...{ field, reported: one || null, ordered: other || null },
    agrees: isSame || Boolean(one && other && fold(one) === fold(other)),
  })
  return [
    row('last_name', reported.last_name, patient?.last_name ?? null, foldName),
    row('first_name', reported.first_name, patient?.first_name ?? null, foldName),
    row('birth_date', reported.dob, patient?.dob.slice(0, 10) ?? null, (text) => text),
    row('sex', reported.sex, sex ?? patient?.gender ?? null, (text) => text.toUpperCase()),
  ]
}

import type { UnmatchedResultTestCase } from '../../contract/labs/match-review.ts'
import type { NewResult } from '../../contract/labs/results.ts'
import type { Observation, ReportedPatient, ResultGroup } from '../hl7/messages/rules-results.ts'

type CaseDefinition = { order_roles: string[]; required_statuses: Record<string, string>; lab_constraints: string[] }

const one = (status: string, ...lab_constraints: string[]): CaseDefinition => ({
  order_roles: ['order'],
  required_statuses: { order: status },
  lab_constraints,
})

/** The orders that each case needs. */
export const caseDefinitions: Record<UnmatchedResultTestCase, CaseDefinition> = {
  match_completed: one('completed'),
  match_cancelled: one('cancelled'),
  wrong_collection: one('ordered'),
  wrong_lab: one('requisition_created', 'The order and the result are of different labs.'),
  multiple_demo_match: {
    order_roles: ['first', 'second'],
    required_statuses: { first: 'requisition_created', second: 'requisition_created' },
    lab_constraints: ['Both orders are of the same patient and lab.'],
  },
  match_sample_id_mismatch_demo: one('requisition_created'),
  match_demo: one('requisition_created'),
  no_match: { order_roles: [], required_statuses: {}, lab_constraints: [] },
}

/** A fictitious patient with a name of their own. */
export const inventedPatient = (name: string) => ({
  first_name: 'Sandbox',
  last_name: `Patient ${name}`,
  dob: '1980-04-12',
  gender: 'female' as const,
  phone_number: '+12025550100',
  email: 'patient@example.com',
})

export const inventedAddress = {
  ...{ first_line: '1 Example Street', second_line: '', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
  ...{ receiver_name: '', phone_number: null, access_notes: null },
}

type Person = { first_name: string; last_name: string; dob: string; gender: string }

export const reportedPatient = ({ first_name, last_name, dob, gender }: Person, sexes: Record<string, string>): ReportedPatient => ({
  ...{ ids: [], first_name, last_name, dob: dob.slice(0, 10), sex: sexes[gender] ?? null },
})

type Marker = { provider_id: string | null; loinc?: string | null; name: string; expected_results: string[] }
type Simulated = { markers: Marker[]; results: NewResult[]; isFinal: boolean; number: string; at: string }

/** A test per marker, with its simulated results. */
export const simulatedGroups = ({ markers, results, isFinal, number, at }: Simulated): ResultGroup[] =>
  markers.map((marker) => ({
    ...{ order_number: number, filler_number: null, order_control: 'RE', order_status: null, is_reflex: false },
    code: { loinc: marker.loinc ?? null, local: marker.provider_id, name: marker.name },
    ordered_code: null,
    ...(isFinal ? { status: 'final' as const, status_code: 'F' } : { status: 'partial' as const, status_code: 'P' }),
    ...{ collected_at: at, received_at: at, reported_at: at, notes: [], specimens: [], documents: [] },
    observations: results
      .filter(({ slug }) => marker.expected_results.includes(slug ?? ''))
      .map((result) => observationOf(result, isFinal)),
  }))

const observationOf = ({ loinc, name, result, type, unit, reference_range, interpretation }: NewResult, isFinal: boolean): Observation => ({
  code: { loinc: loinc ?? null, local: null, name: name ?? null },
  sub_id: null,
  value: { type: type ?? 'comment', text: result, code: null },
  unit: { text: unit ?? null, ucum: null },
  reference_range: reference_range ?? null,
  flags: [],
  interpretation: interpretation === 'unknown' ? null : (interpretation ?? null),
  ...(isFinal ? { status: 'final' as const, status_code: 'F' } : { status: 'preliminary' as const, status_code: 'P' }),
  ...{ observed_at: null, performing_lab: null, notes: [] },
})

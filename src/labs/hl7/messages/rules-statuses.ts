import type { Interpretation } from '../../../contract/labs/results.ts'

/** What a status means for a report. A code that no table has is unknown, and unknown is never final. */
export type GroupStatus = 'pending' | 'partial' | 'final' | 'corrected' | 'cancelled' | 'unknown'

/** HL7 table 0123, OBR-25. */
const groupStatuses: Record<string, GroupStatus> = {
  O: 'pending', // Order received, specimen not yet received.
  I: 'pending', // Specimen received, no results yet.
  S: 'pending', // Scheduled.
  N: 'pending', // Procedure done, results pending.
  A: 'partial', // Some results.
  P: 'partial', // Preliminary.
  R: 'partial', // Stored, not verified.
  M: 'partial', // Corrected, not final.
  F: 'final',
  C: 'corrected',
  X: 'cancelled',
  Y: 'unknown', // No such order: an answer to a query.
  Z: 'unknown', // No such patient: an answer to a query.
}

export const groupStatusOf = (code: string): GroupStatus => groupStatuses[code.toUpperCase()] ?? 'unknown'

export type ObservationStatus =
  | 'preliminary'
  | 'final'
  | 'corrected'
  | 'deleted'
  | 'wrong_patient'
  | 'cancelled'
  | 'not_a_result'
  | 'unknown'

/** HL7 table 0085, OBX-11. */
const observationStatuses: Record<string, ObservationStatus> = {
  P: 'preliminary',
  R: 'preliminary', // Not verified.
  S: 'preliminary', // Partial.
  I: 'preliminary', // Specimen in the lab, result pending.
  F: 'final',
  U: 'final', // Final without the value again.
  V: 'final', // Verified.
  C: 'corrected',
  A: 'corrected', // Amended.
  B: 'corrected', // Appended.
  D: 'deleted',
  W: 'wrong_patient',
  X: 'cancelled', // Cannot be obtained.
  N: 'not_a_result', // Not asked.
  O: 'not_a_result', // Order detail, such as an AoE answer.
}

export const observationStatusOf = (code: string): ObservationStatus => observationStatuses[code.toUpperCase()] ?? 'unknown'

/**
 * HL7 table 0078, OBX-8. Gap 366: a finding that a lab flags is abnormal, such as POS. One that it does not, such as NEG, is
 * left to the range and the expected value, and so is a code about a change or the quality of the result.
 */
const flagInterpretations: Record<string, Interpretation> = {
  N: 'normal',
  L: 'abnormal',
  H: 'abnormal',
  LU: 'abnormal',
  HU: 'abnormal',
  A: 'abnormal',
  '<': 'abnormal',
  '>': 'abnormal',
  LX: 'abnormal', // Beyond the threshold, below or above.
  HX: 'abnormal',
  POS: 'abnormal',
  DET: 'abnormal', // Detected.
  RR: 'abnormal', // Reactive.
  WR: 'abnormal', // Weakly reactive.
  TOX: 'abnormal', // Cytotoxic substance present.
  R: 'abnormal', // Resistant.
  I: 'abnormal', // Intermediate.
  MS: 'abnormal', // Moderately susceptible.
  NS: 'abnormal', // Not susceptible.
  SDD: 'abnormal', // Susceptible, depending on the dose.
  'SYN-R': 'abnormal', // Resistant to a combination.
  LL: 'critical',
  HH: 'critical',
  AA: 'critical',
}

const bySeverity: Interpretation[] = ['critical', 'abnormal', 'normal']

/** The worst interpretation of the flags; null if they have none. */
export function interpretationOfFlags(flags: string[]): Interpretation | null {
  const found = flags.map((flag) => flagInterpretations[flag.toUpperCase()])
  return bySeverity.find((interpretation) => found.includes(interpretation)) ?? null
}

type Failure =
  | 'quantity_not_sufficient_failure'
  | 'collection_process_failure'
  | 'drop_off_failure'
  | 'order_entry_failure'
  | 'unknown_failure'

/** HL7 table 0490, SPM-21: why a specimen was rejected. */
const rejections: Record<string, Failure> = {
  QS: 'quantity_not_sufficient_failure',
  RB: 'collection_process_failure',
  RC: 'collection_process_failure',
  RH: 'collection_process_failure',
  RN: 'collection_process_failure',
  RM: 'collection_process_failure',
  RI: 'collection_process_failure',
  EX: 'drop_off_failure',
  RR: 'drop_off_failure',
  RA: 'order_entry_failure',
  RD: 'order_entry_failure',
  RE: 'order_entry_failure',
  RS: 'order_entry_failure',
}

export const failureOfRejection = (code: string): Failure => rejections[code.toUpperCase()] ?? 'unknown_failure'

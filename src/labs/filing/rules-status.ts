import type { Method } from '../../contract/labs/lifecycle.ts'
import type { StatusDetail } from '../../contract/labs/orders.ts'
import type { PatientResults, ResultGroup } from '../hl7/messages/rules-results.ts'

/** What a lab reports about an order besides results. */
export type StatusReport =
  | { type: 'accepted' }
  | { type: 'in_process' }
  | { type: 'cancelled' }
  | { type: 'cancel_refused'; code: string }
  | { type: 'held'; code: string }
  | { type: 'rejected_specimen'; status_detail: StatusDetail | null }

/** ORC-1 of a message about the status of an order (table 0119). */
const controls: Record<string, StatusReport> = {
  OK: { type: 'accepted' },
  UA: { type: 'held', code: 'ORC-1 UA' },
  OC: { type: 'cancelled' },
  CR: { type: 'cancelled' },
  UC: { type: 'cancel_refused', code: 'ORC-1 UC' },
}

/** ORC-5 if ORC-1 is SC (table 0038). A complete order is reported by its results. */
const statuses: Record<string, StatusReport> = {
  IP: { type: 'in_process' },
  SC: { type: 'accepted' },
  CA: { type: 'cancelled' },
  DC: { type: 'cancelled' },
  HD: { type: 'held', code: 'ORC-5 HD' },
  ER: { type: 'held', code: 'ORC-5 ER' },
}

/** The reason for a rejected specimen (table 0490). */
const rejections: Record<string, StatusDetail> = {
  QS: 'sample_quantity_not_sufficient',
  RH: 'sample_hemolyzed',
  RN: 'sample_contaminated',
  EX: 'sample_stability_exceeded',
  RR: 'sample_stability_exceeded',
  RB: 'sample_improper_collection',
  RC: 'sample_improper_collection',
  RI: 'sample_improper_collection',
  RM: 'sample_improper_collection',
  RA: 'demographic_information_unspecified',
  RE: 'demographic_information_unspecified',
  RS: 'demographic_information_mismatch',
  RD: 'date_of_collection_unspecified',
}

/** The status of an order in a message; undefined for a message that only has results, or says nothing that Assay keeps. */
export function statusIn({ groups }: Pick<PatientResults, 'groups'>): StatusReport | undefined {
  const rejected = groups.length && groups.every(isRejected) ? rejectCode(groups) : undefined
  if (rejected !== undefined) return { type: 'rejected_specimen', status_detail: rejections[rejected.toUpperCase()] ?? null }
  return groups.map(statusOf).find((status) => status !== undefined)
}

const statusOf = ({ order_control, order_status }: ResultGroup): StatusReport | undefined =>
  codeOf(order_control) === 'SC' ? statuses[codeOf(order_status)] : controls[codeOf(order_control)]

/** No name that every object has, such as constructor, is in upper case. */
const codeOf = (text: string | null) => (text ?? '').toUpperCase()

const rejectCode = (groups: ResultGroup[]) =>
  groups.flatMap(({ specimens }) => specimens.flatMap(({ reject_code }) => reject_code ?? []))[0]

/** Every specimen of the test is rejected, and there is no value. Missing values of other tests are part of a report. */
const isRejected = ({ specimens, observations }: ResultGroup) =>
  specimens.length > 0 &&
  specimens.every(({ reject_code }) => reject_code) &&
  observations.every(({ status }) => status === 'cancelled' || status === 'not_a_result')

/** The step of an order whose specimen is at the lab. A visit to the lab has none before its results. */
export const stepInProcess: Record<Method, string | null> = {
  walk_in_test: null,
  at_home_phlebotomy: 'draw_completed',
  testkit: 'delivered_to_lab',
  on_site_collection: 'draw_completed',
}

import type { OrderedMeasurements } from '../../contract/labs/analyte.ts'
import type { ResultGroup } from '../hl7/messages/rules-results.ts'

type Marker = Pick<OrderedMeasurements['markers'][number], 'provider_id' | 'loinc'>

/**
 * The ordered tests that the codes of a group name. A lab that performs another test can repeat the code of the ordered one in
 * OBR-20. A LOINC code that several ordered tests share names none of them.
 */
export function markersOf<M extends Marker>({ code, ordered_code }: ResultGroup, markers: M[]): M[] {
  for (const own of [ordered_code, code.local]) {
    const named = markers.filter(({ provider_id }) => own !== null && provider_id === own)
    if (named.length) return named
  }
  const named = markers.filter(({ loinc }) => code.loinc !== null && loinc === code.loinc)
  return named.length === 1 ? named : []
}

/** Whether the message says anything about results. A group can also only report that its test is done. */
export const hasResults = (groups: ResultGroup[]) => hasObservations(groups) || groups.some(isGroupFinal)

/** A final test with a comment and no result. */
export const isComment = (group: ResultGroup) => isGroupFinal(group) && !group.observations.length && group.notes.some(Boolean)

/** Whether the message has values, withdrawals or documents. */
export const hasObservations = (groups: ResultGroup[]) =>
  groups.some(
    ({ observations, documents }) => documents.length > 0 || observations.some((observation) => observation.status !== 'not_a_result'),
  )

const finalStatuses = ['final', 'corrected', 'cancelled']

/** A test without results can also be final: canceled, or with only a comment. Without OBR-25, ORC-5 shows that it is done. */
export const isGroupFinal = (group: ResultGroup) =>
  (finalStatuses.includes(group.status) || (!group.status_code && group.order_status === 'CM')) &&
  group.observations.every(isObservationFinal) &&
  !isAnnounced(group)

export const isObservationFinal = ({ status }: ResultGroup['observations'][number]) =>
  !['preliminary', 'unknown', 'wrong_patient'].includes(status)

/** A change of status without results announces them: they follow in a message of their own. */
const isAnnounced = (group: ResultGroup) =>
  group.order_control === 'SC' && group.status !== 'cancelled' && !hasObservations([group]) && !group.notes.some(Boolean)

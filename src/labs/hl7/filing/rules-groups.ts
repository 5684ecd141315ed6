import type { OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import { type ReportedResult, slugOf } from '../../results/rules.ts'
import type { ResultGroup } from '../messages/rules-results.ts'
import type { Context } from './rules-report.ts'

type Marker = OrderedMeasurements['markers'][number]

/** Whether the test is the ordered one. A lab that performs another test can repeat the code of the ordered one in OBR-20. */
export const isGroupOf = ({ code, ordered_code }: ResultGroup, { provider_id, loinc }: Marker) =>
  (provider_id !== null && [code.local, ordered_code].includes(provider_id)) || (code.loinc !== null && code.loinc === loinc)

/** Whether the message says anything about results. A group can also only report a status. */
export const hasResults = (groups: ResultGroup[]) =>
  hasObservations(groups) || groups.some((group) => group.status === 'cancelled' || isComment(group))

/** A final test with a comment and no result. */
export const isComment = (group: ResultGroup) => isGroupFinal(group) && !group.observations.length && group.notes.some(Boolean)

/** Whether the message has values, withdrawals or documents. */
export const hasObservations = (groups: ResultGroup[]) =>
  groups.some(
    ({ observations, documents }) => documents.length > 0 || observations.some((observation) => observation.status !== 'not_a_result'),
  )

const finalStatuses = ['final', 'corrected', 'cancelled']

/** A test without results can also be final: canceled, or with only a comment. Without OBR-25, ORC-5 shows that it is done. */
export const isGroupFinal = ({ status, status_code, order_status, observations }: ResultGroup) =>
  (finalStatuses.includes(status) || (!status_code && order_status === 'CM')) &&
  !observations.some((observation) => ['preliminary', 'unknown', 'wrong_patient'].includes(observation.status))

export const isFinalStatus = (status: string | null | undefined) => !status || status === 'final' || status === 'corrected'

/** The markers whose test the lab reported, now or before, and whether it is final. */
export function finishedMarkers(groups: ResultGroup[], { ordered, previous }: Context): Record<string, boolean> {
  const now = ordered.markers.flatMap((marker): [string, boolean][] => {
    const ofMarker = groups.filter((group) => isGroupOf(group, marker))
    return ofMarker.length ? [[String(marker.id), ofMarker.every(isGroupFinal)]] : []
  })
  return { ...previous?.finished, ...Object.fromEntries(now) }
}

/** Whether every ordered test is final. A test under another code is final once all its measurements are. */
export function isFinished(groups: ResultGroup[], finished: Record<string, boolean>, context: Context, results: ReportedResult[]) {
  if (!groups.every(isGroupFinal)) return false
  if (context.isDone) return true
  const { markers } = context.ordered
  const slugs = finalSlugs(results, context)
  const isMeasured = ({ expected_results }: Marker) => expected_results.length > 0 && expected_results.every((slug) => slugs.has(slug))
  return markers.length > 0 && markers.every((marker) => finished[marker.id] ?? isMeasured(marker))
}

function finalSlugs(results: ReportedResult[], { ordered, previous }: Context) {
  const before = (previous?.results ?? []).filter(({ status }) => isFinalStatus(status))
  return new Set([...before.map(({ slug }) => slug), ...results.flatMap((result) => slugOf(ordered, result) ?? [])])
}

/** The tests, besides those that the lab added itself, whose codes and measurements identify no ordered test. */
export function unknownTests(groups: ResultGroup[], ordered: OrderedMeasurements): ResultGroup[] {
  const expected = new Set(ordered.markers.flatMap(({ expected_results }) => expected_results))
  const isMeasured = ({ observations }: ResultGroup) =>
    observations.length > 0 &&
    observations.every(({ code }) => expected.has(slugOf(ordered, { loinc: code.loinc, provider_id: code.local }) ?? ''))
  return groups.filter(
    (group) => !group.is_reflex && hasResults([group]) && !ordered.markers.some((marker) => isGroupOf(group, marker)) && !isMeasured(group),
  )
}

import type { OrderedMeasurements } from '../../contract/labs/analyte.ts'
import type { Observation, ResultGroup } from '../hl7/messages/rules-results.ts'
import { slugOf } from '../results/rules.ts'
import { hasResults, isGroupFinal, isObservationFinal, markersOf } from './rules-groups.ts'
import type { Context } from './rules-report.ts'

/** What a lab has finished, now or before. */
export type Finished = {
  /** Whether each ordered marker is final that the lab reported under its own code, by ID. */
  finished: Record<string, boolean>
  /** Whether each measurement is final that the lab reported under the code of no ordered test, by slug. */
  performed: Record<string, boolean>
}

/** The last report of a test or a measurement counts. */
export const finishedBy = (groups: ResultGroup[], context: Context): Finished => ({
  finished: { ...context.previous?.finished, ...finishedMarkers(groups, context.ordered) },
  performed: { ...context.previous?.performed, ...performedMeasurements(groups, context.ordered) },
})

function finishedMarkers(groups: ResultGroup[], { markers }: OrderedMeasurements) {
  const finished: Record<string, boolean> = {}
  for (const group of groups) for (const { id } of markersOf(group, markers)) finished[id] = (finished[id] ?? true) && isGroupFinal(group)
  return finished
}

/** A test under its own code finishes no other that expects one of its measurements, but it can reopen it. */
function performedMeasurements(groups: ResultGroup[], ordered: OrderedMeasurements) {
  const performed: Record<string, boolean> = {}
  for (const group of groups) {
    const isOrdered = markersOf(group, ordered.markers).length > 0
    for (const observation of group.observations) {
      const slug = measuredSlug(ordered, observation)
      const isFinal = isObservationFinal(observation)
      if (slug && !(isOrdered && isFinal)) performed[slug] = (performed[slug] ?? true) && isFinal
    }
  }
  return performed
}

const measuredSlug = (ordered: OrderedMeasurements, { code, status }: Observation) =>
  status === 'not_a_result' ? undefined : slugOf(ordered, { loinc: code.loinc, provider_id: code.local })

/** Whether every ordered test is final. A test under another code is final once all its measurements are. */
export function isFinished(groups: ResultGroup[], finished: Finished, { ordered: { markers }, isDone }: Context) {
  if (!groups.every(isGroupFinal)) return false
  return isDone || (markers.length > 0 && markers.every((marker) => isMarkerFinal(marker, finished)))
}

const isMarkerFinal = ({ id, expected_results }: OrderedMeasurements['markers'][number], { finished, performed }: Finished) =>
  finished[id] || (expected_results.length > 0 && expected_results.every((slug) => performed[slug]))

/** Whether a test or a measurement is final that was not before. */
export const finishesMore = ({ finished, performed }: Finished, { previous }: Context) =>
  Object.keys(finished).some((id) => finished[id] && !previous?.finished?.[id]) ||
  Object.keys(performed).some((slug) => performed[slug] && !previous?.performed?.[slug])

/** The tests, besides those that the lab added itself, that may be ordered ones: a person has to decide. */
export const unknownTests = (groups: ResultGroup[], finished: Finished, { ordered }: Context) =>
  groups.filter(
    (group) =>
      !group.is_reflex && hasResults([group]) && !markersOf(group, ordered.markers).length && !isAccountedFor(group, finished, ordered),
  )

/** Whether all results of a test are expected, and those of a final one finish every ordered test that expects them. */
function isAccountedFor(group: ResultGroup, finished: Finished, ordered: OrderedMeasurements) {
  const slugs = group.observations.map((observation) => measuredSlug(ordered, observation) ?? '')
  const expecting = slugs.map((slug) => ordered.markers.filter(({ expected_results }) => expected_results.includes(slug)))
  if (!slugs.length || !expecting.every((markers) => markers.length)) return false
  return !isGroupFinal(group) || expecting.flat().every((marker) => isMarkerFinal(marker, finished))
}

import { createHash } from 'node:crypto'
import type { OrderedMeasurements } from '../../contract/labs/analyte.ts'
import type { BiomarkerResult, NewMissingResult, PerformingLaboratory, ResultStatus } from '../../contract/labs/results.ts'
import type { PerformingLab } from '../hl7/messages/rules-performing-lab.ts'
import type { Observation, ResultGroup } from '../hl7/messages/rules-results.ts'
import { failureOfRejection } from '../hl7/messages/rules-statuses.ts'
import { keyOf, type RemovedResult, type ReportedResult, slugOf, storedKeyOf } from '../results/rules.ts'
import { type Finished, finishedBy, finishesMore, isFinished, unknownTests } from './rules-finished.ts'
import { isGroupFinal, markersOf } from './rules-groups.ts'

/** The results that a lab sent for one order. */
export type OrderResults = { notes: string[]; groups: ResultGroup[] }

export type Context = {
  ordered: OrderedMeasurements
  /** The order is complete, so every change of its results is a correction. */
  isComplete: boolean
  /** A person said that the lab has reported everything. */
  isDone?: boolean | undefined
  previous?: (Partial<Finished> & { results: BiomarkerResult[] }) | undefined
}

/** The report of an order. It is final once every ordered marker is, or a person says so; a status that no table has is never final. */
export function reportOf(received: OrderResults, context: Context) {
  const rows = received.groups.flatMap((group) => rowsOf(group, context.ordered))
  const reported = distinct(rows.flatMap((row) => (row.result ? [{ ...row.result, group: row.group }] : [])))
  const stored = new Map((context.previous?.results ?? []).map((result) => [keyOf(result), result]))
  const current = reported.filter((result) => !isLate(result, stored.get(storedKeyOf(context.ordered, result))))
  const { groups, telling } = currentGroups(received.groups, rows, { reported, current })
  const finished = finishedBy(telling, context)
  const isFinal = isFinished(groups, finished, context)
  const times = (field: 'collected_at' | 'received_at' | 'reported_at') => received.groups.flatMap((group) => group[field] ?? []).sort()
  return {
    status: context.isComplete ? ('corrected' as const) : isFinal ? ('final' as const) : ('partial' as const),
    results: current.map(({ group: _, ...result }) => result),
    missing_results: rows.flatMap((row) => row.missing ?? []),
    removed: rows.flatMap((row) => row.removed ?? []),
    collected_at: times('collected_at')[0] ?? null,
    received_at: times('received_at')[0] ?? null,
    reported_at: times('reported_at').at(-1) ?? null,
    notes: notesOf(received),
    performing_laboratories: received.groups.flatMap(({ observations }) =>
      observations.flatMap(({ performing_lab: lab }) => (lab ? laboratoryOf(lab) : [])),
    ),
    ...finished,
    /** Whether an order that is not complete gets closer to it, even by a report without content. */
    finishes: !context.isComplete && (isFinal || finishesMore(finished, context)),
    /** Tests that may be the ordered ones, for a person to review. A complete order has none. */
    unknown_tests: isFinal || context.isComplete ? [] : unknownTests(groups, finished, context),
    control_number: received.groups.find(({ filler_number }) => filler_number)?.filler_number ?? null,
  }
}

type Row = { group: ResultGroup; result?: ReportedResult; missing?: NewMissingResult[]; removed?: RemovedResult[] }
type OfGroup = ReportedResult & { group: ResultGroup }

/** The groups besides those that were overtaken, and of these the ones that say more than that a test is pending. */
function currentGroups(groups: ResultGroup[], rows: Row[], { reported, current }: { reported: OfGroup[]; current: OfGroup[] }) {
  const withResults = new Set(reported.map(({ group }) => group))
  const telling = new Set([...current, ...rows.filter(({ missing, removed }) => missing || removed)].map(({ group }) => group))
  const isCurrent = (group: ResultGroup) => telling.has(group) || !withResults.has(group)
  const isTelling = (group: ResultGroup) => telling.has(group) || (!withResults.has(group) && isGroupFinal(group))
  return { groups: groups.filter(isCurrent), telling: groups.filter(isTelling) }
}

function rowsOf(group: ResultGroup, ordered: OrderedMeasurements): Row[] {
  const rows = group.observations.map((observation): Row => ({ group, ...rowOf(observation, group, ordered) }))
  if (group.status !== 'cancelled' || group.observations.length) return rows
  const cancelled = cancelledNames(group, ordered)
  return [{ group, missing: cancelled.map((name) => ({ ...name, ...failureOf(group, []) })), removed: cancelled }]
}

const nameOf = ({ code, sub_id }: Observation) => ({ loinc: code.loinc, provider_id: code.local, name: code.name, sub_id })

function rowOf(observation: Observation, group: ResultGroup, ordered: OrderedMeasurements): Omit<Row, 'group'> {
  const name = nameOf(observation)
  if (observation.status === 'not_a_result') return {}
  if (observation.status === 'deleted') return { removed: [name] }
  if (observation.status === 'wrong_patient') return { result: withdrawn(name, group) }
  if (observation.status === 'cancelled') return { missing: [{ ...name, ...failureOf(group, textsOf(observation)) }], removed: [name] }
  // A comment can stand in for a value.
  const text = observation.value?.text ?? observation.notes.join('\n')
  if (text) return { result: { ...name, ...measured(observation, group), result: text } }
  return isLeftOut(observation, ordered) ? { missing: [{ ...name, ...failureOf(group, []) }] } : {}
}

/** A final measurement of the order without a value. U repeats no value, and other lines without one are headings. */
const isLeftOut = ({ status, status_code, code }: Observation, ordered: OrderedMeasurements) =>
  ['final', 'corrected'].includes(status) &&
  status_code.toUpperCase() !== 'U' &&
  ordered.markers.some(({ expected_results }) =>
    expected_results.includes(slugOf(ordered, { loinc: code.loinc, provider_id: code.local }) ?? ''),
  )

const textsOf = ({ value, notes }: Observation) => [...(value ? [value.text] : []), ...notes]

const statuses: Partial<Record<Observation['status'], ResultStatus>> = {
  preliminary: 'preliminary',
  final: 'final',
  corrected: 'corrected',
}

/** Value and unit are stored as received. The lab's range and flags win; without them, those of the catalog count. */
const measured = (observation: Observation, group: ResultGroup) => ({
  type: observation.value?.type ?? ('comment' as const),
  unit: observation.unit.text,
  unit_ucum: observation.unit.ucum,
  reference_range: observation.reference_range ?? undefined,
  interpretation: observation.interpretation ?? undefined,
  source_interpretation: observation.flags.join(' '),
  notes: observation.value ? observation.notes.join('\n') || null : null,
  performing_laboratory: observation.performing_lab?.name ?? null,
  status: statuses[observation.status] ?? ('unknown' as const),
  reported_at: group.reported_at,
})

export const WITHDRAWN = 'Withdrawn'

/** What is left of a result that belongs to another patient. */
const withdrawn = (name: ReturnType<typeof nameOf>, group: ResultGroup): ReportedResult => ({
  ...name,
  result: WITHDRAWN,
  type: 'comment',
  unit: null,
  reference_range: null,
  interpretation: 'unknown',
  source_interpretation: '',
  notes: 'The lab withdrew this result because it belongs to another patient. Do not use it.',
  status: 'withdrawn',
  reported_at: group.reported_at,
})

/** The measurements of a canceled test: those of its marker, or the test itself if it was not ordered. */
function cancelledNames(group: ResultGroup, ordered: OrderedMeasurements): RemovedResult[] {
  const slugs = markersOf(group, ordered.markers).flatMap(({ expected_results }) => expected_results)
  if (slugs.length) return slugs.map((slug) => ({ slug }))
  return [{ loinc: group.code.loinc, provider_id: group.code.local, name: group.code.name }]
}

/** Why there is no result: the reason of a rejected specimen, or what the lab wrote. */
function failureOf({ specimens, notes }: ResultGroup, texts: string[]) {
  const rejected = specimens.find(({ reject_code }) => reject_code)
  const note = [...texts, ...(texts.length ? [] : notes), ...(rejected?.reject_text ? [rejected.reject_text] : [])].join('\n')
  const fromSpecimen = rejected?.reject_code ? failureOfRejection(rejected.reject_code) : 'unknown_failure'
  return { inferred_failure_type: fromSpecimen === 'unknown_failure' ? failureInText(note) : fromSpecimen, note: note || null }
}

function failureInText(text: string) {
  if (/\bqns\b|quantity not sufficient|insufficient (quantity|volume)/i.test(text)) return 'quantity_not_sufficient_failure' as const
  if (/h(a)?emoly[sz]ed|clotted|contaminated|mislabel|unlabel/i.test(text)) return 'collection_process_failure' as const
  return 'unknown_failure' as const
}

/** One result per measurement and sub-ID: the last one of a panel. Another panel with the same measurement keeps its own. */
function distinct(results: OfGroup[]): OfGroup[] {
  const byKey = new Map<string, OfGroup>()
  const panelOf = ({ group: { code } }: OfGroup) => code.local ?? code.loinc ?? ''
  for (const result of results) {
    const keyOf = (sub_id: string | null | undefined) => [result.loinc ?? result.provider_id ?? result.name, sub_id].join(' ')
    const taken = byKey.get(keyOf(result.sub_id))
    const isOther = taken && panelOf(taken) !== panelOf(result)
    const sub_id = isOther ? [panelOf(result), result.sub_id].filter(Boolean).join('/') : (result.sub_id ?? null)
    byKey.set(keyOf(sub_id), { ...result, sub_id })
  }
  return [...byKey.values()]
}

const isFinalStatus = (status: string | null | undefined) => !status || status === 'final' || status === 'corrected'

/** A message that was overtaken: a value that is older than the stored one, or as old and less final, does not replace it. */
function isLate(result: ReportedResult, stored: BiomarkerResult | undefined) {
  if (!stored?.timestamp || !result.reported_at || result.status === 'withdrawn') return false
  const isLessFinal = isFinalStatus(stored.status) && !isFinalStatus(result.status)
  return result.reported_at < stored.timestamp || (result.reported_at === stored.timestamp && isLessFinal)
}

const notesOf = ({ notes, groups }: OrderResults) =>
  [...notes, ...groups.filter(({ status }) => status !== 'cancelled').flatMap((group) => group.notes)].filter(Boolean).join('\n') || null

const laboratoryOf = ({ director, ...lab }: PerformingLab): PerformingLaboratory => ({ ...lab, medical_director: director })

/** What the lab sent, with a hash in place of each PDF. A repeated report has the same. */
export const fingerprintOf = (received: OrderResults) => ({
  ...received,
  groups: received.groups.map(({ documents, ...group }) => ({
    ...group,
    documents: documents.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')),
  })),
})

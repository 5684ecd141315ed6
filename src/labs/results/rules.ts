import type { Fault } from '../../contract/faults.ts'
import type { Analyte, OrderedMeasurements } from '../../contract/labs/analyte.ts'
import {
  type BiomarkerResult,
  type Interpretation,
  interpretations,
  type MissingResult,
  type NewMissingResult,
  type NewResult,
  type NewResults,
  numberText,
  type PerformingLaboratory,
  type ResultStatus,
  type ResultsMetadata,
  type ResultType,
  rangeText,
  type SampleData,
} from '../../contract/labs/results.ts'
import { ageOn } from '../../platform/time.ts'
import { interpret } from '../ranges/rules.ts'
import { ucumOf } from '../ranges/rules-units.ts'

/** A result of a lab connection says more than one of the partner lab API. */
export type ReportedResult = NewResult & {
  sub_id?: string | null
  status?: ResultStatus
  unit_ucum?: string | null
  /** The flags of the lab as they were received. */
  source_interpretation?: string
  reported_at?: string | null
}

type PostedReport = Pick<NewResults, 'reported_at'> & { results: ReportedResult[] }
type Patient = { gender: string; sample_id?: string | null }

/** Completes posted results with the data of the catalog. */
export const completeResults = (
  ordered: OrderedMeasurements,
  patient: Patient,
  { results, reported_at }: PostedReport,
): BiomarkerResult[] =>
  results.map((newResult) => {
    const analyte = findAnalyte(ordered, newResult)
    const type = typeOf(newResult, analyte)
    const unit = newResult.unit === undefined ? (analyte?.unit ?? null) : newResult.unit
    return {
      ...identityOf(ordered, newResult, analyte),
      value: type === 'numeric' ? Number(newResult.result) : -1,
      result: newResult.result,
      type,
      unit,
      unit_ucum: newResult.unit_ucum ?? ucumOf(unit),
      timestamp: newResult.reported_at ?? reported_at ?? null,
      notes: newResult.notes ?? null,
      ...interpret(newResult, type, analyte, patient.gender),
      source_interpretation: newResult.source_interpretation ?? newResult.interpretation ?? '',
      performing_laboratory: newResult.performing_laboratory ?? null,
      source_sample_id: patient.sample_id ?? null,
      ...(newResult.status ? { status: newResult.status } : {}),
      ...(newResult.sub_id ? { sub_id: newResult.sub_id } : {}),
    }
  })

/** Finds unknown slugs and measurements that are reported twice. */
export function resultFaults(ordered: OrderedMeasurements, results: NewResult[]): Fault[] {
  const seen = new Set<string>()
  return results.flatMap((newResult, i): Fault[] => {
    const analyte = findAnalyte(ordered, newResult)
    const locOf = (field: string) => ['body', 'results', i, field]
    if (newResult.slug && analyte?.slug !== newResult.slug)
      return [
        {
          type: 'measurement_unknown',
          loc: locOf('slug'),
          msg: 'The catalog has no measurement with this slug. Send its LOINC code instead, or remove the result.',
        },
      ]
    const key = analyte?.slug ?? newResult.loinc ?? newResult.provider_id ?? ''
    if (seen.has(key))
      return [{ type: 'measurement_twice', loc: locOf('result'), msg: 'The report has this measurement twice. Send it once.' }]
    seen.add(key)
    return []
  })
}

export type MeasurementName = Pick<NewResult, 'slug' | 'loinc' | 'provider_id' | 'name'>

/** A provider_id names a marker; it identifies the measurement only if the marker has one expected result. */
function findAnalyte({ analytes, markers }: OrderedMeasurements, { slug, loinc, provider_id }: MeasurementName): Analyte | undefined {
  const [only, ...others] = markers.find((marker) => provider_id && marker.provider_id === provider_id)?.expected_results ?? []
  return (
    analytes.find((analyte) => analyte.slug === slug) ??
    analytes.find((analyte) => analyte.loinc === loinc) ??
    analytes.find((analyte) => others.length === 0 && analyte.slug === only)
  )
}

function identityOf({ markers }: OrderedMeasurements, newResult: MeasurementName, analyte: Analyte | undefined) {
  const slug = analyte?.slug ?? newResult.slug ?? ''
  const sourceMarkers = markers.filter(({ expected_results }) => expected_results.includes(slug))
  return {
    name: analyte?.name ?? newResult.name ?? newResult.slug ?? newResult.loinc ?? newResult.provider_id ?? '',
    slug,
    loinc: analyte?.loinc ?? newResult.loinc ?? null,
    loinc_slug: analyte?.slug ?? null,
    provider_id: newResult.provider_id ?? null,
    source_markers: sourceMarkers.length
      ? sourceMarkers.map(({ id, name, slug, provider_id }) => ({ marker_id: id, name, slug, provider_id }))
      : null,
  }
}

function typeOf({ type, result }: NewResult, analyte: Analyte | undefined): ResultType {
  if (type) return type
  if (numberText.test(result)) return 'numeric'
  if (rangeText.test(result)) return 'range'
  return analyte?.result_type === 'coded_value' ? 'coded_value' : 'comment'
}

/** The worst interpretation; null without results. */
export function interpretationOf(results: Pick<BiomarkerResult, 'interpretation'>[]): Interpretation | null {
  const worst = interpretations.findLast((candidate) => results.some(({ interpretation }) => interpretation === candidate))
  return worst ?? null
}

/** Every expected result of the markers, once, in report order. */
export const expectedAnalytes = ({ markers, analytes }: OrderedMeasurements): Analyte[] =>
  [...new Set(markers.flatMap(({ expected_results }) => expected_results))].flatMap(
    (slug) => analytes.find((analyte) => analyte.slug === slug) ?? [],
  )

/** Sorts by the order of the markers; results that were not ordered come last. */
export function sortResults(ordered: OrderedMeasurements, results: BiomarkerResult[]) {
  const ranks = new Map(expectedAnalytes(ordered).map(({ slug }, i) => [slug, i]))
  const rankOf = ({ slug }: BiomarkerResult) => ranks.get(slug) ?? ranks.size
  return results.toSorted((a, b) => rankOf(a) - rankOf(b))
}

type ReportedMissing = Omit<NewMissingResult, 'inferred_failure_type'> & { inferred_failure_type: string }

export function missingResults(ordered: OrderedMeasurements, results: BiomarkerResult[], reported: ReportedMissing[]): MissingResult[] {
  const reportedMissing = reported.map((missing) => ({
    ...identityOf(ordered, missing, findAnalyte(ordered, missing)),
    inferred_failure_type: missing.inferred_failure_type,
    note: missing.note ?? null,
  }))
  const expected = expectedAnalytes(ordered).map((analyte) => ({
    ...identityOf(ordered, {}, analyte),
    inferred_failure_type: 'unknown_failure' as const,
    note: null,
  }))
  const reportedKeys = measuredKeys(results)
  return latestByKey([...expected, ...reportedMissing]).filter((missing) => !reportedKeys.has(nameKeyOf(missing)))
}

type MissingInReport = { status: string; missing_results: MissingResult[] }

/** A partial report has no missing results, because they may still arrive. */
export const missingIn = ({ status, missing_results }: MissingInReport) => (status === 'partial' ? [] : missing_results)

/** Null until the results are final, because results may still arrive. */
export const hasMissing = (status: string, missing: MissingResult[]) => (status === 'partial' ? null : missing.length > 0)

/** Critical results without an earlier alert: the same value of the same measurement alerts once. */
export function findNewCritical(before: BiomarkerResult[], after: BiomarkerResult[]) {
  const alertOf = (result: BiomarkerResult) => JSON.stringify([keyOf(result), result.result])
  const alerted = new Set(before.filter(isCritical).map(alertOf))
  return after.filter((result) => isCritical(result) && !alerted.has(alertOf(result)))
}

const isCritical = ({ interpretation }: BiomarkerResult) => interpretation === 'critical'

type ReportResults = { results: BiomarkerResult[]; missing_results: MissingResult[] }

/** Merges reports, oldest first: the newest result of each measurement wins. */
export function mergeReports(reports: ReportResults[]) {
  const results = latestByKey(reports.flatMap((report) => report.results))
  const reportedKeys = measuredKeys(results)
  const missing = latestByKey(reports.flatMap((report) => report.missing_results))
  return { results, missing_results: missing.filter((missing) => !reportedKeys.has(nameKeyOf(missing))) }
}

/** Returns the results that no later result replaces. */
export const resultsNotIn = (results: BiomarkerResult[], later: BiomarkerResult[]) => {
  const newer = new Set(later.map(keyOf))
  return results.filter((result) => !newer.has(keyOf(result)))
}

/** The results without those that the lab removed. */
export function withoutRemoved(ordered: OrderedMeasurements, results: BiomarkerResult[], removed: RemovedResult[]) {
  const keys = new Set(removed.map((name) => storedKeyOf(ordered, name)))
  return results.filter((result) => !keys.has(keyOf(result)))
}

export type RemovedResult = MeasurementName & { sub_id?: string | null }

/** The slug of the measurement in the catalog, if it has one. */
export const slugOf = (ordered: OrderedMeasurements, name: MeasurementName) => findAnalyte(ordered, name)?.slug

type Identity = Pick<BiomarkerResult, 'slug' | 'loinc' | 'provider_id' | 'name'> & { sub_id?: string | null | undefined }

const nameKeyOf = ({ slug, loinc, provider_id, name }: Identity) => slug || loinc || provider_id || name

/** Identifies a result among those of a report: a later one with the same key replaces it. */
export const keyOf = (result: Identity) => (result.sub_id ? `${nameKeyOf(result)} ${result.sub_id}` : nameKeyOf(result))

/** The key that a result of the lab has once it is stored. */
export const storedKeyOf = (ordered: OrderedMeasurements, name: RemovedResult) =>
  keyOf({ ...identityOf(ordered, name, findAnalyte(ordered, name)), sub_id: name.sub_id })

/** A withdrawn result has no value, so the measurement is still missing. */
const measuredKeys = (results: BiomarkerResult[]) => new Set(results.filter(({ status }) => status !== 'withdrawn').map(nameKeyOf))

const latestByKey = <T extends Identity>(list: T[]) => [...new Map(list.map((item) => [keyOf(item), item])).values()]

type Person = { first_name: string; last_name: string }
type Report = {
  patient: Person & { dob: string }
  physician: Person | null
  lab: { name: string; clia_number: string | null } | null
  sample_id: string | null
  status: string
  collected_at: string | null
  received_at: string | null
  reported_at: string
  results: BiomarkerResult[]
}

export const metadataOf = (report: Report): ResultsMetadata => ({
  age: String(ageOn(report.patient.dob, (report.collected_at ?? report.reported_at).slice(0, 10))),
  dob: report.patient.dob.slice(0, 10),
  'clia_#': report.lab?.clia_number ?? null,
  patient: nameOf(report.patient),
  provider: report.physician && nameOf(report.physician),
  laboratory: report.lab?.name ?? null,
  date_reported: report.reported_at,
  date_collected: report.collected_at,
  date_received: report.received_at,
  specimen_number: report.sample_id ?? '',
  status: report.status === 'partial' ? 'partial' : 'final',
  interpretation: interpretationOf(report.results),
})

const nameOf = ({ first_name, last_name }: Person) => `${first_name} ${last_name}`

type Sample = Pick<Report, 'sample_id' | 'collected_at' | 'received_at' | 'reported_at'> & {
  fasting: boolean
  notes: string | null
  performing_laboratories?: PerformingLaboratory[]
  control_number?: string
}

export const sampleInformationOf = (sample: Sample): Record<string, SampleData> | null =>
  sample.sample_id
    ? {
        [sample.sample_id]: {
          sample_id: sample.sample_id,
          ...(sample.control_number ? { control_number: sample.control_number } : {}),
          date_collected: sample.collected_at,
          date_received: sample.received_at,
          date_reported: sample.reported_at,
          ...(sample.performing_laboratories?.length
            ? { performing_laboratories: Object.fromEntries(sample.performing_laboratories.map((lab) => [lab.name, lab])) }
            : {}),
          clinical_information: { fasting: sample.fasting, notes: sample.notes },
        },
      }
    : null

/** The laboratories that performed one of the results, each as it was last reported. */
export const performingLabs = (results: BiomarkerResult[], reported: PerformingLaboratory[]) =>
  [...new Map(reported.map((lab) => [lab.name, lab])).values()].filter(({ name }) =>
    results.some(({ performing_laboratory }) => performing_laboratory === name),
  )

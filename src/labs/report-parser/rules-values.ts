import type { ParsedMetadata, ParsedReport, ParsedResult, ParsingFailure } from '../../contract/labs/report-parser.ts'
import { numberText, rangeText } from '../../contract/labs/results.ts'

/** What one file contains, or why it cannot be read. */
export type ParsedFile = { report: FileReport } | { failure: ParsingFailure }
export type FileReport = { metadata: Partial<ParsedMetadata>; results: ParsedResult[]; unread: Unread[] }
export type Unread = Omit<ParsedReport['unread'][number], 'file'>

export type RawResult = {
  name: string
  value: string
  unit?: string
  flag?: string
  range?: string
  panel?: string | null
  loinc?: string | null
  confidence: number
}

const NO_MATCH = { loinc_matches: null, loinc_match_status: null } as const

/** One result from the texts of a report. */
export function resultOf({ name, value, unit = '', flag = '', range = '', panel = null, loinc, confidence }: RawResult): ParsedResult {
  const { min, max } = limitsOf(range)
  const interpretation = interpretationOf(flag)
  const number = numberText.test(value) ? Number(value) : undefined
  const isAbove = highFlag.test(flag) || (!flag && number !== undefined && max !== null && number > max)
  const isBelow = lowFlag.test(flag) || (!flag && number !== undefined && min !== null && number < min)
  return {
    test_name: name,
    value,
    confidence: contradicts(number, { min, max }, flag) ? Math.min(confidence, CONTRADICTION) : confidence,
    type: number !== undefined ? 'numeric' : rangeText.test(value.replaceAll(' ', '')) ? 'range' : 'comment',
    units: unit || null,
    ...{ min_reference_range: min, max_reference_range: max },
    source_panel_name: panel,
    interpretation,
    ...(min === null && max === null
      ? { is_above_max_range: null, is_below_min_range: null }
      : { is_above_max_range: isAbove, is_below_min_range: isBelow }),
    ...{ sample_type: 'unknown', measurement_kind: 'unknown', sensitivity: 'unknown' },
    ...(loinc ? { loinc_matches: [statedLoinc(loinc, name)], loinc_match_status: 'auto_match' } : NO_MATCH),
  }
}

/** Words, or codes of HL7 table 0078. */
const highFlag = /high|^(HH?|HU|>)$/i
const lowFlag = /low|^(LL?|LU|<)$/i

const CONTRADICTION = 0.5

/** A flag that does not fit the number and its range is a sign that something was read wrongly. */
function contradicts(number: number | undefined, { min, max }: Limits, flag: string) {
  if (number === undefined || !flag) return false
  const isHigh = max !== null && number > max
  const isLow = min !== null && number < min
  if (highFlag.test(flag)) return max !== null && !isHigh
  if (lowFlag.test(flag)) return min !== null && !isLow
  return /^(normal|N)$/i.test(flag) && (isHigh || isLow)
}

const statedLoinc = (loinc_code: string, name: string) => ({
  ...{ loinc_code, loinc_name: name, display_name: name },
  aliases: [],
  confidence_score: 1,
})

function interpretationOf(flag: string) {
  if (/critical|^(HH|LL|AA)$/i.test(flag)) return 'critical'
  if (highFlag.test(flag) || lowFlag.test(flag) || /abnormal|^A$/i.test(flag)) return 'abnormal'
  if (/^(normal|N)$/i.test(flag)) return 'normal'
  return flag ? 'unknown' : null
}

export const MAX_RESULTS = 1000

/** The first rows of a file. The others are reported. */
export function limitRows<T>(rows: T[], unread: Unread[]): T[] {
  const excess = rows.length - MAX_RESULTS
  if (excess > 0) unread.unshift({ page: null, text: `${excess} more rows`, reason: 'too_many_results' })
  return rows.slice(0, MAX_RESULTS)
}

type Limits = { min: number | null; max: number | null }

const number = String.raw`([+-]?\d{1,20}(?:\.\d{1,20})?)`
const between = new RegExp(`^${number}\\s*(?:-|–|to)\\s*${number}$`)
const above = new RegExp(`^(?:≥|>=?)\\s*${number}$`)
const below = new RegExp(`^(?:≤|<=?)\\s*${number}$`)

/** The limits of a printed range. Words, such as Negative, have none. */
export function limitsOf(range: string): Limits {
  const text = range.trim().slice(0, 100)
  const [, low, high] = between.exec(text) ?? []
  if (low !== undefined && high !== undefined) return { min: Number(low), max: Number(high) }
  const [, min] = above.exec(text) ?? []
  const [, max] = below.exec(text) ?? []
  return { min: min === undefined ? null : Number(min), max: max === undefined ? null : Number(max) }
}

const noMetadata: ParsedMetadata = {
  patient_first_name: '',
  patient_last_name: '',
  dob: '',
  gender: 'other',
  lab_name: '',
  date_reported: null,
  date_collected: null,
  specimen_number: null,
}

const MAX_UNREAD = 100
/** About 3,000 results. A small file can become a large report, which Assay would then store and send in an event. */
const MAX_REPORT_LENGTH = 1024 * 1024

/** All files of a job as one report. A file that cannot be read fails the job. */
export function combineFiles(files: ParsedFile[]): { data: ParsedReport } | { failure: ParsingFailure } {
  const failed = files.find((file) => 'failure' in file)
  if (failed) return failed
  const reports = files.flatMap((file) => ('report' in file ? [file.report] : []))
  const data = {
    // The first file wins.
    metadata: Object.assign({}, noMetadata, ...reports.map(({ metadata }) => metadata).toReversed()) as ParsedMetadata,
    results: reports.flatMap(({ results }) => results),
    unread: reports.flatMap(({ unread }, i) => unread.map((entry) => ({ file: i + 1, ...entry }))).slice(0, MAX_UNREAD),
  }
  return JSON.stringify(data).length > MAX_REPORT_LENGTH ? { failure: 'invalid_input' } : { data }
}

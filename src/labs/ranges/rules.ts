import type { Analyte, CriticalLimits, ReferenceRange } from '../../contract/labs/analyte.ts'
import { type Interpretation, type NewResult, numberText, type ResultType, rangeText } from '../../contract/labs/results.ts'
import { ucumOf } from './rules-units.ts'

/** An open end is not part of the interval. */
type Interval = { low: number; high: number; low_open: boolean; high_open: boolean }

/** Interprets a result by its range and, if the unit matches the catalog, by the critical limits. */
export function interpret(newResult: NewResult, type: ResultType, analyte: Analyte | undefined, gender: string) {
  const comparable = analyte && isSameUnit(newResult.unit, analyte.unit) ? analyte : undefined
  const range = hasRange(newResult) ? labRange(newResult) : catalogRange(comparable, gender)
  const measured = type === 'numeric' || type === 'range' ? parseMeasured(newResult.result) : null
  return {
    reference_range: range.text,
    min_range_value: finiteOrNull(range.interval?.low),
    max_range_value: finiteOrNull(range.interval?.high),
    is_above_max_range: measured && range.interval && isAbove(measured, range.interval),
    is_below_min_range: measured && range.interval && isBelow(measured, range.interval),
    interpretation: chooseInterpretation(
      newResult,
      measured && comparable?.critical ? isCritical(measured, comparable.critical) : false,
      () => {
        if (measured) return range.interval ? interpretRange(measured, range.interval) : 'unknown'
        return type === 'coded_value' ? interpretCode(newResult.result, range.expected) : interpretText(newResult.result, range.expected)
      },
    ),
  }
}

/** The lab's interpretation wins over the range, but never over a critical limit. */
const chooseInterpretation = ({ interpretation }: NewResult, critical: boolean, interpretValue: () => Interpretation) =>
  critical ? 'critical' : (interpretation ?? interpretValue())

const finiteOrNull = (bound: number | undefined) => (bound !== undefined && Number.isFinite(bound) ? bound : null)

type Range = { text: string | null; interval: Interval | null; expected: string | null }

const hasRange = ({ reference_range, min_range_value, max_range_value }: NewResult) =>
  [reference_range, min_range_value, max_range_value].some((part) => part !== undefined)

function labRange({ reference_range, min_range_value, max_range_value }: NewResult): Range {
  const text = reference_range ?? null
  const parsed = text === null ? null : parseInterval(text)
  const low = min_range_value ?? parsed?.low ?? -Infinity
  const high = max_range_value ?? parsed?.high ?? Infinity
  if (low === -Infinity && high === Infinity) return { text, interval: null, expected: text }
  // Only the text says whether a bound is part of the range.
  const interval = { low, high, low_open: parsed?.low === low && parsed.low_open, high_open: parsed?.high === high && parsed.high_open }
  return { text: text ?? textOf(interval), interval, expected: null }
}

function textOf({ low, high }: Interval) {
  if (low === -Infinity) return `<=${high}`
  return high === Infinity ? `>=${low}` : `${low}-${high}`
}

function catalogRange(analyte: Analyte | undefined, gender: string): Range {
  const range = analyte ? rangeFor(analyte, gender) : null
  return { text: range?.text ?? null, interval: range && intervalOf(range), expected: analyte?.expected_value ?? null }
}

/** `12.5`, `<5`, `>=0.5` or `2-4` as numbers; null for any other text. */
function parseInterval(text: string): Interval | null {
  const normalized = text
    .replace(/\s/g, '')
    .replace(/[–—]/g, '-')
    .replace('≤', '<=')
    .replace('≥', '>=')
    .replace(/^([<>])or=/i, '$1=')
  if (numberText.test(normalized)) return closedInterval(Number(normalized), Number(normalized))
  if (!rangeText.test(normalized)) return null
  if (!/^[<>]/.test(normalized)) {
    const ends = normalized.split('-').map(Number)
    return closedInterval(Math.min(...ends), Math.max(...ends))
  }
  const bound = Number(normalized.replace(/^[<>]=?/, ''))
  const open = !normalized.includes('=')
  if (normalized.startsWith('<')) return { low: -Infinity, high: bound, low_open: true, high_open: open }
  return { low: bound, high: Infinity, low_open: open, high_open: true }
}

const closedInterval = (low: number, high: number): Interval => ({ low, high, low_open: false, high_open: false })

/** Measured values are never negative, so `<5` starts at 0. */
function parseMeasured(text: string): Interval | null {
  const parsed = parseInterval(text)
  return parsed && parsed.low === -Infinity && parsed.high >= 0 ? { ...parsed, low: 0, low_open: false } : parsed
}

export function intervalOf({ low, high, low_inclusive, high_inclusive }: ReferenceRange): Interval | null {
  if (typeof low !== 'number' && typeof high !== 'number') return null
  return {
    low: low ?? -Infinity,
    high: high ?? Infinity,
    low_open: low_inclusive === false,
    high_open: high_inclusive === false,
  }
}

/** Without a known sex there is no range if the two ranges differ. */
export function rangeFor({ reference_range }: Pick<Analyte, 'reference_range'>, gender: string): ReferenceRange | null {
  const { male, female } = reference_range ?? {}
  if (gender === 'male') return male ?? null
  if (gender === 'female') return female ?? null
  return male?.text === female?.text ? (male ?? null) : null
}

/** Whether the whole interval is below the range; null if only a part is. */
export function isBelow(measured: Interval, range: Interval): boolean | null {
  const { low, low_open } = range
  if (measured.high < low || (measured.high === low && (measured.high_open || low_open))) return true
  if (measured.low > low || (measured.low === low && (measured.low_open || !low_open))) return false
  return null
}

export const isAbove = (measured: Interval, range: Interval) => isBelow(mirror(measured), mirror(range))

const mirror = ({ low, high, low_open, high_open }: Interval): Interval => ({
  low: -high,
  high: -low,
  low_open: high_open,
  high_open: low_open,
})

/** Critical only if the whole interval is beyond a limit; the limit itself is not critical. */
export function isCritical(measured: Interval, { below, above }: CriticalLimits) {
  const limits = closedInterval(below ?? -Infinity, above ?? Infinity)
  return isBelow(measured, limits) === true || isAbove(measured, limits) === true
}

function interpretRange(measured: Interval, range: Interval): Interpretation {
  const sides = [isBelow(measured, range), isAbove(measured, range)]
  if (sides.includes(true)) return 'abnormal'
  return sides.includes(null) ? 'unknown' : 'normal'
}

/** Codes of HL7 table 0078 with an interpretation. */
const codeInterpretations: Record<string, Interpretation> = {
  N: 'normal',
  A: 'abnormal',
  H: 'abnormal',
  L: 'abnormal',
  AA: 'critical',
  HH: 'critical',
  LL: 'critical',
}

/** Codes of the same table that state only a finding. */
const findings: Record<string, string> = {
  NEG: 'Negative',
  POS: 'Positive',
  ND: 'Not detected',
  DET: 'Detected',
  NR: 'Non-reactive',
  RR: 'Reactive',
}

function interpretCode(code: string, expected: string | null): Interpretation {
  const normalized = code.trim().toUpperCase()
  return codeInterpretations[normalized] ?? interpretText(findings[normalized] ?? code, expected)
}

/** A different text is abnormal only if the expected text is a finding: a range may also read "see comment". */
function interpretText(text: string, expected: string | null): Interpretation {
  if (!expected) return 'unknown'
  if (normalizeText(text) === normalizeText(expected)) return 'normal'
  return Object.values(findings).some((finding) => normalizeText(finding) === normalizeText(expected)) ? 'abnormal' : 'unknown'
}

/** Labs write Nonreactive, Non-Reactive and NON REACTIVE. */
const normalizeText = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}+]/gu, '')

/** Catalog limits apply only in the same unit. Case, brackets, the micro sign and the spelling of labs do not matter. */
const isSameUnit = (a: string | null | undefined, b: string | null | undefined) =>
  !a || !b || normalizeUnit(a) === normalizeUnit(b) || (ucumOf(a) !== null && ucumOf(a) === ucumOf(b))

const normalizeUnit = (unit: string) =>
  unit
    .toLowerCase()
    .replace(/[µμ]/g, 'u')
    .replace(/[\s[\]{}]/g, '')

import type { Analyte } from '../../../contract/labs/analyte.ts'
import type { Interpretation, NewResult, ResultType } from '../../../contract/labs/results.ts'
import { rangeFor } from '../../ranges/rules.ts'
import { type Band, bandOf, intervalFor, type Sex, scaleOf, stepsIn } from './value-bands.ts'

type WrittenResult = Pick<NewResult, 'type' | 'result'> & Partial<NewResult>

/** Writes a value as a lab would for this result type. A null value could not be calculated. */
export function writeValue(analyte: Analyte, sex: Sex, value: number | null, type: ResultType): WrittenResult {
  if (value === null) return { type: 'comment', result: 'Not calculated', unit: null, interpretation: 'unknown' }
  const band = bandOf(analyte, sex, value)
  // Without a range the value alone has no interpretation.
  const stated = intervalFor(analyte, sex) || band !== 'normal' ? {} : ({ interpretation: 'normal' } as const)
  if (type === 'numeric') return { type, result: formatValue(analyte, value), ...stated }
  if (type === 'range') return { type, result: rangeAround(analyte, sex, value, band), ...stated }
  if (type === 'coded_value') return { type, result: codes[band], unit: null }
  return { type, result: phrases[band], unit: null, interpretation: meanings[band] }
}

const codes: Record<Band, string> = { normal: 'N', above: 'H', below: 'L', critical_above: 'HH', critical_below: 'LL' }

const phrases: Record<Band, string> = {
  normal: 'Unremarkable',
  above: 'Above the reference range',
  below: 'Below the reference range',
  critical_above: 'Critically high',
  critical_below: 'Critically low',
}

const meanings: Record<Band, Interpretation> = {
  normal: 'normal',
  above: 'abnormal',
  below: 'abnormal',
  critical_above: 'critical',
  critical_below: 'critical',
}

const formatValue = ({ decimals }: Analyte, value: number) => value.toFixed(decimals ?? 0)

function rangeAround(analyte: Analyte, sex: Sex, value: number, band: Band) {
  const { low = 0, high = 0, low_open, high_open } = intervalFor(analyte, sex) ?? {}
  if (band === 'above') return `${high_open ? '>=' : '>'}${formatValue(analyte, high)}`
  if (band === 'below') return `${low_open ? '<=' : '<'}${formatValue(analyte, low)}`
  if (band === 'critical_above') return `>${formatValue(analyte, analyte.critical?.above ?? value)}`
  if (band === 'critical_below') return `<${formatValue(analyte, analyte.critical?.below ?? value)}`
  const scale = scaleOf(analyte)
  const step = Math.round(value * scale)
  const { from, to } = stepsIn(analyte, sex, 'normal') ?? { from: step, to: step }
  const [min, max] = [Math.min(step, Math.max(from, step - 1)), Math.max(step, Math.min(to, step + 1))]
  return `${formatValue(analyte, min / scale)}-${formatValue(analyte, max / scale)}`
}

const opposites: Record<string, string> = { Negative: 'Positive', 'Not detected': 'Detected', 'Non-reactive': 'Reactive' }
const findingCodes: Record<string, string> = {
  Negative: 'NEG',
  Positive: 'POS',
  'Not detected': 'ND',
  Detected: 'DET',
  'Non-reactive': 'NR',
  Reactive: 'RR',
}

/** A numeric finding is an index, below 1 if negative. */
const index = { unit: '{index}', reference_range: '<1', max_range_value: 1 }

/** Writes the expected finding, or its opposite. */
export function writeFinding({ expected_value }: Analyte, isExpected: boolean, type: ResultType): WrittenResult {
  const expected = expected_value ?? 'Normal'
  const finding = isExpected ? expected : (opposites[expected] ?? 'Abnormal')
  const stated = expected_value ? {} : { interpretation: isExpected ? ('normal' as const) : ('abnormal' as const) }
  if (type === 'numeric') return { type, result: isExpected ? '0' : '3', ...index }
  if (type === 'range') return { type, result: isExpected ? '<1' : '>=1', ...index }
  if (type === 'coded_value') return { type, result: findingCodes[finding] ?? (isExpected ? 'N' : 'A') }
  return { type, result: finding, ...stated }
}

/** States the range explicitly if the patient's gender does not determine it. */
export function statedRange(analyte: Analyte, gender: string, sex: Sex): Partial<NewResult> {
  const range = rangeFor(analyte, sex)
  if (!range?.text || rangeFor(analyte, gender)) return {}
  return { reference_range: range.text, min_range_value: range.low ?? null, max_range_value: range.high ?? null }
}

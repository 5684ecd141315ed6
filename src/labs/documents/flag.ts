import { type RangeBar, rangeBar } from './layout/range-bar.ts'
import { color, type TextStyle, textStyle } from './layout/theme.ts'

export type Interpretation = 'normal' | 'abnormal' | 'critical' | 'unknown'

export type Result = {
  name: string
  slug: string
  result: string
  type: 'numeric' | 'range' | 'comment' | 'coded_value'
  unit: string | null
  reference_range: string | null
  min_range_value: number | null
  max_range_value: number | null
  is_above_max_range: boolean | null
  is_below_min_range: boolean | null
  interpretation: Interpretation
  notes: string | null
  source_markers: { name: string }[] | null
}

export type Flag = { word: string; style: TextStyle; shade: string }

/** Uses words as well as color, because reports are often printed in black and white. */
export function flagOf({ interpretation, is_above_max_range, is_below_min_range }: Result): Flag {
  const side = is_above_max_range ? 'High' : is_below_min_range ? 'Low' : ''
  if (interpretation === 'critical') return { word: `CRITICAL ${side.toUpperCase()}`.trim(), style: textStyle.alert, shade: color.alert }
  if (side || interpretation === 'abnormal') return { word: side || 'Abnormal', style: textStyle.warn, shade: color.warn }
  if (interpretation === 'unknown') return { word: 'Not interpreted', style: textStyle.quiet, shade: color.quiet }
  return { word: 'Normal', style: textStyle.quiet, shade: color.good }
}

/** No bar if the laboratory's flag contradicts the numbers, because the flag wins. */
export function barOf(result: Result): RangeBar | null {
  const value = result.type === 'numeric' && /^\s*[+-]?\d/.test(result.result) ? Number(result.result) : Number.NaN
  const bar = rangeBar(value, { min: result.min_range_value, max: result.max_range_value })
  if (!bar) return null
  const statedSide = result.is_above_max_range ? 'above' : result.is_below_min_range ? 'below' : 'inside'
  const isUnstated = result.is_above_max_range === null && result.is_below_min_range === null
  return isUnstated || statedSide === bar.side ? bar : null
}

export function formatRange({ reference_range, min_range_value: min, max_range_value: max }: Result) {
  if (reference_range) return reference_range
  if (min !== null && max !== null) return `${min} – ${max}`
  if (min !== null) return `≥ ${min}`
  return max === null ? '' : `≤ ${max}`
}

import type { Analyte } from '../../../contract/labs/analyte.ts'
import * as ranges from '../../ranges/rules.ts'

export type Sex = 'male' | 'female'
/** The band of a value: in its range, outside it, or beyond a critical limit. */
export type Band = 'normal' | 'above' | 'below' | 'critical_above' | 'critical_below'
/** Values as integers of the last reported decimal: 4.5 with one decimal is 45. */
type Steps = { from: number; to: number }

export const isText = ({ result_type }: Analyte) => result_type === 'comment' || result_type === 'coded_value'

export const scaleOf = ({ decimals }: Analyte) => 10 ** (decimals ?? 0)

export function intervalFor(analyte: Analyte, sex: Sex) {
  const range = ranges.rangeFor(analyte, sex)
  return range && ranges.intervalOf(range)
}

/** The values in a band; null if there are none. */
export function stepsIn(analyte: Analyte, sex: Sex, band: Band): Steps | null {
  const steps = stepRange(analyte, sex, band)
  return steps && steps.from <= steps.to ? steps : null
}

function stepRange(analyte: Analyte, sex: Sex, band: Band): Steps | null {
  const scale = scaleOf(analyte)
  const normal = normalSteps(analyte, sex)
  const width = normal.to - normal.from
  const range = intervalFor(analyte, sex)
  const { below, above } = analyte.critical ?? { below: null, above: null }
  const [lowest, highest] = [roundUp((below ?? 0) * scale), roundDown((above ?? Infinity) * scale)]
  if (band === 'normal') return normal
  if (band === 'above' && range && range.high < Infinity)
    return { from: normal.to + 1, to: Math.min(highest, normal.to + Math.max(1, Math.floor(width * 0.4))) }
  if (band === 'below' && range && range.low > -Infinity)
    return { from: Math.max(lowest, normal.from - Math.max(1, Math.floor(width * 0.2))), to: normal.from - 1 }
  if (band === 'critical_above' && above !== null)
    return { from: highest + 1, to: highest + 1 + Math.floor(Math.max(0, highest - normal.to) * 0.5) }
  if (band === 'critical_below' && below !== null)
    return { from: Math.max(0, lowest - 1 - Math.floor(Math.max(0, normal.from - lowest) * 0.5)), to: lowest - 1 }
  return null
}

function normalSteps(analyte: Analyte, sex: Sex): Steps {
  const scale = scaleOf(analyte)
  const { mean, sd } = spreadOf(analyte, sex)
  const range = intervalFor(analyte, sex) ?? { low: -Infinity, high: Infinity, low_open: true, high_open: true }
  const first = range.low_open ? roundDown(range.low * scale) + 1 : roundUp(range.low * scale)
  const last = range.high_open ? roundUp(range.high * scale) - 1 : roundDown(range.high * scale)
  const to = last < Infinity ? last : Math.max(first, roundDown((mean + 2.5 * sd) * scale))
  return { from: first > -Infinity ? first : Math.max(0, Math.min(to, roundUp((mean - 2.5 * sd) * scale))), to }
}

/** Mean and standard deviation of a healthy population. */
export function spreadOf(analyte: Analyte, sex: Sex) {
  const { sim } = analyte
  if (sim) return { mean: sex === 'male' ? sim.mean_male : sim.mean_female, sd: sim.sd }
  const { low = 0, high = 1 } = intervalFor(analyte, sex) ?? {}
  const [from, to] = [low > -Infinity ? low : 0, high < Infinity ? high : low * 2]
  return { mean: (from + to) / 2, sd: (to - from) / 6 }
}

/** Floating-point products such as 4.35 * 100 are slightly off the integer. */
const ROUNDING_TOLERANCE = 1e-6
const roundUp = (number: number) => Math.ceil(number - ROUNDING_TOLERANCE)
const roundDown = (number: number) => Math.floor(number + ROUNDING_TOLERANCE)

export function bandOf(analyte: Analyte, sex: Sex, value: number): Band {
  const point = { low: value, high: value, low_open: false, high_open: false }
  const range = intervalFor(analyte, sex)
  if (analyte.critical && ranges.isCritical(point, analyte.critical))
    return value < (analyte.critical.below ?? -Infinity) ? 'critical_below' : 'critical_above'
  if (range && ranges.isBelow(point, range)) return 'below'
  return range && ranges.isAbove(point, range) ? 'above' : 'normal'
}

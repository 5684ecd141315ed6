export type RangeBar = {
  /** Fractions of the bar's width: start and end of the reference range, and the value. */
  from: number
  to: number
  at: number
  side: 'below' | 'inside' | 'above'
  /** The value is outside the bar. */
  beyond: boolean
}

type Bounds = { min: number | null; max: number | null }

const [edge, low, high] = [0.03, 0.25, 0.75]

/** The range takes the middle half of the bar, or extends to an open end. Null if there is nothing to draw. */
export function rangeBar(value: number, { min, max }: Bounds): RangeBar | null {
  if (![value, min ?? 0, max ?? 0].every(Number.isFinite) || (min === null && max === null)) return null
  if (min !== null && max !== null && min > max) return null
  const side = min !== null && value < min ? 'below' : max !== null && value > max ? 'above' : 'inside'
  const { from, to } = { from: min === null ? 0 : low, to: max === null ? 1 : high }
  const position = positionOf(value, { min, max })
  const at = clamp(
    position,
    side === 'above' ? to + edge : side === 'inside' ? from : 0,
    side === 'below' ? from - edge : side === 'inside' ? to : 1,
  )
  return { from, to, side, at: clamp(at, edge, 1 - edge), beyond: position < 0 || position > 1 }
}

/** Half of the bar is as long as the range, or with one bound as long as its distance from zero. */
function positionOf(value: number, { min, max }: Bounds) {
  if (min !== null && max !== null) return low + ((high - low) * (value - min)) / (max - min || Math.abs(max) || 1)
  if (min !== null) return low + ((high - low) * (value - min)) / (Math.abs(min) || 1)
  const top = max ?? 0
  return high + (high * (value - top)) / (Math.abs(top) || 1)
}

const clamp = (value: number, min: number, max: number) => Math.min(Math.max(value, min), max)

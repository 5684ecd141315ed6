const WIDTH = 200
const [LEFT, RIGHT] = [6, WIDTH - 6]

type RangeProps = { value: number; min: number | null; max: number | null; tone: string; label: string }

/** Centers the reference range and clamps far values to the edge. */
export function RangeBar({ value, min, max, tone, label }: RangeProps) {
  const { low, high, from, to } = chooseScale(value, min, max)
  const x = (at: number) => LEFT + ((Math.min(Math.max(at, low), high) - low) / (high - low || 1)) * (RIGHT - LEFT)
  const isOutside = (min !== null && value < min) || (max !== null && value > max)
  return (
    <svg class="range" viewBox={`0 0 ${WIDTH} 26`} role="img" aria-label={label}>
      <rect class="track" x={LEFT} y="7" width={RIGHT - LEFT} height="6" rx="3" />
      <rect class="normal" x={x(from)} y="7" width={Math.max(x(to) - x(from), 2)} height="6" rx="3" />
      {min !== null && (
        <text x={x(min)} y="24" text-anchor="middle">
          {min}
        </text>
      )}
      {max !== null && (
        <text x={x(max)} y="24" text-anchor="middle">
          {max}
        </text>
      )}
      <circle class={`mark ${tone === 'critical' ? 'critical' : isOutside ? 'out' : ''}`} cx={x(value)} cy="10" r="5" />
    </svg>
  )
}

/** Adds half a range of margin on each closed side. */
function chooseScale(value: number, min: number | null, max: number | null) {
  const from = min ?? Math.min(0, value)
  const to = max ?? Math.max(value, (min ?? 0) * 1.5, from + 1)
  const margin = (to - from) * 0.5 || 1
  const low = min === null ? from : from - margin
  return { from, to, low: from >= 0 ? Math.max(low, 0) : low, high: to + (max === null ? 0 : margin) }
}

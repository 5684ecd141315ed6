type SparklineProps = { values: { at: string; value: number }[]; min: number | null; max: number | null; label: string }

/** The band is the reference range. */
export function Sparkline({ values, min, max, label }: SparklineProps) {
  if (values.length < 2) return <span class="faint small">First result</span>
  const bounds = [...values.map(({ value }) => value), ...[min, max].filter((bound) => bound !== null)]
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)]
  const y = (value: number) => 24 - ((value - low) / (high - low || 1)) * 22
  const x = (i: number) => 2 + (i / (values.length - 1)) * 92
  const last = values.at(-1)
  return (
    <svg class="spark" viewBox="0 0 96 26" role="img" aria-label={label}>
      {(min !== null || max !== null) && (
        <rect class="band" x="0" width="96" y={y(max ?? high)} height={Math.max(y(min ?? low) - y(max ?? high), 1)} />
      )}
      <polyline class="line" points={values.map(({ value }, i) => `${x(i)},${y(value)}`).join(' ')} />
      {last && <circle class="last" cx={x(values.length - 1)} cy={y(last.value)} r="2.5" />}
    </svg>
  )
}

import './charts.css'

const WIDTH = 600
const HEIGHT = 120

/** Draws amounts over time, newest on the right. */
export function ColumnChart({ values, label }: { values: number[]; label: string }) {
  const max = Math.max(...values, 1)
  const step = WIDTH / values.length
  return (
    <svg class="columns-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, i) => {
        const height = (value / max) * (HEIGHT - 8)
        return <rect key={i} x={i * step + 1} width={Math.max(step - 2, 1)} y={HEIGHT - 1 - height} height={height} rx="1.5" />
      })}
      <line class="base" x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
    </svg>
  )
}

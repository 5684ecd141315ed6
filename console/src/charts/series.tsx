import './charts.css'
import { useRef, useState } from 'preact/hooks'
import { exact } from '../words.ts'

export type Point = { at: number; value: number; min: number; max: number }
export type Line = { name: string; unit: string; points: Point[] }
type SeriesProps = {
  lines: Line[]
  from: number
  to: number
  label: string
  onZoom: (from: number, to: number) => void
  onReset: () => void
}

const WIDTH = 900
const HEIGHT = 260
const AREA = { left: 48, right: WIDTH - 10, top: 12, bottom: HEIGHT - 28 }

/** Lines over time, with the lowest and highest of each stretch as a band. Drag over a part, or press + and −, to zoom; 0 shows all again. */
export function SeriesChart({ lines, from, to, label, onZoom, onReset }: SeriesProps) {
  const [drag, setDrag] = useState<[number, number]>()
  const [near, setNear] = useState<{ line: Line; point: Point }>()
  const svg = useRef<SVGSVGElement>(null)
  const all = lines.flatMap(({ points }) => points)
  const [low, high] = nice(Math.min(...all.map(({ min }) => min)), Math.max(...all.map(({ max }) => max)))
  const x = (at: number) => AREA.left + ((at - from) / (to - from)) * (AREA.right - AREA.left)
  const y = (value: number) => AREA.bottom - ((value - low) / (high - low || 1)) * (AREA.bottom - AREA.top)
  const timeAt = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect()
    const across = box ? ((event.clientX - box.left) / box.width) * WIDTH : 0
    return from + ((Math.min(Math.max(across, AREA.left), AREA.right) - AREA.left) / (AREA.right - AREA.left)) * (to - from)
  }
  const release = () => {
    const [a, b] = drag ?? [0, 0]
    setDrag(undefined)
    if (Math.abs(x(a) - x(b)) > 8) onZoom(Math.min(a, b), Math.max(a, b))
  }
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const [middle, half] = [(from + to) / 2, (to - from) / 2]
    const nearer = () => onZoom(middle - half / 2, middle + half / 2)
    const keys: Record<string, () => void> = {
      '+': nearer,
      '=': nearer,
      '-': () => onZoom(middle - half * 2, middle + half * 2),
      ArrowLeft: () => onZoom(from - half / 2, to - half / 2),
      ArrowRight: () => onZoom(from + half / 2, to + half / 2),
      '0': onReset,
    }
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  const [only] = lines
  return (
    <figure class="chart">
      <svg
        ref={svg}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="application"
        // In small letters: SVG knows no attribute tabIndex, and what cannot take the focus hears no keys.
        tabindex={0}
        aria-label={`${label}: ${all.length} points from ${exact(new Date(from).toISOString())} to ${exact(new Date(to).toISOString())}${all.length ? `, between ${round(low)} and ${round(high)} ${only?.unit ?? ''}` : ''}. Plus and minus zoom, arrows move, 0 shows all.`}
        onKeyDown={press}
        onPointerDown={(event) => {
          // A drag that leaves the chart goes on.
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag([timeAt(event), timeAt(event)])
        }}
        onPointerMove={(event) => (drag ? setDrag([drag[0], timeAt(event)]) : setNear(nearest(lines, timeAt(event))))}
        onPointerUp={release}
        onPointerLeave={() => {
          setDrag(undefined)
          setNear(undefined)
        }}
      >
        {ticks(low, high).map((value) => (
          <g key={value}>
            <line class="grid" x1={AREA.left} x2={AREA.right} y1={y(value)} y2={y(value)} />
            <text x={AREA.left - 8} y={y(value) + 4} text-anchor="end">
              {round(value)}
            </text>
          </g>
        ))}
        {times(from, to).map((at) => (
          <text key={at} x={x(at)} y={HEIGHT - 8} text-anchor="middle">
            {tickOf(at, to - from)}
          </text>
        ))}
        {!all.length && (
          <text class="nothing" x={WIDTH / 2} y={HEIGHT / 2} text-anchor="middle">
            Nothing in this window
          </text>
        )}
        {lines.map(({ name, points }, i) => (
          <g key={name} class={`series series-${i % 4}`}>
            <path class="band" d={bandOf(points, x, y)} />
            <path class="line" d={lineOf(points, x, y)} />
            {points.length < 60 && points.map(({ at, value }) => <circle key={at} cx={x(at)} cy={y(value)} r="2.5" />)}
          </g>
        ))}
        {drag && (
          <rect
            class="chosen"
            x={Math.min(x(drag[0]), x(drag[1]))}
            width={Math.abs(x(drag[0]) - x(drag[1]))}
            y={AREA.top}
            height={AREA.bottom - AREA.top}
          />
        )}
        {near && <circle class="near" cx={x(near.point.at)} cy={y(near.point.value)} r="4" />}
      </svg>
      <figcaption class="row wrap small muted">
        {near ? (
          <span>
            <strong>{round(near.point.value)}</strong> {near.line.unit} · {near.line.name} · {exact(new Date(near.point.at).toISOString())}
          </span>
        ) : (
          lines.map(({ name, unit }, i) => (
            <span key={name} class={`key series-${i % 4}`}>
              {name} ({unit})
            </span>
          ))
        )}
      </figcaption>
    </figure>
  )
}

const lineOf = (points: Point[], x: (at: number) => number, y: (value: number) => number) =>
  points.map(({ at, value }, i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('')

function bandOf(points: Point[], x: (at: number) => number, y: (value: number) => number) {
  const over = points.map(({ at, max }, i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(max).toFixed(1)}`)
  const back = [...points].reverse().map(({ at, min }) => `L${x(at).toFixed(1)} ${y(min).toFixed(1)}`)
  return `${over.join('')}${back.join('')}Z`
}

function nearest(lines: Line[], at: number) {
  let best: { line: Line; point: Point } | undefined
  for (const line of lines)
    for (const point of line.points) if (!best || Math.abs(point.at - at) < Math.abs(best.point.at - at)) best = { line, point }
  return best
}

const STEPS = 4

function nice(low: number, high: number): [number, number] {
  if (low > high) return [0, 1]
  if (low === high) return [low - 1, high + 1]
  const step = stepOf(low, high)
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step]
}

function stepOf(low: number, high: number) {
  const rough = (high - low) / STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power
}

function ticks(low: number, high: number) {
  const step = stepOf(low, high)
  return Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step)
}

const times = (from: number, to: number) => Array.from({ length: 6 }, (_, i) => from + ((to - from) * (i + 0.5)) / 6)

const DAY = 86_400_000
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const tickOf = (at: number, span: number) => (span <= 2 * DAY ? hour : date).format(at)

const round = (value: number) => (Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100)

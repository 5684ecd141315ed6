import './charts.css'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatDateTime } from '../format.ts'

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

const NARROW_PX = 560

/** Measures the figure, so text has the same size on a phone. */
function useSize() {
  const figure = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(900)
  useLayoutEffect(() => {
    if (!figure.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(Math.round(entry.contentRect.width), 200)))
    observer.observe(figure.current)
    return () => observer.disconnect()
  }, [])
  const height = width < NARROW_PX ? 200 : 260
  return { figure, width, height, area: { left: 44, right: width - 10, top: 12, bottom: height - 28 } }
}

/** Draws lines over time with a min–max band per bucket. Drag or press + and − to zoom; 0 resets. */
export function SeriesChart({ lines, from, to, label, onZoom, onReset }: SeriesProps) {
  const [drag, setDrag] = useState<[number, number]>()
  const [hovered, setHovered] = useState<{ line: Line; point: Point }>()
  const svg = useRef<SVGSVGElement>(null)
  const { figure, width, height, area } = useSize()
  const all = lines.flatMap(({ points }) => points)
  const [low, high] = roundBounds(Math.min(...all.map(({ min }) => min)), Math.max(...all.map(({ max }) => max)))
  const x = (at: number) => area.left + ((at - from) / (to - from)) * (area.right - area.left)
  const y = (value: number) => area.bottom - ((value - low) / (high - low || 1)) * (area.bottom - area.top)
  const timeAt = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect()
    const offsetX = box ? ((event.clientX - box.left) / box.width) * width : 0
    return from + ((Math.min(Math.max(offsetX, area.left), area.right) - area.left) / (area.right - area.left)) * (to - from)
  }
  const release = () => {
    const [a, b] = drag ?? [0, 0]
    setDrag(undefined)
    if (Math.abs(x(a) - x(b)) > 8) onZoom(Math.min(a, b), Math.max(a, b))
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const [middle, half] = [(from + to) / 2, (to - from) / 2]
    const zoomIn = () => onZoom(middle - half / 2, middle + half / 2)
    const keys: Record<string, () => void> = {
      '+': zoomIn,
      '=': zoomIn,
      '-': () => onZoom(middle - half * 2, middle + half * 2),
      ArrowLeft: () => onZoom(from - half / 2, to - half / 2),
      ArrowRight: () => onZoom(from + half / 2, to + half / 2),
      '0': onReset,
    }
    const action = keys[event.key]
    if (!action) return
    event.preventDefault()
    action()
  }
  const [firstLine] = lines
  return (
    <figure ref={figure} class="chart">
      <svg
        ref={svg}
        viewBox={`0 0 ${width} ${height}`}
        role="application"
        // Lowercase, because SVG has no tabIndex attribute and the chart needs focus for its keys.
        tabindex={0}
        aria-label={`${label}: ${all.length} points from ${formatDateTime(new Date(from).toISOString())} to ${formatDateTime(new Date(to).toISOString())}${all.length ? `, between ${round(low)} and ${round(high)} ${firstLine?.unit ?? ''}` : ''}. Press plus or minus to zoom, arrows to move, 0 to reset.`}
        onKeyDown={handleKey}
        onPointerDown={(event) => {
          // The drag continues outside the chart.
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag([timeAt(event), timeAt(event)])
        }}
        onPointerMove={(event) => (drag ? setDrag([drag[0], timeAt(event)]) : setHovered(findNearest(lines, timeAt(event))))}
        onPointerUp={release}
        onPointerLeave={() => {
          setDrag(undefined)
          setHovered(undefined)
        }}
      >
        {listTicks(low, high).map((value) => (
          <g key={value}>
            <line class="grid" x1={area.left} x2={area.right} y1={y(value)} y2={y(value)} />
            <text x={area.left - 8} y={y(value) + 4} text-anchor="end">
              {round(value)}
            </text>
          </g>
        ))}
        {listTickTimes(from, to, width < NARROW_PX ? 3 : 6).map((at) => (
          <text key={at} x={x(at)} y={height - 8} text-anchor="middle">
            {formatTick(at, to - from)}
          </text>
        ))}
        {!all.length && (
          <text class="no-data" x={width / 2} y={height / 2} text-anchor="middle">
            No data in this period
          </text>
        )}
        {lines.map(({ name, points }, i) => (
          <g key={name} class={`series series-${i % 4}`}>
            <path class="band" d={drawBand(points, x, y)} />
            <path class="line" d={drawLine(points, x, y)} />
            {points.length < 60 && points.map(({ at, value }) => <circle key={at} cx={x(at)} cy={y(value)} r="2.5" />)}
          </g>
        ))}
        {drag && (
          <rect
            class="selection"
            x={Math.min(x(drag[0]), x(drag[1]))}
            width={Math.abs(x(drag[0]) - x(drag[1]))}
            y={area.top}
            height={area.bottom - area.top}
          />
        )}
        {hovered && <circle class="hovered" cx={x(hovered.point.at)} cy={y(hovered.point.value)} r="4" />}
      </svg>
      <figcaption class="row wrap small muted">
        {hovered ? (
          <span>
            <strong>{round(hovered.point.value)}</strong> {hovered.line.unit} · {hovered.line.name} ·{' '}
            {formatDateTime(new Date(hovered.point.at).toISOString())}
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

const drawLine = (points: Point[], x: (at: number) => number, y: (value: number) => number) =>
  points.map(({ at, value }, i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('')

function drawBand(points: Point[], x: (at: number) => number, y: (value: number) => number) {
  const upper = points.map(({ at, max }, i) => `${i ? 'L' : 'M'}${x(at).toFixed(1)} ${y(max).toFixed(1)}`)
  const lower = [...points].reverse().map(({ at, min }) => `L${x(at).toFixed(1)} ${y(min).toFixed(1)}`)
  return `${upper.join('')}${lower.join('')}Z`
}

function findNearest(lines: Line[], at: number) {
  let best: { line: Line; point: Point } | undefined
  for (const line of lines)
    for (const point of line.points) if (!best || Math.abs(point.at - at) < Math.abs(best.point.at - at)) best = { line, point }
  return best
}

const TICK_COUNT = 4

function roundBounds(low: number, high: number): [number, number] {
  if (low > high) return [0, 1]
  if (low === high) return [low - 1, high + 1]
  const step = chooseTickStep(low, high)
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step]
}

function chooseTickStep(low: number, high: number) {
  const minStep = (high - low) / TICK_COUNT
  const power = 10 ** Math.floor(Math.log10(minStep))
  return ([1, 2, 5, 10].find((factor) => factor * power >= minStep) ?? 10) * power
}

function listTicks(low: number, high: number) {
  const step = chooseTickStep(low, high)
  return Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step)
}

const listTickTimes = (from: number, to: number, count: number) =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * (i + 0.5)) / count)

const DAY_MS = 86_400_000
const hourFormat = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' })
const dateFormat = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short' })
const formatTick = (at: number, span: number) => (span <= 2 * DAY_MS ? hourFormat : dateFormat).format(at)

const round = (value: number) => (Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100)

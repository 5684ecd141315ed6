import { html } from '../src/platform/html.ts'
import { diagramStyle } from './diagram-style.ts'

type Band = { x: number; y: number; width: number; height: number; label: string }
type Box = { x: number; y: number; width: number; name: string; notes: string[]; tone: 'live' | 'idle' | 'good' }
/** From one point to another; with `via`, first sideways to that x. */
type Arrow = { from: [number, number]; to: [number, number]; via?: number; label?: string }

const [WIDTH, HEIGHT] = [760, 552]
const LEFT = { x: 12, width: 470 }
const RIGHT = { x: 548, width: 200 }

const bands: Band[] = [
  { ...LEFT, y: 12, height: 86, label: 'Callers' },
  { ...RIGHT, y: 12, height: 86, label: 'Your monitoring' },
  { ...LEFT, y: 228, height: 154, label: 'Assay: one or more services' },
  { ...RIGHT, y: 150, height: 262, label: 'Outbound' },
  { ...LEFT, y: 420, height: 120, label: 'Storage' },
]

const outbound = (row: number, name: string, note: string): Box => ({
  ...{ x: RIGHT.x + 14, y: 180 + row * 58, width: RIGHT.width - 28 },
  ...{ name, notes: [note], tone: 'idle' },
})

const boxes: Box[] = [
  { x: 26, y: 42, width: 138, name: 'Your backend', notes: ['team key'], tone: 'idle' },
  { x: 178, y: 42, width: 138, name: 'Browsers', notes: ['console, link page'], tone: 'idle' },
  { x: 330, y: 42, width: 138, name: 'Partner labs', notes: ['lab key, /lab'], tone: 'idle' },
  { x: 562, y: 42, width: 172, name: 'Prometheus', notes: ['/metrics'], tone: 'idle' },
  { x: 12, y: 136, width: 470, name: 'Reverse proxy', notes: ['TLS; blocks /metrics'], tone: 'idle' },
  { x: 26, y: 258, width: 214, name: 'ROLE=api', notes: ['API, console, docs, link page', 'writes events and audit rows'], tone: 'live' },
  { x: 254, y: 258, width: 214, name: 'ROLE=worker', notes: ['jobs, webhooks, pipelines', 'serves health and metrics only'], tone: 'live' },
  {
    ...{ x: 26, y: 450, width: 244, name: 'PostgreSQL 15+', tone: 'good' },
    notes: ['all data; personal data is encrypted', 'external: DATABASE_URL', 'embedded: socket in DATA_DIR'],
  },
  {
    ...{ x: 284, y: 450, width: 184, name: 'DATA_DIR', tone: 'good' },
    notes: ['credentials.json', 'postgres/ (embedded)', 'encryption.key (embedded)'],
  },
  outbound(0, 'Webhooks', 'https, signed'),
  outbound(1, 'RabbitMQ', 'amqps'),
  outbound(2, 'Pub/Sub', 'https, Google token'),
  outbound(3, 'OAuth sources', 'https, tokens only'),
]

const arrows: Arrow[] = [
  { from: [247, 98], to: [247, 136], label: 'https' },
  { from: [247, 180], to: [247, 228], label: 'http, PORT 8080' },
  { from: [247, 382], to: [247, 420], label: 'SQL' },
  { from: [482, 330], to: [548, 330] },
  { from: [562, 71], to: [482, 250], via: 515 },
]

/** Drawn in the same style as the lifecycle diagrams. */
export const architectureSvg = () =>
  html`<svg xmlns="http://www.w3.org/2000/svg" class="lc" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<title>Architecture of an Assay deployment</title>
<style>
${{ html: diagramStyle() }}</style>
<rect class="lc-ground" width="${WIDTH}" height="${HEIGHT}"/>
${bands.map(({ x, y, width, height, label }) => html`<rect class="lc-band" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>\n<text class="lc-phase" x="${x + 14}" y="${y + 20}">${label}</text>\n`)}
${arrows.map(drawArrow)}
${boxes.map(drawBox)}
<text class="lc-note" x="26" y="346">ROLE=all, the default, does both in one service.</text>
<text class="lc-note" x="26" y="366">ENCRYPTION_KEY comes from your secret store.</text>
</svg>
`.html.replace(/\n+/g, '\n')

const drawBox = ({ x, y, width, name, notes, tone }: Box) => html`<g class="lc-${tone}">
<rect class="lc-box" x="${x}" y="${y}" width="${width}" height="${28 + notes.length * 16}" rx="6"/>
<text class="lc-name" x="${x + 12}" y="${y + 19}">${name}</text>
${notes.map((note, i) => html`<text class="lc-note" x="${x + 12}" y="${y + 36 + i * 16}">${note}</text>\n`)}
</g>
`

function drawArrow({ from: [x1, y1], to: [x2, y2], via, label }: Arrow) {
  const isDown = x1 === x2
  const isLeft = x2 < x1
  const line = via === undefined ? `M${x1} ${y1}L${x2} ${y2}` : `M${x1} ${y1}H${via}V${y2}H${x2}`
  const head = isDown ? 'l-5 -9h10z' : isLeft ? 'l9 -4.5v9z' : 'l-9 -4.5v9z'
  return html`<g class="lc-idle">
<path class="lc-rail" d="${line}"/>
<path class="lc-head" d="M${x2} ${y2}${head}"/>
${label && html`<text class="lc-note" x="${x1 + 12}" y="${(y1 + y2) / 2 + 4}">${label}</text>`}
</g>
`
}

import type { Method } from '../src/contract/labs/lifecycle.ts'
import { html } from '../src/platform/html.ts'
import { diagramStyle } from './diagram-style.ts'
import { BOX, type Box, type Diagram, diagramOf, type Rail, SPINE } from './lifecycle-diagram.ts'

/** Draws a lifecycle. The file embeds its styles, so that it also works on its own. */
export function lifecycleSvg(method: Method) {
  const { width, height, bands, boxes, spine, rails } = diagramOf(method)
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="lc" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>Lifecycle of ${method} orders</title>
<style>
${{ html: diagramStyle() }}</style>
<rect class="lc-ground" width="${width}" height="${height}"/>
${bands.map(({ phase, y, height: high }) => html`<rect class="lc-band" x="6" y="${y}" width="${width - 12}" height="${high}" rx="8"/>\n<text class="lc-phase" x="${SPINE + 22}" y="${y + 20}">${phase}</text>\n`)}
${boxes.map((box) => drawOutgoingLine(box, rails))}
${rails.map(drawRail)}
${spine.map(([from, to]) => html`<path class="lc-spine" d="M${SPINE} ${from.y + BOX}V${to.y - 6}"/>\n<path class="lc-spine-head" d="M${SPINE} ${to.y}l-5 -9h10z"/>\n`)}
${boxes.map(drawBox)}
</svg>
`.html.replace(/\n+/g, '\n')
}

/** The line from a step to the farthest rail that it joins. */
function drawOutgoingLine(box: Box, rails: Diagram['rails']) {
  const far = rails.filter(({ from }) => from.includes(box)).map(({ x }) => x)
  return far.length > 0 && html`<path class="lc-out" d="M${box.x + box.width} ${round(box.out)}H${Math.max(...far)}"/>\n`
}

function drawRail({ to, from, x, begin, end }: Rail) {
  const right = to.x + to.width
  const into = round(to.into)
  return html`<g class="lc-${to.tone}">
<path class="lc-rail" d="M${x} ${round(begin)}V${round(end)}M${x} ${into}H${right + 7}"/>
<path class="lc-head" d="M${right} ${into}l9 -4.5v9z"/>
${from.map(({ out }) => html`<circle class="lc-dot" cx="${x}" cy="${round(out)}" r="3"/>`)}
</g>
`
}

const drawBox = ({ low, x, y, width, usual, repeats, tone }: Box) => html`<g class="lc-${tone}">
<rect class="lc-box${usual && ' lc-usual'}" x="${x}" y="${y}" width="${width}" height="${BOX}" rx="6"/>
<text class="lc-name" x="${x + 12}" y="${y + 21.5}">${low}</text>
${repeats && drawLoop(x + width - 17, y + BOX / 2)}
</g>
`

/** A round arrow marks a step that can repeat. */
const drawLoop = (x: number, y: number) =>
  html`<path class="lc-loop" d="M${x + 4.3} ${y - 3}a5.5 5.5 0 1 0 1.2 3.4M${x + 5} ${y - 7.5}v4.6h-4.6"/>`

const round = (value: number) => Math.round(value * 10) / 10

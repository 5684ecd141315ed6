import { fontOf } from './fonts.ts'
import { keepTogether, type Page } from './page.ts'
import { drawable, type Run, runsOf } from './runs.ts'
import { type Ink, ink, lineHeight } from './theme.ts'
import { shorten, wrap } from './wrap.ts'

export type Align = 'left' | 'right' | 'center'
type Box = { x: number; width: number; align?: Align }

/** Words of a right-to-left script stand in another order than they are written, so such a run is laid out as a whole. */
const layout = (text: string) => (/[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? { features: [] } : {})

/** One line at the given height, cut off with an ellipsis where it does not fit. */
export function writeLine(paper: Page, text: string, y: number, style: Ink, box: Box) {
  drawLine(
    paper,
    shorten(drawable(text), box.width, (part) => widthOf(paper, part, style)),
    y,
    style,
    box,
  )
}

export const linesOf = (paper: Page, text: string, width: number, style: Ink) =>
  wrap(drawable(text), width, (part) => widthOf(paper, part, style))

/** As many lines as it takes, from where the paper stands and over as many pages. */
export function writeText(paper: Page, text: string, style: Ink = ink.body, box: Box = { x: paper.left, width: paper.width }) {
  const lines = linesOf(paper, text, box.width, style)
  // Two lines at least stay together: one alone at the foot of a page is easily missed.
  keepTogether(paper, lineHeight(style) * Math.min(lines.length, 2))
  for (const line of lines) {
    keepTogether(paper, lineHeight(style))
    drawLine(paper, line, paper.y, style, box)
    paper.y += lineHeight(style)
  }
}

/** Measuring is most of the work, and the words and signs of a long text come again and again. */
export function widthOf(paper: Page, text: string, style: Ink) {
  const key = `${style.weight} ${style.size} ${text}`
  const known = paper.widths.get(key)
  if (known !== undefined) return known
  const width = runsOf(text, style.weight).reduce((sum, run) => sum + widthOfRun(paper, run, style), 0)
  paper.widths.set(key, width)
  return width
}

/** One line of drawable text, as it is. */
export function drawLine(paper: Page, line: string, y: number, style: Ink, box: Box) {
  if (!line) return
  const slack = box.align === undefined || box.align === 'left' ? 0 : box.width - widthOf(paper, line, style)
  let x = box.x + (box.align === 'center' ? slack / 2 : slack)
  for (const run of runsOf(line, style.weight)) {
    const width = widthOfRun(paper, run, style)
    paper.doc
      .fillColor(style.color)
      .text(run.text, x, y + style.size * 1.05, { lineBreak: false, baseline: 'alphabetic', ...layout(run.text) })
    x += width
  }
}

function widthOfRun(paper: Page, { face, text }: Run, { size }: Ink) {
  return selectFont(paper, face).fontSize(size).widthOfString(text, layout(text))
}

function selectFont(paper: Page, face: Run['face']) {
  // pdfkit takes a parsed font as well, which its types do not tell.
  return paper.doc.font(fontOf(face) as unknown as string, face)
}

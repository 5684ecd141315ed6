import { fontOf } from './fonts.ts'
import { keepTogether, type Page } from './page.ts'
import { normalizeText, type Run, runsOf } from './runs.ts'
import { lineHeight, type TextStyle, textStyle } from './theme.ts'
import { shorten, wrap } from './wrap.ts'

type Align = 'left' | 'right' | 'center'
type Box = { x: number; width: number; align?: Align }

/** A right-to-left run is laid out as one unit, because its words are drawn in another order. */
const layoutOptions = (text: string) => (/[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? { features: [] } : {})

/** Writes one line, truncated with an ellipsis if it does not fit. */
export function writeLine(page: Page, text: string, y: number, style: TextStyle, box: Box) {
  drawLine(
    page,
    shorten(normalizeText(text), box.width, (part) => widthOf(page, part, style)),
    y,
    style,
    box,
  )
}

export const linesOf = (page: Page, text: string, width: number, style: TextStyle) =>
  wrap(normalizeText(text), width, (part) => widthOf(page, part, style))

/** Writes wrapped lines from the current position, across pages if needed. */
export function writeText(page: Page, text: string, style: TextStyle = textStyle.body, box: Box = { x: page.left, width: page.width }) {
  const lines = linesOf(page, text, box.width, style)
  // At least two lines stay together, because a single line at the foot of a page is easily missed.
  keepTogether(page, lineHeight(style) * Math.min(lines.length, 2))
  for (const line of lines) {
    keepTogether(page, lineHeight(style))
    drawLine(page, line, page.y, style, box)
    page.y += lineHeight(style)
  }
}

/** Measuring is most of the work and words repeat, so widths are cached. */
export function widthOf(page: Page, text: string, style: TextStyle) {
  const key = `${style.weight} ${style.size} ${text}`
  const cached = page.widths.get(key)
  if (cached !== undefined) return cached
  const width = runsOf(text, style.weight).reduce((sum, run) => sum + widthOfRun(page, run, style), 0)
  page.widths.set(key, width)
  return width
}

export function drawLine(page: Page, line: string, y: number, style: TextStyle, box: Box) {
  if (!line) return
  const slack = box.align === undefined || box.align === 'left' ? 0 : box.width - widthOf(page, line, style)
  let x = box.x + (box.align === 'center' ? slack / 2 : slack)
  for (const run of runsOf(line, style.weight)) {
    const width = widthOfRun(page, run, style)
    page.doc
      .fillColor(style.color)
      .text(run.text, x, y + style.size * 1.05, { lineBreak: false, baseline: 'alphabetic', ...layoutOptions(run.text) })
    x += width
  }
}

function widthOfRun(page: Page, { face, text }: Run, { size }: TextStyle) {
  return selectFont(page, face).fontSize(size).widthOfString(text, layoutOptions(text))
}

function selectFont(page: Page, face: Run['face']) {
  // pdfkit also accepts a parsed font, which its types do not declare.
  return page.doc.font(fontOf(face) as unknown as string, face)
}

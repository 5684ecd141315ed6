import { keepTogether, type Page, rightEdge } from './page.ts'
import { drawLine, linesOf, writeLine, writeText } from './text.ts'
import { color, lineHeight, type TextStyle, textStyle } from './theme.ts'

export type Fact = [label: string, value: string | null]

const gap = 12

/** Draws labeled values side by side. An unknown value is a dash, so that it does not look like an omission. */
export function drawFacts(page: Page, columns: number, list: Fact[]) {
  for (let index = 0; index < list.length; index += columns) drawFactRow(page, columns, list.slice(index, index + columns))
}

export function drawHeading(page: Page, text: string, minSpace = 40) {
  page.y += 8
  keepTogether(page, lineHeight(textStyle.heading) + minSpace)
  writeText(page, text, textStyle.heading)
  page.y += 2
}

export function drawRule(page: Page, shade = color.rule) {
  page.doc.moveTo(page.left, page.y).lineTo(rightEdge(page), page.y).lineWidth(0.6).strokeColor(shade).stroke()
}

/** A tinted box with one message. */
export function drawBanner(page: Page, text: string, style: TextStyle, tint: string) {
  const box = { x: page.left + 10, width: page.width - 20 }
  const lines = linesOf(page, text, box.width, style)
  const height = lines.length * lineHeight(style) + 10
  keepTogether(page, height)
  page.doc.rect(page.left, page.y, page.width, height).fill(tint)
  page.doc.rect(page.left, page.y, 3, height).fill(style.color)
  for (const [index, line] of lines.entries()) drawLine(page, line, page.y + 5 + index * lineHeight(style), style, box)
  page.y += height + 8
}

type Cell = { text: string; style: TextStyle; x: number; width: number }

/** Draws wrapped cells side by side. A row taller than a page continues on the next; `drawBeside` draws at its first line. */
export function drawRow(page: Page, cells: Cell[], drawBeside?: () => void) {
  const columns = cells.map((cell) => ({ ...cell, lines: cell.text ? linesOf(page, cell.text, cell.width, cell.style) : [] }))
  const count = Math.max(1, ...columns.map(({ lines }) => lines.length))
  const height = Math.max(...cells.map(({ style }) => lineHeight(style)))
  keepTogether(page, count * height)
  drawBeside?.()
  for (let index = 0; index < count; index++) {
    keepTogether(page, height)
    for (const { lines, style, x, width } of columns) drawLine(page, lines[index] ?? '', page.y, style, { x, width })
    page.y += height
  }
}

/** The footer names the patient and the page, so that a separated page can still be matched. */
export const footer = (page: Page, text: string) => (number: number, pages: number) => {
  const y = page.bottom + 12
  page.doc.moveTo(page.left, y).lineTo(rightEdge(page), y).lineWidth(0.6).strokeColor(color.rule).stroke()
  writeLine(page, text, y + 5, textStyle.small, { x: page.left, width: page.width - 80 })
  writeLine(page, `Page ${number} of ${pages}`, y + 5, textStyle.small, { x: rightEdge(page) - 70, width: 70, align: 'right' })
}

function drawFactRow(page: Page, columns: number, list: Fact[]) {
  const width = (page.width - gap * (columns - 1)) / columns
  const at = (index: number) => ({ x: page.left + index * (width + gap), width })
  keepTogether(page, lineHeight(textStyle.label) + lineHeight(textStyle.fact))
  for (const [index, [label]] of list.entries()) writeLine(page, label, page.y, textStyle.label, at(index))
  page.y += lineHeight(textStyle.label)
  drawRow(
    page,
    list.map(([, value], index) => ({ text: value || '—', style: textStyle.fact, ...at(index) })),
  )
  page.y += 4
}

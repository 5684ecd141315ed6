import { keepTogether, type Page, rightEdge } from './page.ts'
import { drawLine, linesOf, writeLine, writeText } from './text.ts'
import { color, type Ink, ink, lineHeight } from './theme.ts'

export type Fact = [label: string, value: string | null]

const gap = 12

/** Labelled values side by side; what is not known is a dash, so that nobody takes it for forgotten. */
export function facts(paper: Page, columns: number, list: Fact[]) {
  for (let index = 0; index < list.length; index += columns) factRow(paper, columns, list.slice(index, index + columns))
}

export function heading(paper: Page, text: string, room = 40) {
  paper.y += 8
  keepTogether(paper, lineHeight(ink.heading) + room)
  writeText(paper, text, ink.heading)
  paper.y += 2
}

export function rule(paper: Page, shade = color.rule) {
  paper.doc.moveTo(paper.left, paper.y).lineTo(rightEdge(paper), paper.y).lineWidth(0.6).strokeColor(shade).stroke()
}

/** A tinted box with one message. */
export function banner(paper: Page, text: string, style: Ink, tint: string) {
  const box = { x: paper.left + 10, width: paper.width - 20 }
  const lines = linesOf(paper, text, box.width, style)
  const height = lines.length * lineHeight(style) + 10
  keepTogether(paper, height)
  paper.doc.rect(paper.left, paper.y, paper.width, height).fill(tint)
  paper.doc.rect(paper.left, paper.y, 3, height).fill(style.color)
  for (const [index, line] of lines.entries()) drawLine(paper, line, paper.y + 5 + index * lineHeight(style), style, box)
  paper.y += height + 8
}

export type Cell = { text: string; style: Ink; x: number; width: number }

/** Cells beside each other, each wrapped; a row taller than the page goes on over the next. `beside` draws at its first line. */
export function row(paper: Page, cells: Cell[], beside?: () => void) {
  const columns = cells.map((cell) => ({ ...cell, lines: cell.text ? linesOf(paper, cell.text, cell.width, cell.style) : [] }))
  const count = Math.max(1, ...columns.map(({ lines }) => lines.length))
  const height = Math.max(...cells.map(({ style }) => lineHeight(style)))
  keepTogether(paper, count * height)
  beside?.()
  for (let index = 0; index < count; index++) {
    keepTogether(paper, height)
    for (const { lines, style, x, width } of columns) drawLine(paper, lines[index] ?? '', paper.y, style, { x, width })
    paper.y += height
  }
}

/** Name, page and number of pages at the foot, so that a page that got lost still says whose it is. */
export const footer = (paper: Page, text: string) => (page: number, pages: number) => {
  const y = paper.bottom + 12
  paper.doc.moveTo(paper.left, y).lineTo(rightEdge(paper), y).lineWidth(0.6).strokeColor(color.rule).stroke()
  writeLine(paper, text, y + 5, ink.small, { x: paper.left, width: paper.width - 80 })
  writeLine(paper, `Page ${page} of ${pages}`, y + 5, ink.small, { x: rightEdge(paper) - 70, width: 70, align: 'right' })
}

function factRow(paper: Page, columns: number, list: Fact[]) {
  const width = (paper.width - gap * (columns - 1)) / columns
  const at = (index: number) => ({ x: paper.left + index * (width + gap), width })
  keepTogether(paper, lineHeight(ink.label) + lineHeight(ink.fact))
  for (const [index, [label]] of list.entries()) writeLine(paper, label, paper.y, ink.label, at(index))
  paper.y += lineHeight(ink.label)
  row(
    paper,
    list.map(([, value], index) => ({ text: value || '—', style: ink.fact, ...at(index) })),
  )
  paper.y += 4
}

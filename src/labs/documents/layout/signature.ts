import { keepTogether, type Page } from './page.ts'
import { writeLine } from './text.ts'
import { color, ink, lineHeight } from './theme.ts'

const gap = 18

/** Draws signature lines side by side, each with its label below. */
export function signatureLines(paper: Page, labels: string[]) {
  const width = (paper.width - gap * (labels.length - 1)) / labels.length
  keepTogether(paper, 44)
  paper.y += 26
  for (const [index, label] of labels.entries()) {
    const x = paper.left + index * (width + gap)
    paper.doc
      .moveTo(x, paper.y)
      .lineTo(x + width, paper.y)
      .lineWidth(0.7)
      .strokeColor(color.quiet)
      .stroke()
    writeLine(paper, label, paper.y + 2, ink.label, { x, width })
  }
  paper.y += lineHeight(ink.label) + 6
}

import { keepTogether, type Page } from './page.ts'
import { writeLine } from './text.ts'
import { color, lineHeight, textStyle } from './theme.ts'

const gap = 18

/** Draws signature lines side by side, each with its label below. */
export function drawSignatureLines(page: Page, labels: string[]) {
  const width = (page.width - gap * (labels.length - 1)) / labels.length
  keepTogether(page, 44)
  page.y += 26
  for (const [index, label] of labels.entries()) {
    const x = page.left + index * (width + gap)
    page.doc
      .moveTo(x, page.y)
      .lineTo(x + width, page.y)
      .lineWidth(0.7)
      .strokeColor(color.quiet)
      .stroke()
    writeLine(page, label, page.y + 2, textStyle.label, { x, width })
  }
  page.y += lineHeight(textStyle.label) + 6
}

import { drawRule } from './layout/blocks.ts'
import { type Page, rightEdge } from './layout/page.ts'
import { writeLine, writeText } from './layout/text.ts'
import { color, lineHeight, textStyle } from './layout/theme.ts'
import { joinParts, type Laboratory, labAddressOf } from './people.ts'

export function drawLetterhead(page: Page, lab: Laboratory, title: string) {
  const width = page.width * 0.62
  writeLine(page, title, page.y + 4, textStyle.heading, {
    x: rightEdge(page) - page.width * 0.36,
    width: page.width * 0.36,
    align: 'right',
  })
  writeText(page, lab.name, textStyle.title, { x: page.left, width })
  writeText(page, joinParts([labAddressOf(lab), lab.phone_number], ' · '), textStyle.small, { x: page.left, width })
  if (lab.clia_number) writeText(page, `CLIA ${lab.clia_number}`, textStyle.small, { x: page.left, width })
  page.y += lineHeight(textStyle.small) * 0.6
  drawRule(page, color.accent)
  page.y += 10
}

import { rule } from './layout/blocks.ts'
import { type Page, rightEdge } from './layout/page.ts'
import { writeLine, writeText } from './layout/text.ts'
import { color, ink, lineHeight } from './layout/theme.ts'
import { joinParts, type Laboratory, labAddressOf } from './people.ts'

export function letterhead(paper: Page, lab: Laboratory, title: string) {
  const width = paper.width * 0.62
  writeLine(paper, title, paper.y + 4, ink.heading, { x: rightEdge(paper) - paper.width * 0.36, width: paper.width * 0.36, align: 'right' })
  writeText(paper, lab.name, ink.title, { x: paper.left, width })
  writeText(paper, joinParts([labAddressOf(lab), lab.phone_number], ' · '), ink.small, { x: paper.left, width })
  if (lab.clia_number) writeText(paper, `CLIA ${lab.clia_number}`, ink.small, { x: paper.left, width })
  paper.y += lineHeight(ink.small) * 0.6
  rule(paper, color.accent)
  paper.y += 10
}

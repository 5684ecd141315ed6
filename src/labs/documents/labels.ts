import { dayInWords } from './labels-text.ts'
import { drawBarcode } from './layout/barcode.ts'
import { closePage, letter, mm, openPage, type Page } from './layout/page.ts'
import { drawLine, linesOf, widthOf, writeLine } from './layout/text.ts'
import { ink, lineHeight } from './layout/theme.ts'
import { lastNameFirst, type Patient } from './people.ts'

export type Labels = {
  created_at: string
  patient: Patient
  order_id: string
  sample_id: string
  collection_date: string
  number_of_labels: number
  /** On a roll each label is a page; a sheet is a Letter page with many labels. */
  layout: 'roll' | 'sheet'
}

const label = { width: 50 * mm, height: 25 * mm }
const sheet = { columns: 4, rows: 10, left: (letter[0] - 4 * label.width) / 2, top: (letter[1] - 10 * label.height) / 2 }

export function labels(input: Labels): Promise<Buffer> {
  const size: [number, number] = input.layout === 'roll' ? [label.width, label.height] : letter
  const paper = openPage({ title: 'Sample labels', subject: `Order ${input.order_id}`, created_at: input.created_at }, size, 0, 0)
  for (let index = 0; index < input.number_of_labels; index++) {
    const { page, x, y } = positionOf(index, input.layout)
    if (index > 0 && page) paper.doc.addPage()
    drawLabel(paper, input, { x, y })
  }
  return closePage(paper)
}

/** `page` is true if the label starts a new page. */
function positionOf(index: number, layout: Labels['layout']) {
  if (layout === 'roll') return { page: true, x: 0, y: 0 }
  const place = index % (sheet.columns * sheet.rows)
  const [column, line] = [place % sheet.columns, Math.floor(place / sheet.columns)]
  return { page: place === 0, x: sheet.left + column * label.width, y: sheet.top + line * label.height }
}

function drawLabel(paper: Page, { patient, ...input }: Labels, { x, y }: { x: number; y: number }) {
  const margin = 2 * mm
  const box = { x: x + margin, width: label.width - 2 * margin }
  const text = { ...ink.body, size: 6.5 }
  writeLine(paper, lastNameFirst(patient), y + 3.5, { ...ink.strong, size: 8.5 }, box)
  writeLine(paper, `Born ${dayInWords(patient.dob)}`, y + 15.5, text, box)
  writeLine(paper, shortId(input.order_id), y + 15.5, text, { ...box, align: 'right' })
  const drawn = drawBarcode(paper, input.sample_id, { x, y: y + 26, width: label.width, height: 22 })
  writeId(paper, input.sample_id, { ...box, y: y + (drawn ? 49 : 27), most: drawn ? 1 : 3 })
  writeLine(paper, `Collected ${dayInWords(input.collection_date)}`, y + 59.5, text, { ...box, align: 'center' })
}

/** A sample id is never truncated: it shrinks to one line, or takes up to three lines without a barcode. */
function writeId(paper: Page, sample_id: string, { x, y, width, most }: { x: number; y: number; width: number; most: number }) {
  const style = { ...ink.strong, size: most > 1 ? 8 : 7.5 }
  const room = (width * (most > 1 ? most - 0.5 : most)) / widthOf(paper, sample_id, style)
  const fitting = { ...style, size: style.size * Math.min(1, room) }
  for (const [index, line] of linesOf(paper, sample_id, width + 0.1, fitting).entries())
    drawLine(paper, line, y + index * lineHeight(fitting), fitting, { x, width, align: 'center' })
}

/** Long enough to distinguish the orders of one clinic day. */
const shortId = (order_id: string) => `Order ${order_id.slice(0, 8)}`

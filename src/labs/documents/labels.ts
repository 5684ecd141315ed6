import { formatDay } from './formatting.ts'
import { drawBarcode } from './layout/barcode.ts'
import { closePage, letter, mm, openPage, type Page } from './layout/page.ts'
import { drawLine, linesOf, widthOf, writeLine } from './layout/text.ts'
import { lineHeight, textStyle } from './layout/theme.ts'
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
  const page = openPage({ title: 'Specimen labels', subject: `Order ${input.order_id}`, created_at: input.created_at }, size, 0, 0)
  for (let index = 0; index < input.number_of_labels; index++) {
    const { startsPage, x, y } = positionOf(index, input.layout)
    if (index > 0 && startsPage) page.doc.addPage()
    drawLabel(page, input, { x, y })
  }
  return closePage(page)
}

function positionOf(index: number, layout: Labels['layout']) {
  if (layout === 'roll') return { startsPage: true, x: 0, y: 0 }
  const cell = index % (sheet.columns * sheet.rows)
  const [column, line] = [cell % sheet.columns, Math.floor(cell / sheet.columns)]
  return { startsPage: cell === 0, x: sheet.left + column * label.width, y: sheet.top + line * label.height }
}

function drawLabel(page: Page, { patient, ...input }: Labels, { x, y }: { x: number; y: number }) {
  const margin = 2 * mm
  const box = { x: x + margin, width: label.width - 2 * margin }
  const text = { ...textStyle.body, size: 6.5 }
  writeLine(page, lastNameFirst(patient), y + 3.5, { ...textStyle.strong, size: 8.5 }, box)
  writeLine(page, `DOB ${formatDay(patient.dob)}`, y + 15.5, text, box)
  writeLine(page, shortId(input.order_id), y + 15.5, text, { ...box, align: 'right' })
  const hasBarcode = drawBarcode(page, input.sample_id, { x, y: y + 26, width: label.width, height: 22 })
  writeId(page, input.sample_id, { ...box, y: y + (hasBarcode ? 49 : 27), maxLines: hasBarcode ? 1 : 3 })
  writeLine(page, `Collected ${formatDay(input.collection_date)}`, y + 59.5, text, { ...box, align: 'center' })
}

/** A specimen ID is never truncated: it shrinks to one line, or takes up to three lines without a barcode. */
function writeId(page: Page, sample_id: string, { x, y, width, maxLines }: { x: number; y: number; width: number; maxLines: number }) {
  const style = { ...textStyle.strong, size: maxLines > 1 ? 8 : 7.5 }
  const fit = (width * (maxLines > 1 ? maxLines - 0.5 : maxLines)) / widthOf(page, sample_id, style)
  const fittedStyle = { ...style, size: style.size * Math.min(1, fit) }
  for (const [index, line] of linesOf(page, sample_id, width + 0.1, fittedStyle).entries())
    drawLine(page, line, y + index * lineHeight(fittedStyle), fittedStyle, { x, width, align: 'center' })
}

/** Eight characters distinguish the orders of one clinic day. */
const shortId = (order_id: string) => `Order ${order_id.slice(0, 8)}`

import { formatUnit } from '../../contract/labs/unit-format.ts'
import { barOf, type Flag, flagOf, formatRange, type Result } from './flag.ts'
import { drawRow, drawRule } from './layout/blocks.ts'
import { keepTogether, type Page } from './layout/page.ts'
import type { RangeBar } from './layout/range-bar.ts'
import { linesOf, writeLine, writeText } from './layout/text.ts'
import { color, lineHeight, type TextStyle, textStyle } from './layout/theme.ts'

const columns = {
  name: { title: 'Test', x: 6, width: 148 },
  result: { title: 'Result', x: 160, width: 62 },
  unit: { title: 'Unit', x: 228, width: 52 },
  flag: { title: 'Flag', x: 286, width: 78 },
  range: { title: 'Reference range', x: 370, width: 68 },
  bar: { title: '', x: 442, width: 70 },
}
type Column = keyof typeof columns

/** A longer result is printed as text across the page. */
const MAX_VALUE_LENGTH = 28

export function drawResultTable(page: Page, results: Result[]) {
  keepTogether(page, 48)
  drawHeader(page)
  page.repeat = () => drawHeader(page)
  for (const result of results) drawResultRow(page, result)
  page.repeat = null
}

function drawHeader(page: Page) {
  page.doc.rect(page.left, page.y, page.width, 16).fill(color.tint)
  for (const name of Object.keys(columns) as Column[])
    writeLine(page, columns[name].title, page.y + 3, textStyle.head, columnBox(page, name))
  page.y += 20
}

function drawResultRow(page: Page, result: Result) {
  const flag = flagOf(result)
  const isText = result.type === 'comment' || result.result.length > MAX_VALUE_LENGTH
  const bar = barOf(result)
  const below = textsBelow(result, isText)
  keepTogether(
    page,
    below.reduce((sum, { text, style }) => sum + heightOf(page, text, style), 2 * lineHeight(textStyle.body)),
  )
  drawRow(page, cellsOf(page, result, { flag, isText }), () => bar && drawBar(page, bar, flag))
  for (const { text, style } of below) writeText(page, text, style, innerBox(page))
  page.y += 3
  drawRule(page)
  page.y += 4
}

/** Full-width texts under the row; they stay on the row's page if they fit. */
function textsBelow(result: Result, isText: boolean) {
  return [
    { text: isText ? result.result : '', style: textStyle.body },
    { text: panelsOf(result), style: textStyle.small },
    { text: result.notes ?? '', style: textStyle.small },
  ].filter(({ text }) => text)
}

function cellsOf(page: Page, result: Result, { flag, isText }: { flag: Flag; isText: boolean }) {
  const value = flag.style.weight === 'bold' ? flag.style : textStyle.strong
  const cell = (column: Column, text: string, style: TextStyle) => ({ text, style, ...columnBox(page, column) })
  return [
    cell('name', result.name, textStyle.body),
    cell('result', isText ? '' : result.result, value),
    cell('unit', formatUnit(result.unit ?? ''), textStyle.body),
    cell('flag', result.type === 'comment' && flag.word === 'Normal' ? '' : flag.word, flag.style),
    cell('range', formatRange(result), textStyle.body),
  ]
}

/** The panel of the result, unless it has the same name. */
const panelsOf = ({ name, source_markers }: Result) => {
  const names = (source_markers ?? []).map((marker) => marker.name).filter((marker) => marker !== name)
  return names.length ? `Part of ${names.join(', ')}` : ''
}

function drawBar(page: Page, bar: RangeBar, { shade }: Flag) {
  const { x, width } = columnBox(page, 'bar')
  const { doc } = page
  const middle = page.y + 6
  const markerX = x + bar.at * width
  doc.roundedRect(x, middle - 2.5, width, 5, 2.5).fill(color.rule)
  doc.rect(x + bar.from * width, middle - 2.5, (bar.to - bar.from) * width, 5).fill(color.good_tint)
  if (!bar.beyond) return doc.circle(markerX, middle, 3.4).lineWidth(1).fillAndStroke(shade, color.white)
  const tip = bar.side === 'below' ? -3 : 3
  return doc.polygon([markerX + tip, middle], [markerX - tip, middle - 4.5], [markerX - tip, middle + 4.5]).fill(shade)
}

const heightOf = (page: Page, text: string, style: TextStyle) => linesOf(page, text, innerBox(page).width, style).length * lineHeight(style)

const innerBox = (page: Page) => ({ x: page.left + columns.name.x, width: page.width - 2 * columns.name.x })

const columnBox = (page: Page, column: Column) => ({ x: page.left + columns[column].x, width: columns[column].width })

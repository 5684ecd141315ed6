import type { ParsedMetadata } from '../../contract/labs/report-parser.ts'
import type { PageText, Piece } from './pdf/rules-text.ts'
import { type FileReport, resultOf, type Unread } from './rules-values.ts'

/** The sizes of text in `labs/documents/layout/theme.ts`. A test draws reports and reads them, so that both stay the same. */
const sizes = { title: 16, heading: 11, body: 9, small: 7.5, label: 7 }
const LINE_HEIGHT = 1.36
/** Entries of a table are further apart than the lines of one entry. */
const ENTRY_GAP = 3.5

type Line = { page: number; y: number; size: number; pieces: Piece[] }

const joinPieces = (pieces: Piece[]) =>
  pieces
    .map(({ text }) => text)
    .join('')
    .trim()

/** The lines of a page from top to bottom. */
function linesOf({ pieces }: PageText, page: number): Line[] {
  const lines: Line[] = []
  for (const piece of pieces.toSorted((a, b) => b.y - a.y)) {
    const line = lines.at(-1)
    if (line && Math.abs(line.y - piece.y) < 0.6) line.pieces.push(piece)
    else lines.push({ page, y: piece.y, size: piece.size, pieces: [piece] })
  }
  return lines.map((line) => {
    const sorted = line.pieces.toSorted((a, b) => a.x - b.x)
    return { ...line, size: sorted[0]?.size ?? 0, pieces: sorted }
  })
}

const isSize = (size: number, name: keyof typeof sizes) => Math.abs(size - sizes[name]) < 0.1

/** Reads a result report that Assay drew. Undefined for every other layout. */
export function readReport(pages: PageText[]): FileReport | undefined {
  const [first] = pages
  if (!first?.pieces.some(({ text, size }) => text === 'Laboratory report' && isSize(size, 'heading'))) return undefined
  const facts = factsOf(first.pieces)
  if (!facts.has('Patient') || !facts.has('Specimen ID')) return undefined
  const { entries, unread } = entriesOf(pages.flatMap((page, i) => linesOf(page, i + 1)))
  const results = entries.flatMap((entry) => readEntry(entry, unread))
  return { metadata: metadataOf(first.pieces, facts), results, unread }
}

const labels = ['Patient', 'Date of birth', 'Sex', 'Ordering physician', 'Order', 'Specimen ID', 'Collected', 'Received', 'Reported']

/** The labeled values at the top. A value is below its label, up to the next row of labels. */
function factsOf(pieces: Piece[]) {
  const ofLabels = pieces.filter(({ text, size }) => isSize(size, 'label') && labels.includes(text))
  // One per label, so that the work below does not grow with their number.
  const named = [...new Map(ofLabels.map((piece) => [piece.text, piece])).values()]
  const facts = new Map<string, string | null>()
  for (const label of named) {
    const right = Math.min(...named.filter(({ x, y }) => x > label.x + 1 && Math.abs(y - label.y) < 1).map(({ x }) => x))
    const nextRow = Math.max(...named.filter(({ y }) => y < label.y - 1).map(({ y }) => y), label.y - 40)
    const value = pieces.filter(
      ({ x, y, size }) =>
        x >= label.x - 1 && x < right - 1 && y < label.y - 1 && y > nextRow + 1 && !isSize(size, 'label') && size < sizes.body,
    )
    const text = joinPieces(value.toSorted((a, b) => b.y - a.y || a.x - b.x))
    facts.set(label.text, text === '—' || text === '' ? null : text)
  }
  return facts
}

const genders: Record<string, ParsedMetadata['gender']> = { Male: 'male', Female: 'female' }

function metadataOf(pieces: Piece[], facts: Map<string, string | null>): ParsedMetadata {
  const [first_name = '', ...last] = facts.get('Patient')?.split(' ') ?? []
  return {
    patient_first_name: first_name,
    patient_last_name: last.join(' '),
    dob: dayOf(facts.get('Date of birth')) ?? '',
    gender: genders[facts.get('Sex') ?? ''] ?? 'other',
    lab_name: joinPieces(pieces.filter(({ size }) => isSize(size, 'title'))),
    date_reported: dayOf(facts.get('Reported')),
    date_collected: dayOf(facts.get('Collected')),
    specimen_number: facts.get('Specimen ID') ?? null,
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Jul 23, 1961 (63 years)` → `1961-07-23`. */
function dayOf(text: string | null | undefined) {
  const [, month = '', day = '', year] = /^([A-Z][a-z]{2}) (\d{1,2}), (\d{4})/.exec(text ?? '') ?? []
  const index = months.indexOf(month)
  return year && index >= 0 ? `${year}-${String(index + 1).padStart(2, '0')}-${day.padStart(2, '0')}` : null
}

const columnTitles = ['Test', 'Result', 'Unit', 'Flag', 'Reference range'] as const
type Column = (typeof columnTitles)[number]
type Entry = { page: number; columns: [Column, number][]; lines: Line[] }

/** Splits the tables of the report into entries, one per result. Other lines below the first table are returned as unread. */
function entriesOf(lines: Line[]) {
  const entries: Entry[] = []
  const unread: Unread[] = []
  let columns: Entry['columns'] | undefined
  let part: 'top' | 'table' | 'missing' | 'notes' = 'top'
  const lowest = new Map(lines.map(({ page, y }) => [page, y]))
  for (const [i, line] of lines.entries()) {
    const text = joinPieces(line.pieces)
    const header = columnsOf(line)
    if (header) {
      columns = header
      part = 'table'
    } else if (text === 'End of report') break
    else if (isFooter(line, lowest)) continue
    else if (isSize(line.size, 'heading')) part = text === 'Tests without results' ? 'missing' : text === 'Notes' ? 'notes' : 'top'
    else if (part === 'missing') unread.push({ page: line.page, text, reason: 'no_result' })
    else if (part === 'notes') unread.push({ page: line.page, text, reason: 'note' })
    else if (part === 'table' && columns) addLine(entries, columns, line, lines[i - 1])
  }
  return { entries, unread }
}

/** The columns, if the line is the header of a table. */
function columnsOf({ pieces }: Line): Entry['columns'] | undefined {
  const columns = columnTitles.flatMap((title): Entry['columns'] => {
    const piece = pieces.find(({ text }) => text === title)
    return piece ? [[title, piece.x]] : []
  })
  return columns.length === columnTitles.length ? columns : undefined
}

const isFooter = ({ page, y }: Line, lowest: Map<number, number>) => y === lowest.get(page) && y < 60

function addLine(entries: Entry[], columns: Entry['columns'], line: Line, before: Line | undefined) {
  const entry = entries.at(-1)
  const isNext = !entry || !before || before.page !== line.page || columnsOf(before) !== undefined || gapOf(before, line) > ENTRY_GAP
  if (isNext) entries.push({ page: line.page, columns, lines: [line] })
  else entry.lines.push(line)
}

/** The space between two lines, beyond that between lines of one text. */
const gapOf = (before: Line, { y, size }: Line) => before.y + before.size * 1.05 - (y + size * 1.05) - before.size * LINE_HEIGHT

const BROKEN = 0.8
const FREE_TEXT = 0.7

function readEntry({ page, columns, lines }: Entry, unread: Unread[]) {
  const [first, ...others] = lines as [Line, ...Line[]]
  const cells = cellsOf(columns, first)
  const body = others.filter(({ size }) => isSize(size, 'body'))
  const [panel, ...notes] = others.filter(({ size }) => isSize(size, 'small')).map(({ pieces }) => joinPieces(pieces))
  const isPanel = panel?.startsWith('Part of ') ?? false
  const isText = !cells.Result
  const broken = isText ? [] : body.map((line) => cellsOf(columns, line))
  const textOf = (column: Column) =>
    [cells, ...broken]
      .map((line) => line[column])
      .filter(Boolean)
      .join(' ')
  const value = isText ? body.map(({ pieces }) => joinPieces(pieces)).join(' ') : textOf('Result')
  const note = [...(panel && !isPanel ? [panel] : []), ...notes].join(' ')
  if (note) unread.push({ page, text: note, reason: 'note' })
  if (!cells.Test || !value) {
    unread.push({ page, text: lines.map(({ pieces }) => pieces.map(({ text }) => text).join(' ')).join(' '), reason: 'not_a_result' })
    return []
  }
  const isBroken = broken.some((line) => line.Result || line['Reference range'])
  return resultOf({
    name: isText ? cells.Test : textOf('Test'),
    value,
    ...{ unit: textOf('Unit'), flag: textOf('Flag'), range: textOf('Reference range') },
    panel: isPanel ? (panel as string).slice('Part of '.length) : null,
    confidence: isText ? FREE_TEXT : isBroken ? BROKEN : 1,
  })
}

/** The texts of a line by column. A text belongs to the last column that begins at or before it. */
function cellsOf(columns: Entry['columns'], { pieces }: Line): Partial<Record<Column, string>> {
  const cells = Map.groupBy(pieces, ({ x }) => columns.findLast(([, left]) => left <= x + 1)?.[0] ?? 'Test')
  return Object.fromEntries([...cells].map(([column, pieces]) => [column, joinPieces(pieces)]))
}

import { code, prose, table } from '../scripts/markdown.ts'

/** One measured number, with what ran beside it in the same run. `baseline` is the number of the last landing. */
export type Row = {
  name: string
  value: number
  unit: string
  reference?: { name: string; value: number }
  baseline?: number | undefined
}

/** `load` is the load average of the machine before and after. */
export type Section = { title: string; method: string; load: [before: number, after: number]; rows: Row[] }

/** `baseline` is the commit of the last landing. */
export type Report = {
  command: string
  commit: string
  baseline?: string | undefined
  at: string
  machine: string[]
  small: boolean
  sections: Section[]
}

export const TITLE = '# Benchmark report'

export const reportPage = (report: Report) => [TITLE, '', ...introduction(report), ...report.sections.flatMap(sectionLines)].join('\n')

function introduction({ command, commit, baseline, at, machine, small }: Report) {
  const compared = baseline
    ? ` The last column divides the result by that of commit ${baseline}, the last landing, which ran in turn with this version.`
    : ''
  return [
    ...prose(
      `${code(command)} wrote this report at ${at} from commit ${commit}. ${machine.join('. ')}. The service, its database, the client and the receiver share the cores, and every commit is flushed to disk. Each database has the partitions of 90 days of events, like that of a service that has run for as long.`,
    ),
    ...(small ? prose('This is a small run: short, with little data. Do not compare it with others.') : []),
    ...prose(
      `The reference is what ran beside the service, and the ratio is the result divided by it. Compare ratios, not times.${compared}`,
    ),
  ]
}

export function sectionLines({ title, method, load: [before, after], rows }: Section) {
  const isCompared = rows.some(({ baseline }) => baseline !== undefined)
  const header = ['Measurement', 'Result', 'Reference', 'Ratio', ...(isCompared ? ['Ratio to the last landing'] : [])]
  return [
    `## ${title}`,
    '',
    ...prose(`${method} Load of the machine: ${before.toFixed(1)} before, ${after.toFixed(1)} after.`),
    ...table(
      header,
      rows.map((row) => [...cellsOf(row), ...(isCompared ? [ratioTo(row, row.baseline)] : [])]),
    ),
  ]
}

const cellsOf = (row: Row) => [
  row.name,
  quantity(row.value, row.unit),
  row.reference ? `${quantity(row.reference.value, row.unit)}, ${row.reference.name}` : '',
  ratioTo(row, row.reference?.value),
]

const ratioTo = ({ value }: Row, to: number | undefined) => (to === undefined ? '' : quantity(value / to, ''))

/** Three significant digits, so a page does not suggest more precision than a run has. */
function quantity(value: number, unit: string) {
  if (!Number.isFinite(value)) return '–'
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3 })}${/^\w|^µ/.test(unit) ? ' ' : ''}${unit}`
}

/** Adds the numbers of the last landing, if it ran in turn. */
export const withBaseline = ([rows = [], baseline]: Row[][]): Row[] => rows.map((row, i) => ({ ...row, baseline: baseline?.[i]?.value }))

/** The lines of a report without its title, as a part of another page. */
export const quotedReport = (page: string) => page.slice(TITLE.length).trimStart().replaceAll(/^## /gm, '### ').split('\n')

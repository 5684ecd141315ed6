import { code, prose, table } from '../scripts/markdown.ts'

/** One measured number, compared with a limit of the same run and with a target for the number or for the ratio. */
export type Row = {
  name: string
  value: number
  unit: string
  limit?: { name: string; value: number }
  target?: { of?: 'ratio'; atLeast: number } | { of?: 'ratio'; atMost: number }
}

/** `load` is the load average of the machine before and after. */
export type Section = { title: string; method: string; load: [before: number, after: number]; rows: Row[] }

export type Report = { command: string; commit: string; at: string; machine: string[]; small: boolean; sections: Section[] }

export const TITLE = '# Benchmark report'

export const reportPage = (report: Report) => [TITLE, '', ...introduction(report), ...report.sections.flatMap(sectionLines)].join('\n')

function introduction({ command, commit, at, machine, small, sections }: Report) {
  const verdicts = sections.flatMap(({ rows }) => rows.map(isMet)).filter((met) => met !== undefined)
  return [
    ...prose(
      `${code(command)} wrote this report at ${at} from commit ${commit}. ${machine.join('. ')}. The service, its database, the client and the receiver share the cores, and every commit is flushed to disk. Each database has the partitions of 90 days of events, like that of a service that has run for as long.`,
    ),
    ...(small ? prose('This is a small run: short, with little data. Do not compare it with others.') : []),
    ...prose(
      `It meets ${verdicts.filter(Boolean).length} of ${verdicts.length} targets. A limit is what the tool named beside it reaches in the same run, and the ratio is the result divided by the limit.`,
    ),
  ]
}

export const sectionLines = ({ title, method, load: [before, after], rows }: Section) => [
  `## ${title}`,
  '',
  ...prose(`${method} Load of the machine: ${before.toFixed(1)} before, ${after.toFixed(1)} after.`),
  ...table(['Measurement', 'Result', 'Limit', 'Ratio', 'Target'], rows.map(cellsOf)),
]

const cellsOf = (row: Row) => [
  row.name,
  quantity(row.value, row.unit),
  row.limit ? `${quantity(row.limit.value, row.unit)}, ${row.limit.name}` : '',
  row.limit ? quantity(ratioOf(row), '') : '',
  targetCell(row),
]

const ratioOf = ({ value, limit }: Row) => value / (limit?.value ?? Number.NaN)

function targetCell(row: Row) {
  const { target } = row
  if (!target) return ''
  const [sign, bound] = 'atLeast' in target ? ['≥', target.atLeast] : ['≤', target.atMost]
  const goal = target.of === 'ratio' ? `ratio ${sign} ${quantity(bound, '')}` : `${sign} ${quantity(bound, row.unit)}`
  const met = isMet(row)
  return `${goal}, ${met === undefined ? 'not measured' : met ? 'met' : 'missed'}`
}

/** Returns undefined for a row without a target or without a measurement. */
function isMet(row: Row) {
  const { target } = row
  const value = target?.of === 'ratio' ? ratioOf(row) : row.value
  if (!target || Number.isNaN(value)) return undefined
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost
}

/** Three significant digits, so a page does not suggest more precision than a run has. */
function quantity(value: number, unit: string) {
  if (Number.isNaN(value)) return '–'
  return `${value.toLocaleString('en', { maximumSignificantDigits: 3 })}${/^\w|^µ/.test(unit) ? ' ' : ''}${unit}`
}

/** The lines of a report without its title, as a part of another page. */
export const quotedReport = (page: string) => page.slice(TITLE.length).trimStart().replaceAll(/^## /gm, '### ').split('\n')

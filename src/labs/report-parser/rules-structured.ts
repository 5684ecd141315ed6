import { z } from 'zod'
import { type FileReport, limitRows, type RawResult, resultOf, type Unread } from './rules-values.ts'

const text = z.string().max(5000)
const JsonReport = z.object({
  metadata: z
    .object({
      patient: text.nullish(),
      dob: text.nullish(),
      laboratory: text.nullish(),
      date_reported: text.nullish(),
      date_collected: text.nullish(),
      specimen_number: text.nullish(),
    })
    .nullish(),
  results: z.array(z.unknown()).max(1000),
})

const JsonResult = z.object({
  name: text.min(1),
  result: text.min(1),
  unit: text.nullish(),
  loinc: z
    .string()
    .regex(/^\d{1,7}-\d$/)
    .nullish(),
  reference_range: text.nullish(),
  min_range_value: z.number().nullish(),
  max_range_value: z.number().nullish(),
  interpretation: text.nullish(),
})

/** Reads results in the shape of `GET /v3/order/{order_id}/result`. */
export function readJson(content: string): FileReport | undefined {
  const report = JsonReport.safeParse(parse(content)).data
  if (!report) return undefined
  const unread: Unread[] = []
  const results = report.results.flatMap((entry) => {
    const result = JsonResult.safeParse(entry).data
    if (!result) unread.push({ page: null, text: JSON.stringify(entry).slice(0, 500), reason: 'not_a_result' })
    return result ? [fromJson(result)] : []
  })
  const { patient, dob, laboratory, date_reported, date_collected, specimen_number } = report.metadata ?? {}
  const [first = '', ...last] = patient?.split(' ') ?? []
  const metadata = {
    ...{ patient_first_name: first, patient_last_name: last.join(' '), dob: dob?.slice(0, 10) ?? '' },
    ...{ lab_name: laboratory ?? '', specimen_number: specimen_number ?? null },
    ...{ date_reported: date_reported?.slice(0, 10) ?? null, date_collected: date_collected?.slice(0, 10) ?? null },
  }
  return { metadata, results, unread }
}

function fromJson({ name, result, unit, loinc, ...rest }: z.output<typeof JsonResult>) {
  const range = rest.reference_range ?? rangeOf(rest.min_range_value ?? null, rest.max_range_value ?? null)
  const parsed = resultOf({ name, value: result, unit: unit ?? '', loinc: loinc ?? null, range, confidence: 1 })
  return { ...parsed, interpretation: rest.interpretation ?? null }
}

function rangeOf(min: number | null, max: number | null) {
  if (min !== null && max !== null) return `${min} – ${max}`
  if (min !== null) return `≥ ${min}`
  return max === null ? '' : `≤ ${max}`
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

/** The names of columns that are understood, in lower case. */
const columnNames: Record<keyof Omit<RawResult, 'confidence'>, string[]> = {
  name: ['test', 'test name', 'name', 'analyte', 'marker'],
  value: ['result', 'value'],
  unit: ['unit', 'units'],
  flag: ['flag', 'interpretation'],
  range: ['reference range', 'range', 'reference_range'],
  panel: ['panel', 'panel name'],
  loinc: ['loinc', 'loinc code'],
}

/** Reads a table with a header. Commas, semicolons and tabs separate the fields. */
export function readCsv(content: string): FileReport | undefined {
  const [header = '', ...lines] = content.split(/\r?\n/)
  const separator = [',', ';', '\t'].find((one) => header.includes(one))
  if (!separator) return undefined
  const titles = fieldsOf(header, separator).map((title) => title.trim().toLowerCase())
  const indexes = Object.entries(columnNames).map(
    ([column, names]) => [column, titles.findIndex((title) => names.includes(title))] as const,
  )
  const indexOf = Object.fromEntries(indexes)
  if (indexOf['name'] === -1 || indexOf['value'] === -1) return undefined
  const unread: Unread[] = []
  const rows = lines.filter((line) => line.trim())
  const results = limitRows(rows, unread).flatMap((line) => {
    const fields = fieldsOf(line, separator)
    const cell = (column: keyof typeof columnNames) => fields[indexOf[column] ?? -1]?.trim() ?? ''
    const loinc = /^\d{1,7}-\d$/.test(cell('loinc')) ? cell('loinc') : null
    if (cell('name') && cell('value'))
      return [
        resultOf({
          ...{ name: cell('name'), value: cell('value'), unit: cell('unit'), flag: cell('flag'), range: cell('range') },
          ...{ panel: cell('panel') || null, loinc, confidence: 1 },
        }),
      ]
    unread.push({ page: null, text: line.slice(0, 500), reason: 'not_a_result' })
    return []
  })
  return { metadata: {}, results, unread }
}

/** The fields of a line. A field in quotes can contain the separator, and a doubled quote stands for one. */
function fieldsOf(line: string, separator: string) {
  const fields: string[] = []
  let field = ''
  let isQuoted = false
  for (let i = 0; i < line.length; i++) {
    const character = line[i] as string
    if (character === '"' && isQuoted && line[i + 1] === '"') {
      field += '"'
      i++
    } else if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      fields.push(field)
      field = ''
    } else field += character
  }
  return [...fields, field]
}

import type { Interpretation, Result } from './flag.ts'
import { formatInstant, labelOf } from './formatting.ts'
import { drawBanner, drawFacts, drawHeading, drawRow, drawRule, footer } from './layout/blocks.ts'
import { closePage, openPage, type Page } from './layout/page.ts'
import { writeText } from './layout/text.ts'
import { color, textStyle } from './layout/theme.ts'
import { drawLetterhead } from './letterhead.ts'
import { birthWithAge, type Laboratory, nameOf, type Patient, type Physician } from './people.ts'
import { drawResultTable } from './result-table.ts'

type ReportStatus = 'partial' | 'final' | 'corrected'

type MissingResult = { name: string; slug: string; inferred_failure_type: string; note: string | null }

type PerformingLaboratory = {
  name: string
  clia_number?: string | null | undefined
  medical_director?: string | null | undefined
  phone_number?: string | null | undefined
  address?: { first_line: string; second_line?: string | null | undefined; city: string; state: string; zip: string } | null | undefined
}

export type ReportSection = { title?: string | null; results: Result[]; missing: MissingResult[] }

export type ResultReport = {
  created_at: string
  /** IANA zone of the printed times; null is UTC. */
  time_zone: string | null
  laboratory: Laboratory
  patient: Patient
  physician: Physician | null
  order_id: string
  sample_id: string | null
  collected_at: string | null
  received_at: string | null
  reported_at: string | null
  status: ReportStatus
  interpretation: Interpretation | null
  notes: string | null
  performing_laboratories?: PerformingLaboratory[]
  /** One per order of a transaction, in print order. */
  sections: ReportSection[]
}

export function resultReport(input: ResultReport): Promise<Buffer> {
  const page = openPage({ title: 'Laboratory report', subject: `Order ${input.order_id}`, created_at: input.created_at })
  drawLetterhead(page, input.laboratory, 'Laboratory report')
  writeStatus(page, input.status)
  drawFacts(page, 3, factsOf(input))
  writeInterpretation(page, input.interpretation)
  for (const section of input.sections) writeSection(page, section)
  if (input.notes) writeNotes(page, input.notes)
  if (input.performing_laboratories?.length) writePerformingLabs(page, input.performing_laboratories)
  page.y += 8
  writeText(page, 'End of report', textStyle.small, { x: page.left, width: page.width, align: 'center' })
  return closePage(page, footer(page, `${nameOf(input.patient)} · Order ${input.order_id}`))
}

function writeStatus(page: Page, status: ReportStatus) {
  if (status === 'final') return drawBanner(page, 'Final report.', { ...textStyle.strong, color: color.accent }, color.tint)
  if (status === 'partial') return drawBanner(page, 'Partial report. More results will follow.', textStyle.warn, color.warn_tint)
  drawBanner(
    page,
    'Corrected report. It replaces all earlier reports for this order. Do not use earlier reports.',
    textStyle.alert,
    color.alert_tint,
  )
}

function factsOf({ patient, time_zone, ...input }: ResultReport): [string, string | null][] {
  return [
    ['Patient', nameOf(patient)],
    ['Date of birth', birthWithAge(patient, input.collected_at ?? input.reported_at ?? input.created_at)],
    ['Sex', patient.gender && labelOf(patient.gender)],
    ['Ordering physician', physicianOf(input.physician)],
    ['Order', input.order_id],
    ['Specimen ID', input.sample_id],
    ['Collected', formatInstant(input.collected_at, time_zone)],
    ['Received', formatInstant(input.received_at, time_zone)],
    ['Reported', formatInstant(input.reported_at, time_zone)],
  ]
}

const physicianOf = (physician: Physician | null) => physician && nameOf(physician) + (physician.npi ? ` (NPI ${physician.npi})` : '')

const overall = {
  normal: {
    text: 'Overall: normal. All interpreted results are within their reference ranges.',
    style: { ...textStyle.strong, color: color.good },
  },
  abnormal: { text: 'Overall: abnormal. At least one result is outside its reference range.', style: textStyle.warn },
  critical: { text: 'Overall: CRITICAL. At least one result needs immediate medical attention.', style: textStyle.alert },
  unknown: {
    text: 'Overall: not interpreted. At least one result has no interpretation.',
    style: { ...textStyle.strong, color: color.quiet },
  },
}

function writeInterpretation(page: Page, interpretation: Interpretation | null) {
  if (!interpretation) return
  const { text, style } = overall[interpretation]
  page.y += 2
  drawRule(page)
  page.y += 6
  writeText(page, text, style)
}

function writeSection(page: Page, { title, results, missing }: ReportSection) {
  drawHeading(page, title || 'Results', 60)
  if (results.length) drawResultTable(page, results)
  else writeText(page, 'No results yet.', textStyle.quiet)
  if (missing.length) writeMissing(page, missing)
}

function writeMissing(page: Page, missing: MissingResult[]) {
  drawHeading(page, 'Tests without results')
  for (const { name, inferred_failure_type, note } of missing) {
    drawRow(page, [
      { text: name, style: textStyle.strong, x: page.left + 6, width: 190 },
      {
        text: [labelOf(inferred_failure_type), note].filter(Boolean).join('\n'),
        style: textStyle.body,
        x: page.left + 204,
        width: page.width - 210,
      },
    ])
    page.y += 4
  }
}

function writeNotes(page: Page, notes: string) {
  drawHeading(page, 'Notes')
  writeText(page, notes)
}

/** CLIA requires the name and address of the laboratory that performed a test. */
function writePerformingLabs(page: Page, labs: PerformingLaboratory[]) {
  drawHeading(page, 'Performing laboratories')
  for (const { name, clia_number, address, medical_director, phone_number } of labs) {
    const place = address && [address.first_line, address.second_line, address.city, `${address.state} ${address.zip}`.trim()]
    const facts = [
      place?.filter(Boolean).join(', '),
      clia_number && `CLIA ${clia_number}`,
      medical_director && `Director: ${medical_director}`,
      phone_number,
    ]
    writeText(page, [name, ...facts].filter(Boolean).join(' · '))
  }
}

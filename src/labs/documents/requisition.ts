import { formatInstant, labelOf } from './formatting.ts'
import { drawBarcode } from './layout/barcode.ts'
import { drawBanner, drawFacts, drawHeading, drawRow, type Fact, footer } from './layout/blocks.ts'
import { closePage, openPage, type Page } from './layout/page.ts'
import { drawSignatureLines } from './layout/signature.ts'
import { writeText } from './layout/text.ts'
import { color, textStyle } from './layout/theme.ts'
import { drawLetterhead } from './letterhead.ts'
import { addressOf, birthWithAge, type Laboratory, lastNameFirst, nameOf, type Patient, type Physician } from './people.ts'

type OrderedTest = {
  name: string
  code: string | null
  sample_type: string | null
  /** A marker lists its diagnoses if the order has diagnoses of single tests. */
  markers: { name: string; code: string | null; icd_codes: string[] }[]
}

type Coverage = {
  payor_name: string
  member_id: string
  group_id: string | null
  relationship: string | null
  insured_name: string | null
}

export type Requisition = {
  created_at: string
  time_zone: string | null
  laboratory: Laboratory
  account_number: string | null
  patient: Patient
  physician: Physician | null
  order_id: string
  sample_id: string | null
  ordered_at: string | null
  is_priority: boolean
  collection_method: string
  fasting: boolean
  billing_type: string
  insurance: Coverage | null
  icd_codes: { code: string; description: string | null }[]
  tests: OrderedTest[]
  aoe_answers: { marker: string; question: string; answer: string }[]
  clinical_notes: string | null
}

export function requisition(input: Requisition): Promise<Buffer> {
  const page = openPage({ title: 'Laboratory requisition', subject: `Order ${input.order_id}`, created_at: input.created_at })
  drawLetterhead(page, input.laboratory, 'Laboratory requisition')
  if (input.is_priority) drawBanner(page, 'STAT: process with priority.', textStyle.alert, color.alert_tint)
  writeSample(page, input.sample_id)
  drawFacts(page, 3, orderFacts(input))
  writePatient(page, input)
  writeBilling(page, input)
  writeTests(page, input.tests)
  writeAnswers(page, input.aoe_answers)
  if (input.clinical_notes) writeNotes(page, input.clinical_notes)
  drawHeading(page, 'Complete at collection', 46)
  drawSignatureLines(page, ['Collected by', 'Date and time', 'Fasting hours'])
  return closePage(page, footer(page, `${nameOf(input.patient)} · Order ${input.order_id}`))
}

function writeSample(page: Page, sample_id: string | null) {
  if (!sample_id) return
  const box = { x: page.left, width: page.width, align: 'center' } as const
  const height = drawBarcode(page, sample_id, { x: page.left, y: page.y, width: page.width, height: 40 }) ? 43 : 0
  page.y += height
  writeText(page, sample_id, { ...textStyle.strong, size: 11 }, box)
  page.y += 8
}

const orderFacts = ({ time_zone, ...input }: Requisition): Fact[] => [
  ['Order', input.order_id],
  ['Ordered', formatInstant(input.ordered_at, time_zone)],
  ['Account', input.account_number],
  ['Ordering physician', input.physician && nameOf(input.physician)],
  ['NPI', input.physician?.npi ?? null],
  ['Collection', labelOf(input.collection_method)],
  ['Specimen ID', input.sample_id],
  ['Priority', input.is_priority ? 'STAT' : 'Routine'],
  ['Fasting', input.fasting ? 'Required' : 'Not required'],
]

function writePatient(page: Page, { patient, created_at }: Requisition) {
  drawHeading(page, 'Patient')
  drawFacts(page, 3, [
    ['Name', lastNameFirst(patient)],
    ['Date of birth', birthWithAge(patient, created_at)],
    ['Sex', patient.gender && labelOf(patient.gender)],
    ['Address', patient.address && addressOf(patient.address)],
    ['Phone', patient.phone_number],
  ])
}

function writeBilling(page: Page, { billing_type, insurance, icd_codes }: Requisition) {
  drawHeading(page, 'Billing and diagnosis')
  drawFacts(page, 3, [
    ['Bill to', labelOf(billing_type)],
    ['Diagnosis (ICD-10)', icd_codes.map(({ code, description }) => (description ? `${code} ${description}` : code)).join('\n')],
    ...(insurance ? insuranceFacts(insurance) : []),
  ])
}

function insuranceFacts(insurance: Coverage) {
  const list: Fact[] = [
    ['Insurance', insurance.payor_name],
    ['Member ID', insurance.member_id],
    ['Group ID', insurance.group_id],
    ['Insured', insurance.insured_name],
    ['Relationship to insured', insurance.relationship],
  ]
  return list.filter(([, value]) => value)
}

function writeTests(page: Page, tests: OrderedTest[]) {
  drawHeading(page, 'Tests ordered')
  for (const test of tests) {
    drawTestLine(page, [test.code ?? '', test.name, test.sample_type ? labelOf(test.sample_type) : ''], textStyle.strong)
    for (const marker of test.markers) drawTestLine(page, [marker.code ?? '', marker.name, marker.icd_codes.join(', ')], textStyle.body)
    page.y += 4
  }
}

function drawTestLine(page: Page, [code, name, note]: [string, string, string], style: typeof textStyle.body) {
  const x = page.left
  drawRow(page, [
    { text: code, style, x, width: 76 },
    { text: name, style, x: x + 84, width: 280 },
    { text: note, style: textStyle.body, x: x + 372, width: page.width - 372 },
  ])
}

function writeAnswers(page: Page, answers: Requisition['aoe_answers']) {
  if (!answers.length) return
  drawHeading(page, 'Ask at order entry (AoE) questions')
  for (const { marker, question, answer } of answers) {
    drawRow(page, [
      { text: `${marker}: ${question}`, style: textStyle.body, x: page.left, width: 330 },
      { text: answer, style: textStyle.strong, x: page.left + 340, width: page.width - 340 },
    ])
    page.y += 3
  }
}

function writeNotes(page: Page, notes: string) {
  drawHeading(page, 'Clinical notes')
  writeText(page, notes)
}

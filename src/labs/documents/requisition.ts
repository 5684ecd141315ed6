import { instantInWords, inWords } from './labels-text.ts'
import { drawBarcode } from './layout/barcode.ts'
import { banner, type Fact, facts, footer, heading, row } from './layout/blocks.ts'
import { closePage, openPage, type Page } from './layout/page.ts'
import { signatureLines } from './layout/signature.ts'
import { writeText } from './layout/text.ts'
import { color, ink } from './layout/theme.ts'
import { letterhead } from './letterhead.ts'
import { addressOf, birthWithAge, type Laboratory, lastNameFirst, nameOf, type Patient, type Physician } from './people.ts'

export type OrderedTest = {
  name: string
  code: string | null
  sample_type: string | null
  markers: { name: string; code: string | null }[]
}

export type Coverage = {
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
  const paper = openPage({ title: 'Laboratory requisition', subject: `Order ${input.order_id}`, created_at: input.created_at })
  letterhead(paper, input.laboratory, 'Laboratory requisition')
  if (input.is_priority) banner(paper, 'STAT: process with priority.', ink.alert, color.alert_tint)
  writeSample(paper, input.sample_id)
  facts(paper, 3, orderFacts(input))
  writePatient(paper, input)
  writeBilling(paper, input)
  writeTests(paper, input.tests)
  writeAnswers(paper, input.aoe_answers)
  if (input.clinical_notes) writeNotes(paper, input.clinical_notes)
  heading(paper, 'Complete at collection', 46)
  signatureLines(paper, ['Collected by', 'Date and time', 'Fasting hours'])
  return closePage(paper, footer(paper, `${nameOf(input.patient)} · Order ${input.order_id}`))
}

function writeSample(paper: Page, sample_id: string | null) {
  if (!sample_id) return
  const box = { x: paper.left, width: paper.width, align: 'center' } as const
  const height = drawBarcode(paper, sample_id, { x: paper.left, y: paper.y, width: paper.width, height: 40 }) ? 43 : 0
  paper.y += height
  writeText(paper, sample_id, { ...ink.strong, size: 11 }, box)
  paper.y += 8
}

const orderFacts = ({ time_zone, ...input }: Requisition): Fact[] => [
  ['Order', input.order_id],
  ['Ordered', instantInWords(input.ordered_at, time_zone)],
  ['Account', input.account_number],
  ['Ordering physician', input.physician && nameOf(input.physician)],
  ['NPI', input.physician?.npi ?? null],
  ['Collection', inWords(input.collection_method)],
  ['Sample', input.sample_id],
  ['Priority', input.is_priority ? 'STAT' : 'Routine'],
  ['Fasting', input.fasting ? 'Required' : 'Not required'],
]

function writePatient(paper: Page, { patient, created_at }: Requisition) {
  heading(paper, 'Patient')
  facts(paper, 3, [
    ['Name', lastNameFirst(patient)],
    ['Date of birth', birthWithAge(patient, created_at)],
    ['Sex', patient.gender && inWords(patient.gender)],
    ['Address', patient.address && addressOf(patient.address)],
    ['Phone', patient.phone_number],
  ])
}

function writeBilling(paper: Page, { billing_type, insurance, icd_codes }: Requisition) {
  heading(paper, 'Billing and diagnosis')
  facts(paper, 3, [
    ['Bill to', inWords(billing_type)],
    ['Diagnosis (ICD-10)', icd_codes.map(({ code, description }) => (description ? `${code} ${description}` : code)).join('\n')],
    ...(insurance ? insuranceFacts(insurance) : []),
  ])
}

function insuranceFacts(insurance: Coverage) {
  const list: Fact[] = [
    ['Insurance', insurance.payor_name],
    ['Member', insurance.member_id],
    ['Group', insurance.group_id],
    ['Insured', insurance.insured_name],
    ['Relationship to insured', insurance.relationship],
  ]
  return list.filter(([, value]) => value)
}

function writeTests(paper: Page, tests: OrderedTest[]) {
  heading(paper, 'Tests ordered')
  for (const test of tests) {
    line(paper, [test.code ?? '', test.name, test.sample_type ? inWords(test.sample_type) : ''], ink.strong)
    for (const marker of test.markers) line(paper, [marker.code ?? '', marker.name, ''], ink.body)
    paper.y += 4
  }
}

function line(paper: Page, [code, name, note]: [string, string, string], style: typeof ink.body) {
  const x = paper.left
  row(paper, [
    { text: code, style, x, width: 76 },
    { text: name, style, x: x + 84, width: 280 },
    { text: note, style: ink.body, x: x + 372, width: paper.width - 372 },
  ])
}

function writeAnswers(paper: Page, answers: Requisition['aoe_answers']) {
  if (!answers.length) return
  heading(paper, 'Ask-on-order-entry questions')
  for (const { marker, question, answer } of answers) {
    row(paper, [
      { text: `${marker}: ${question}`, style: ink.body, x: paper.left, width: 330 },
      { text: answer, style: ink.strong, x: paper.left + 340, width: paper.width - 340 },
    ])
    paper.y += 3
  }
}

function writeNotes(paper: Page, notes: string) {
  heading(paper, 'Clinical notes')
  writeText(paper, notes)
}

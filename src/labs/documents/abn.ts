import { banner, facts, footer, heading, row } from './layout/blocks.ts'
import { closePaper, openPaper, type Paper } from './layout/page.ts'
import { signatureLines } from './layout/signature.ts'
import { writeText } from './layout/text.ts'
import { color, ink } from './layout/theme.ts'
import { letterhead } from './letterhead.ts'
import { birth, type Laboratory, nameOf, type Patient } from './people.ts'

export type UncertainTest = { name: string; code: string | null; reason: string; estimated_cost: string | null }

export type AdvanceNotice = {
  created_at: string
  laboratory: Laboratory
  patient: Patient
  order_id: string
  member_id: string | null
  insurer: string | null
  tests: UncertainTest[]
  /** In US dollars, of all tests together. */
  estimated_total: string | null
}

export function abn(input: AdvanceNotice): Promise<Buffer> {
  const paper = openPaper({ title: 'Advance Beneficiary Notice', subject: `Order ${input.order_id}`, created_at: input.created_at })
  letterhead(paper, input.laboratory, 'Advance Beneficiary Notice')
  facts(paper, 3, [
    ['Patient', nameOf(input.patient)],
    ['Date of birth', birth(input.patient, input.created_at)],
    ['Order', input.order_id],
    ['Insurance', input.insurer],
    ['Member', input.member_id],
  ])
  writeReason(paper, input.insurer)
  writeTests(paper, input)
  writeChoices(paper)
  paper.y += 4
  writeText(paper, closing, large)
  signatureLines(paper, ['Signature of the patient or representative', 'Name in print', 'Date'])
  return closePaper(paper, footer(paper, `${nameOf(input.patient)} · Order ${input.order_id}`))
}

function writeReason(paper: Paper, insurer: string | null) {
  paper.y += 4
  const payer = insurer ?? 'Your insurance'
  banner(
    paper,
    `${payer} may not pay for the tests below. If it does not, you may have to pay for them yourself.`,
    ink.warn,
    color.warn_tint,
  )
  writeText(
    paper,
    'Your physician has reasons to order these tests, also where insurance does not pay for them. Please read this page before your sample is collected, ask whatever you want to know, and choose what should be done.',
    large,
  )
}

function writeTests(paper: Paper, { tests, estimated_total }: AdvanceNotice) {
  heading(paper, 'Tests that may not be paid for')
  tableRow(paper, ['Test', 'Why it may not be paid for', 'Estimated cost'], ink.head)
  for (const { name, code, reason, estimated_cost } of tests)
    tableRow(paper, [code ? `${name} (${code})` : name, reason, money(estimated_cost)], large)
  const unknown = tests.some(({ estimated_cost }) => estimated_cost === null)
  const total = unknown ? 'Estimated total of the costs that are known' : 'Estimated total'
  if (estimated_total !== null) tableRow(paper, [total, '', money(estimated_total)], { ...large, weight: 'bold' })
}

function tableRow(paper: Paper, [test, reason, cost]: [string, string, string], style: typeof ink.body) {
  const x = paper.left
  row(paper, [
    { text: test, style, x, width: 170 },
    { text: reason, style, x: x + 180, width: 240 },
    { text: cost, style, x: x + 430, width: paper.width - 430 },
  ])
  paper.y += 4
}

const money = (amount: string | null) => (amount === null ? 'Not known' : `$${amount}`)

/** Many of those who get this notice are old. */
const large = { ...ink.body, size: 10.5 }

const choices = [
  'I want the tests, and my insurance is to be billed first. If it does not pay, I pay, and I may appeal its decision. If it does pay, I get back what I paid, less my share.',
  'I want the tests, but my insurance is not to be billed. I pay for them now. Since no claim is made, I cannot appeal.',
  'I do not want the tests. I owe nothing for them, and there is no decision that I could appeal.',
]

function writeChoices(paper: Paper) {
  heading(paper, 'Your choice: mark one box only')
  for (const [index, choice] of choices.entries()) {
    row(paper, [{ text: `Choice ${index + 1}. ${choice}`, style: large, x: paper.left + 24, width: paper.width - 24 }], () =>
      checkBox(paper),
    )
    paper.y += 8
  }
}

function checkBox(paper: Paper) {
  paper.doc
    .rect(paper.left + 2, paper.y + 1, 12, 12)
    .lineWidth(0.9)
    .strokeColor(color.text)
    .stroke()
}

const closing =
  'The costs are an estimate. Neither the laboratory nor your physician can make this choice for you, and refusing a test does not affect your other care. With your signature you confirm that you received this notice and understood it. You get a copy.'

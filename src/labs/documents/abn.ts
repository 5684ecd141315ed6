import { drawBanner, drawFacts, drawHeading, drawRow, footer } from './layout/blocks.ts'
import { closePage, openPage, type Page } from './layout/page.ts'
import { drawSignatureLines } from './layout/signature.ts'
import { writeText } from './layout/text.ts'
import { color, textStyle } from './layout/theme.ts'
import { drawLetterhead } from './letterhead.ts'
import { birthWithAge, type Laboratory, nameOf, type Patient } from './people.ts'

type UncertainTest = { name: string; code: string | null; reason: string; estimated_cost: string | null }

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
  const page = openPage({ title: 'Advance Beneficiary Notice', subject: `Order ${input.order_id}`, created_at: input.created_at })
  drawLetterhead(page, input.laboratory, 'Advance Beneficiary Notice')
  drawFacts(page, 3, [
    ['Patient', nameOf(input.patient)],
    ['Date of birth', birthWithAge(input.patient, input.created_at)],
    ['Order', input.order_id],
    ['Insurance', input.insurer],
    ['Member ID', input.member_id],
  ])
  writeFormNotice(page)
  writeReason(page, input.insurer)
  writeTests(page, input)
  writeChoices(page)
  page.y += 4
  writeText(page, closing, largeText)
  drawSignatureLines(page, ['Signature of the patient or representative', 'Printed name', 'Date'])
  page.y += 6
  writeText(page, scope, textStyle.quiet)
  return closePage(page, footer(page, `${nameOf(input.patient)} · Order ${input.order_id}`))
}

function writeFormNotice(page: Page) {
  page.y += 4
  drawBanner(page, notCmsForm, textStyle.strong, color.tint)
}

const notCmsForm =
  'This is not form CMS-R-131. Where Original Medicare requires an Advance Beneficiary Notice of Noncoverage (ABN), it requires form CMS-R-131. This notice does not replace that form.'

function writeReason(page: Page, insurer: string | null) {
  const payer = insurer ?? 'Your insurance'
  drawBanner(page, `${payer} may not pay for the tests below. If it does not pay, you may have to.`, textStyle.warn, color.warn_tint)
  writeText(
    page,
    'Your clinician may have good reasons to order tests that your insurance does not pay for. Read this notice before your specimen is collected. Ask questions if anything is unclear. Then check one box below.',
    largeText,
  )
}

function writeTests(page: Page, { tests, estimated_total }: AdvanceNotice) {
  drawHeading(page, 'Tests that may not be covered')
  drawTableRow(page, ['Test', 'Why it may not be covered', 'Estimated cost'], textStyle.head)
  for (const { name, code, reason, estimated_cost } of tests)
    drawTableRow(page, [code ? `${name} (${code})` : name, reason, formatAmount(estimated_cost)], largeText)
  const unknown = tests.some(({ estimated_cost }) => estimated_cost === null)
  const total = unknown ? 'Total of known estimates' : 'Estimated total'
  if (estimated_total !== null) drawTableRow(page, [total, '', formatAmount(estimated_total)], { ...largeText, weight: 'bold' })
}

function drawTableRow(page: Page, [test, reason, cost]: [string, string, string], style: typeof textStyle.body) {
  const x = page.left
  drawRow(page, [
    { text: test, style, x, width: 170 },
    { text: reason, style, x: x + 180, width: 240 },
    { text: cost, style, x: x + 430, width: page.width - 430 },
  ])
  page.y += 4
}

const formatAmount = (amount: string | null) => (amount === null ? 'Not known' : `$${amount}`)

/** Many people who receive this notice are older. */
const largeText = { ...textStyle.body, size: 10.5 }

const choices = [
  'I want the tests. Bill my insurance. If my insurance does not pay, I will pay, and I can appeal its decision. If it pays, I get a refund of what I paid, minus my deductible and copay.',
  'I want the tests. Do not bill my insurance. I will pay for them myself. I cannot appeal, because no claim is filed.',
  'I do not want the tests. I pay nothing for them. I cannot appeal, because no claim is filed.',
]

function writeChoices(page: Page) {
  drawHeading(page, 'Your choice: check one box')
  for (const [index, choice] of choices.entries()) {
    drawRow(page, [{ text: `Choice ${index + 1}. ${choice}`, style: largeText, x: page.left + 24, width: page.width - 24 }], () =>
      drawCheckBox(page),
    )
    page.y += 8
  }
}

function drawCheckBox(page: Page) {
  page.doc
    .rect(page.left + 2, page.y + 1, 12, 12)
    .lineWidth(0.9)
    .strokeColor(color.text)
    .stroke()
}

const closing =
  'The costs are estimates. Nobody at the laboratory or at your clinic may choose for you. By signing, you confirm that you received this notice and understand it. Keep a copy.'

const scope =
  'About ABNs: an ABN applies to Original Medicare (fee-for-service) only. It is given before an item or service that Medicare usually covers but is expected to deny this time, for example because Medicare does not consider it reasonable and necessary. It does not apply to Medicare Advantage (Part C) or Medicare drug plans (Part D). Your laboratory or clinic must determine whether these tests require form CMS-R-131.'

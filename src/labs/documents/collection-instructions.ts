import type { Method } from '../../contract/labs/lifecycle.ts'
import { labelOf } from './formatting.ts'
import { type SampleType, stepsFor } from './instruction-steps.ts'
import { drawBanner, drawFacts, drawHeading, drawRow, footer } from './layout/blocks.ts'
import { closePage, openPage, type Page } from './layout/page.ts'
import { writeLine, writeText } from './layout/text.ts'
import { color, textStyle } from './layout/theme.ts'

export type CollectionInstructions = {
  created_at: string
  /** ID of the lab test. */
  id: string
  name: string
  description: string | null
  method: Method
  sample_type: SampleType
  fasting: boolean
  laboratory_name: string | null
  /** Contact for patient questions; null leaves it out. */
  contact: string | null
}

export function collectionInstructions(input: CollectionInstructions): Promise<Buffer> {
  const page = openPage({ title: 'Collection instructions', subject: `Lab test ${input.id}`, created_at: input.created_at })
  writeText(page, 'Collection instructions', textStyle.heading)
  writeText(page, input.name, textStyle.title)
  if (input.description) writeText(page, input.description, textStyle.quiet)
  page.y += 10
  drawFacts(page, 4, [
    ['Collection', labelOf(input.method)],
    ['Specimen', labelOf(input.sample_type)],
    ['Fasting', input.fasting ? 'Yes' : 'No'],
    ['Laboratory', input.laboratory_name],
  ])
  page.y += 4
  if (input.fasting)
    drawBanner(
      page,
      'Fasting is required: drink only plain water for 8 to 12 hours before the collection.',
      textStyle.warn,
      color.warn_tint,
    )
  drawHeading(page, 'Step by step')
  page.y += 4
  for (const [index, step] of stepsFor(input).entries()) writeStep(page, index + 1, step)
  drawHeading(page, 'If something goes wrong')
  writeText(page, helpText(input), stepStyle)
  return closePage(page, footer(page, `Collection instructions · ${input.name}`))
}

const stepStyle = { ...textStyle.body, size: 10.5 }

function writeStep(page: Page, number: number, step: string) {
  const x = page.left + 30
  drawRow(page, [{ text: step, style: stepStyle, x, width: page.width - 30 }], () => drawNumberBadge(page, number))
  page.y += 8
}

function drawNumberBadge(page: Page, number: number) {
  const [x, y] = [page.left + 10, page.y + 7]
  page.doc.circle(x, y, 9).fill(color.accent)
  const style = { ...textStyle.strong, color: color.white }
  writeLine(page, String(number), y - 6, style, { x: x - 10, width: 20, align: 'center' })
}

const bloodSpecimens = ['serum', 'dried_blood_spot', 'arm_collector']

const helpText = ({ sample_type, contact }: CollectionInstructions) =>
  [
    bloodSpecimens.includes(sample_type) &&
      'If you feel faint, lie down. If bleeding does not stop after 10 minutes of firm pressure, or you feel seriously unwell, get medical help right away. In an emergency, call 911 or your local emergency number.',
    'If the specimen spilled, was mixed up, or was left behind, do not ship it. Ask for a new collection.',
    contact && `Questions: ${contact}`,
  ]
    .filter(Boolean)
    .join('\n')

import { expect, test } from 'vitest'
import { abn } from '../../src/labs/documents/abn.ts'
import { collectionInstructions } from '../../src/labs/documents/collection-instructions.ts'
import { labels } from '../../src/labs/documents/labels.ts'
import { requisition } from '../../src/labs/documents/requisition.ts'
import { aNotice, aPatient, aRequisition, someInstructions, someLabels } from '../support/documents.ts'
import { pagesOf, scan, textOf } from '../support/pdf.ts'

test('a requisition contains all order data, and its barcode is the specimen ID', async () => {
  const pdf = await requisition(aRequisition())
  const text = await textOf(pdf)
  const patient = ['Quillfeather, Zephyrine', 'Jul 23, 1961 (64 years)', '77 Marrowbone Crescent', 'Phoenix, AZ 85004']
  const order = [
    'Ottoline Brackwater',
    '1234567893',
    'ACC-20417',
    'Insurance',
    'MEMBER-55501',
    'E78.5',
    'R53.83',
    'Walk-in at a collection site',
  ]
  const tests = [
    '7600',
    'Lipid panel',
    '7602',
    'HDL cholesterol',
    'Is the patient fasting?',
    'Yes',
    'draw from the left arm',
    'CPF2603041177',
  ]
  for (const part of [...patient, ...order, ...tests]) expect(text).toContain(part)
  expect(text).not.toContain('STAT')
  expect(await scan(pdf, 2)).toBe('CPF2603041177')
})

test('a priority requisition is marked STAT', async () => {
  expect(await textOf(await requisition(aRequisition({ is_priority: true })))).toContain('STAT: process with priority.')
})

test('a requisition omits a missing physician, specimen, insurance and answers', async () => {
  const nothing = { physician: null, sample_id: null, ordered_at: null, account_number: null, insurance: null, clinical_notes: null }
  const patient = aPatient({ address: null, gender: null, phone_number: null })
  const text = await textOf(await requisition(aRequisition({ ...nothing, patient, icd_codes: [], aoe_answers: [] })))
  expect(text).toContain('Tests ordered')
  expect(text).not.toMatch(/null|undefined|Clinical notes|Ask at order entry/)
})

test('roll labels are one page each in label size, with a scannable barcode', async () => {
  const pdf = await labels(someLabels())
  const pages = await pagesOf(pdf)
  expect(pages).toHaveLength(3)
  for (const { width, height, text } of pages) {
    expect([width, height].map((points) => Math.round((points * 25.4) / 72))).toEqual([50, 25])
    for (const part of ['Quillfeather, Zephyrine', 'Jul 23, 1961', 'CPF2603041177', 'Mar 2, 2026', '5b8a4f0e']) expect(text).toContain(part)
  }
  expect(await scan(pdf, 4)).toBe('CPF2603041177')
})

test('sheet labels fill a page before the next one', async () => {
  expect(await pagesOf(await labels(someLabels({ layout: 'sheet', number_of_labels: 40 })))).toHaveLength(1)
  const pages = await pagesOf(await labels(someLabels({ layout: 'sheet', number_of_labels: 41 })))
  expect(pages.map(({ text }) => text.split('CPF2603041177').length - 1)).toEqual([40, 1])
})

test.each(['4c7d2f1e-8a35-4a0b-9e62-1f0c3b5a7d94', 'Probe-Ä-1'])(
  'prints the specimen ID %s, which does not fit a barcode, in full',
  async (sample_id) => {
    const pdf = await labels(someLabels({ sample_id }))
    await expect(scan(pdf, 4)).rejects.toThrow()
    expect((await textOf(pdf)).replaceAll(' ', '')).toContain(sample_id)
  },
)

test('collection instructions contain test, method, specimen, fasting and numbered steps', async () => {
  const text = await textOf(await collectionInstructions(someInstructions()))
  for (const part of ['Heart health at home', 'Self-collection kit', 'Dried blood spot', 'Fasting is required', 'help@clinic.example'])
    expect(text).toContain(part)
  expect(text).toMatch(/Step by step 1 Do not eat .* 2 Keep taking .* 3 Read all steps/)
  expect(await textOf(await collectionInstructions(someInstructions({ fasting: false })))).not.toContain('Fasting is required')
})

test('an advance beneficiary notice lists costs and three choices', async () => {
  const text = await textOf(await abn(aNotice()))
  for (const part of ['Advance Beneficiary Notice', 'Zephyrine Quillfeather', 'Copperfield', 'Medicare may not pay'])
    expect(text).toContain(part)
  for (const part of ['Vitamin D, 25-hydroxy (17306)', 'Not paid for with the diagnosis', '$82.00', 'Not known'])
    expect(text).toContain(part)
  for (const choice of [1, 2, 3]) expect(text).toContain(`Choice ${choice}.`)
  expect(text).toMatch(/Signature of the patient.*Date/)
})

test('an advance beneficiary notice states that it is not form CMS-R-131 and when an ABN applies', async () => {
  const text = await textOf(await abn(aNotice()))
  for (const part of [
    'This is not form CMS-R-131.',
    'This notice does not replace that form.',
    'an ABN applies to Original Medicare (fee-for-service) only',
    'usually covers but is expected to deny this time',
    'does not apply to Medicare Advantage (Part C)',
  ])
    expect(text).toContain(part)
})

test.each(['1234567890'.repeat(3), 'A-1', 'CPF-2603-0411'])(
  'the specimen ID %s on a label is scannable and readable',
  async (sample_id) => {
    const pdf = await labels(someLabels({ sample_id }))
    expect(await scan(pdf, 4)).toBe(sample_id)
    expect(await textOf(pdf)).toContain(sample_id)
  },
)

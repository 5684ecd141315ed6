import fc from 'fast-check'
import { expect, test } from 'vitest'
import { abn } from '../../src/labs/documents/abn.ts'
import { collectionInstructions } from '../../src/labs/documents/collection-instructions.ts'
import { labels } from '../../src/labs/documents/labels.ts'
import { requisition } from '../../src/labs/documents/requisition.ts'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { aNotice, aPatient, aReport, aRequisition, aResult, someInstructions, someLabels } from '../support/documents.ts'
import { pagesOf, textOf } from '../support/pdf.ts'

const labelFor = (last_name: string) => labels(someLabels({ patient: aPatient({ first_name: 'A', last_name }), number_of_labels: 1 }))

test.each([
  ['Ödegård-Nkemelu'],
  ['Nguyễn'],
  ['Łuczyńska'],
  ['Παπαδοπούλου'],
  ['Їжакевич'],
  ['Հակոբյան'],
  ['გელაშვილი'],
  ['山田'],
  ['ひらがな'],
  ['김하늘'],
  ['สมชาย'],
])('prints %s in its own script', async (name) => {
  expect((await textOf(await labelFor(name))).replaceAll(' ', '')).toContain(name.normalize('NFC'))
})

test('prints a decomposed name in composed form', async () => {
  expect(await textOf(await labelFor('Ödegård'.normalize('NFD')))).toContain('Ödegård')
})

test('prints code points for characters that no font has', async () => {
  expect(await textOf(await labelFor('𠮷田'))).toContain('[U+20BB7]')
  expect(await textOf(await labelFor('Ada 🧬'))).toContain('Ada [U+1F9EC]')
})

test('prints right-to-left names with their words from right to left', async () => {
  const [page] = await pagesOf(await labelFor('محمد علي'))
  expect(page?.text).toContain('محمد علي')
})

test.each(['\u202egnp.exe', 'a\u0000b\u001bc', '\ud800', '👩\u200d👩\u200d👧', '', '\u200b', 'e'.padEnd(300, '\u0301')])(
  'prints the unsafe name %j on one page',
  async (name) => {
    expect(await pagesOf(await labelFor(name))).toHaveLength(1)
  },
)

test('creates a document for any text', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  const draw = async (name: string, result: string) =>
    resultReport(aReport({ sections: [{ results: [aResult({ name, result, notes: name })], missing: [] }] }))
  await fc.assert(
    fc.asyncProperty(text, text, async (name, result) => {
      expect((await draw(name, result)).subarray(0, 5).toString()).toBe('%PDF-')
    }),
    { numRuns: 40 },
  )
})

test('the same input produces the same bytes, independent of earlier documents', async () => {
  const draw = () =>
    Promise.all([
      resultReport(aReport({ sections: [{ results: [aResult({ name: 'µ 山田 محمد', unit: 'µg/L' })], missing: [] }] })),
      requisition(aRequisition()),
      labels(someLabels()),
      collectionInstructions(someInstructions()),
      abn(aNotice()),
    ])
  const first = await draw()
  await resultReport(aReport({ sections: [{ results: [aResult({ name: 'Ωmega 김하늘 علي', unit: 'mol/L' })], missing: [] }] }))
  const second = await draw()
  expect(second.map((pdf) => pdf.toString('latin1'))).toEqual(first.map((pdf) => pdf.toString('latin1')))
})

test('the file properties contain the time and the order, but no names', async () => {
  const plain = (await resultReport(aReport())).toString('latin1')
  expect(plain).toContain('(D:20260304162000Z)')
  expect(plain).toContain('(Order 5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10)')
  expect(plain).not.toContain('Quillfeather')
})

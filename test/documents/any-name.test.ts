import { expect, test } from 'vitest'
import { abn } from '../../src/labs/documents/abn.ts'
import { collectionInstructions } from '../../src/labs/documents/collection-instructions.ts'
import { labels } from '../../src/labs/documents/labels.ts'
import { requisition } from '../../src/labs/documents/requisition.ts'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { aNotice, aPatient, aReport, aRequisition, aResult, someInstructions, someLabels } from '../support/documents.ts'
import { pagesOf, textOf } from '../support/pdf.ts'
import { fc } from '../support/properties.ts'

const named = (last_name: string) => labels(someLabels({ patient: aPatient({ first_name: 'A', last_name }), number_of_labels: 1 }))

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
])('%s is written in its own letters', async (name) => {
  expect((await textOf(await named(name))).replaceAll(' ', '')).toContain(name.normalize('NFC'))
})

test('a name in decomposed letters is the same name', async () => {
  expect(await textOf(await named('Ödegård'.normalize('NFD')))).toContain('Ödegård')
})

test('people whose names no font can write still have different labels', async () => {
  expect(await textOf(await named('𠮷田'))).toContain('[U+20BB7]')
  expect(await textOf(await named('Ada 🧬'))).toContain('Ada [U+1F9EC]')
})

test('right-to-left names are drawn, their words from right to left', async () => {
  const [page] = await pagesOf(await named('محمد علي'))
  expect(page?.text).toContain('محمد علي')
})

test.each(['\u202egnp.exe', 'a\u0000b\u001bc', '\ud800', '👩\u200d👩\u200d👧', '', '\u200b', 'e'.padEnd(300, '\u0301')])(
  '%j does no harm',
  async (name) => {
    expect(await pagesOf(await named(name))).toHaveLength(1)
  },
)

test('any text makes a document', async () => {
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

test('the same input is the same bytes, whatever was drawn before', async () => {
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

test('the properties of a file tell when and about what, and name nobody', async () => {
  const plain = (await resultReport(aReport())).toString('latin1')
  expect(plain).toContain('(D:20260304162000Z)')
  expect(plain).toContain('(Order 5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10)')
  expect(plain).not.toContain('Quillfeather')
})

import { expect, test } from 'vitest'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { aReport, aResult, high, manyResults } from '../support/documents.ts'
import { pagesOf, textOf } from '../support/pdf.ts'

const times = (text: string, part: string) => text.split(part).length - 1

test('prints every result once with its value, unit and range', async () => {
  const potassium = {
    name: 'Potassium',
    result: '4.25',
    unit: 'mmol/L',
    reference_range: '3.5 – 5.2',
    min_range_value: 3.5,
    max_range_value: 5.2,
  }
  const text = await textOf(await resultReport(aReport({ sections: [{ results: [aResult(), aResult(potassium)], missing: [] }] })))
  for (const part of ['Ferritin', '84', 'ng/mL', '15 – 150', 'Potassium', '4.25', 'mmol/L', '3.5 – 5.2']) expect(times(text, part)).toBe(1)
})

test('prints 60 results once each, with patient, order and page number on every page', async () => {
  const pages = await pagesOf(await resultReport(aReport({ sections: [{ results: manyResults(60), missing: [] }] })))
  expect(pages.length).toBeGreaterThan(1)
  for (const [index, { text }] of pages.entries()) {
    expect(text).toContain('Zephyrine Quillfeather · Order 5b8a4f0e-3c1d-4a55-9c57-0d2f4a7e9b10')
    expect(text).toContain(`Page ${index + 1} of ${pages.length}`)
    expect(text).toContain('Reference range')
  }
  const whole = pages.map(({ text }) => text).join(' ')
  for (const { name } of manyResults(60)) expect(times(whole, name)).toBe(1)
  expect(times(whole, 'End of report')).toBe(1)
})

test('never overlaps the footer or the margins', async () => {
  const wide = 'W'.repeat(1000)
  const long = `${'Hardly anything was seen. '.repeat(400)}`
  const results = [
    aResult({ name: wide, result: wide, unit: wide, reference_range: wide, notes: wide }),
    aResult({ type: 'comment', result: long }),
  ]
  const input = aReport({
    patient: { ...aReport().patient, first_name: wide },
    laboratory: { ...aReport().laboratory, name: wide },
    sample_id: wide,
    notes: long,
    sections: [{ title: wide, results, missing: [{ name: wide, slug: wide, inferred_failure_type: wide, note: wide }] }],
  })
  for (const { width, pieces } of await pagesOf(await resultReport(input))) {
    for (const piece of pieces) {
      expect(piece.x).toBeGreaterThanOrEqual(47.9)
      expect(piece.x + piece.width).toBeLessThanOrEqual(width - 47.9)
      expect(piece.y).toBeGreaterThan(40)
    }
    const foot = pieces.filter(({ y }) => y < 60)
    expect(foot).toHaveLength(2)
  }
})

test('marks a critical result', async () => {
  const results = [aResult({ name: 'Potassium', ...high, interpretation: 'critical' }), aResult(high)]
  const text = await textOf(await resultReport(aReport({ interpretation: 'critical', sections: [{ results, missing: [] }] })))
  expect(text).toContain('Overall: CRITICAL.')
  expect(times(text, 'CRITICAL HIGH')).toBe(1)
  expect(times(text, 'High')).toBe(1)
})

test.each([
  ['partial', 'Partial report. More results will follow.'],
  ['final', 'Final report.'],
  ['corrected', 'Corrected report. It replaces all earlier reports for this order'],
] as const)('labels a %s report', async (status, words) => {
  expect(await textOf(await resultReport(aReport({ status })))).toContain(words)
})

test('separates the orders of a transaction and gives the reason for missing results', async () => {
  const missing = [{ name: 'Homocysteine', slug: 'homocysteine', inferred_failure_type: 'insufficient_volume', note: 'Half a tube.' }]
  const sections = [
    { title: 'First draw', results: [aResult()], missing },
    { title: 'Redraw', results: [aResult({ name: 'Zinc' })], missing: [] },
  ]
  const text = await textOf(await resultReport(aReport({ sections })))
  expect(text).toMatch(/First draw.*Ferritin.*Homocysteine.*There was not enough specimen to test\. Half a tube\..*Redraw.*Zinc/)
})

test('prints comments and notes in full', async () => {
  const comment = 'A few epithelial cells are present, most likely from the skin; repeat if symptoms persist.'
  const result = aResult({ type: 'comment', result: comment, notes: 'Called at 08:55.' })
  const text = await textOf(await resultReport(aReport({ notes: 'Slightly hemolyzed.', sections: [{ results: [result], missing: [] }] })))
  for (const part of [comment, 'Called at 08:55.', 'Slightly hemolyzed.']) expect(text).toContain(part)
})

test('the header contains lab, patient, timestamps and the age at collection', async () => {
  const text = await textOf(await resultReport(aReport({ collected_at: '2025-07-22T18:00:00.000Z' })))
  for (const part of [
    'CLIA 03D0000000',
    '1200 Assayer Way, Tempe, AZ 85281',
    'Jul 23, 1961 (63 years)',
    'Female',
    'Jul 22, 2025, 11:00 MST',
  ])
    expect(text).toContain(part)
  expect(text).toContain('Ottoline Brackwater (NPI 1234567893)')
})

test('prints a report for a kit without physician, specimen or timestamps', async () => {
  const unknown = { physician: null, sample_id: null, collected_at: null, received_at: null, reported_at: null, interpretation: null }
  const text = await textOf(await resultReport(aReport({ ...unknown, sections: [{ results: [], missing: [] }] })))
  expect(text).toMatch(/Ordering physician.*—/)
  expect(text).toContain('No results yet.')
})

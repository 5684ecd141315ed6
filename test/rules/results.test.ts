import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { OrderedMeasurements } from '../../src/contract/labs/analyte.ts'
import { type BiomarkerResult, labResults, type NewResult, NewResults } from '../../src/contract/labs/results.ts'
import { dueDatesOf } from '../../src/labs/orders/progress/rules-due-dates.ts'
import * as rules from '../../src/labs/results/rules.ts'
import { ageOn } from '../../src/platform/time.ts'
import { analytes, orderedTest } from '../support/catalog.ts'

const markers = [
  { id: 1, name: 'Basic Metabolic Panel', slug: 'bmp', provider_id: 'QM1', expected_results: ['glucose', 'potassium'] },
  { id: 2, name: 'Glucose', slug: 'glucose', provider_id: 'QM2', expected_results: ['glucose'] },
  { id: 3, name: 'Lead', slug: 'lead-blood', provider_id: 'QM3', expected_results: ['lead-blood'] },
]
const ordered: OrderedMeasurements = { analytes, markers }

function completeResult(posted: NewResult, gender = 'female') {
  const [result] = rules.completeResults(
    ordered,
    { gender, sample_id: 'S-1' },
    { results: [posted], reported_at: '2026-03-02T08:00:00.000Z' },
  )
  return result as BiomarkerResult
}
const glucose = (result: string, more: Partial<NewResult> = {}) => completeResult({ slug: 'glucose', result, ...more })
const critical = (result: string) => glucose(result, { interpretation: 'critical' })

describe('completing a result from the lab', () => {
  test('adds the catalog data of the analyte', () => {
    expect(glucose('104')).toEqual({
      name: 'Glucose',
      slug: 'glucose',
      loinc: '2345-7',
      loinc_slug: 'glucose',
      provider_id: null,
      source_markers: [
        { marker_id: 1, name: 'Basic Metabolic Panel', slug: 'bmp', provider_id: 'QM1' },
        { marker_id: 2, name: 'Glucose', slug: 'glucose', provider_id: 'QM2' },
      ],
      value: 104,
      result: '104',
      type: 'numeric',
      unit: 'mg/dL',
      unit_ucum: 'mg/dL',
      timestamp: '2026-03-02T08:00:00.000Z',
      notes: null,
      reference_range: '70-99',
      min_range_value: 70,
      max_range_value: 99,
      is_above_max_range: true,
      is_below_min_range: false,
      interpretation: 'abnormal',
      source_interpretation: '',
      performing_laboratory: null,
      source_sample_id: 'S-1',
    })
  })

  test.each([
    ['70', 'normal'],
    ['99', 'normal'],
    ['69', 'abnormal'],
    ['50', 'abnormal'],
    ['49', 'critical'],
    ['450', 'abnormal'],
    ['450.1', 'critical'],
    ['<50', 'critical'],
    ['<=50', 'abnormal'],
    ['>450', 'critical'],
    ['80-90', 'normal'],
    ['90-80', 'normal'],
    ['80-120', 'unknown'],
    ['9'.repeat(400), 'unknown'],
    ['<80', 'unknown'],
    ['hemolyzed', 'unknown'],
  ])('interprets a glucose of %s as %s', (result, interpretation) => expect(glucose(result).interpretation).toBe(interpretation))

  test('treats an exclusive bound as outside the range', () => {
    expect(completeResult({ slug: 'triglycerides', result: '150' })).toMatchObject({ is_above_max_range: true, interpretation: 'abnormal' })
    expect(completeResult({ slug: 'triglycerides', result: '149' })).toMatchObject({ is_above_max_range: false, interpretation: 'normal' })
    expect(completeResult({ slug: 'hdl-cholesterol', result: '50' })).toMatchObject({ max_range_value: null, interpretation: 'normal' })
  })

  test('uses the range of the sex, and none if the sex is unknown and the ranges differ', () => {
    const hemoglobin = { slug: 'hemoglobin', result: '12.0' }
    expect(completeResult(hemoglobin, 'female').interpretation).toBe('normal')
    expect(completeResult(hemoglobin, 'male').interpretation).toBe('abnormal')
    expect(completeResult(hemoglobin, 'other')).toMatchObject({
      interpretation: 'unknown',
      reference_range: null,
      is_below_min_range: null,
    })
    expect(completeResult({ slug: 'glucose', result: '80' }, 'unknown').interpretation).toBe('normal')
  })

  test('treats the expected text as normal regardless of spelling', () => {
    const hiv = (result: string) => completeResult({ slug: 'hiv-ag-ab', result })
    expect(hiv('NONREACTIVE')).toMatchObject({ interpretation: 'normal', type: 'comment', value: -1, reference_range: 'Non-reactive' })
    expect(hiv('Reactive').interpretation).toBe('abnormal')
    expect(completeResult({ slug: 'hiv-ag-ab', result: 'NR', type: 'coded_value' }).interpretation).toBe('normal')
    expect(completeResult({ slug: 'hiv-ag-ab', result: 'RR', type: 'coded_value' }).interpretation).toBe('abnormal')
    expect(completeResult({ slug: 'potassium', result: 'HH', type: 'coded_value' }).interpretation).toBe('critical')
  })

  test('compares a text with the reference text of the lab', () => {
    const culture = (result: string, reference_range: string) => completeResult({ slug: 'culture', result, reference_range }).interpretation
    expect(culture('negative', 'Negative')).toBe('normal')
    expect(culture('Positive', 'Negative')).toBe('abnormal')
    expect(culture('Positive', 'See comment')).toBe('unknown')
  })

  test('does not apply catalog limits to a value in another unit', () => {
    expect(glucose('5.1', { unit: 'mmol/L' })).toMatchObject({ interpretation: 'unknown', min_range_value: null, unit: 'mmol/L' })
    expect(glucose('5.1', { unit: 'mmol/L', reference_range: '3.9–5.5' })).toMatchObject({ interpretation: 'normal', max_range_value: 5.5 })
    expect(glucose('104', { unit: 'mg/dl' }).interpretation).toBe('abnormal')
  })

  test('prefers the range of the lab, and null means no range', () => {
    expect(glucose('104', { min_range_value: 60, max_range_value: 110 })).toMatchObject({
      interpretation: 'normal',
      reference_range: '60-110',
    })
    expect(glucose('110', { reference_range: '<110' })).toMatchObject({ is_above_max_range: true, min_range_value: null })
    expect(glucose('110', { reference_range: '<110', max_range_value: 110 }).interpretation).toBe('abnormal')
    expect(glucose('104', { reference_range: null })).toMatchObject({ interpretation: 'unknown', reference_range: null })
  })

  test('uses the interpretation of the lab but never below a critical limit', () => {
    expect(glucose('104', { interpretation: 'normal' })).toMatchObject({ interpretation: 'normal', source_interpretation: 'normal' })
    expect(glucose('90', { interpretation: 'critical' }).interpretation).toBe('critical')
    expect(glucose('30', { interpretation: 'normal' }).interpretation).toBe('critical')
  })

  test('identifies the analyte by the lab code of a single-analyte marker', () => {
    expect(completeResult({ provider_id: 'QM3', result: '1.0' })).toMatchObject({ slug: 'lead-blood', provider_id: 'QM3' })
    expect(completeResult({ provider_id: 'QM1', result: '1.0', name: 'Something' })).toMatchObject({ slug: '', name: 'Something' })
    expect(completeResult({ loinc: '2823-3', result: '4.0' }).slug).toBe('potassium')
  })

  test('leaves source markers empty for an unordered result', () => {
    expect(completeResult({ slug: 'tsh', result: '2.000' })).toMatchObject({ source_markers: null, interpretation: 'normal' })
    expect(completeResult({ slug: 'novel-marker', result: '7' })).toMatchObject({
      source_markers: null,
      interpretation: 'unknown',
      name: 'novel-marker',
      loinc: null,
    })
  })

  test('does not read a less-than result as negative', () => {
    expect(completeResult({ slug: 'hs-crp', result: '<0.15' })).toMatchObject({ type: 'range', value: -1, interpretation: 'normal' })
  })
})

describe('interpretation of an order', () => {
  const of = (...list: string[]) => rules.interpretationOf(list.map((interpretation) => ({ interpretation })))
  test('is that of its worst result', () => {
    expect(of()).toBeNull()
    expect(of('normal', 'normal')).toBe('normal')
    expect(of('normal', 'unknown')).toBe('unknown')
    expect(of('unknown', 'abnormal', 'normal')).toBe('abnormal')
    expect(of('critical', 'abnormal', 'unknown')).toBe('critical')
  })
})

describe('missing results', () => {
  const reported = { slug: 'potassium', inferred_failure_type: 'collection_process_failure', note: 'Hemolyzed.' } as const

  test('are the expected results that did not arrive, with the reason from the lab', () => {
    expect(rules.missingResults(ordered, [glucose('90')], [reported])).toMatchObject([
      { slug: 'potassium', inferred_failure_type: 'collection_process_failure', note: 'Hemolyzed.', source_markers: [{ marker_id: 1 }] },
      { slug: 'lead-blood', inferred_failure_type: 'unknown_failure', note: null, source_markers: [{ marker_id: 3 }] },
    ])
  })
  test('exclude results that arrived later', () => {
    const results = [
      glucose('90'),
      completeResult({ slug: 'potassium', result: '4.0' }),
      completeResult({ slug: 'lead-blood', result: '1.0' }),
    ]
    expect(rules.missingResults(ordered, results, [reported])).toEqual([])
  })
  test('include results the lab reports missing beyond the order', () => {
    const extra = { loinc: '3016-3', name: 'TSH', inferred_failure_type: 'internal_lab_failure' } as const
    expect(rules.missingResults({ analytes: [], markers: [] }, [], [extra])).toMatchObject([
      { name: 'TSH', slug: '', source_markers: null },
    ])
  })
  test('are unknown until the results are final', () => {
    const missing = rules.missingResults(ordered, [], [])
    expect(rules.hasMissing('partial', missing)).toBeNull()
    expect(rules.hasMissing('final', missing)).toBe(true)
    expect(rules.hasMissing('corrected', [])).toBe(false)
  })
})

describe('critical result alert', () => {
  test('is raised once if the final report repeats the partial one', () => {
    const partial = [critical('500')]
    expect(rules.findNewCritical([], partial)).toEqual(partial)
    expect(rules.findNewCritical(partial, [critical('500'), completeResult({ slug: 'potassium', result: '4.0' })])).toEqual([])
  })
  test('is raised if a correction makes a result critical, not if it reverts one', () => {
    expect(rules.findNewCritical([glucose('90')], [glucose('500')])).toHaveLength(1)
    expect(rules.findNewCritical([glucose('500')], [glucose('90')])).toEqual([])
  })
  test('is raised again if the value changes or the same text becomes critical', () => {
    expect(rules.findNewCritical([critical('500')], [critical('520')])).toHaveLength(1)
    expect(rules.findNewCritical([glucose('90')], [critical('90')])).toHaveLength(1)
  })
  test('is raised for another analyte with the same text', () => {
    const potassium = completeResult({ slug: 'potassium', result: '500' })
    expect(rules.findNewCritical([critical('500')], [critical('500'), potassium])).toEqual([potassium])
  })
})

describe('results of a redraw', () => {
  const first = { results: [glucose('90')], missing_results: rules.missingResults(ordered, [glucose('90')], []) }

  test('fill in missing results and keep the rest', () => {
    const redraw = { results: [completeResult({ slug: 'potassium', result: '4.0' })], missing_results: [] }
    const { results, missing_results } = rules.mergeReports([first, redraw])
    expect(results.map(({ slug, result }) => [slug, result])).toEqual([
      ['glucose', '90'],
      ['potassium', '4.0'],
    ])
    expect(missing_results.map(({ slug }) => slug)).toEqual(['lead-blood'])
  })
  test('replace an older value, and a missing result does not remove one', () => {
    const again = { results: [glucose('85')], missing_results: [] }
    const failed = { results: [], missing_results: rules.missingResults(ordered, [], []) }
    expect(rules.mergeReports([first, again]).results).toMatchObject([{ result: '85' }])
    expect(rules.mergeReports([first, failed]).results).toMatchObject([{ result: '90' }])
  })
})

describe('report metadata', () => {
  const report = {
    patient: { first_name: 'Ida', last_name: 'Example', dob: '1980-02-29' },
    physician: { first_name: 'Otto', last_name: 'Sample' },
    lab: { name: 'Quillmoor', clia_number: '99D0000001' },
    sample_id: 'S-1',
    status: 'corrected',
    collected_at: '2026-02-28T09:00:00.000Z',
    received_at: null,
    reported_at: '2026-03-02T08:00:00.000Z',
    results: [glucose('104')],
  }
  test('contains patient, physician, lab and the age at collection', () => {
    expect(rules.metadataOf(report)).toEqual({
      age: '45',
      dob: '1980-02-29',
      'clia_#': '99D0000001',
      patient: 'Ida Example',
      provider: 'Otto Sample',
      laboratory: 'Quillmoor',
      date_reported: '2026-03-02T08:00:00.000Z',
      date_collected: '2026-02-28T09:00:00.000Z',
      date_received: null,
      specimen_number: 'S-1',
      status: 'final',
      interpretation: 'abnormal',
    })
  })
  test('matches the contract together with the results', () => {
    const sample = { ...report, fasting: true, notes: null }
    const all = {
      metadata: rules.metadataOf(report),
      results: [glucose('104'), glucose('<50'), glucose('9'.repeat(400)), completeResult({ slug: 'novel-marker', result: 'x' })],
      missing_results: rules.missingResults(ordered, [], []),
      sample_information: rules.sampleInformationOf(sample),
    }
    expect(labResults(z.unknown()).parse(all)).toEqual(all)
    expect(all.sample_information).toMatchObject({ 'S-1': { clinical_information: { fasting: true } } })
    expect(rules.sampleInformationOf({ ...sample, sample_id: null })).toBeNull()
  })
  test('uses the age at the report if the collection date is unknown', () => {
    const partial = { ...report, collected_at: null, physician: null, status: 'partial' }
    expect(rules.metadataOf(partial)).toMatchObject({ age: '46', provider: null, status: 'partial' })
  })
})

test.each([
  ['2008-02-29', '2026-02-28', 17],
  ['2008-02-29', '2026-03-01', 18],
  ['2008-02-29', '2028-02-28', 19],
  ['2008-02-29', '2028-02-29', 20],
  ['2008-06-15', '2026-06-14', 17],
  ['2008-06-15', '2026-06-15', 18],
  ['2008-12-31', '2009-01-01', 0],
])('a person born on %s is on %s %d years old', (dob, day, years) => expect(ageOn(dob, day)).toBe(years))

test.each([
  ['2026-01-30', 1, 2, '2026-01-31', '2026-02-01'],
  ['2028-02-28', 1, 2, '2028-02-29', '2028-03-01'],
  ['2026-12-30', 2, 5, '2027-01-01', '2027-01-04'],
  ['2026-03-07', 1, 3, '2026-03-08', '2026-03-10'],
])('collected on %s, results are due after %d and %d days', (day, common, worst, expected, latest) => {
  expect(dueDatesOf(day, common, worst)).toEqual({ expected_result_by_date: expected, worst_case_result_by_date: latest })
})
test('has no due dates without a collection date or a turnaround', () => {
  expect(dueDatesOf(null, 1, 2)).toEqual({ expected_result_by_date: null, worst_case_result_by_date: null })
  expect(dueDatesOf('2026-01-01', null, 2)).toMatchObject({ expected_result_by_date: null, worst_case_result_by_date: '2026-01-03' })
})

test('expects a shared analyte once', () => {
  expect(rules.expectedAnalytes(ordered).map(({ slug }) => slug)).toEqual(['glucose', 'potassium', 'lead-blood'])
  expect(rules.expectedAnalytes(orderedTest('ct-ng-home'))).toHaveLength(2)
})

describe('results posted by a lab', () => {
  const errorsOf = (result: object) =>
    NewResults.safeParse({ status: 'final', results: [result] }).error?.issues.map(({ message }) => message) ?? []

  test.each([
    [{ result: '5' }, 'Identify the measurement with'],
    [{ slug: 'glucose', type: 'numeric', result: 'high' }, 'Must be a number'],
    [{ slug: 'glucose', type: 'range', result: '5' }, 'Must be written as'],
    [{ slug: 'glucose', type: 'range', result: '<' }, 'Must be written as'],
    [{ slug: 'glucose', result: '5', min_range_value: 9, max_range_value: 1 }, 'Must not be less than min_range_value'],
    [{ loinc: 'glucose', result: '5' }, 'Must be a LOINC code'],
    [{ slug: 'glucose', result: '' }, 'Must not be empty'],
  ])('reject %j', (result, message) => expect(errorsOf(result).join()).toContain(message))

  test('never repeat a value in an error', () => {
    const odd = fc.string({ minLength: 8, maxLength: 30 }).filter((text) => /[^ ]{8}/.test(text))
    fc.assert(
      fc.property(odd, (text) => {
        expect(errorsOf({ slug: 'glucose', type: 'numeric', result: text }).join()).not.toContain(text)
      }),
    )
  })
  test('reject an empty list and more than 500 results', () => {
    const many = Array.from({ length: 501 }, () => ({ slug: 'glucose', result: '5' }))
    expect(NewResults.safeParse({ status: 'final', results: [] }).success).toBe(false)
    expect(NewResults.safeParse({ status: 'final', results: many }).success).toBe(false)
    expect(NewResults.safeParse({ status: 'final', results: many.slice(1) }).success).toBe(true)
  })
  test('accept missing results without a reason', () => {
    const posted = NewResults.parse({ status: 'final', results: [], missing_results: [{ slug: 'glucose' }] })
    expect(posted.missing_results).toEqual([{ slug: 'glucose', inferred_failure_type: 'unknown_failure' }])
  })
})

import { describe, expect, test } from 'vitest'
import {
  allDiagnoses,
  billedDiagnoses,
  diagnosesOf,
  diagnosisFindings,
  testDiagnoses,
} from '../../src/labs/orders/checks/rules-diagnoses.ts'
import { newUuid } from '../support/seeded.ts'

const [heart, sugar] = [newUuid(), newUuid()]
const ordered = {
  tests: [
    { id: heart, markers: [{ id: 1 }, { id: 2 }] },
    { id: sugar, markers: [{ id: 2 }, { id: 3 }] },
  ],
  markers: [1, 2, 3, 4].map((id) => ({ id })),
}

test.each<[string, Parameters<typeof diagnosisFindings>[0], string[]]>([
  [
    'tests and markers of the order',
    [
      { lab_test_id: heart, icd_codes: ['E78.5'] },
      { marker_id: 4, icd_codes: ['e11.22'] },
    ],
    [],
  ],
  [
    'a marker and its lab test',
    [
      { lab_test_id: heart, icd_codes: ['E78.5'] },
      { marker_id: 1, icd_codes: ['R53.83'] },
    ],
    [],
  ],
  ['another lab test', [{ lab_test_id: newUuid(), icd_codes: ['E78.5'] }], ['diagnosis_test_unknown icd_codes_by_test.0.lab_test_id']],
  ['another marker', [{ marker_id: 9, icd_codes: ['E78.5'] }], ['diagnosis_test_unknown icd_codes_by_test.0.marker_id']],
  [
    'a lab test twice',
    [
      { lab_test_id: heart, icd_codes: ['E78.5'] },
      { lab_test_id: sugar, icd_codes: ['E78.5'] },
      { lab_test_id: heart, icd_codes: ['E78.5'] },
    ],
    ['diagnosis_test_duplicate icd_codes_by_test.2.lab_test_id'],
  ],
  [
    'a marker twice, and an invalid code',
    [
      { marker_id: 3, icd_codes: ['E78.5', 'nonsense'] },
      { marker_id: 3, icd_codes: ['E78.5'] },
    ],
    ['icd_code_invalid icd_codes_by_test.0.icd_codes.1', 'diagnosis_test_duplicate icd_codes_by_test.1.marker_id'],
  ],
])('diagnoses of %s', (_, named, findings) => {
  const found = diagnosisFindings(named, ordered)
  expect(found.map(({ code, path }) => `${code} ${path.join('.')}`)).toEqual(findings)
  expect(found.every(({ status }) => status === 422)).toBe(true)
})

describe('the diagnoses of a marker', () => {
  const icd_codes_by_test = testDiagnoses(
    [
      { lab_test_id: heart, icd_codes: ['E78.5'] },
      { lab_test_id: sugar, icd_codes: ['E11.22', 'E78.5'] },
      { marker_id: 1, icd_codes: ['R53.83'] },
    ],
    ordered,
  )
  test.each([
    [1, ['R53.83']],
    [2, ['E78.5', 'E11.22']],
    [3, ['E11.22', 'E78.5']],
    [4, ['Z00.00']],
  ])('marker %i has its own, those of its lab tests, or those of the order', (id, codes) => {
    expect(diagnosesOf({ icd_codes: ['Z00.00'], icd_codes_by_test }, id)).toEqual(codes)
  })
  test('are those of the order without any by test', () => {
    expect(diagnosesOf({ icd_codes: ['Z00.00'], icd_codes_by_test: null }, 1)).toEqual(['Z00.00'])
    expect(diagnosesOf({ icd_codes: null }, 1)).toEqual([])
  })
  test('are each named once for the whole order', () => {
    expect(allDiagnoses({ icd_codes: ['E78.5'], icd_codes_by_test })).toEqual(['E78.5', 'E11.22', 'R53.83'])
  })
  test('include those of the insurance for the payor', () => {
    const billed = billedDiagnoses({ icd_codes: null, icd_codes_by_test, health_insurance: { diagnosis_codes: ['I10'] } })
    expect([4, 1].map((id) => diagnosesOf(billed, id))).toEqual([['I10'], ['R53.83']])
  })
})

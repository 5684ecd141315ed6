import { normalizeIcdCode } from '../../../tenants/insurance/rules.ts'
import { type Finding, fieldError, findingIf } from './rules-findings.ts'

type Named = { lab_test_id?: string | null | undefined; marker_id?: number | null | undefined; icd_codes: string[] }

/** The tests of an order, and all of their markers. */
export type DiagnosedTests = { tests: { id: string; markers: { id: number }[] }[]; markers: { id: number }[] }

/** The diagnoses of one test as the order stores them. `marker_ids` are its markers. */
export type TestDiagnoses = { lab_test_id: string | null; marker_id: number | null; marker_ids: number[]; icd_codes: string[] }

/** Finds the errors in the diagnoses of single tests, each with its position. */
export const diagnosisFindings = (named: Named[], ordered: DiagnosedTests): Finding[] =>
  named.flatMap((entry, i) => [...referenceFindings(named, i, ordered), ...codeFindings(entry, i)])

function referenceFindings(named: Named[], i: number, ordered: DiagnosedTests): Finding[] {
  const entry = named[i] as Named
  const path = ['icd_codes_by_test', i, entry.lab_test_id ? 'lab_test_id' : 'marker_id']
  if (!markersOf(entry, ordered).length)
    return [fieldError('diagnosis_test_unknown', path, 'The test is not part of this order.', 'Name a lab test or a marker of the order.')]
  return findingIf(
    named.slice(0, i).some((earlier) => isSameTest(earlier, entry)),
    () => fieldError('diagnosis_test_duplicate', path, 'The test is named twice.', 'Name it once, with all of its codes.'),
  )
}

const isSameTest = (a: Named, b: Named) => (a.lab_test_id ? a.lab_test_id === b.lab_test_id : !b.lab_test_id && a.marker_id === b.marker_id)

const codeFindings = ({ icd_codes }: Named, i: number): Finding[] =>
  icd_codes.flatMap((code, j) =>
    findingIf(!normalizeIcdCode(code), () =>
      fieldError(
        'icd_code_invalid',
        ['icd_codes_by_test', i, 'icd_codes', j],
        'The code is not in ICD-10-CM format.',
        'Send a code such as E78.5.',
      ),
    ),
  )

/** The markers that an entry names. None if they are not part of the order. */
const markersOf = ({ lab_test_id, marker_id }: Named, { tests, markers }: DiagnosedTests) =>
  lab_test_id ? (tests.find(({ id }) => id === lab_test_id)?.markers ?? []) : markers.filter(({ id }) => id === marker_id)

export const testDiagnoses = (named: Named[], ordered: DiagnosedTests): TestDiagnoses[] =>
  named.map((entry) => ({
    lab_test_id: entry.lab_test_id ?? null,
    marker_id: entry.marker_id ?? null,
    marker_ids: markersOf(entry, ordered).map(({ id }) => id),
    icd_codes: entry.icd_codes,
  }))

/** The diagnoses of an order. Orders of earlier versions have none by test. */
type Diagnoses = { icd_codes: string[] | null; icd_codes_by_test?: TestDiagnoses[] | null | undefined }

/** The diagnoses of a marker: its own, those of its lab tests, or those of the order. */
export function diagnosesOf({ icd_codes, icd_codes_by_test }: Diagnoses, marker_id: number): string[] {
  const all = icd_codes_by_test ?? []
  const own = all.filter((entry) => entry.marker_id === marker_id)
  const ofTests = all.filter(({ marker_ids }) => marker_ids.includes(marker_id))
  const found = own.length ? own : ofTests
  return found.length ? [...new Set(found.flatMap((entry) => entry.icd_codes))] : (icd_codes ?? [])
}

/** The diagnoses that a payor sees: with those of the deprecated health_insurance. */
export const billedDiagnoses = ({
  health_insurance,
  icd_codes,
  icd_codes_by_test,
}: Diagnoses & { health_insurance?: { diagnosis_codes?: string[] | null | undefined } | null | undefined }): Diagnoses => ({
  icd_codes: [...(icd_codes ?? []), ...(health_insurance?.diagnosis_codes ?? [])],
  icd_codes_by_test,
})

/** Every diagnosis of an order once. */
export const allDiagnoses = ({ icd_codes, icd_codes_by_test }: Diagnoses): string[] => [
  ...new Set([...(icd_codes ?? []), ...(icd_codes_by_test ?? []).flatMap((entry) => entry.icd_codes)]),
]

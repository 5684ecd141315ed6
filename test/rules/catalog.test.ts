import { describe, expect, test } from 'vitest'
import * as rules from '../../src/labs/catalog/rules.ts'

const lab = { id: 1, name: 'Quillmoor', collection_methods: ['walk_in_test'], sample_types: ['serum', 'urine'] }
const marker = (change: object = {}) => ({
  id: 1001,
  lab_id: 1,
  provider_id: 'QM1',
  price: '18.00',
  sample_types: ['serum'],
  is_orderable: true,
  a_la_carte_enabled: true,
  common_tat_days: 1 as number | null,
  worst_case_tat_days: 3 as number | null,
  ...change,
})
const errorTypeOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as { detail: { error_type: string } }).detail.error_type
  }
}

describe('lab test built from markers', () => {
  test('sums the prices to the cent and takes the longest turnaround', () => {
    const slow = marker({ price: '0.10', common_tat_days: 4, worst_case_tat_days: 9 })
    expect(rules.termsOf([marker({ price: '0.20' }), slow])).toEqual({ price: 0.3, common_tat_days: 4, worst_case_tat_days: 9 })
  })
  test('has no turnaround if a marker has none', () => {
    expect(rules.termsOf([marker(), marker({ common_tat_days: null })])).toMatchObject({ common_tat_days: null, worst_case_tat_days: 3 })
  })
  test('needs a specimen type all markers share and prefers the order of the lab', () => {
    expect(rules.commonSampleType(lab, [marker({ sample_types: ['urine', 'serum'] }), marker({ sample_types: ['serum', 'urine'] })])).toBe(
      'serum',
    )
    expect(rules.commonSampleType(lab, [marker({ sample_types: ['urine'] })])).toBe('urine')
    expect(errorTypeOf(() => rules.commonSampleType(lab, [marker(), marker({ sample_types: ['urine'] })]))).toBe('NO_COMMON_SAMPLE_TYPE')
    expect(errorTypeOf(() => rules.commonSampleType(lab, [marker({ sample_types: ['stool'] })]))).toBe('NO_COMMON_SAMPLE_TYPE')
  })
  test('requires one lab and a collection method it offers', () => {
    expect(rules.requireOneLab([2, 2])).toBe(2)
    expect(errorTypeOf(() => rules.requireOneLab([1, 2]))).toBe('SEVERAL_LABS')
    expect(errorTypeOf(() => rules.checkMethod(lab, 'testkit'))).toBe('METHOD_NOT_OFFERED')
    expect(errorTypeOf(() => rules.checkMethod(lab, 'walk_in_test'))).toBeUndefined()
  })
  test.each([
    [{}, 'MARKERS_REQUIRED'],
    [{ marker_ids: [], provider_ids: null }, 'MARKERS_REQUIRED'],
    [{ marker_ids: [1], provider_ids: ['A'] }, 'MARKERS_NAMED_TWICE'],
    [{ marker_ids: [1], provider_ids: [] }, undefined],
    [{ provider_ids: ['A'] }, undefined],
  ])('checks the marker selection %j: %s', (selection, errorType) =>
    expect(errorTypeOf(() => rules.checkMarkerSelection(selection))).toBe(errorType),
  )
  test('rejects unknown, non-orderable and non-a-la-carte markers with separate errors', () => {
    expect(errorTypeOf(() => rules.checkMarkersFound({ marker_ids: [1001, 5] }, [marker()]))).toBe('UNKNOWN_MARKER')
    expect(errorTypeOf(() => rules.checkMarkersFound({ provider_ids: ['QM1'] }, [marker()]))).toBeUndefined()
    expect(errorTypeOf(() => rules.checkOrderable([marker({ is_orderable: false })]))).toBe('MARKER_NOT_ORDERABLE')
    expect(errorTypeOf(() => rules.checkALaCarte([marker({ a_la_carte_enabled: false })]))).toBe('MARKER_NOT_A_LA_CARTE')
  })
  test.each([
    ['Heart & Sugar', 'heart-sugar'],
    ['  Blutbild (groß), Äpfel ', 'blutbild-gro-apfel'],
    ['漢字', 'lab-test'],
  ])('turns the name %j into the slug %s', (name, slug) => expect(rules.slugOf(name)).toBe(slug))
})

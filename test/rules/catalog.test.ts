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
const refusalOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as { detail: { error_type: string } }).detail.error_type
  }
}

describe('a test made of markers', () => {
  test('costs their sum to the cent and takes as long as the slowest', () => {
    const slow = marker({ price: '0.10', common_tat_days: 4, worst_case_tat_days: 9 })
    expect(rules.termsOf([marker({ price: '0.20' }), slow])).toEqual({ price: 0.3, common_tat_days: 4, worst_case_tat_days: 9 })
  })
  test('promises no time where a marker has none', () => {
    expect(rules.termsOf([marker(), marker({ common_tat_days: null })])).toMatchObject({ common_tat_days: null, worst_case_tat_days: 3 })
  })
  test('needs one sample that serves all; the lab says which comes first', () => {
    expect(rules.commonSample(lab, [marker({ sample_types: ['urine', 'serum'] }), marker({ sample_types: ['serum', 'urine'] })])).toBe(
      'serum',
    )
    expect(rules.commonSample(lab, [marker({ sample_types: ['urine'] })])).toBe('urine')
    expect(refusalOf(() => rules.commonSample(lab, [marker(), marker({ sample_types: ['urine'] })]))).toBe('NO_COMMON_SAMPLE_TYPE')
    expect(refusalOf(() => rules.commonSample(lab, [marker({ sample_types: ['stool'] })]))).toBe('NO_COMMON_SAMPLE_TYPE')
  })
  test('goes to one lab, by a method of that lab', () => {
    expect(rules.requireOneLab([2, 2])).toBe(2)
    expect(refusalOf(() => rules.requireOneLab([1, 2]))).toBe('SEVERAL_LABS')
    expect(refusalOf(() => rules.checkMethod(lab, 'testkit'))).toBe('METHOD_NOT_OFFERED')
    expect(refusalOf(() => rules.checkMethod(lab, 'walk_in_test'))).toBeUndefined()
  })
  test.each([
    [{}, 'MARKERS_REQUIRED'],
    [{ marker_ids: [], provider_ids: null }, 'MARKERS_REQUIRED'],
    [{ marker_ids: [1], provider_ids: ['A'] }, 'MARKERS_NAMED_TWICE'],
    [{ marker_ids: [1], provider_ids: [] }, undefined],
    [{ provider_ids: ['A'] }, undefined],
  ])('from %j: %s', (named, refused) => expect(refusalOf(() => rules.checkMarkerSelection(named))).toBe(refused))
  test('refuses markers that are unknown, not orderable or not a la carte, each by its own name', () => {
    expect(refusalOf(() => rules.checkMarkersFound({ marker_ids: [1001, 5] }, [marker()]))).toBe('UNKNOWN_MARKER')
    expect(refusalOf(() => rules.checkMarkersFound({ provider_ids: ['QM1'] }, [marker()]))).toBeUndefined()
    expect(refusalOf(() => rules.checkOrderable([marker({ is_orderable: false })]))).toBe('MARKER_NOT_ORDERABLE')
    expect(refusalOf(() => rules.checkALaCarte([marker({ a_la_carte_enabled: false })]))).toBe('MARKER_NOT_A_LA_CARTE')
  })
  test.each([
    ['Heart & Sugar', 'heart-sugar'],
    ['  Blutbild (groß), Äpfel ', 'blutbild-gro-apfel'],
    ['漢字', 'lab-test'],
  ])('%j has the slug %s', (name, slug) => expect(rules.slugOf(name)).toBe(slug))
})

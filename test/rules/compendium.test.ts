import { expect, test } from 'vitest'
import { canonicalTests, type Marker, rankCandidates, relationOf } from '../../src/labs/compendium/rules.ts'
import { indexEntries, searchEntries, similarity } from '../../src/labs/compendium/rules-search.ts'

const marker = (id: number, lab_id: number, name: string, loincs: string[]): Marker => ({
  ...{ id, lab_id, name, provider_id: `P${id}`, slug: name, is_orderable: true, uses: 0 },
  results: loincs.map((loinc) => ({ name: `Analyte ${loinc}`, loinc })),
})

test('markers that measure the same are one test, whatever their names', () => {
  const tests = canonicalTests([
    marker(1, 1, 'Lipid Panel', ['2093-3', '2085-9']),
    marker(2, 2, 'Cholesterol Profile', ['2085-9', '2093-3']),
    marker(3, 1, 'Glucose', ['2345-7']),
  ])
  expect(tests.map(({ names, markers }) => [names[0], markers.map(({ id }) => id)])).toEqual([
    ['Cholesterol Profile', [1, 2]],
    ['Glucose', [3]],
  ])
})

test('relations say whether a marker measures less or more', () => {
  expect(relationOf(['a', 'b'], ['b', 'a'])).toEqual({ relation: 'exact', confidence: 1 })
  expect(relationOf(['a', 'b'], ['a'])).toEqual({ relation: 'subset', confidence: 0.5 })
  expect(relationOf(['a'], ['a', 'b'])).toEqual({ relation: 'superset', confidence: 0.5 })
  expect(relationOf(['a', 'b'], ['b', 'c'])).toEqual({ relation: 'overlap', confidence: 0.333 })
  expect(relationOf(['a'], ['b'])).toBeUndefined()
  const ranked = rankCandidates(
    ['a', 'b'],
    [marker(1, 1, 'A', ['a']), marker(2, 1, 'AB', ['a', 'b']), marker(3, 1, 'ABC', ['a', 'b', 'c'])],
    3,
  )
  expect(ranked.map(({ relation }) => relation)).toEqual(['exact', 'superset', 'subset'])
})

test('a name is found by its beginning, a word, a part, or with a typing error', () => {
  expect(similarity('Vitamin D', 'vitamin-d')).toBe(1)
  expect(similarity('vitam', 'Vitamin D, 25-Hydroxy')).toBeGreaterThan(0.9)
  expect(similarity('hydroxy', 'Vitamin D, 25-Hydroxy')).toBe(0.8)
  expect(similarity('tesosterone', 'Testosterone, Total')).toBeGreaterThan(0.3)
  expect(similarity('glucose', 'Ferritin')).toBeLessThan(0.1)
})

test('among 10,000 markers, a search reads few of them', () => {
  const words = ['free', 'total', 'serum', 'urine', 'ratio', 'antibody', 'antigen', 'enzyme', 'panel', 'fraction']
  const entries = Array.from({ length: 10_000 }, (_, i) => ({
    names: [`Analyte ${(i * 7919).toString(36)} ${words[i % 10]} ${words[(i * 3 + 1) % 10]}`],
    codes: [`C${i}`],
  }))
  const index = indexEntries([...entries, { names: ['Apolipoprotein B'], codes: ['1884-6'] }])
  expect(searchEntries(index, 'apolipo', 3).map(({ entry }) => entry.names[0])).toEqual(['Apolipoprotein B'])
  expect(searchEntries(index, 'apoliprotein b', 1)[0]?.entry.names).toEqual(['Apolipoprotein B'])
  expect(searchEntries(index, '1884-6', 3)).toEqual([{ entry: { names: ['Apolipoprotein B'], codes: ['1884-6'] }, confidence: 1 }])
  expect(searchEntries(index, 'c77', 3)[0]?.entry.codes).toEqual(['C77'])
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Catalog, readCatalog } from '../../src/labs/catalog/file/file.ts'

const builtIn = readFileSync(new URL('../../catalog/catalog.json', import.meta.url), 'utf8')

/** The built-in file with something changed. */
function catalogWith(change: (file: Catalog) => unknown) {
  const file = JSON.parse(builtIn) as Catalog
  change(file)
  return JSON.stringify(file)
}
const errorsOf = (text: string) => {
  try {
    readCatalog(text)
  } catch (error) {
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
  return []
}

test('reads the entire built-in catalog file', () => {
  const read = readCatalog(builtIn)
  expect([read.labs.length, read.lab_markers.length, read.lab_tests.length]).toEqual([5, 122, 21])
  expect(read.lab_markers[0]).toMatchObject({ id: 1001, provider_id: 'QM10007', price: '18.00' })
})

test('accepts a file without payors, diagnosis codes or service centers', () => {
  const { labs, analytes, markers, lab_markers, lab_tests } = JSON.parse(builtIn)
  expect(readCatalog(JSON.stringify({ labs, analytes, markers, lab_markers, lab_tests }))).toMatchObject({
    payors: [],
    icd10_starter: [],
  })
})

describe('reports the path of an invalid value', () => {
  test.each<[string, (file: Catalog) => unknown, string]>([
    ['a wrong type', (file) => Object.assign(file.labs[0] as object, { zipcode: 85004 }), 'labs[0].zipcode: '],
    ['a missing field', (file) => Reflect.deleteProperty(file.lab_tests[2] as object, 'method'), 'lab_tests[2].method: '],
    [
      'an unknown method',
      (file) => Object.assign(file.labs[1] as object, { collection_methods: ['by_post'] }),
      'labs[1].collection_methods[0]: ',
    ],
    [
      'an invalid time zone',
      (file) => Object.assign(file.labs[2] as object, { iana_timezone: 'Phoenix' }),
      'labs[2].iana_timezone: Must be',
    ],
    [
      'an invalid state code',
      (file) => file.labs[0]?.excluded_states.push('ZZ'),
      'labs[0].excluded_states[0]: Must be the two-letter code',
    ],
    [
      'an invalid price',
      (file) => Object.assign(file.lab_markers[0] as object, { price: '$18' }),
      'lab_markers[0].price: Must be an amount in US dollars',
    ],
    [
      'a payor code with the team prefix',
      (file) => Object.assign(file.payors[0] as object, { payor_code: 'TEAM-1' }),
      'payors[0].payor_code: Must not start with TEAM-',
    ],
    ['a missing list of labs', (file) => Reflect.deleteProperty(file, 'labs'), 'labs: '],
    [
      'a duplicate ID',
      (file) => Object.assign(file.lab_tests[4] as object, { id: file.lab_tests[0]?.id }),
      'lab_tests[4].id: Must be unique; this value occurs twice.',
    ],
    [
      'a duplicate code at one lab',
      (file) => Object.assign(file.lab_markers[1] as object, { provider_id: 'QM10007' }),
      'lab_markers[1].provider_id: Must be unique; this value occurs twice.',
    ],
    [
      'an unknown marker',
      (file) => Object.assign(file.lab_markers[3] as object, { marker_slug: 'moon' }),
      'lab_markers[3].marker_slug: Must name an entry in markers.',
    ],
    [
      'an unknown lab',
      (file) => Object.assign(file.lab_tests[0] as object, { lab_id: 9 }),
      'lab_tests[0].lab_id: Must name an entry in labs.',
    ],
    [
      'an unknown analyte',
      (file) => file.markers[0]?.expected_results.unshift('moon'),
      'markers[0].expected_results[0]: Must name an entry in analytes.',
    ],
    [
      'a service center of an unknown lab',
      (file) => Object.assign(file.patient_service_centers[0] as object, { lab_slug: 'moon' }),
      'patient_service_centers[0].lab_slug: Must name an entry in labs.',
    ],
    [
      'a marker of another lab',
      (file) => file.lab_tests[0]?.marker_ids.push(2001),
      'lab_tests[0].marker_ids[5]: Must be a marker of this lab in lab_markers.',
    ],
    [
      'a duplicate marker ID',
      (file) => file.lab_tests[0]?.marker_ids.push(1001),
      'lab_tests[0].marker_ids: Must be unique; this value occurs twice.',
    ],
    [
      'a method the lab does not offer',
      (file) => Object.assign(file.lab_tests[0] as object, { method: 'testkit' }),
      'lab_tests[0].method: Must be one of the collection_methods of the lab.',
    ],
  ])('%s', (_, change, error) => {
    const errors = errorsOf(catalogWith(change))
    expect(errors).toHaveLength(1)
    expect(errors[0]).toContain(error)
  })

  test('lists at most twenty errors', () => {
    const text = catalogWith((file) => {
      for (const marker of file.lab_markers) Object.assign(marker, { price: 'much' })
    })
    expect(errorsOf(text)).toHaveLength(21)
    expect(errorsOf(text).at(-1)).toBe('and 102 more')
  })

  test('rejects invalid JSON and a value that is not an object', () => {
    expect(() => readCatalog('{')).toThrow('The catalog file is not valid JSON')
    expect(errorsOf('[]')[0]).toMatch(/^the file: /)
  })
})

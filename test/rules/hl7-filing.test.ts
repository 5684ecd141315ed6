import { describe, expect, test } from 'vitest'
import { parseMessage } from '../../src/labs/hl7/codec/rules-message.ts'
import { readResults } from '../../src/labs/hl7/messages/rules-results.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { foldName } from '../../src/labs/matching/rules-match.ts'
import { reportOf } from '../../src/labs/matching/rules-report.ts'
import { ucumOf } from '../../src/labs/ranges/rules-units.ts'
import { completeResults } from '../../src/labs/results/rules.ts'
import { hba1c, obr, obx, potassium } from '../support/hl7.ts'

const analyte = (slug: string, { loinc, name, unit }: { loinc: string; name: string; unit: string }) => ({
  ...{
    slug,
    name,
    loinc,
    unit,
    result_type: 'numeric',
    reference_range: null,
    critical: null,
    decimals: 1,
    sim: null,
    expected_value: null,
  },
})
const ordered = {
  analytes: [analyte('potassium', potassium), analyte('hba1c', hba1c)],
  markers: [
    { id: 1, name: 'Potassium', slug: 'potassium', provider_id: potassium.order, expected_results: ['potassium'] },
    { id: 2, name: 'A1c', slug: 'hba1c', provider_id: hba1c.order, expected_results: ['hba1c'] },
  ],
}

function receivedIn(lines: string[], profile = 'loi-lri-2.5.1') {
  const message = parseMessage(['MSH|^~\\&|LAB|MAIN|ASSAY|ACC|20260302||ORU^R01|1|T|2.5.1', 'PID|1', ...lines].join('\r'))
  const [patient] = readResults(message, readBuiltIn(profile))
  return { notes: [], groups: patient?.groups ?? [] }
}

const report = (lines: string[], isComplete = false, finished?: Record<string, boolean>, profile?: string) =>
  reportOf(receivedIn(lines, profile), { ordered, isComplete, previous: finished && { results: [], finished } })

const tests = (group: string, observation = 'F') => [
  ...[obr('N1', potassium.order, group), obx(potassium, '4.4', observation), obr('N1', hba1c.order, group), obx(hba1c, '5.1')],
]
const cases = (codes: string, expected: string) => codes.split(' ').map((code) => [code, expected] as const)

describe('the status of a report', () => {
  test.each([...cases('F C X', 'final'), ...cases('A P R M O I S N Y Z Q', 'partial')])('OBR-25 %s on every test is %s', (code, status) => {
    expect(report(tests(code)).status).toBe(status)
  })

  test.each([...cases('F C X A P R M Q', 'corrected')])('OBR-25 %s on a complete order is %s', (code, status) => {
    expect(report(tests(code), true).status).toBe(status)
  })

  test.each([
    ...cases('F U V', 'final final'),
    ...cases('C A B', 'final corrected'),
    ...cases('P R S I', 'partial preliminary'),
    ...cases('Q FF', 'partial unknown'),
    ...cases('W', 'partial withdrawn'),
    ...cases('X', 'final missing removed'),
    ...cases('D', 'final removed'),
    ...cases('N O', 'final'),
  ])('OBX-11 %s is %s', (code, expected) => {
    const { status, results, missing_results, removed } = report(tests('F', code))
    const found = results.find(({ loinc }) => loinc === potassium.loinc)?.status
    expect([status, found, missing_results.length && 'missing', removed.length && 'removed'].filter(Boolean).join(' ')).toBe(expected)
  })

  test('is final once every ordered test is, in any number of messages', () => {
    const one = [obr('N1', potassium.order), obx(potassium, '4.4')]
    expect(report(one)).toMatchObject({ status: 'partial', finished: { 1: true } })
    expect(report(one, false, { 2: true }).status).toBe('final')
    expect(report(one, false, { 2: false }).status).toBe('partial')
    // The lab names the test by another code, but its only result is there.
    expect(report([...one, obr('N1', 'OTHER'), obx(hba1c, '5.1')]).status).toBe('final')
    expect(report([obr('N1', 'REFLEX', 'F', { action: 'G' }), obx({ loinc: '2951-2', name: 'Sodium', unit: '' }, '140')]).status).toBe(
      'partial',
    )
  })

  test.each(['orm-2.3-grouped', 'orm-2.3-per-test', 'loi-lri-2.5.1'])('ORC-5 CM applies to its own test only: %s', (profile) => {
    const orc = (status: string) => `ORC|RE|N1|ACC-1||${status}`
    const reported = (lines: string[], before?: Record<string, boolean>) => report(lines, false, before, profile)
    const one = [orc('CM'), obr('N1', potassium.order), obx(potassium, '4.4')]
    expect(reported(one)).toMatchObject({ status: 'partial', finished: { 1: true }, unknown_tests: [] })
    // Without OBR-25, it says that its test is done.
    expect(reported([orc('CM'), obr('N1', hba1c.order, '')], { 1: true }).status).toBe('final')
    expect(reported([orc('IP'), obr('N1', hba1c.order, '')], { 1: true }).status).toBe('partial')
    expect(reported([orc('CM'), obr('N1', hba1c.order, 'P')], { 1: true }).status).toBe('partial')
  })

  test('the code of the ordered test is in OBR-20 if the lab performed another', () => {
    const performed = (code: string, ordered: string) => obr('N1', code, 'F', { ordered: `^^^${ordered}^Name` })
    const lines = [
      performed('P1', potassium.order),
      obx(potassium, '4.4'),
      performed('P2', hba1c.order),
      obx({ ...hba1c, loinc: '' }, '5.1'),
    ]
    expect(report(lines)).toMatchObject({ status: 'final', finished: { 1: true, 2: true } })
    expect(report(lines.slice(0, 2))).toMatchObject({ status: 'partial', finished: { 1: true }, unknown_tests: [] })
  })

  test('codes that identify no ordered test leave it partial, for a person to review', () => {
    const glucose = { loinc: '2345-7', name: 'Glucose', unit: 'mg/dL' }
    const unknown = report([obr('N1', 'P1'), obx(glucose, '90'), obr('N1', 'R1', 'F', { action: 'G' }), obx(glucose, '91')])
    expect(unknown).toMatchObject({ status: 'partial', finished: {}, unknown_tests: [{ code: { local: 'P1' } }] })
    // All ordered tests are there, so nothing is left that it could be.
    expect(report([...tests('F'), obr('N1', 'P1'), obx(glucose, '90')])).toMatchObject({ status: 'final', unknown_tests: [] })
  })

  test('an order number without a test, or a status that announces results, finishes nothing', () => {
    expect(report(['ORC|SC|N1|ACC-1||CM'], false, { 1: true })).toMatchObject({ status: 'partial', finishes: false, unknown_tests: [] })
    const announced = report(['ORC|SC|N1|ACC-1||CM', obr('N1', hba1c.order, 'F')], false, { 1: true })
    expect(announced).toMatchObject({ status: 'partial', finishes: false, unknown_tests: [] })
  })

  test('a final test without content finishes it, and one of no ordered test is reviewed', () => {
    const own = report([obr('N1', potassium.order)])
    expect(own).toMatchObject({ status: 'partial', finishes: true, finished: { 1: true }, missing_results: [], unknown_tests: [] })
    expect(report([obr('N1', potassium.order)], false, { 1: true }).finishes).toBe(false)
    expect(report([obr('N1', potassium.order)], true).finishes).toBe(false)
    expect(report([obr('N1', 'P1')])).toMatchObject({ finishes: false, unknown_tests: [{ code: { local: 'P1' } }] })
  })

  test('a final measurement of the order without a value is missing, and other lines without one are headings', () => {
    const heading = obx({ loinc: '', name: 'RESULTS', unit: '' }, '')
    const lines = [obr('N1', potassium.order), heading, obx(potassium, ''), 'SPM|1|S|||||||||||||||||||QS^Too little^HL70490']
    const { results, missing_results } = report(lines)
    const missing = [{ name: 'POTASSIUM', inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Too little' }]
    expect([results, missing_results]).toMatchObject([[], [{ ...missing[0], name: expect.stringMatching(/potassium/i) }]])
    expect(report([obr('N1', potassium.order), obx(potassium, '', 'U')]).missing_results).toEqual([])
  })

  test('a canceled test lists its measurements as missing, with the reason', () => {
    const lines = [
      obr('N1', potassium.order, 'X'),
      'NTE|1|L|Specimen hemolyzed',
      obr('N1', hba1c.order, 'X'),
      'SPM|1|S|||||||||||||||||||QS^Too little^HL70490',
    ]
    expect(report(lines)).toMatchObject({
      status: 'final',
      missing_results: [
        { slug: 'potassium', inferred_failure_type: 'collection_process_failure', note: 'Specimen hemolyzed' },
        { slug: 'hba1c', inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Too little' },
      ],
    })
  })

  test('keeps results of one measurement apart by their sub-ID and panel', () => {
    const withSubId = (line: string, sub: string) => line.replace('^L||', `^L|${sub}|`)
    const { results } = report([
      ...[obr('N1', potassium.order), withSubId(obx(potassium, '4.1'), '1'), withSubId(obx(potassium, '4.2'), '2'), obx(potassium, '4.3')],
      ...[obr('N1', 'PANEL'), obx(potassium, '4.4')],
    ])
    expect(results.map(({ result, sub_id }) => [result, sub_id])).toEqual([
      ['4.1', '1'],
      ['4.2', '2'],
      ['4.3', null],
      ['4.4', 'PANEL'],
    ])
  })
})

const sodium = { loinc: '2951-2', name: 'Sodium', unit: 'mmol/L' }
const bmp = { id: 3, name: 'BMP', slug: 'bmp', provider_id: 'BMP', expected_results: ['potassium', 'sodium'] }
const [ofPotassium, ofHba1c] = ordered.markers as [typeof bmp, typeof bmp]

/** The last of several reports of one order, each of which is stored. */
function lastOf(markers: (typeof bmp & { loinc?: string })[], ...messages: string[][]) {
  const measurements = { analytes: [...ordered.analytes, analyte('sodium', sodium)], markers }
  let previous: Parameters<typeof reportOf>[1]['previous']
  let last = undefined as ReturnType<typeof reportOf> | undefined
  for (const lines of messages) {
    last = reportOf(receivedIn(lines), { ordered: measurements, isComplete: false, previous })
    const results = completeResults(measurements, { gender: 'female' }, last)
    previous = {
      ...last,
      results: [...(previous?.results ?? []).filter(({ slug }) => !results.some((one) => one.slug === slug)), ...results],
    }
  }
  return [last?.status, last?.unknown_tests.length]
}

const later = { reported: '20260303080000' }
const k = (status = 'F') => obx(potassium, '4.4', status)
const na = (status = 'F') => obx(sodium, '140', status)
const a1c = [obr('N1', hba1c.order), obx(hba1c, '5.1')]
const performed = (status = 'F', options = {}) => obr('N1', 'P1', status, options)

describe('an order is final, or a person reviews the message', () => {
  test.each<[string, string, number, (typeof bmp)[], ...string[][]]>([
    ['a performed panel with all measurements', 'final', 0, [bmp], [performed(), k(), na()]],
    ['one in two messages', 'final', 0, [bmp], [performed(), k()], [performed('F', later), na()]],
    ['one that cannot obtain a measurement', 'final', 0, [bmp], [performed(), k(), na('X')]],
    ['one without one of its measurements', 'partial', 1, [bmp], [performed(), k()]],
    ['one that is preliminary', 'partial', 0, [bmp], [performed('P'), k('P')]],
    [
      'a test that is preliminary, then performed',
      'final',
      0,
      [ofPotassium],
      [obr('N1', potassium.order, 'P'), k('P')],
      [performed('F', later), k()],
    ],
    ['a performed test that is final again', 'final', 0, [ofPotassium], [performed('P'), k('P')], [performed('F', later), k()]],
    ['a performed test that is reopened', 'partial', 0, [ofPotassium, ofHba1c], [performed(), k()], [performed('P', later), k('P')], a1c],
  ])('%s: %s', (_, status, reviewed, markers, ...messages) => {
    expect(lastOf(markers, ...messages)).toEqual([status, reviewed])
  })
})

describe('one test does not finish another', () => {
  const same = { loinc: potassium.loinc }
  const other = { ...ofPotassium, id: 4, provider_id: 'K2' }
  test.each<[string, string, (typeof bmp)[], ...string[][]]>([
    [
      'that shares its LOINC code',
      'partial',
      [
        { ...ofPotassium, ...same },
        { ...other, ...same },
      ],
      [`${obr('N1', 'K2').replace('K2^K2^L', `K2^K2^L^${potassium.loinc}^K^LN`)}`, k()],
    ],
    ['whose measurement is part of it', 'partial', [bmp, ofPotassium], [obr('N1', 'BMP'), k(), na()]],
    ['in a later message either', 'partial', [bmp, ofPotassium, ofHba1c], [obr('N1', 'BMP'), k(), na()], a1c],
    ['until that is there', 'final', [bmp, ofPotassium], [obr('N1', 'BMP'), k(), na()], [obr('N1', potassium.order), k()]],
    ['or canceled', 'final', [bmp, ofPotassium], [obr('N1', 'BMP'), k(), na()], [obr('N1', potassium.order, 'X')]],
    [
      'that OBR-4 names besides OBR-20',
      'partial',
      [ofPotassium, ofHba1c],
      [obr('N1', hba1c.order, 'F', { ordered: `^^^${potassium.order}` }), k()],
    ],
  ])('%s: %s', (_, status, markers, ...messages) => {
    expect(lastOf(markers, ...messages)).toEqual([status, 0])
  })
})

test('an overtaken message neither reopens a test nor keeps the order open', () => {
  const early = { reported: '20260302080000' }
  const overtaken = [obr('N1', potassium.order, 'P', early), obx(potassium, '4.1', 'P')]
  expect(lastOf([ofPotassium, ofHba1c], [obr('N1', potassium.order), k()], [...overtaken, ...a1c])).toEqual(['final', 0])
  expect(lastOf([ofPotassium, ofHba1c], [obr('N1', potassium.order), k()], overtaken, a1c)).toEqual(['final', 0])
  expect(lastOf([ofPotassium, ofHba1c], [obr('N1', potassium.order), k()], [obr('N1', potassium.order, 'I')], a1c)).toEqual(['final', 0])
})

test.each([
  ['mg/dL', 'mg/dL'],
  ['MG/DL (calc)', 'mg/dL'],
  ['K/uL', '10*3/uL'],
  ['µIU/mL', 'u[IU]/mL'],
  ['mL/min/1.73m2', 'mL/min/{1.73_m2}'],
  ['furlongs', null],
  ['', null],
])('the UCUM code of %s is %s', (unit, code) => {
  expect(ucumOf(unit)).toBe(code)
})

test('names are compared without case, accents and punctuation, and other scripts as they are', () => {
  expect(foldName("O'Thistle-Wick Núñez")).toBe('OTHISTLEWICKNUNEZ')
  expect(foldName('Иванова')).not.toBe(foldName('Петрова'))
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as rules from '../../src/tenants/insurance/rules.ts'

describe('ICD-10-CM code', () => {
  test.each([
    ['E78.5', 'E78.5'],
    ['e785', 'E78.5'],
    [' e78.5 ', 'E78.5'],
    ['I10', 'I10'],
    ['u07.1', 'U07.1'],
    ['C7A.00', 'C7A.00'],
    ['S72.001A', 'S72.001A'],
    ['s72001a', 'S72.001A'],
    ['M1A.0110', 'M1A.0110'],
  ])('normalizes %j to %s', (sent, code) => expect(rules.normalizeIcdCode(sent)).toBe(code))

  test.each([
    '',
    'E',
    'E7',
    '785',
    'EE8.5',
    'E7.85',
    'E78.',
    'E78..5',
    'E78.12345',
    'E78 5',
    'E78.5;',
    'Ｅ78.5',
    `E78.${'5'.repeat(60_000)}`,
  ])('rejects %.20j', (sent) => expect(rules.normalizeIcdCode(sent)).toBeUndefined())

  test('normalizing is idempotent', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z]\d[0-9A-Za-z]\.?[0-9A-Za-z]{1,4}$/), (sent) => {
        const code = rules.normalizeIcdCode(sent) as string
        return rules.normalizeIcdCode(code) === code && code.replace('.', '') === sent.replace('.', '').toUpperCase()
      }),
    )
  })

  test('reports an invalid code by its index and never repeats it', () => {
    expect(rules.icdErrors(['E78.5', 'hello', 'I10', '?'])).toEqual([
      'codes[1] is not an ICD-10-CM code. Send a code such as E78.5.',
      'codes[3] is not an ICD-10-CM code. Send a code such as E78.5.',
    ])
  })
})

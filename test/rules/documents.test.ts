import { BitArray, Code128Reader } from '@zxing/library'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleTypes } from '../../src/contract/labs/catalog.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { barOf, flagOf, formatRange } from '../../src/labs/documents/flag.ts'
import { formatAge, formatInstant, labelOf } from '../../src/labs/documents/formatting.ts'
import { stepsFor } from '../../src/labs/documents/instruction-steps.ts'
import { code128 } from '../../src/labs/documents/layout/code128.ts'
import { rangeBar } from '../../src/labs/documents/layout/range-bar.ts'
import { shorten, wrap } from '../../src/labs/documents/layout/wrap.ts'
import { aResult, high, low } from '../support/documents.ts'

describe('reference range bar', () => {
  const bounds = { min: 10, max: 20 }

  test.each([
    [15, 'inside', 0.5],
    [10, 'inside', 0.25],
    [20, 'inside', 0.75],
    [25, 'above', 1 - 0.03],
    [22, 'above', 0.85],
    [7, 'below', 0.1],
  ] as const)('marks %s in the range 10 to 20 as %s', (value, side, at) => {
    const bar = rangeBar(value, bounds)
    expect(bar).toMatchObject({ side, beyond: false })
    expect(bar?.at).toBeCloseTo(at)
  })

  test('draws a value just outside the range visibly outside', () => {
    expect(rangeBar(20.0001, bounds)?.at).toBeGreaterThan(0.77)
    expect(rangeBar(9.9999, bounds)?.at).toBeLessThan(0.23)
  })

  test('puts a value far outside the range at the end and flags it as beyond', () => {
    expect(rangeBar(4000, bounds)).toMatchObject({ side: 'above', beyond: true, at: 0.97 })
    expect(rangeBar(-4000, bounds)).toMatchObject({ side: 'below', beyond: true, at: 0.03 })
  })

  test('extends to the end if a bound is missing', () => {
    expect(rangeBar(50, { min: 40, max: null })).toMatchObject({ from: 0.25, to: 1, side: 'inside' })
    expect(rangeBar(210, { min: null, max: 200 })).toMatchObject({ from: 0, to: 0.75, side: 'above' })
  })

  test('is not drawn without bounds, without a value or with reversed bounds', () => {
    expect(rangeBar(5, { min: null, max: null })).toBeNull()
    expect(rangeBar(Number.NaN, bounds)).toBeNull()
    expect(rangeBar(5, { min: 20, max: 10 })).toBeNull()
  })

  test('always puts the mark on the side of the value', () => {
    const bound = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }))
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), bound, bound, (value, min, max) => {
        const bar = rangeBar(value, { min, max })
        if (!bar) return
        expect(bar.at).toBeGreaterThanOrEqual(0.03)
        expect(bar.at).toBeLessThanOrEqual(0.97)
        if (min !== null && value < min) expect(bar.at).toBeLessThan(bar.from)
        else if (max !== null && value > max) expect(bar.at).toBeGreaterThan(bar.to)
        else expect(bar.at >= bar.from && bar.at <= bar.to).toBe(true)
      }),
    )
  })

  test('is not drawn if it contradicts the flag of the lab', () => {
    expect(barOf(aResult({ result: '151' }))).toBeNull()
    expect(barOf(aResult({ result: '151', ...high }))).toMatchObject({ side: 'above' })
    expect(barOf(aResult({ result: '151', is_above_max_range: null, is_below_min_range: null }))).toMatchObject({ side: 'above' })
  })

  test.each(['<0.5', 'see note', '', '10-20', '1,234'])('is not drawn for the result %j', (result) => {
    expect(barOf(aResult({ result, is_above_max_range: null, is_below_min_range: null }))).toBeNull()
  })
})

describe('result flag', () => {
  test.each([
    [{ interpretation: 'critical', is_above_max_range: true } as const, 'CRITICAL HIGH'],
    [{ interpretation: 'critical', is_below_min_range: true } as const, 'CRITICAL LOW'],
    [{ interpretation: 'critical' } as const, 'CRITICAL'],
    [high, 'High'],
    [low, 'Low'],
    [{ interpretation: 'normal', is_above_max_range: true } as const, 'High'],
    [{ interpretation: 'abnormal' } as const, 'Abnormal'],
    [{ interpretation: 'unknown' } as const, 'Not interpreted'],
    [{}, 'Normal'],
  ])('labels %j as %s', (change, word) => expect(flagOf(aResult(change)).word).toBe(word))

  test('builds the range text from its bounds', () => {
    expect(formatRange(aResult({ reference_range: null }))).toBe('15 – 150')
    expect(formatRange(aResult({ reference_range: null, max_range_value: null }))).toBe('≥ 15')
    expect(formatRange(aResult({ reference_range: null, min_range_value: null }))).toBe('≤ 150')
  })
})

describe('Code 128', () => {
  const read = (widths: number[]) => {
    const modules = [10, ...widths, 10].flatMap((width, index) => Array(width).fill(index % 2 === 1))
    const line = new BitArray(modules.length)
    for (const [index, isBar] of modules.entries()) if (isBar) line.set(index)
    return new Code128Reader().decodeRow(0, line, new Map()).getText()
  }

  test('decodes to the original text', () => {
    const digits = fc.stringMatching(/^[0-9]{1,24}$/)
    const ascii = fc.stringMatching(/^[ -~]{1,24}$/)
    const mixed = fc.tuple(ascii, digits, ascii, digits).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(digits, ascii, mixed), (text) => {
        expect(read(code128(text) ?? [])).toBe(text)
      }),
    )
  })

  test('packs two digits into one symbol', () => {
    const modules = (text: string) => code128(text)?.reduce((sum, width) => sum + width, 0)
    expect(modules('123456789012')).toBe(11 * (1 + 6 + 1) + 13)
  })

  test.each(['', 'Probe-Ä', '試料', 'a\nb'])('returns null for %j', (text) => expect(code128(text)).toBeNull())
})

describe('line wrapping', () => {
  const width = (text: string) => [...text].length

  test('breaks at spaces, at newlines and inside words that are too wide', () => {
    expect(wrap('one two three', 8, width)).toEqual(['one two', 'three'])
    expect(wrap('a abcdefghijk l', 5, width)).toEqual(['a', 'abcde', 'fghij', 'k l'])
    expect(wrap('one\n\ntwo', 8, width)).toEqual(['one', '', 'two'])
  })

  test('never exceeds the width and loses no text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z ]{0,200}$/), fc.integer({ min: 1, max: 40 }), (text, most) => {
        const lines = wrap(text, most, width)
        expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(most)
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
      }),
    )
  })

  test('shortens a single line with an ellipsis', () => {
    expect(shorten('Quillfeather', 6, width)).toBe('Quill…')
    expect(shorten('Quill', 6, width)).toBe('Quill')
  })
})

describe('text formatting', () => {
  test.each([
    ['1961-07-23', '2026-07-22', '64 years'],
    ['1961-07-23', '2026-07-23', '65 years'],
    ['2026-01-31', '2026-02-28', '0 months'],
    ['2024-12-05', '2026-01-05', '13 months'],
    ['2024-02-29', '2026-02-28', '23 months'],
    ['2027-01-01', '2026-01-01', null],
  ])('formats the age of a person born %s on %s as %s', (dob, on, age) => expect(formatAge(dob, on)).toBe(age))

  test('formats a timestamp in the given time zone, or UTC, with its abbreviation', () => {
    expect(formatInstant('2026-03-02T15:05:00.000Z', 'America/Phoenix')).toBe('Mar 2, 2026, 08:05 MST')
    expect(formatInstant('2026-03-02T00:05:00.000Z', null)).toBe('Mar 2, 2026, 00:05 UTC')
    expect(formatInstant(null, null)).toBeNull()
  })

  test('formats an unlisted code by replacing underscores', () => expect(labelOf('hair_root')).toBe('Hair root'))
})

describe('collection steps', () => {
  const every = methods.flatMap((method) => sampleTypes.map((sample_type) => ({ method, sample_type })))

  test.each(every)('lists distinct steps for $method with $sample_type', (test) => {
    const steps = stepsFor({ ...test, fasting: false })
    expect(steps.length).toBeGreaterThanOrEqual(4)
    expect(new Set(steps).size).toBe(steps.length)
    expect(steps.some((step) => step.startsWith('Ship the box'))).toBe(test.method === 'testkit')
    expect(steps.join(' ')).not.toContain('plain water')
    expect(stepsFor({ ...test, fasting: true }).join(' ')).toContain('plain water for 8 to 12 hours')
  })

  test('mention the specimen type', () => {
    const textFor = (sample_type: (typeof sampleTypes)[number]) => stepsFor({ method: 'testkit', sample_type, fasting: false }).join(' ')
    expect(textFor('dried_blood_spot')).toContain('card')
    expect(textFor('arm_collector')).toContain('upper arm')
    expect(textFor('saliva')).toContain('saliva')
    expect(textFor('urine')).toContain('cup')
    expect(textFor('stool')).toContain('stool')
    expect(textFor('serum')).toContain('not for self-collection')
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { series, seriesNames } from '../../src/contract/wearables/series.ts'
import { SampleOut } from '../../src/contract/wearables/wearables.ts'
import { samplePresenter, sampleWriter } from '../../src/wearables/data/rules-present.ts'
import { decodeSamples, encodeSamples, type Sample } from '../../src/wearables/data/samples/rules-codec.ts'
import { byKey, dedupeByKey, type IncomingSample, mergeDay } from '../../src/wearables/data/samples/rules-merge.ts'
import { mergePieces, type Piece, readDay, samplesIn, writeDay } from '../../src/wearables/data/samples/rules-pieces.ts'
import { exampleOf, fieldsOf } from '../support/shapes.ts'

const DAY = Date.parse('2026-03-01T00:00:00Z')
const MS = 86_400_000

const anything = fc.record<Sample>({
  at: fc
    .oneof(
      fc.integer({ min: 0, max: MS - 1 }),
      fc.integer({ min: 0, max: 1439 }).map((minute) => minute * 60_000),
    )
    .map((at) => DAY + at),
  end: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: MS })),
  type: fc.constantFrom('', 'watch', 'phone', 'déjà vu'),
  value: fc.oneof(
    fc.integer({ min: 0, max: 220 }),
    fc.integer({ max: 999_999 }).map((n) => n / 100),
    fc.double({ noNaN: true }),
  ),
  second: fc.oneof(fc.constant(0), fc.double({ noNaN: true, noDefaultInfinity: true })),
  text: fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme' })),
  zone: fc.oneof(fc.constant(null), fc.constantFrom(0, -28_800, 34_200, -43_200, 50_400)),
  version: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  more: fc.constantFrom('', '{"intensity":"low"}', '{"app_id":"com.example.steps"}'),
})

const aDay = fc.array(anything, { maxLength: 60 }).map((samples) => samples.map((sample) => ({ ...sample, end: sample.at + sample.end })))

describe('sample encoding', () => {
  test('decodes to the same samples, bit for bit', () => {
    fc.assert(
      fc.property(aDay, (samples) => {
        expect(decodeSamples(encodeSamples(samples))).toEqual(samples)
      }),
      { numRuns: 300, examples: [[[aSample({ value: -0 })]], [[]]] },
    )
  })

  test.each([
    ['whole numbers', (i: number) => 60 + (i % 9)],
    ['two decimals', (i: number) => (500 + (i % 37)) / 100],
    ['noise in the last bit', (i: number) => Math.sin(i)],
    ['the edges of a double', (i: number) => [5e-324, Number.MAX_VALUE, -0, 0.1 + 0.2, 2 ** 53 + 2][i % 5] as number],
  ])('keeps %s exactly', (_, value) => {
    const samples = Array.from({ length: 500 }, (_, i) => aSample({ at: DAY + i * 15_000, value: value(i) }))
    expect(decodeSamples(encodeSamples(samples)).every((sample, i) => Object.is(sample.value, samples[i]?.value))).toBe(true)
  })

  test('stores a heart rate every 15 seconds in less than one byte per sample', () => {
    const beats = Array.from({ length: 5760 }, (_, i) => aSample({ at: DAY + i * 15_000, value: 60 + Math.round(9 * Math.sin(i * i)) }))
    expect(encodeSamples(beats).length / beats.length).toBeLessThan(1)
  })

  test('rejects an unknown format by its number', () => {
    const { deflateRawSync } = process.getBuiltinModule('node:zlib')
    expect(() => decodeSamples(deflateRawSync(Buffer.of(9, 0)))).toThrow('format 9')
  })
})

describe('day stored in chunks', () => {
  const keyed = aDay.map((samples) => dedupeByKey(samples) as Sample[]).filter((samples) => samples.length > 0)
  const hours = (first: number, count: number, value = 60) =>
    Array.from({ length: count }, (_, i) => aSample({ at: DAY + (first + i) * 3_600_000, value }))
  const laid = (batches: IncomingSample[][]) => batches.reduce<Piece[]>((pieces, batch) => mergePieces(pieces, batch, DAY).pieces, [])

  test('equals the merged day for any order of batches', () => {
    fc.assert(
      fc.property(fc.array(keyed, { minLength: 1, maxLength: 12 }), (batches) => {
        let [whole, pieces] = [[] as Sample[], [] as Piece[]]
        for (const batch of batches) {
          const [expected, { pieces: next, ...merged }] = [mergeDay(whole, batch, DAY), mergePieces(pieces, batch, DAY)]
          const { samples, ...rest } = expected
          expect(merged).toEqual(rest)
          ;[whole, pieces] = [samples, readDay(writeDay(next))]
        }
        expect(samplesIn(pieces)).toEqual(whole)
        expect(pieces.reduce((sum, { count }) => sum + count, 0)).toBe(whole.length)
        expect(pieces.every(({ from, to }, i) => from <= to && (i === 0 || (pieces[i - 1] as Piece).to < from))).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('appends later samples as a new chunk and leaves earlier chunks alone', () => {
    const before = laid([hours(0, 4)])
    const { pieces } = mergePieces(before, hours(4, 4), DAY)
    expect(pieces.map(({ count }) => count)).toEqual([4, 4])
    expect(pieces[0]).toBe(before[0])
  })

  test('rewrites only the chunk that a correction affects', () => {
    const before = laid([hours(0, 4), hours(4, 4), hours(8, 4)])
    const { pieces, updated } = mergePieces(before, [aSample({ at: DAY + 5 * 3_600_000, value: 61, version: DAY + 1 })], DAY)
    expect(updated).toHaveLength(1)
    expect(pieces.map((piece) => before.includes(piece))).toEqual([true, false, true])
  })

  test('is compacted once it has many chunks', () => {
    expect(laid(Array.from({ length: 8 }, (_, hour) => hours(hour, 1)))).toHaveLength(8)
    const [whole, ...others] = laid(Array.from({ length: 9 }, (_, hour) => hours(hour, 1)))
    expect([whole?.count, others]).toEqual([9, []])
  })

  test('reads the format without chunks as one chunk', () => {
    const samples = hours(0, 24)
    expect(readDay(encodeSamples(samples))).toEqual(laid([samples]))
  })
})

const aSample = (change: Partial<Sample>): Sample => {
  const at = change.at ?? DAY
  return { at, end: at, type: '', value: 1, second: 0, text: '', zone: null, version: 1, more: '', ...change }
}

/** Few keys, versions and values, so that collisions are common. */
const versioned = fc
  .record({
    at: fc.integer({ min: 0, max: 3 }),
    type: fc.constantFrom('', 'watch'),
    value: fc.integer({ min: 0, max: 2 }),
    version: fc.integer({ min: 1, max: 4 }),
  })
  .map((few) => aSample({ ...few, at: DAY + few.at }))

const laidOver = (batches: IncomingSample[][]) => batches.reduce<Sample[]>((day, batch) => mergeDay(day, dedupeByKey(batch), 0).samples, [])

describe('sample versions', () => {
  test('converge for any order, batching and repetition', () => {
    const histories = fc.array(versioned, { maxLength: 12 }).chain((samples) =>
      fc.record({
        samples: fc.constant(samples),
        shuffled: fc.shuffledSubarray([...samples, ...samples, ...samples], { minLength: samples.length * 3 }),
        cuts: fc.array(fc.integer({ min: 0, max: 36 }), { maxLength: 6 }),
      }),
    )
    fc.assert(
      fc.property(histories, ({ samples, shuffled, cuts }) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), shuffled.length]
        const batches = edges.slice(1).map((to, i) => shuffled.slice(edges[i], to))
        expect(laidOver(batches)).toEqual(laidOver(samples.map((sample) => [sample])))
      }),
      { numRuns: 1000 },
    )
  })

  test('cause no write and no event the second time', () => {
    fc.assert(
      fc.property(fc.array(versioned, { maxLength: 20 }), (samples) => {
        const day = laidOver([samples])
        expect(mergeDay(day, dedupeByKey(samples), 0)).toMatchObject({ changed: false, created: [], updated: [], samples: day })
      }),
    )
  })

  test('are classified as created, updated, unchanged or stale', () => {
    const [older, newer] = [aSample({ value: 60, version: 10 }), aSample({ value: 61, version: 20 })]
    expect(mergeDay([], [older], 0)).toMatchObject({ created: [older], updated: [], changed: true })
    expect(mergeDay([older], [newer], 0)).toMatchObject({ created: [], updated: [newer], samples: [newer] })
    expect(mergeDay([newer], [older], 0)).toMatchObject({ stale: 1, changed: false, samples: [newer] })
    expect(mergeDay([newer], [newer], 0)).toMatchObject({ unchanged: 1, changed: false })
  })

  test('store a newer version of the same value without an event', () => {
    const again = aSample({ value: 60, version: 30 })
    const merged = mergeDay([aSample({ value: 60, version: 10 })], [again], 0)
    expect(merged).toMatchObject({ changed: true, created: [], updated: [], unchanged: 1 })
    expect(mergeDay(merged.samples, [aSample({ value: 99, version: 20 })], 0)).toMatchObject({ stale: 1 })
  })

  test('of equal versions, the last read wins for data that Assay pulled, in any order of content', () => {
    const [low, high] = [aSample({ value: 60, version: 10 }), aSample({ value: 61, version: 10 })]
    expect(mergeDay([high], [low], 0)).toMatchObject({ stale: 1, samples: [high] })
    expect(mergeDay([high], [low], 0, true)).toMatchObject({ updated: [low], samples: [low] })
    expect(mergeDay([low], [low], 0, true)).toMatchObject({ unchanged: 1, changed: false })
  })

  test('are optional: without one the last write wins, even over a clock that runs ahead', () => {
    const ahead = aSample({ value: 60, version: 5000 })
    const merged = mergeDay([ahead], [{ ...ahead, value: 61, version: null }], 1000)
    expect(merged.updated).toEqual([{ ...ahead, value: 61, version: 5000 }])
    expect(mergeDay(merged.samples, [{ ...ahead, value: 61, version: null }], 2000)).toMatchObject({ changed: false, unchanged: 1 })
    expect(mergeDay(merged.samples, [aSample({ value: 62, version: 1500 })], 3000)).toMatchObject({ stale: 1 })
  })

  test('keep a day sorted with unique keys', () => {
    fc.assert(
      fc.property(fc.array(versioned), fc.array(versioned), (first, second) => {
        const day = laidOver([first, second])
        expect(day.slice(1).every((sample, i) => byKey(day[i] as Sample, sample) < 0)).toBe(true)
      }),
    )
  })
})

test('every series accepts its own unit and example and has a distinct event name', () => {
  for (const name of seriesNames) {
    const { unit, unitFactors: takes, least, most, example, valueKind: says } = series[name]
    if (says !== 'text') expect([name, takes[unit.toLowerCase()]]).toEqual([name, 1])
    const values = [example['value'], example['systolic'], example['diastolic']].filter((value) => typeof value === 'number')
    expect([name, values.every((value) => value >= least && value <= most)]).toEqual([name, true])
  }
  const events = seriesNames.map((name) => series[name].event).filter((event) => event !== null)
  expect(new Set(events).size).toBe(50)
})

describe.each(seriesNames)('a presented sample of %s', (name) => {
  const row = series[name]
  const extras = Object.fromEntries(fieldsOf(row.extraFields).map(([field, type]) => [field, exampleOf(type, field)]))
  const sample = { at: DAY, end: DAY + 60_000, type: 'watch', value: 60.5, second: 40, text: 'note', zone: 3600, version: 1 }
  const downsampled = { min: 60, max: 61, count: 2 }
  const jsonOf = (value: unknown) => JSON.stringify(value)

  test.each([
    ['', JSON.stringify(extras)],
    ['without extra fields ', ''],
  ])('%shas the fields of the response in the same order', (_, more) => {
    const presented = samplePresenter(row)({ ...sample, more })
    expect(String(sampleWriter(row)([{ ...sample, more }]))).toBe(JSON.stringify(presented))
    expect(jsonOf(presented)).toBe(jsonOf(SampleOut.parse(presented)))
    const interval = { ...samplePresenter({ ...row, interval: true })({ ...sample, more }), ...downsampled }
    expect(jsonOf(interval)).toBe(jsonOf(SampleOut.parse(interval)))
  })
})

test('writes samples as they are presented', () => {
  const row = series.heartrate
  const [write, present] = [sampleWriter(row), samplePresenter(row)]
  const property = fc.property(fc.array(anything), (samples) => {
    const expected = samples.map((sample) => JSON.stringify(present(sample)))
    expect(String(write(samples))).toBe(expected.join())
    expect(samples.map((sample) => String(write([sample])))).toEqual(expected)
  })
  fc.assert(property)
})

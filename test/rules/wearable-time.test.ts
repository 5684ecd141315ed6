import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isoOf } from '../../src/wearables/data/rules-present.ts'
import { cursorOf, daysOf, positionOf, rangeOf } from '../../src/wearables/data/rules-window.ts'
import { downsample } from '../../src/wearables/data/samples/rules-downsample.ts'
import { heartZones, maxHeartRate } from '../../src/wearables/data/streams/rules-stream.ts'
import { dayOf, localDay, parseInstant, zoneClock, zoneIn } from '../../src/wearables/time/rules.ts'

const moments = fc.date({ min: new Date('0101-01-02'), max: new Date('2199-12-31'), noInvalidDate: true })

describe('timestamp', () => {
  test('is parsed like the runtime does, with any offset', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, minutes) => {
        const text = `${new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)}${offset(minutes)}`
        expect([text, parseInstant(text)]).toEqual([text, date.getTime()])
        expect(zoneIn(text)).toBe(minutes * 60)
      }),
    )
  })

  test('is formatted like the runtime does', () => {
    fc.assert(
      fc.property(moments, (date) => {
        expect(isoOf(date.getTime())).toBe(date.toISOString())
      }),
    )
  })

  test.each([
    ['2026-03-01T09:30Z', '2026-03-01T09:30:00.000Z'],
    ['2026-03-01t09:30:00.5z', '2026-03-01T09:30:00.500Z'],
    ['2026-03-01T09:30:00.123456789Z', '2026-03-01T09:30:00.123Z'],
    ['2024-02-29T00:00:00+00:00', '2024-02-29T00:00:00.000Z'],
  ])('reads %s as %s', (text, iso) => expect(isoOf(parseInstant(text))).toBe(iso))

  test.each([
    ...['', 'soon', '2026-03-01', '2026-03-01T09:30:00', '2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z'],
    ...['2026-03-01T24:00:00Z', '2026-03-01T09:60:00Z', '2026-03-01T09:30:60Z', '2026-03-01T09:30:00.Z', '2026-03-01T09:30:00ZZ'],
    ...[
      '2026-03-01T09:30:00+1:00',
      '2026-03-01T09:30:00+25:00',
      '0001-01-01T00:00:00Z',
      '２０２６-03-01T09:30:00Z',
      '2026-03-01 09:30:00Z',
    ],
  ])('rejects %j', (text) => expect(parseInstant(text)).toBeNaN())

  test('rejects values that are not text', () => {
    for (const value of [null, undefined, 0, {}, [], true]) expect(parseInstant(value)).toBeNaN()
  })
})

const offset = (minutes: number) => {
  const [sign, size] = [minutes < 0 ? '-' : '+', Math.abs(minutes)]
  return `${sign}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
}

test('a time zone has the offset of the given moment, across clock changes too', () => {
  const berlin = zoneClock('Europe/Berlin')
  const at = (text: string) => berlin(Date.parse(text))
  expect([at('2026-03-29T00:59:59Z'), at('2026-03-29T01:00:00Z'), at('2026-10-25T00:59:59Z'), at('2026-10-25T01:00:00Z')]).toEqual([
    3600, 7200, 7200, 3600,
  ])
  expect(zoneClock('Asia/Kolkata')(0)).toBe(19_800)
  expect(zoneClock('UTC')(0)).toBe(0)
  expect(zoneClock(null)(0)).toBeNull()
  expect(localDay(Date.parse('2026-03-01T23:30:00Z'), 3600)).toBe('2026-03-02')
  expect(dayOf(0)).toBe('1970-01-01')
})

test('a date range covers whole days, and one without an end extends to two days from now', () => {
  const now = '2026-03-05T12:00:00.000Z'
  const iso = ({ from, to }: { from: number; to: number }) => [new Date(from).toISOString(), new Date(to).toISOString()]
  expect(iso(rangeOf('2026-03-01', '2026-03-02', now))).toEqual(['2026-03-01T00:00:00.000Z', '2026-03-02T23:59:59.999Z'])
  expect(iso(rangeOf('2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z', now))).toEqual([
    '2026-03-01T10:00:00.000Z',
    '2026-03-01T11:00:00.000Z',
  ])
  expect(iso(rangeOf('2026-03-01', null, now))[1]).toBe('2026-03-07T12:00:00.000Z')
  expect(iso(rangeOf('2027-01-01', null, now))).toEqual(['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'])
  expect(daysOf('2027-01-01', null, now)).toEqual({ from: '2027-01-01', to: '2027-01-01' })
  for (const read of [rangeOf, daysOf]) expect(() => read('2026-03-02', '2026-03-01', now)).toThrow('Must not be before start_date.')
})

test('accepts its own cursors and rejects any other', () => {
  for (const position of [
    { day: '2026-03-01', provider: 'oura', source_type: '', within: undefined },
    { day: '2026-03-01', provider: 'oura', source_type: 'ring', within: { at: 1_772_384_400_000, type: 'déjà' } },
  ])
    expect(positionOf(cursorOf(position))).toEqual(position)
  const forgeCursor = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  for (const cursor of [
    'nonsense',
    forgeCursor({}),
    forgeCursor(['2026-02-30', 'oura', '']),
    forgeCursor(['2026-03-01', 1, '']),
    forgeCursor(['2026-03-01', 'a', '', 'x', '']),
    forgeCursor(['2026-03-01', 'a\0', '']),
  ])
    expect(() => positionOf(cursor)).toThrow('Send the next_cursor of the previous page unchanged.')
})

describe('a period', () => {
  const now = '2026-03-02T10:00:00Z'
  const tooLong = { detail: [expect.objectContaining({ loc: ['query', 'start_date'], msg: expect.stringContaining('at most 400 years') })] }
  test.each([
    ['1826-01-01', '2026-12-31'],
    ['1626-03-01', null],
    ['0001-01-01', '0400-12-31'],
    ['9600-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  ])('from %s to %s is accepted', (start, end) => {
    expect(() => [rangeOf(start, end, now), daysOf(start, end, now)]).not.toThrow()
  })
  test.each([
    ['0001-01-01', '9999-12-31'],
    ['0001-01-01', null],
    ['1600-01-01', '2026-03-01'],
    ['1826-01-01T00:00:00Z', '2227-01-01T00:00:00Z'],
  ])('from %s to %s is too long', (start, end) => {
    for (const read of [rangeOf, daysOf]) {
      try {
        expect(read(start, end, now)).toBeUndefined()
      } catch (error) {
        expect(error).toMatchObject(tooLong)
      }
    }
  })
})

test('downsamples by interval and origin', () => {
  const sample = (at: number, value: number, type = '') => ({
    at,
    end: at,
    type,
    value,
    second: 0,
    text: '',
    zone: null,
    version: 1,
    more: '',
  })
  const thin = downsample([sample(0, 1), sample(30_000, 4), sample(59_999, 4), sample(60_000, 7), sample(10_000, 9, 'watch')], 60_000)
  expect(thin.map(({ at, end, type, value, min, max, count }) => [at, end, type, value, min, max, count])).toEqual([
    [0, 60_000, '', 3, 1, 4, 3],
    [0, 60_000, 'watch', 9, 9, 9, 1],
    [60_000, 120_000, '', 7, 7, 7, 1],
  ])
})

describe('heart rate zones', () => {
  test('count the seconds per zone for a maximum heart rate of 200', () => {
    const heartrate = [99, 100, 119, 120, 180, 200]
    expect(heartZones({ time: [0, 1, 3, 6, 10, 15], heartrate }, 200)).toEqual([1, 5, 4, 0, 0, 5])
  })
  test('ignore missing values and gaps', () => {
    expect(heartZones({ time: [0, 10, 20, 1000], heartrate: [150, null, 150, 150] }, 200)).toEqual([0, 0, 0, 10, 0, 0])
    expect(heartZones({ time: [0, 1], heartrate: [null, null] }, 200)).toBeUndefined()
  })
  test.each([
    ['1986-03-02', '2026-03-01', 181],
    ['1986-03-02', '2026-03-02', 180],
    ['1984-02-29', '2026-02-28', 179],
  ])('use for a user born on %s, on %s, a maximum heart rate of %i', (birth, day, highest) =>
    expect(maxHeartRate(birth, day)).toBe(highest),
  )
})

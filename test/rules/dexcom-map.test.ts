import { describe, expect, test } from 'vitest'
import * as api from '../../src/wearables/providers/dexcom_v3/api.ts'
import * as map from '../../src/wearables/providers/dexcom_v3/map.ts'

const times = { systemTime: '2026-03-01T16:10:08Z', displayTime: '2026-03-01T09:10:08-07:00' }

const egv = (change: object = {}) => api.Egv.parse({ recordId: 'r', ...times, value: 120, unit: 'mg/dL', status: 'ok', ...change })

const event = (change: object = {}) => api.Event.parse({ recordId: 'e', ...times, eventType: 'carbs', eventStatus: 'created', ...change })

describe('the time of a Dexcom record', () => {
  test.each([
    ['a phone', '2026-03-01T16:10:08Z', '2026-03-01T09:10:08-07:00', '2026-03-01T16:10:08.000Z', -25_200],
    ['a receiver without offsets', '2026-03-01T16:10:08', '2026-03-01T09:10:08', '2026-03-01T16:10:08.000Z', -25_200],
    ['a receiver whose clock is two minutes fast', '2026-03-01T16:10:08', '2026-03-01T22:12:08', '2026-03-01T16:10:08.000Z', 21_600],
    ['a time without seconds', '2026-03-01T16:10Z', '2026-03-01T17:10+01:00', '2026-03-01T16:10:00.000Z', 3600],
    [
      'an offset without a colon, single digits and a space',
      '2026-3-1 16:5:08',
      '2026-3-1 21:35:08+0530',
      '2026-03-01T16:05:08.000Z',
      19_800,
    ],
    ['a system time with an offset', '2026-03-01T18:10:08.250+02:00', '2026-03-01T18:10:08+02:00', '2026-03-01T16:10:08.250Z', 7200],
    ['both as UTC', '2026-03-01T16:10:08Z', '2026-03-01T16:10:08Z', '2026-03-01T16:10:08.000Z', 0],
    ['a display time that is days off', '2026-03-01T16:10:08Z', '2026-03-05T16:10:08', '2026-03-01T16:10:08.000Z', undefined],
    ['no display time', '2026-03-01T16:10:08Z', null, '2026-03-01T16:10:08.000Z', undefined],
  ])('of %s', (_, systemTime, displayTime, start_date, timezone_offset) => {
    const [sample] = map.glucoseOf(egv({ systemTime, displayTime }))
    expect([sample?.start_date, sample?.timezone_offset]).toEqual([start_date, timezone_offset])
  })

  test.each(['yesterday', '2026-02-31T10:00:00', '2026-03-01T25:00:00', ''])(
    '%j is not a time, so the record is left out',
    (systemTime) => {
      expect(map.glucoseOf(egv({ systemTime }))).toEqual([])
      expect(map.sampleOf(event({ systemTime, value: '4', unit: 'grams' }))).toEqual([])
    },
  )
})

describe('an estimated glucose value', () => {
  const automatic = { start_date: '2026-03-01T16:10:08.000Z', timezone_offset: -25_200, type: 'automatic' }

  test.each([
    [{ value: 120 }, 120, 'mg/dL'],
    [{ value: 6.7, unit: 'mmol/L' }, 6.7, 'mmol/L'],
    [{ value: 40 }, 40, 'mg/dL'],
    [{ value: 39, status: 'low' }, 39, 'mg/dL'],
    [{ value: 12, status: 'low' }, 39, 'mg/dL'],
    [{ value: 400 }, 400, 'mg/dL'],
    [{ value: 512, status: 'high' }, 401, 'mg/dL'],
    [{ value: 2, unit: 'mmol/L' }, 39 / 18.0182, 'mmol/L'],
    [{ value: 30, unit: 'mmol/L', status: undefined }, 401 / 18.0182, 'mmol/L'],
  ])('%j is %d %s', (change, value, unit) => {
    expect(map.glucoseOf(egv(change))).toEqual([{ ...automatic, value, unit }])
  })

  test.each([{ unit: 'unknown' }, { unit: null }, { value: null }, { value: undefined }])('%j is left out', (change) => {
    expect(map.glucoseOf(egv(change))).toEqual([])
  })
})

describe('an event', () => {
  const at = { start_date: '2026-03-01T16:10:08.000Z', timezone_offset: -25_200 }

  test.each<[change: object, name: string, item: object]>([
    [{ eventType: 'carbs', value: '45', unit: 'grams' }, 'carbohydrates', { value: 45, unit: 'g', type: 'app' }],
    [
      { eventType: 'insulin', eventSubType: 'fastActing', value: '4.5', unit: 'units' },
      'insulin_injection',
      { value: 4.5, type: 'rapid_acting' },
    ],
    [
      { eventType: 'insulin', eventSubType: 'longActing', value: '12', unit: 'units' },
      'insulin_injection',
      { value: 12, type: 'long_acting' },
    ],
    [{ eventType: 'bloodGlucose', value: '112', unit: 'mg/dL' }, 'glucose', { value: 112, unit: 'mg/dL', type: 'fingerprick' }],
    [{ eventType: 'bloodGlucose', value: '6.2', unit: 'mmol/L' }, 'glucose', { value: 6.2, unit: 'mmol/L', type: 'fingerprick' }],
    [{ eventType: 'notes', value: 'Felt tired.' }, 'note', { value: 'Felt tired.', type: 'app', tags: ['unspecified'] }],
    [{ eventType: 'note', value: 'Felt tired.' }, 'note', { value: 'Felt tired.', type: 'app', tags: ['unspecified'] }],
    [{ eventType: 'carbs', value: '45', unit: 'grams', eventStatus: 'updated' }, 'carbohydrates', { value: 45, unit: 'g', type: 'app' }],
  ])('%j is a sample of %s', (change, name, item) => {
    expect(map.sampleOf(event(change))).toEqual([{ name, item: { ...at, ...item } }])
  })

  test.each([
    ['light', 'low'],
    ['medium', 'medium'],
    ['heavy', 'high'],
    ['unheard of', undefined],
  ])('%s exercise has the intensity %s', (eventSubType, intensity) => {
    expect(map.sampleOf(event({ eventType: 'exercise', eventSubType, value: '30', unit: 'minutes' }))).toEqual([
      { name: 'workout_duration', item: { ...at, value: 30, type: 'app', end_date: '2026-03-01T16:40:08.000Z', intensity } },
    ])
  })

  test.each([
    ['a deleted event', { value: '45', unit: 'grams', eventStatus: 'deleted' }],
    ['an amount that is no number', { value: 'many', unit: 'grams' }],
    ['an empty amount', { value: '', unit: 'grams' }],
    ['no amount', { value: null, unit: 'grams' }],
    ['another unit', { value: '45', unit: 'units' }],
    ['insulin of an unknown kind', { eventType: 'insulin', eventSubType: 'inhaled', value: '4', unit: 'units' }],
    ['a blood glucose in an unknown unit', { eventType: 'bloodGlucose', value: '112', unit: 'unknown' }],
    ['health', { eventType: 'health', eventSubType: 'stress' }],
    ['an empty note', { eventType: 'notes', value: ' ' }],
    ['a type of tomorrow', { eventType: 'constructor', value: '1' }],
  ])('%s has no sample', (_, change) => {
    expect(map.sampleOf(event(change))).toEqual([])
  })
})

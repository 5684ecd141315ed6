import { describe, expect, test } from 'vitest'
import * as api from '../../src/wearables/providers/google_health/api.ts'
import * as map from '../../src/wearables/providers/google_health/map.ts'

const sampleTime = { physicalTime: '2026-03-01T14:00:00Z', utcOffset: '-18000s' }
const interval = {
  ...{ startTime: '2026-03-01T14:00:00Z', startUtcOffset: '-18000s', endTime: '2026-03-01T14:15:00Z', endUtcOffset: '-18000s' },
}
const date = { year: 2026, month: 3, day: 1 }

/** A point as the cloud sends it, after its shape was checked. */
const point = <T extends api.DataType>(type: T, value: object, source?: object): api.Point<T> => ({
  id: 'p1',
  source: source && api.DataSource.parse(source),
  value: api.dataTypes[type].parse(value) as api.Value<T>,
})

const samples = (type: api.DataType, value: object, source?: object) =>
  (map.samplesOf[type] as (one: unknown) => Record<string, unknown>[])(point(type, value, source))

describe('a measurement', () => {
  const at = { start_date: '2026-03-01T14:00:00Z', timezone_offset: -18_000 }
  const during = { ...at, end_date: '2026-03-01T14:15:00Z' }

  test.each<[api.DataType, object, object]>([
    ['steps', { interval, count: '870' }, { ...during, value: 870, type: 'watch' }],
    ['floors', { interval, count: '2' }, { ...during, value: 2, type: 'watch' }],
    ['distance', { interval, millimeters: '640500' }, { ...during, value: 640.5, unit: 'm', type: 'watch' }],
    ['active-energy-burned', { interval, kcal: 21.5 }, { ...during, value: 21.5, unit: 'kcal', type: 'watch' }],
    ['heart-rate', { sampleTime, beatsPerMinute: '62' }, { ...at, value: 62, type: 'watch' }],
    [
      'heart-rate-variability',
      { sampleTime, rootMeanSquareOfSuccessiveDifferencesMilliseconds: 48.2, standardDeviationMilliseconds: 55 },
      { ...at, value: 48.2, unit: 'ms', type: 'watch' },
    ],
    ['oxygen-saturation', { sampleTime, percentage: 96.5 }, { ...at, value: 96.5, unit: '%', type: 'watch' }],
    ['respiratory-rate-sleep-summary', { sampleTime, fullSleepStats: { breathsPerMinute: 14.2 } }, { ...at, value: 14.2, type: 'watch' }],
    ['weight', { sampleTime, weightGrams: 68_200 }, { ...at, value: 68.2, unit: 'kg', type: 'unknown' }],
    ['body-fat', { sampleTime, percentage: 24.1 }, { ...at, value: 24.1, unit: '%', type: 'unknown' }],
    ['blood-glucose', { sampleTime, bloodGlucoseMilligramsPerDeciliter: 98 }, { ...at, value: 98, unit: 'mg/dL', type: 'unknown' }],
    ['core-body-temperature', { sampleTime, temperatureCelsius: 36.6 }, { ...at, value: 36.6, unit: '°C', type: 'unknown' }],
    ['vo2-max', { sampleTime, vo2Max: 41.5, measurementMethod: 'ROCKPORT_FITNESS_TEST' }, { ...at, value: 41.5, type: 'watch' }],
    ['run-vo2-max', { sampleTime, runVo2Max: 44.25 }, { ...at, value: 44.25, type: 'watch' }],
    ['daily-vo2-max', { date, vo2Max: 40, estimated: true }, { start_date: '2026-03-01T12:00:00Z', value: 40, type: 'watch' }],
  ])('%s', (type, value, sample) => {
    expect(samples(type, value)).toEqual([sample])
  })

  test.each([
    ['SELF_MONITORING_BLOOD_GLUCOSE', 'fingerprick'],
    ['CONTINUOUS_GLUCOSE_MONITORING', 'automatic'],
    ['LAB_TEST', 'lab'],
    ['MEASUREMENT_SOURCE_UNSPECIFIED', 'unknown'],
  ])('glucose by %s is of type %s', (measurementSource, type) => {
    expect(samples('blood-glucose', { sampleTime, bloodGlucoseMilligramsPerDeciliter: 98, measurementSource })).toMatchObject([{ type }])
  })

  test.each([
    ['EAR_DRUM', 'eardrum'],
    ['GASTRO_INTESTINAL', 'gastrointestinal'],
    ['FOREHEAD', 'forehead'],
    ['NASAL', undefined],
  ])('a temperature at %s has the sensor location %s', (measurementLocation, sensor_location) => {
    expect(samples('core-body-temperature', { sampleTime, temperatureCelsius: 37, measurementLocation })[0]?.['sensor_location']).toBe(
      sensor_location,
    )
  })

  test.each([
    [{ device: { formFactor: 'FITNESS_BAND' } }, 'watch'],
    [{ device: { formFactor: 'SCALE' } }, 'scale'],
    [{ device: { formFactor: 'RING' } }, 'ring'],
    [{ device: { formFactor: 'CHEST_STRAP' } }, 'chest_strap'],
    [{ device: { formFactor: 'TABLET' } }, 'phone'],
    [{ recordingMethod: 'MANUAL' }, 'app'],
    [{ device: { formFactor: 'SMART_DISPLAY' } }, 'unknown'],
  ])('from %j is of type %s', (source, type) => {
    expect(samples('weight', { sampleTime, weightGrams: 70_000 }, source)).toMatchObject([{ type }])
  })

  test('without a value is left out', () => {
    expect(samples('heart-rate', { sampleTime })).toEqual([])
    expect(samples('steps', { interval, count: null })).toEqual([])
  })
})

describe('a sleep of Google', () => {
  const night = { startTime: '2026-03-02T04:00:00Z', startUtcOffset: '-18000s', endTime: '2026-03-02T05:00:00Z', endUtcOffset: '-14400s' }
  const sleep = (change: object = {}) => point('sleep', { interval: night, type: 'STAGES', metadata: { mainSleep: true }, ...change })
  const none = { temperature: [], respiration: [], variability: [] }

  test('keeps the offsets of its start and end', () => {
    expect(map.sleepOf(sleep(), none)).toMatchObject({
      ...{ id: 'p1', start_date: '2026-03-01T23:00:00.000-05:00', end_date: '2026-03-02T01:00:00.000-04:00' },
    })
  })

  test.each([
    [{ mainSleep: true, processed: true }, 'long_sleep', 'confirmed'],
    [{ nap: true, processed: true }, 'acknowledged_nap', 'confirmed'],
    [{ processed: false }, undefined, 'tentative'],
    [{}, undefined, 'tentative'],
  ])('with %j is a %s, %s', (metadata, type, state) => {
    const mapped = map.sleepOf(sleep({ metadata }), none)
    expect([mapped.type, mapped.state]).toEqual([type, state])
  })

  test.each([
    ['AWAKE', 'awake'],
    ['LIGHT', 'light'],
    ['DEEP', 'deep'],
    ['REM', 'rem'],
    ['ASLEEP', 'light'],
    ['RESTLESS', 'awake'],
  ])('its stage %s is %s', (type, stage) => {
    const stages = [{ startTime: '2026-03-02T04:10:00Z', endTime: '2026-03-02T04:30:00Z', type }]
    expect(map.sleepOf(sleep({ stages }), none).sleep_stages).toEqual([
      { stage, start_date: '2026-03-02T04:10:00.000Z', end_date: '2026-03-02T04:30:00.000Z' },
    ])
  })

  test('stages end with the session, and unknown ones are left out', () => {
    const stages = [
      { startTime: '2026-03-02T03:50:00Z', endTime: '2026-03-02T04:30:00Z', type: 'LIGHT' },
      { startTime: '2026-03-02T05:00:00Z', endTime: '2026-03-02T05:30:00Z', type: 'REM' },
      { startTime: '2026-03-02T04:30:00Z', endTime: '2026-03-02T04:40:00Z', type: 'SLEEP_STAGE_TYPE_UNSPECIFIED' },
    ]
    expect(map.sleepOf(sleep({ stages }), none).sleep_stages).toEqual([
      { stage: 'light', start_date: '2026-03-02T04:00:00.000Z', end_date: '2026-03-02T04:30:00.000Z' },
    ])
  })

  test('takes its lengths from the summary', () => {
    const stagesSummary = [
      { type: 'LIGHT', minutes: '200', count: '9' },
      { type: 'DEEP', minutes: '80', count: '3' },
      { type: 'REM', minutes: '100', count: '4' },
      { type: 'AWAKE', minutes: '40', count: '20' },
    ]
    const summary = { minutesAsleep: '380', minutesAwake: '40', minutesToFallAsleep: '9', stagesSummary }
    expect(map.sleepOf(sleep({ summary }), none)).toMatchObject({
      ...{ total: 22_800, awake: 2400, latency: 540, light: 12_000, deep: 4800, rem: 6000 },
    })
    const classic = { minutesAsleep: '60', stagesSummary: [{ type: 'ASLEEP', minutes: '60' }] }
    expect(map.sleepOf(sleep({ type: 'CLASSIC', summary: classic }), none)).toMatchObject({ total: 3600, light: 3600, deep: 0, rem: 0 })
    expect(map.sleepOf(sleep(), none)).toMatchObject({ total: null, awake: null, light: null })
  })

  test('the values of the day on which it ends belong to the main sleep', () => {
    const on = { year: 2026, month: 3, day: 2 }
    const nights = {
      temperature: [
        point('daily-sleep-temperature-derivations', { date: on, nightlyTemperatureCelsius: 33.9, baselineTemperatureCelsius: 33.7 }),
      ],
      respiration: [point('daily-respiratory-rate', { date: on, breathsPerMinute: 14.2 })],
      variability: [point('daily-heart-rate-variability', { date: on, averageHeartRateVariabilityMilliseconds: 52.5 })],
    }
    expect(map.sleepOf(sleep(), nights)).toMatchObject({
      ...{ temperature_delta: 0.2, respiratory_rate_mean: 14.2, hrv_mean_rmssd: 52.5 },
      body_temperature_delta: [{ value: 0.2, start_date: '2026-03-01T23:00:00.000-05:00', sensor_location: 'wrist' }],
    })
    expect(map.sleepOf(sleep({ metadata: { nap: true } }), nights)).toMatchObject({
      ...{ temperature_delta: null, body_temperature_delta: [], respiratory_rate_mean: undefined },
    })
  })
})

describe('a day of Google', () => {
  const none: map.Days = { steps: [], distance: [], floors: [], active: [], total: [], minutes: [], heart: [], resting: [] }
  const levels = (list: [string, number][]) => ({
    activeMinutesRollupByActivityLevel: list.map(([activityLevel, activeMinutesSum]) => ({ activityLevel, activeMinutesSum })),
  })

  test.each<[Partial<map.Days>, object]>([
    [{ steps: [{ date, value: { countSum: 9000 } }] }, { date: '2026-03-01', steps_sum: 9000 }],
    [{ distance: [{ date, value: { millimetersSum: 7_340_500 } }] }, { distance_sum: 7340.5 }],
    [{ floors: [{ date, value: { countSum: 6 } }] }, { floors_climbed_sum: 6 }],
    [
      { active: [{ date, value: { kcalSum: 400 } }], total: [{ date, value: { kcalSum: 2100 } }] },
      { active_energy_burned_sum: 400, basal_energy_burned_sum: 1700 },
    ],
    [{ active: [{ date, value: { kcalSum: 400 } }], total: [{ date, value: { kcalSum: 300 } }] }, { basal_energy_burned_sum: 0 }],
    [{ active: [{ date, value: { kcalSum: 400 } }] }, { active_energy_burned_sum: 400, basal_energy_burned_sum: null }],
    [
      {
        minutes: [
          {
            date,
            value: levels([
              ['LIGHT', 140],
              ['MODERATE', 31],
              ['VIGOROUS', 18],
            ]),
          },
        ],
      },
      { low: 140, medium: 31, high: 18 },
    ],
    [
      { heart: [{ date, value: { beatsPerMinuteAvg: 71.5, beatsPerMinuteMin: 48, beatsPerMinuteMax: 151 } }] },
      { heart_rate_mean: 71.5, heart_rate_minimum: 48, heart_rate_maximum: 151 },
    ],
    [
      {
        steps: [{ date, value: { countSum: 1 } }],
        resting: [point('daily-resting-heart-rate', { date, beatsPerMinute: '55' })],
      },
      { steps_sum: 1, heart_rate_resting: 55 },
    ],
  ])('%j becomes %j', (days, summary) => {
    expect(map.activitiesOf({ ...none, ...days })).toMatchObject([{ day_summary: summary }])
  })

  test('a resting heart rate alone is not an activity', () => {
    expect(map.activitiesOf({ ...none, resting: [point('daily-resting-heart-rate', { date, beatsPerMinute: '55' })] })).toEqual([])
  })
})

describe('an exercise', () => {
  const exercise = (change: object = {}) => point('exercise', { interval, exerciseType: 'RUNNING', ...change })

  test.each<[object, object]>([
    [{ displayName: 'Lunch run' }, { id: 'p1', title: 'Lunch run' }],
    [{ activeDuration: '3300.5s' }, { moving_time: 3301 }],
    [{ metricsSummary: { caloriesKcal: 420.5 } }, { calories: 420.5 }],
    [{ metricsSummary: { distanceMillimeters: 9_500_000 } }, { distance: 9500 }],
    [{ metricsSummary: { steps: '9000' } }, { steps: 9000 }],
    [{ metricsSummary: { averageHeartRateBeatsPerMinute: '142' } }, { heart_rate_mean: 142 }],
    [{ metricsSummary: { averageSpeedMillimetersPerSecond: 2878 } }, { average_speed: 2.878 }],
    [{ metricsSummary: { elevationGainMillimeters: 85_000 } }, { total_elevation_gain: 85 }],
    [
      { metricsSummary: { heartRateZoneDurations: { lightTime: '300s', moderateTime: '1200s', vigorousTime: '900s', peakTime: '60s' } } },
      { hr_zones: [0, 300, 1200, 900, 60, 0] },
    ],
    [{}, { start_date: '2026-03-01T09:00:00.000-05:00', end_date: '2026-03-01T09:15:00.000-05:00', hr_zones: null, moving_time: null }],
  ])('%j becomes %j', (change, workout) => {
    expect(map.workoutOf(exercise(change))).toMatchObject(workout)
  })

  test.each([
    ['RUNNING', 'running'],
    ['BIKING', 'cycling'],
    ['SWIMMING_POOL', 'swimming'],
    ['HIIT', 'high_intensity_interval_training'],
    ['WEIGHTLIFTING', 'strength_training'],
    ['YOGA', 'yoga'],
    ['TREADMILL', 'treadmill'],
    ['OTHER', 'other'],
    ['EXERCISE_TYPE_UNSPECIFIED', 'other'],
    ['A NEW ONE!', 'other'],
    [null, 'other'],
  ])('of type %s is the sport %s', (exerciseType, sport) => {
    expect(map.workoutOf(exercise({ exerciseType })).sport).toBe(sport)
  })
})

describe('a body and a profile', () => {
  test('weights and body fat are measurements of one summary per day', () => {
    const weight = point('weight', { sampleTime, weightGrams: 68_200 })
    const fat = point('body-fat', { sampleTime, percentage: 24.1 })
    expect(map.bodyOf([weight], [fat])).toMatchObject({ body_mass: [{ value: 68.2 }], body_fat_percentage: [{ value: 24.1 }] })
  })

  test('the latest height is in centimeters', () => {
    expect(map.profileOf([point('height', { sampleTime, heightMillimeters: '1725' })])).toEqual({ height: 172.5 })
  })
})

describe('an electrocardiogram', () => {
  const reading = (change: object = {}) =>
    point('electrocardiogram', {
      ...{ interval: { ...interval, endTime: interval.startTime }, beatsPerMinuteAvg: '64', samplingFrequencyHertz: 125 },
      ...{ millivoltsScalingFactor: 1000, waveformSamples: [0, 250, -500], ...change },
    })

  test.each([
    ['NORMAL_SINUS_RHYTHM', 'sinus_rhythm', undefined],
    ['ATRIAL_FIBRILLATION', 'atrial_fibrillation', undefined],
    ['INCONCLUSIVE', 'inconclusive', undefined],
    ['INCONCLUSIVE_HIGH_HEART_RATE', 'inconclusive', 'high_heart_rate'],
    ['INCONCLUSIVE_LOW_HEART_RATE', 'inconclusive', 'low_heart_rate'],
    ['UNREADABLE', 'inconclusive', 'poor_reading'],
    ['NOT_ANALYZED', undefined, undefined],
  ])('that Google classified as %s is %s, because of %s', (resultClassification, classification, inconclusive_cause) => {
    const mapped = map.electrocardiogramOf(reading({ resultClassification }))
    expect([mapped.classification, mapped.inconclusive_cause]).toEqual([classification, inconclusive_cause])
  })

  test('is as long as its waveform, in millivolts of lead I', () => {
    expect(map.electrocardiogramOf(reading())).toMatchObject({
      ...{ session_start: '2026-03-01T09:00:00.000-05:00', session_end: '2026-03-01T09:00:00.024-05:00' },
      ...{ voltage_sample_count: 3, heart_rate_mean: 64, sampling_frequency_hz: 125 },
    })
    expect(map.voltagesOf(reading())).toEqual(
      [0, 0.25, -0.5].map((value, i) => ({
        ...{ start_date: `2026-03-01T14:00:00.0${['00', '08', '16'][i]}Z`, timezone_offset: -18_000 },
        ...{ value, unit: 'mV', type: 'lead_i' },
      })),
    )
    expect(map.voltagesOf(reading({ samplingFrequencyHertz: 0 }))).toEqual([])
  })
})

import { describe, expect, test } from 'vitest'
import { faultOfStatus } from '../../src/wearables/providers/withings/api.ts'
import { withings } from '../../src/wearables/providers/withings/index.ts'
import * as map from '../../src/wearables/providers/withings/map.ts'
import { sportOf } from '../../src/wearables/providers/withings/sports.ts'

/** 2026-03-01T06:00:00Z, seven o'clock in Paris. */
const DATE = 1_772_344_800
const PARIS = 'Europe/Paris'
const at = '2026-03-01T07:00:00.000+01:00'
const modified = { modified: DATE + 60 }
const modified_at = '2026-03-01T06:01:00.000Z'

const aGroup = (measures: [number, number, number][], change: object = {}) => ({
  ...{ grpid: 1, attrib: 0, date: DATE, ...modified, ...change },
  measures: measures.map(([type, value, unit]) => ({ type, value, unit })),
})

describe('a group of measures of Withings', () => {
  test.each([
    [1, 68_250, -3, 'body_mass', 68.25],
    [6, 241, -1, 'body_fat_percentage', 24.1],
    [5, 518, -1, 'lean_body_mass', 51.8],
  ])('type %i, %i · 10^%i, is %s %d', (type, value, unit, list, expected) => {
    const [body] = map.bodyOf(aGroup([[type, value, unit]]), PARIS)
    expect(body).toMatchObject({
      source_type: 'scale',
      modified_at,
      [list]: [{ value: expected, start_date: at, modified_at, type: 'scale' }],
    })
  })

  test.each([
    [76, 34, 0, 'muscle_mass_percentage', 50],
    [77, 40_800, -3, 'water_percentage', 60],
    [88, 34, -1, 'bone_mass_percentage', 5],
    [170, 42, -1, 'visceral_fat_index', 4.2],
  ])('type %i, %i · 10^%i, with a weight of 68 kg is %s %d', (type, value, unit, field, expected) => {
    const [body] = map.bodyOf(
      aGroup([
        [1, 68, 0],
        [type, value, unit],
      ]),
      PARIS,
    )
    expect(body?.composition).toMatchObject([{ field, start_date: at }])
    expect(body?.composition[0]?.value).toBeCloseTo(expected)
  })

  test('a mass without a weight has no percentage', () => {
    expect(map.bodyOf(aGroup([[76, 34, 0]]), PARIS)).toEqual([])
  })

  test('systolic, diastolic and pulse are one sample; a pulse alone is a heart rate', () => {
    const pressure = aGroup([
      [9, 76, 0],
      [10, 118, 0],
      [11, 61, 0],
    ])
    expect(map.bloodPressureOf(pressure, PARIS)).toEqual([
      { type: 'cuff', modified_at, systolic: { value: 118, start_date: at }, diastolic: { value: 76, start_date: at }, pulse: 61 },
    ])
    expect(map.pulseOf(pressure, PARIS)).toEqual([])
    expect(map.bloodPressureOf(aGroup([[10, 118, 0]]), PARIS)).toEqual([])
    expect(
      map.pulseOf(
        aGroup([
          [1, 68, 0],
          [11, 61, 0],
        ]),
        PARIS,
      ),
    ).toEqual([{ value: 61, start_date: at, modified_at, type: 'scale' }])
    expect(map.pulseOf(aGroup([[11, 61, 0]]), PARIS)).toMatchObject([{ type: 'unknown' }])
  })

  test.each([
    [54, 97, 0, map.oxygenOf, 97],
    [71, 366, -1, map.temperatureOf, 36.6],
    [123, 41, 0, map.vo2MaxOf, 41],
  ])('type %i, %i · 10^%i, is one sample', (type, value, unit, mapping, expected) => {
    expect(mapping(aGroup([[type, value, unit]]), PARIS)).toEqual([{ value: expected, start_date: at, modified_at, type: 'unknown' }])
    expect(mapping(aGroup([[1, 68, 0]]), PARIS)).toEqual([])
  })

  test('fat mass becomes a percentage of the weight, unless the scale sends that', () => {
    type Measure = [number, number, number]
    const [weight, mass, percentage]: [Measure, Measure, Measure] = [
      [1, 68, 0],
      [8, 17, 0],
      [6, 241, -1],
    ]
    expect(map.bodyOf(aGroup([weight, mass]), PARIS)).toMatchObject([{ body_fat_percentage: [{ value: 25, start_date: at }] }])
    expect(map.bodyOf(aGroup([weight, mass, percentage]), PARIS)).toMatchObject([{ body_fat_percentage: [{ value: 24.1 }] }])
    expect(map.bodyOf(aGroup([mass]), PARIS)).toEqual([])
  })

  test.each<[[number, number, number][], object[]]>([
    [[[12, 366, -1]], [{ value: 36.6, type: 'unknown' }]],
    [[[73, 331, -1]], [{ value: 33.1, type: 'watch', sensor_location: 'wrist' }]],
    [
      [
        [12, 365, -1],
        [71, 366, -1],
        [73, 331, -1],
      ],
      [{ value: 36.6, type: 'unknown' }],
    ],
  ])('the temperatures %j become %j', (measures, samples) => {
    expect(map.temperatureOf(aGroup(measures), PARIS)).toEqual(samples.map((one) => ({ start_date: at, modified_at, ...one })))
  })

  test('a height in meters is a profile in centimeters', () => {
    expect(map.profileOf(aGroup([[4, 172, -2]]))).toEqual([{ height: 172, modified_at: '2026-03-01T06:00:00.000Z' }])
  })

  test.each([
    [0, true, 'scale'],
    [1, false, undefined],
    [2, true, 'app'],
    [3, true, 'scale'],
    [4, false, undefined],
    [5, true, 'scale'],
    [7, true, 'scale'],
    [8, true, 'scale'],
    [15, false, undefined],
  ])('attribute %i: taken %s, from %s', (attrib, isTaken, device) => {
    const group = aGroup([[1, 68, 0]], { attrib })
    expect(map.isTaken(group)).toBe(isTaken)
    if (isTaken) expect(map.bodyOf(group, PARIS)).toMatchObject([{ source_type: device }])
  })

  test('an unknown zone leaves the time in UTC', () => {
    for (const zone of [null, 'Nowhere/Land'])
      expect(map.oxygenOf(aGroup([[54, 97, 0]]), zone)).toMatchObject([{ start_date: '2026-03-01T06:00:00.000Z' }])
  })
})

describe('a day of Withings', () => {
  const day = { date: '2026-03-01', timezone: PARIS, ...modified }
  const summaryOf = (row: object) => map.activityOf({ ...day, ...row } as never).day_summary
  test.each([
    [{ steps: 9000 }, { date: '2026-03-01', steps_sum: 9000 }],
    [{ distance: 5400.5 }, { distance_sum: 5400.5 }],
    [{ elevation: 6 }, { floors_climbed_sum: 6 }],
    [
      { calories: 400, totalcalories: 2100 },
      { active_energy_burned_sum: 400, basal_energy_burned_sum: 1700 },
    ],
    [{ calories: 400, totalcalories: 300 }, { basal_energy_burned_sum: 0 }],
    [{ calories: 400 }, { basal_energy_burned_sum: null }],
    [
      { soft: 600, moderate: 90, intense: 0 },
      { low: 10, medium: 1.5, high: 0 },
    ],
    [
      { hr_average: 74, hr_min: 48, hr_max: 151 },
      { heart_rate_mean: 74, heart_rate_minimum: 48, heart_rate_maximum: 151 },
    ],
  ])('%j becomes %j', (fields, summary) => {
    expect(summaryOf(fields)).toMatchObject(summary)
  })

  test('a tracker takes precedence over the phone', () => {
    const [phone, watch] = [
      { ...day, steps: 1, is_tracker: false, brand: 18 },
      { ...day, steps: 2, is_tracker: true, brand: 1 },
    ] as never[]
    expect(map.withoutDoubles([phone] as never).map(map.activityOf)).toMatchObject([{ source_type: 'phone', modified_at }])
    expect(map.withoutDoubles([phone, watch] as never).map(map.activityOf)).toMatchObject([
      { source_type: 'watch', day_summary: { steps_sum: 2 } },
    ])
  })

  test.each([
    ['steps', 'steps', true],
    ['distance', 'distance', true],
    ['calories', 'calories_active', true],
    ['elevation', 'floors_climbed', false],
    ['heart_rate', 'heartrate', false],
    ['spo2_auto', 'blood_oxygen', false],
    ['rmssd', 'hrv', false],
    ['rr', 'respiratory_rate', false],
    ['core_body_temperature', 'body_temperature', false],
  ] as const)('the interval field %s is the series %s, with an end: %s', (field, series, hasEnd) => {
    expect(map.intradaySeries[field]).toBe(series)
    const samples = [{ [field]: 36, duration: 60 }, {}].flatMap((row, i) =>
      map.intradayOf({ second: DATE + 60 * i, row: row as never }, field),
    )
    const end = hasEnd ? { end_date: '2026-03-01T06:01:00.000Z' } : {}
    expect(samples).toEqual([{ start_date: '2026-03-01T06:00:00.000Z', ...end, value: 36, type: 'watch' }])
  })
})

describe('a night of Withings', () => {
  const aNight = (data: object = {}, change: object = {}) => ({
    ...{ id: 12, timezone: PARIS, model: 16, startdate: DATE, enddate: DATE + 1200, ...modified, completed: true, data },
    ...change,
  })
  const sleepOf = (data: object, change: object = {}, phases: object[] = []) => map.sleepOf(aNight(data, change) as never, phases as never)

  test.each([
    ['total_sleep_time', 25_200, 'total', 25_200],
    ['asleepduration', 25_100, 'total', 25_100],
    ['wakeupduration', 600, 'awake', 600],
    ['lightsleepduration', 100, 'light', 100],
    ['deepsleepduration', 200, 'deep', 200],
    ['remsleepduration', 300, 'rem', 300],
    ['sleep_latency', 480, 'latency', 480],
    ['sleep_efficiency', 0.9167, 'efficiency', 91.7],
    ['hr_average', 54, 'heart_rate_mean', 54],
    ['hr_min', 47, 'heart_rate_minimum', 47],
    ['hr_max', 66, 'heart_rate_maximum', 66],
    ['rr_average', 14, 'respiratory_rate_mean', 14],
    ['sleep_score', 81, 'score', 81],
    ['waso', 540, 'awake', 540],
    ['waso', 540, 'wake_after_sleep_onset', 540],
    ['rmssd_start_avg', 48, 'hrv_mean_rmssd', 48],
    ['apnea_hypopnea_index', 12, 'apnea_hypopnea_index', 12],
    ['breathing_disturbances_intensity', 20, 'breathing_disturbances_intensity', 20],
    ['snoring', 1260, 'snoring', 1260],
    ['snoringepisodecount', 3, 'snoring_episode_count', 3],
  ])('%s %d becomes %s %d', (field, value, ours, mapped) => {
    expect(sleepOf({ [field]: value })).toMatchObject({ [ours]: mapped, id: '12', start_date: at, modified_at })
  })

  test('is tentative until it is completed, and a mat is no watch', () => {
    expect(sleepOf({}, { completed: false, model: 32 })).toMatchObject({ state: 'tentative', source_type: 'unknown' })
    expect(sleepOf({})).toMatchObject({ state: 'confirmed', source_type: 'watch' })
  })

  test.each([
    [0, 'awake'],
    [1, 'light'],
    [2, 'deep'],
    [3, 'rem'],
    [4, 'manual'],
    [5, 'manual'],
    [15, 'awake'],
    [99, undefined],
  ])('the state %i is the stage %s, within the night', (state, stage) => {
    const found = sleepOf({}, {}, [{ startdate: DATE - 60, enddate: DATE + 60, state }]).sleep_stages
    expect(found).toEqual(stage ? [{ stage, start_date: '2026-03-01T06:00:00.000Z', end_date: '2026-03-01T06:01:00.000Z' }] : [])
  })

  test('takes heart rates, breaths and variability from its phases', () => {
    const phase = {
      startdate: DATE,
      enddate: DATE + 60,
      state: 1,
      hr: { [DATE]: 50 },
      rr: { [DATE]: 14 },
      rmssd: { [DATE]: 40, [DATE + 30]: 60 },
    }
    const night = sleepOf({}, {}, [phase])
    expect(night.heart_rate).toEqual([{ start_date: at, value: 50, type: 'watch' }])
    expect(night.respiratory_rate).toEqual([{ start_date: at, value: 14, type: 'watch' }])
    expect(night.heart_rate_variability).toHaveLength(2)
    expect(night.hrv_mean_rmssd).toBe(50)
  })
})

describe('a workout of Withings', () => {
  const workoutOf = (data: object, category = 2) =>
    map.workoutOf({ id: 5, category, timezone: PARIS, startdate: DATE, enddate: DATE + 3600, ...modified, data } as never)
  test.each([
    ['calories', 320, 'calories', 320],
    ['manual_calories', 310, 'calories', 310],
    ['distance', 6100, 'distance', 6100],
    ['manual_distance', 6000, 'distance', 6000],
    ['hr_average', 131, 'heart_rate_mean', 131],
    ['hr_max', 164, 'heart_rate_maximum', 164],
    ['steps', 5200, 'steps', 5200],
    ['pause_duration', 300, 'moving_time', 3300],
  ])('%s %d becomes %s %d', (field, value, ours, mapped) => {
    expect(workoutOf({ [field]: value })).toMatchObject({ [ours]: mapped, id: '5', sport: 'running', start_date: at, modified_at })
  })

  test.each([
    [1, 'walking'],
    [6, 'cycling'],
    [7, 'swimming'],
    [16, 'strength_training'],
    [21, 'soccer'],
    [36, 'other'],
    [128, 'other'],
    [307, 'treadmill'],
    [550, 'high_intensity_interval_training'],
    [9999, 'other'],
  ])('the category %i is the sport %s', (category, sport) => {
    expect(sportOf(category)).toBe(sport)
  })
})

test.each([
  [0, undefined],
  [100, 'unauthorized'],
  [401, 'unauthorized'],
  [277, 'forbidden'],
  [2555, 'forbidden'],
  [601, 'rate_limited'],
  [522, 'unavailable'],
  [503, 'refused'],
  [2554, 'refused'],
  [9000, 'unavailable'],
])('the status %i is %s', (status, fault) => {
  expect(faultOfStatus(status)).toBe(fault)
})

test.each([
  ['userid=1&appli=1&startdate=1772344800&enddate=1772344801', ['measures']],
  ['userid=1&appli=4&startdate=1772344800&enddate=1772344801', ['measures']],
  ['userid=1&appli=16&date=2026-03-01', ['activity', 'intraday', 'workouts']],
  ['userid=1&appli=44&startdate=1772344800&enddate=1772370000', ['sleep']],
  ['userid=1&appli=50&startdate=1772344800&enddate=1772344801', []],
  ['userid=1&appli=1&startdate=9&enddate=1', []],
  ['', []],
])('the notification %s is about %j', (body, feeds) => {
  const reception = withings.receive?.({ method: 'POST', query: {}, headers: {}, body: Buffer.from(body) }, {} as never, null as never)
  expect((reception as { changes: { feed: string }[] }).changes.map(({ feed }) => feed)).toEqual(feeds)
})

import { describe, expect, test } from 'vitest'
import * as api from '../../src/wearables/providers/oura/api.ts'
import { oura } from '../../src/wearables/providers/oura/index.ts'
import * as map from '../../src/wearables/providers/oura/map.ts'
import { profileRecords } from '../../src/wearables/providers/profile.ts'

const aNight = (change: object = {}) =>
  api.Sleep.parse({
    ...{ id: 's1', day: '2026-03-02', type: 'long_sleep' },
    ...{ bedtime_start: '2026-03-01T23:00:00+01:00', bedtime_end: '2026-03-01T23:12:00+01:00' },
    ...change,
  })

describe('a sleep of Oura', () => {
  test.each([
    ['long_sleep', true, 'long_sleep'],
    ['late_nap', true, 'acknowledged_nap'],
    ['sleep', true, 'short_sleep'],
    [null, true, 'short_sleep'],
    ['rest', false, undefined],
    ['deleted', false, undefined],
    ['a type of tomorrow', false, undefined],
  ])('of type %s: is a sleep %s, of type %s', (type, isSleep, ours) => {
    expect(map.isSleep(aNight({ type }))).toBe(isSleep)
    if (isSleep) expect(map.sleepOf(aNight({ type }), undefined).type).toBe(ours)
  })

  test.each([
    ['total_sleep_duration', 25_200, 'total', 25_200],
    ['awake_time', 600, 'awake', 600],
    ['light_sleep_duration', 100, 'light', 100],
    ['deep_sleep_duration', 200, 'deep', 200],
    ['rem_sleep_duration', 300, 'rem', 300],
    ['latency', 480, 'latency', 480],
    ['efficiency', 91, 'efficiency', 91],
    ['average_heart_rate', 54.25, 'heart_rate_mean', 54.25],
    ['lowest_heart_rate', 47, 'heart_rate_minimum', 47],
    ['average_hrv', 61, 'hrv_mean_rmssd', 61],
    ['average_breath', 14.1, 'respiratory_rate_mean', 14.1],
    ['readiness', { score: 82 }, 'recovery_readiness_score', 82],
    ['readiness', { temperature_deviation: -0.3 }, 'temperature_delta', -0.3],
    ['meta', { updated_at: '2026-03-02T09:00:00+01:00' }, 'modified_at', '2026-03-02T08:00:00.000Z'],
    ['bedtime_start', '2026-03-01T22:59:00+01:00', 'start_date', '2026-03-01T22:59:00+01:00'],
    ['bedtime_end', '2026-03-02T07:00:00+01:00', 'end_date', '2026-03-02T07:00:00+01:00'],
  ])('%s %j becomes %s %j', (field, value, ours, mapped) => {
    expect(map.sleepOf(aNight({ [field]: value }), undefined)).toMatchObject({ [ours]: mapped })
  })

  test('takes the score of its day only if it is the long sleep, and the later version of both', () => {
    const daily = api.DailySleep.parse({ id: 'd', day: '2026-03-02', score: 88, meta: { updated_at: '2026-03-02T10:00:00Z' } })
    const meta = { updated_at: '2026-03-02T08:00:00Z' }
    expect(map.sleepOf(aNight({ meta }), daily)).toMatchObject({ score: 88, modified_at: '2026-03-02T10:00:00.000Z' })
    expect(map.sleepOf(aNight({ type: 'late_nap' }), daily).score).toBeUndefined()
  })

  test('joins equal phases of five minutes and ends the last one with the night', () => {
    expect(map.sleepOf(aNight({ sleep_phase_5_min: '4112' }), undefined).sleep_stages).toEqual([
      { stage: 'awake', start_date: '2026-03-01T22:00:00.000Z', end_date: '2026-03-01T22:05:00.000Z' },
      { stage: 'deep', start_date: '2026-03-01T22:05:00.000Z', end_date: '2026-03-01T22:12:00.000Z' },
    ])
  })

  test('prefers phases of thirty seconds, and leaves out unknown ones', () => {
    const night = aNight({ sleep_phase_30_sec: '2239', sleep_phase_5_min: '444' })
    expect(map.sleepOf(night, undefined).sleep_stages).toEqual([
      { stage: 'light', start_date: '2026-03-01T22:00:00.000Z', end_date: '2026-03-01T22:01:00.000Z' },
      { stage: 'rem', start_date: '2026-03-01T22:01:00.000Z', end_date: '2026-03-01T22:01:30.000Z' },
    ])
  })

  test('places measurements at even intervals, with the offset of the list, and drops gaps', () => {
    const hrv = { interval: 300, items: [40, null, 42], timestamp: '2026-03-01T23:00:00+01:00' }
    const { heart_rate_variability, heart_rate } = map.sleepOf(aNight({ hrv, heart_rate: hrv }), undefined)
    const expected = [
      { start_date: '2026-03-01T22:00:00.000Z', value: 40, type: 'ring', timezone_offset: 3600 },
      { start_date: '2026-03-01T22:10:00.000Z', value: 42, type: 'ring', timezone_offset: 3600 },
    ]
    expect([heart_rate_variability, heart_rate]).toEqual([expected, expected])
  })

  test('gives the temperature of the night and the mean respiratory rate as samples', () => {
    const night = aNight({ average_breath: 14, readiness: { temperature_deviation: 0.2 } })
    expect(map.sleepOf(night, undefined).body_temperature_delta).toEqual([
      { start_date: night.bedtime_start, end_date: night.bedtime_end, value: 0.2, type: 'ring', sensor_location: 'finger' },
    ])
    expect(map.sleepOf(night, undefined).respiratory_rate).toEqual([{ start_date: night.bedtime_end, value: 14, type: 'ring' }])
  })
})

describe('a day of Oura', () => {
  const day = { id: 'a', day: '2026-03-02' }
  test.each([
    [{ steps: 9000 }, { date: '2026-03-02', steps_sum: 9000 }],
    [
      { active_calories: 400, total_calories: 2100 },
      { active_energy_burned_sum: 400, basal_energy_burned_sum: 1700 },
    ],
    [{ active_calories: 400, total_calories: 300 }, { basal_energy_burned_sum: 0 }],
    [{ active_calories: 400 }, { active_energy_burned_sum: 400, basal_energy_burned_sum: null }],
    [{ equivalent_walking_distance: 7000 }, { distance_sum: 7000 }],
    [
      { low_activity_time: 600, medium_activity_time: 90, high_activity_time: 0 },
      { low: 10, medium: 1.5, high: 0 },
    ],
  ])('%j becomes %j', (fields, summary) => {
    expect(map.activityOf(api.DailyActivity.parse({ ...day, ...fields })).day_summary).toMatchObject(summary)
  })

  test.each([
    ['2026-03-02T04:00:00+01:00', 3600],
    ['2026-03-02T04:00:00-03:30', -12_600],
    ['2026-03-02T04:00:00', undefined],
    [null, undefined],
  ])('a day that begins at %s keeps the offset %s', (timestamp, timezone_offset) => {
    expect(map.activityOf(api.DailyActivity.parse({ ...day, timestamp })).day_summary.timezone_offset).toBe(timezone_offset)
  })

  test('the mean oxygen saturation belongs to the end of the long sleep; 0 means not measured', () => {
    const spo2 = (average: number | null, of = '2026-03-02') => api.DailySpo2.parse({ ...day, day: of, spo2_percentage: { average } })
    const nights = [aNight(), aNight({ id: 's2', type: 'late_nap', bedtime_end: '2026-03-02T15:00:00+01:00' })]
    expect(map.oxygenOf([spo2(96.4)], nights)).toEqual([{ start_date: aNight().bedtime_end, value: 96.4, type: 'ring' }])
    expect(map.oxygenOf([spo2(0), spo2(null), spo2(97, '2026-03-03')], nights)).toEqual([])
  })

  test('vO2 max and profile', () => {
    const vo2 = api.Vo2Max.parse({ ...day, timestamp: '2026-03-02T12:00:00+01:00', vo2_max: 42 })
    expect(map.vo2MaxOf(vo2)).toEqual([{ start_date: vo2.timestamp, value: 42, type: 'ring' }])
    const info = api.PersonalInfo.parse({ id: 'u', height: 1.72, weight: 68.5, biological_sex: 'female' })
    expect(map.profileOf(info)).toEqual({ height: 172, biological_sex: 'female', weight: 68.5 })
  })

  test.each([
    [undefined, 68.5, [{ value: 68.5, unit: 'kg', start_date: '2026-03-02T12:00:00Z', type: 'app' }]],
    [70, 68.5, [{ value: 68.5, unit: 'kg', start_date: '2026-03-02T12:00:00Z', type: 'app' }]],
    [68.5, 68.5, undefined],
    [undefined, null, undefined],
  ])('after a weight of %s, the weight %s of a profile is the measurement %j', async (last, weight, measured) => {
    const context = { now: '2026-03-02T12:00:00Z', lastProfile: async () => ({ weight: last }) }
    const { summaries = [] } = await profileRecords({ height: 172, weight }, context as never)
    expect(summaries[0]?.items[0]?.['body_mass']).toEqual(measured)
    expect(summaries[1]).toEqual({ resource: 'profile', items: [{ height: 172, weight }] })
  })
})

describe('a workout of Oura', () => {
  const workout = (change: object = {}) =>
    api.Workout.parse({
      ...{ id: 'w', day: '2026-03-02', activity: 'running', calories: 320.5, distance: 5200, label: 'Lunch run' },
      ...{ start_datetime: '2026-03-02T17:00:00+01:00', end_datetime: '2026-03-02T18:00:00+01:00', ...change },
    })

  test('takes its heart rate from the measurements during it', () => {
    const beats = [100, 140].map((bpm) => ({ timestamp: '2026-03-02T16:30:00Z', bpm, source: 'workout' }))
    expect(map.workoutOf(workout(), beats)).toMatchObject({
      ...{ id: 'w', sport: 'running', title: 'Lunch run', calories: 320.5, distance: 5200, heart_rate_mean: 120, heart_rate_maximum: 140 },
      ...{ start_date: '2026-03-02T17:00:00+01:00', end_date: '2026-03-02T18:00:00+01:00' },
    })
    expect(map.workoutOf(workout(), [])).toMatchObject({ heart_rate_mean: null, heart_rate_maximum: null })
  })

  test.each([
    ['indoor_cycling', 'indoor_cycling'],
    ['strengthTraining', 'strength_training'],
    ['hiit', 'high_intensity_interval_training'],
    ['a_new_sport', 'a_new_sport'],
    ['Führung!', 'other'],
  ])('the activity %s is the sport %s', (activity, sport) => {
    expect(map.workoutOf(workout({ activity }), []).sport).toBe(sport)
  })

  test('heart rates of sleep come with the sleep', () => {
    const beat = (source: string) => ({ timestamp: '2026-03-02T16:30:00Z', bpm: 70, source })
    expect(map.heartRatesOf(['awake', 'sleep', 'rest', 'workout', 'live', 'session'].map(beat))).toHaveLength(5)
  })
})

test.each([
  ['extapi:daily', 'daily'],
  ['spo2Daily', 'spo2'],
  ['extapi:spo2', 'spo2'],
  ['heartrate', 'heartrate'],
])('the granted scope %s is %s', (name, scope) => {
  expect(oura.tokens?.scopeOf?.(name)).toBe(scope)
})

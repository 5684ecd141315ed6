import { describe, expect, test } from 'vitest'
import * as api from '../../src/wearables/providers/whoop/api.ts'
import * as map from '../../src/wearables/providers/whoop/map.ts'

const [start, end] = ['2026-03-02T03:00:00.000Z', '2026-03-02T11:00:00.000Z']
const updated_at = '2026-03-02T11:05:00.000Z'

const aSleep = (score: object = {}, change: object = {}) =>
  api.Sleep.parse({ id: 's1', start, end, timezone_offset: '-05:00', nap: false, updated_at, score_state: 'SCORED', score, ...change })

const aRecovery = (score: object, change: object = {}) =>
  api.Recovery.parse({ sleep_id: 's1', updated_at: '2026-03-02T11:10:00.000Z', score_state: 'SCORED', score, ...change })

const localEnd = '2026-03-02T06:00:00.000-05:00'
const sample = (value: number) => [{ value, start_date: localEnd, type: 'watch' }]

describe('a sleep of WHOOP', () => {
  test.each([
    ['-05:00', '2026-03-01T22:00:00.000-05:00'],
    ['+05:30', '2026-03-02T08:30:00.000+05:30'],
    ['Z', '2026-03-02T03:00:00.000+00:00'],
    ['nowhere', '2026-03-02T03:00:00.000Z'],
  ])('with the offset %s starts at %s', (timezone_offset, start_date) => {
    expect(map.sleepOf(aSleep({}, { timezone_offset }), undefined)).toMatchObject({ id: 's1', start_date })
  })

  test.each([
    [false, 'long_sleep'],
    [true, 'acknowledged_nap'],
  ])('a nap %s is of type %s', (nap, type) => {
    expect(map.sleepOf(aSleep({}, { nap }), undefined).type).toBe(type)
  })

  test.each([
    ['total_awake_time_milli', 'awake'],
    ['total_light_sleep_time_milli', 'light'],
    ['total_slow_wave_sleep_time_milli', 'deep'],
    ['total_rem_sleep_time_milli', 'rem'],
  ])('%s is %s in seconds', (field, ours) => {
    expect(map.sleepOf(aSleep({ stage_summary: { [field]: 600_400 } }), undefined)).toMatchObject({ [ours]: 600, total: null })
  })

  test('the total is the sum of light, deep and REM sleep', () => {
    const stage_summary = {
      ...{ total_awake_time_milli: 1, total_light_sleep_time_milli: 60_000 },
      ...{ total_slow_wave_sleep_time_milli: 30_000, total_rem_sleep_time_milli: 10_000 },
    }
    expect(map.sleepOf(aSleep({ stage_summary }), undefined).total).toBe(100)
  })

  test.each([
    ['respiratory_rate', 14.2, { respiratory_rate_mean: 14.2, respiratory_rate: sample(14.2) }],
    ['sleep_performance_percentage', 81.6, { score: 82 }],
    ['sleep_efficiency_percentage', 91.5, { efficiency: 91.5 }],
  ])('%s %d becomes %j', (field, value, expected) => {
    expect(map.sleepOf(aSleep({ [field]: value }), undefined)).toMatchObject(expected)
  })

  test.each([
    ['recovery_score', 66.4, { recovery_readiness_score: 66 }],
    ['resting_heart_rate', 52, { heart_rate_resting: 52, heart_rate: sample(52) }],
    ['hrv_rmssd_milli', 61.25, { hrv_mean_rmssd: 61.25, heart_rate_variability: sample(61.25) }],
    ['spo2_percentage', 96.1, { oxygen_saturation: sample(96.1) }],
    ['skin_temp_celsius', 33.7, { skin_temperature: 33.7 }],
  ])('the recovery %s %d becomes %j', (field, value, expected) => {
    expect(map.sleepOf(aSleep(), aRecovery({ [field]: value }))).toMatchObject(expected)
  })

  test.each([
    ['SCORED', 'confirmed', 80],
    ['PENDING_SCORE', 'tentative', null],
    ['UNSCORABLE', 'confirmed', null],
  ])('in the state %s is %s, with the score %s', (score_state, state, score) => {
    expect(map.sleepOf(aSleep({ sleep_performance_percentage: 80 }, { score_state }), undefined)).toMatchObject({ state, score })
  })

  test('a recovery without a score adds nothing', () => {
    const pending = aRecovery({ hrv_rmssd_milli: 61 }, { score_state: 'PENDING_SCORE' })
    expect(map.sleepOf(aSleep(), pending)).toMatchObject({ heart_rate_variability: [], heart_rate: [], oxygen_saturation: [] })
  })
})

describe('a cycle of WHOOP', () => {
  const dayOf = (score: object, change: object = {}, sleeps = [aSleep({}, { cycle_id: 7 })]) =>
    map.activityOf(
      api.Cycle.parse({ id: 7, start, timezone_offset: '-05:00', updated_at, score_state: 'SCORED', score, ...change }),
      sleeps,
    )
  test.each([
    [{ kilojoule: 8368 }, { date: '2026-03-02', total_energy_burned_sum: 2000 }],
    [{ average_heart_rate: 68 }, { heart_rate_mean: 68 }],
    [{ max_heart_rate: 171 }, { heart_rate_maximum: 171 }],
  ])('%j becomes %j', (score, summary) => {
    expect(dayOf(score)).toMatchObject({ day_summary: summary })
  })

  const woken = (hours: number, change: object = {}) =>
    aSleep({}, { cycle_id: 7, start, end: new Date(Date.parse(start) + hours * 3_600_000).toISOString(), ...change })
  test.each([
    ['belongs to the local day of the wake-up, not of the sleep onset', {}, [woken(8)], '2026-03-02'],
    ['of a sleep that ends before midnight belongs to that day', {}, [woken(1.5)], '2026-03-01'],
    ['does not take the end of a nap', {}, [woken(30, { nap: true }), woken(8)], '2026-03-02'],
    ['does not take the sleep of another cycle', {}, [woken(30, { cycle_id: 8 }), woken(8)], '2026-03-02'],
    ['without a known sleep is taken to wake up eight hours after its start', {}, [], '2026-03-02'],
    ['is dated in its own time zone', { timezone_offset: '+14:00' }, [woken(8)], '2026-03-03'],
  ])('%s', (_, change, sleeps, date) => {
    expect(dayOf({}, change, sleeps).day_summary.date).toBe(date)
  })

  test('two onsets on one date are two days', () => {
    const cycle = (id: number, start: string, end: string) =>
      dayOf({}, { id, start }, [aSleep({}, { cycle_id: id, start, end })]).day_summary.date
    expect(cycle(1, '2026-03-01T06:00:00.000Z', '2026-03-01T13:00:00.000Z')).toBe('2026-03-01')
    expect(cycle(2, '2026-03-02T03:30:00.000Z', '2026-03-02T11:00:00.000Z')).toBe('2026-03-02')
  })
})

describe('a workout of WHOOP', () => {
  const workoutOf = (score: object, change: object = {}) =>
    map.workoutOf(
      api.Workout.parse({ id: 'w', start, end, timezone_offset: '-05:00', updated_at, score_state: 'SCORED', score, ...change }),
    )
  const zone_durations = Object.fromEntries(api.zoneNames.map((name, i) => [name, (i + 1) * 1000]))
  test.each([
    [{ kilojoule: 1255.2 }, { calories: 300 }],
    [{ distance_meter: 8200 }, { distance: 8200 }],
    [{ altitude_gain_meter: 46.5 }, { total_elevation_gain: 46.5 }],
    [{ average_heart_rate: 128 }, { heart_rate_mean: 128 }],
    [{ max_heart_rate: 171 }, { heart_rate_maximum: 171 }],
    [{ zone_durations }, { hr_zones: [1, 2, 3, 4, 5, 6] }],
  ])('%j becomes %j', (score, expected) => {
    const workout = workoutOf(score)
    for (const [field, value] of Object.entries(expected))
      expect(workout[field as keyof typeof workout]).toEqual(typeof value === 'number' ? expect.closeTo(value) : value)
    expect(workout).toMatchObject({ id: 'w', start_date: '2026-03-01T22:00:00.000-05:00', end_date: localEnd, modified_at: updated_at })
  })

  test('without a score has its times only', () => {
    expect(workoutOf({ kilojoule: 1 }, { score_state: 'UNSCORABLE' })).toMatchObject({ calories: null, hr_zones: null })
  })

  test.each([
    ['running', 'running'],
    ['Functional Fitness', 'functional_training'],
    ['hiit', 'high_intensity_interval_training'],
    ['weightlifting', 'strength_training'],
    ['jiu-jitsu', 'jiu_jitsu'],
    ['Führung!', 'f_hrung'],
    [null, 'other'],
  ])('the sport %s is %s', (sport_name, sport) => {
    expect(workoutOf({}, { sport_name }).sport).toBe(sport)
  })
})

test('the height of a body is in centimeters', () => {
  expect(map.profileOf({ height_meter: 1.72, weight_kilogram: 68.5 })).toEqual({ height: 172, weight: 68.5 })
  expect(map.profileOf({ height_meter: null, weight_kilogram: null })).toEqual({ height: null, weight: null })
})

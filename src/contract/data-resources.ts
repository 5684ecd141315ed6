import { z } from 'zod'
import { Day, Id, Instant, openEnum } from './common.ts'

const number = z.number().nullish()
const whole = z.int().nullish()
const text = z.string().nullish()
const Sport = z.object({ id: z.int(), name: z.string(), slug: z.string() })

const day = { calendar_date: '2026-03-01', date: '2026-03-01T00:00:00.000Z', timezone_offset: -28_800 }
const dated = { calendar_date: Day, date: Instant.nullish(), timezone_offset: whole }
const session = { session_start: '2026-03-01T06:00:00.000Z', session_end: '2026-03-01T06:01:00.000Z' }

/** Objects of a day, a night, a session or a person; what is not named here may stand beside it. */
export const summaries = {
  activity: {
    what: 'The activity of a day',
    fields: {
      ...dated,
      calories_active: number,
      calories_total: number,
      daily_movement: number,
      distance: number,
      floors_climbed: whole,
      steps: whole,
      high: number,
      medium: number,
      low: number,
    },
    example: {
      ...day,
      calories_active: 412,
      calories_total: 2180,
      distance: 7340,
      floors_climbed: 6,
      steps: 9120,
      high: 18,
      medium: 31,
      low: 140,
    },
  },
  sleep: {
    what: 'A sleep',
    fields: {
      ...dated,
      bedtime_start: Instant,
      bedtime_stop: Instant,
      type: openEnum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']),
      duration: z.int(),
      total: z.int(),
      awake: z.int(),
      light: z.int(),
      rem: z.int(),
      deep: z.int(),
      score: whole,
      efficiency: number,
      state: openEnum(['tentative', 'confirmed']).nullish(),
    },
    example: {
      ...day,
      bedtime_start: '2026-03-01T06:10:00.000Z',
      bedtime_stop: '2026-03-01T13:40:00.000Z',
      type: 'long_sleep',
      duration: 27_000,
      total: 25_200,
      awake: 1800,
      light: 13_500,
      rem: 6300,
      deep: 5400,
      score: 81,
      efficiency: 93.3,
      state: 'confirmed',
    },
  },
  sleep_cycle: {
    what: 'The stages of a sleep',
    fields: {
      sleep_id: Id,
      session_start: Instant,
      session_end: Instant,
      stage_start_offset_second: z.array(z.int()),
      stage_end_offset_second: z.array(z.int()),
      stage_type: z.array(z.int()),
    },
    example: {
      ...session,
      sleep_id: 'b6e0d3f9-2a74-4c18-8d5b-91f7c2a4e630',
      stage_start_offset_second: [0, 30],
      stage_end_offset_second: [30, 60],
      stage_type: [2, 1],
    },
  },
  workouts: {
    what: 'A workout',
    fields: {
      calendar_date: Day,
      time_start: Instant,
      time_end: Instant,
      title: text,
      timezone_offset: whole,
      calories: number,
      distance: number,
      average_hr: whole,
      max_hr: whole,
      sport: Sport.nullish(),
      provider_id: z.string(),
    },
    example: {
      calendar_date: '2026-03-01',
      time_start: '2026-03-01T15:00:00.000Z',
      time_end: '2026-03-01T15:45:00.000Z',
      title: 'Morning row',
      timezone_offset: -28_800,
      calories: 380,
      distance: 8200,
      average_hr: 141,
      max_hr: 168,
      sport: { id: 12, name: 'Rowing', slug: 'rowing' },
      provider_id: 'TM-55210',
    },
  },
  body: {
    what: 'Measurements of the body',
    fields: { ...dated, weight: number, fat: number, body_mass_index: number },
    example: { ...day, weight: 68.2, fat: 24.1, body_mass_index: 22.9 },
  },
  profile: {
    what: 'What a provider knows about the user',
    fields: { height: whole, birth_date: Day.nullish(), gender: text, sex: text },
    example: { height: 171, birth_date: '1984-02-29', gender: 'female', sex: 'female' },
  },
  meal: {
    what: 'A meal',
    fields: { timestamp: Instant.nullish(), name: text, energy: z.looseObject({}).nullish(), data: z.looseObject({}).nullish() },
    example: { timestamp: '2026-03-01T20:00:00.000Z', name: 'Lentil soup', energy: { unit: 'kcal', value: 420 } },
  },
  menstrual_cycle: {
    what: 'A menstrual cycle',
    fields: { period_start: Day, period_end: Day.nullish(), cycle_end: Day.nullish(), is_predicted: z.boolean().nullish() },
    example: { period_start: '2026-02-10', period_end: '2026-02-14', cycle_end: null, is_predicted: false },
  },
  electrocardiogram: {
    what: 'A recording of the heart',
    fields: {
      session_start: Instant,
      session_end: Instant,
      voltage_sample_count: z.int(),
      heart_rate_mean: whole,
      sampling_frequency_hz: number,
      classification: text,
    },
    example: { ...session, voltage_sample_count: 15_360, heart_rate_mean: 64, sampling_frequency_hz: 512, classification: 'sinus_rhythm' },
  },
} satisfies Record<string, { what: string; fields: z.ZodRawShape; example: object }>

type Series = { unit: string; value?: object; of?: z.ZodRawShape }

const start = '2026-03-01T09:15:00.000Z'
const end = '2026-03-01T09:30:00.000Z'
const at = (unit: string, value: number): Series => ({ unit, value: { value } })
const over = (unit: string, value: number): Series => ({ unit, value: { value, start, end } })

/** Samples over time. */
export const series = {
  calories_active: over('kcal', 21),
  calories_basal: at('kcal', 17),
  blood_pressure: { unit: 'mmHg', value: { systolic: 118, diastolic: 76 }, of: { systolic: z.number(), diastolic: z.number() } },
  blood_oxygen: at('%', 97),
  weight: at('kg', 68.2),
  fat: at('%', 24.1),
  body_temperature: over('°C', 36.6),
  body_temperature_delta: over('°C', 0.2),
  caffeine: over('g', 0.08),
  cholesterol: at('mmol/L', 4.6),
  distance: over('m', 640),
  floors_climbed: over('count', 2),
  glucose: at('mmol/L', 5.4),
  heartrate: at('bpm', 62),
  hrv: at('rmssd', 48),
  ige: at('kU/L', 31),
  igg: at('mg/L', 9800),
  mindfulness_minutes: over('min', 10),
  respiratory_rate: at('bpm', 14),
  steps: over('count', 870),
  stress_level: at('%', 34),
  vo2_max: over('mL/kg/min', 41),
  water: at('ml', 250),
  electrocardiogram_voltage: at('mV', 0.4),
  afib_burden: over('%', 0),
  heart_rate_alert: over('count', 1),
  workout_duration: over('min', 15),
  insulin_injection: over('unit', 4),
  carbohydrates: over('g', 38),
  note: { unit: '', value: { value: 'Felt rested.', start, end }, of: { value: z.string() } },
  stand_hour: over('count', 1),
  stand_duration: over('min', 12),
  sleep_apnea_alert: over('count', 1),
  sleep_breathing_disturbance: over('count', 3),
  wheelchair_push: over('count', 210),
  forced_expiratory_volume_1: over('L', 3.1),
  forced_vital_capacity: over('L', 3.9),
  peak_expiratory_flow_rate: over('L/min', 430),
  inhaler_usage: over('count', 1),
  fall: over('count', 1),
  uv_exposure: over('index', 3),
  daylight_exposure: over('min', 22),
  handwashing: over('count', 1),
  basal_body_temperature: over('°C', 36.4),
  body_mass_index: over('index', 22.9),
  lean_body_mass: over('kg', 51.8),
  waist_circumference: over('cm', 74),
  heart_rate_recovery_one_minute: over('count', 31),
  workout_distance: over('m', 8200),
  workout_swimming_stroke: over('count', 420),
} satisfies Record<string, Series>

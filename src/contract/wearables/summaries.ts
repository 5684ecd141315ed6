import { z } from 'zod'
import { Day, Id, Instant, openEnum } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { PersonalText, personal, Safe, safe } from '../personal.ts'

const number = z.number().nullish()
const wholeNumber = z.int().nullish()
const text = Safe.nullish()

const kcal = number.describe('In kcal.')
const meters = number.describe('In meters.')
const minutes = number.describe('In minutes.')
const bpm = wholeNumber.describe('In beats per minute.')
const seconds = z.int().describe('In seconds.')
const optionalSeconds = wholeNumber.describe('In seconds.')
const percent = number.describe('In percent.')
const celsius = number.describe('In °C.')
const utcOffset = wholeNumber.describe('The offset from UTC in seconds.')

export const Sport = z.object({ id: deprecated(z.int(), 'Use `slug`.'), name: Safe, slug: Safe })

const dayFields = { calendar_date: safe(Day), date: Instant.nullish(), timezone_offset: utcOffset }

/** The nutrition fields of a meal. `amount` is the shape of one number. */
export function nutritionFields(amount: z.ZodNumber) {
  const optionalAmount = amount.nullish()
  const fats = z.object({
    saturated: optionalAmount,
    monounsaturated: optionalAmount,
    polyunsaturated: optionalAmount,
    omega3: optionalAmount,
    omega6: optionalAmount,
    total: optionalAmount,
  })
  const otherMacros = {
    alcohol: optionalAmount,
    water: optionalAmount,
    fibre: optionalAmount,
    sugar: optionalAmount,
    cholesterol: optionalAmount,
  }
  const amounts = z.record(Safe, amount).nullish()
  return {
    energy: z.object({ unit: Safe, value: amount }).nullish(),
    macros: z.object({ carbs: optionalAmount, protein: optionalAmount, fats: fats.nullish(), ...otherMacros }).nullish(),
    micros: z.object({ minerals: amounts, trace_elements: amounts, vitamins: amounts }).nullish(),
  }
}

const food = nutritionFields(z.number())

export const cycleDays = (fields: z.ZodRawShape = {}) => z.array(z.object({ date: safe(Day), ...fields })).nullish()

/** The daily entries of a menstrual cycle. */
export const cycleEntries = {
  menstrual_flow: cycleDays({ flow: Safe }),
  cervical_mucus: cycleDays({ quality: Safe }),
  intermenstrual_bleeding: cycleDays(),
  contraceptive: cycleDays({ type: Safe }),
  detected_deviations: cycleDays({ deviation: Safe }),
  ovulation_test: cycleDays({ test_result: Safe }),
  home_pregnancy_test: cycleDays({ test_result: Safe }),
  home_progesterone_test: cycleDays({ test_result: Safe }),
  sexual_activity: cycleDays({ protection_used: z.boolean().nullish() }),
  basal_body_temperature: cycleDays({ value: z.number() }),
}

/** Some summaries name their source in flat fields besides `source`. */
const sourceFields = {
  source_provider: Safe,
  source_type: Safe,
  source_app_id: text,
  source_device_id: Id.nullish(),
}

type Summary = {
  /** A noun phrase with its article, for sentences about the resource. */
  noun: string
  fields: z.ZodRawShape
  example: object
}

const exampleDay = { calendar_date: '2026-03-01', date: '2026-03-01T00:00:00.000Z', timezone_offset: -28_800 }
const exampleSession = { session_start: '2026-03-01T06:00:00.000Z', session_end: '2026-03-01T06:01:00.000Z' }
const exampleSource = { source_provider: 'tidemark', source_type: 'watch' }

/** The shapes of summaries in responses and events. */
export const summaries = {
  activity: {
    noun: 'the activity of a day',
    fields: {
      ...dayFields,
      time_zone: text,
      calories_active: kcal,
      calories_total: kcal,
      daily_movement: deprecated(number, 'Use `distance`.'),
      distance: meters,
      floors_climbed: wholeNumber,
      steps: wholeNumber,
      high: minutes,
      medium: minutes,
      low: minutes,
      heart_rate: z.object({ avg_bpm: number, min_bpm: number, max_bpm: number, resting_bpm: number, avg_walking_bpm: number }).nullish(),
      wheelchair_use: z.boolean().nullish(),
      wheelchair_push: wholeNumber,
    },
    example: {
      ...exampleDay,
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
    noun: 'a sleep session',
    fields: {
      ...dayFields,
      bedtime_start: Instant,
      bedtime_stop: Instant,
      type: openEnum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']),
      duration: seconds,
      total: seconds,
      awake: seconds,
      light: seconds,
      rem: seconds,
      deep: seconds,
      score: wholeNumber,
      recovery_readiness_score: wholeNumber,
      hr_lowest: bpm,
      hr_average: bpm,
      hr_resting: bpm,
      efficiency: percent,
      latency: optionalSeconds,
      temperature_delta: celsius,
      skin_temperature: celsius,
      hr_dip: number,
      state: openEnum(['tentative', 'confirmed']).nullish(),
      average_hrv: number,
      respiratory_rate: number,
    },
    example: {
      ...exampleDay,
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
    noun: 'the stages of a sleep session',
    fields: {
      sleep_id: Id,
      session_start: Instant,
      session_end: Instant,
      stage_start_offset_second: z.array(z.int()),
      stage_end_offset_second: z.array(z.int()),
      stage_type: z.array(z.int()).describe('The stages: 1 deep, 2 light, 3 REM, 4 awake, 5 manual, -1 missing.'),
      time_zone: text,
      ...sourceFields,
    },
    example: {
      ...exampleSession,
      ...exampleSource,
      sleep_id: 'b6e0d3f9-2a74-4c18-8d5b-91f7c2a4e630',
      stage_start_offset_second: [0, 30],
      stage_end_offset_second: [30, 60],
      stage_type: [2, 1],
    },
  },
  workouts: {
    noun: 'a workout',
    fields: {
      calendar_date: safe(Day),
      time_start: Instant,
      time_end: Instant,
      title: PersonalText.nullish(),
      timezone_offset: utcOffset,
      calories: kcal,
      distance: meters,
      average_hr: bpm,
      max_hr: bpm,
      sport: Sport.nullish(),
      hr_zones: z
        .array(z.int())
        .nullish()
        .describe('The seconds in six zones of the maximum heart rate: below 50 %, 50–60, 60–70, 70–80, 80–90 and above 90 %.'),
      moving_time: optionalSeconds,
      total_elevation_gain: meters,
      elev_high: meters,
      elev_low: meters,
      average_speed: number,
      max_speed: number,
      average_watts: number,
      device_watts: number,
      max_watts: number,
      weighted_average_watts: number,
      steps: wholeNumber,
      map: z.object({ polyline: PersonalText.nullish(), summary_polyline: PersonalText.nullish() }).nullish(),
      provider_id: Safe,
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
    noun: 'a body measurement',
    fields: {
      ...dayFields,
      weight: number.describe('In kilograms.'),
      fat: percent,
      water_percentage: number,
      muscle_mass_percentage: number,
      visceral_fat_index: number,
      bone_mass_percentage: number,
      body_mass_index: number,
      lean_body_mass_kilogram: number,
      waist_circumference_centimeter: number,
    },
    example: { ...exampleDay, weight: 68.2, fat: 24.1, body_mass_index: 22.9 },
  },
  profile: {
    noun: 'the profile of a user at a provider',
    fields: {
      height: wholeNumber.describe('In centimeters.'),
      birth_date: personal(Day, 'date').nullish(),
      wheelchair_use: z.boolean().nullish(),
      gender: text,
      sex: text,
    },
    example: { height: 171, birth_date: '1984-02-29', gender: 'female', sex: 'female' },
  },
  meal: {
    noun: 'a meal',
    fields: {
      calendar_date: safe(Day),
      timestamp: Instant,
      name: PersonalText,
      ...food,
      data: z.record(PersonalText, z.object(food)).nullish().describe('The foods of the meal, by name.'),
      provider_id: Safe,
      source_id: z.int(),
      priority_id: z.int(),
      source_app_id: text,
      source_device_id: Id.nullish(),
    },
    example: {
      calendar_date: '2026-03-01',
      timestamp: '2026-03-01T20:00:00.000Z',
      name: 'Lentil soup',
      energy: { unit: 'kcal', value: 420 },
      provider_id: 'meal-7',
      source_id: 17,
      priority_id: 1,
    },
  },
  menstrual_cycle: {
    noun: 'a menstrual cycle',
    fields: {
      period_start: safe(Day),
      period_end: safe(Day).nullish(),
      cycle_end: safe(Day).nullish(),
      is_predicted: z.boolean().nullish(),
      ...cycleEntries,
      ...sourceFields,
    },
    example: { period_start: '2026-02-10', period_end: '2026-02-14', cycle_end: null, is_predicted: false, ...exampleSource },
  },
  electrocardiogram: {
    noun: 'an electrocardiogram',
    fields: {
      session_start: Instant,
      session_end: Instant,
      voltage_sample_count: z.int(),
      heart_rate_mean: bpm,
      sampling_frequency_hz: number,
      classification: openEnum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive']).nullish(),
      inconclusive_cause: openEnum(['high_heart_rate', 'low_heart_rate', 'poor_reading']).nullish(),
      algorithm_version: text,
      time_zone: text,
      source_device_model: text,
      ...sourceFields,
    },
    example: {
      ...exampleSession,
      ...exampleSource,
      voltage_sample_count: 15_360,
      heart_rate_mean: 64,
      sampling_frequency_hz: 512,
      classification: 'sinus_rhythm',
    },
  },
} satisfies Record<string, Summary>

export type SummaryName = keyof typeof summaries
export const summaryNames = Object.keys(summaries) as [SummaryName, ...SummaryName[]]

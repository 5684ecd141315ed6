import { z } from 'zod'
import { Day, Text } from '../common.ts'
import type { SeriesName } from './series.ts'
import { cycleDays, cycleEntries, nutritionFields, type SummaryName } from './summaries.ts'

/** A time that keeps its offset, because the offset gives the time zone of the user. */
const ZonedInstant = z.iso.datetime({ offset: true, error: 'Must be a date-time with a zone, such as 2026-03-01T09:30:00Z.' })

/** A day in the calendar of the user. Only the date part of a date-time counts, regardless of its zone. */
const CalendarDay = z
  .string()
  .max(40)
  .transform((text) => text.slice(0, 10))
  .pipe(Day)

const amount = (most: number, least = 0) => z.number().min(least).max(most).nullish()
const wholeNumber = (most: number) => z.int().min(0).max(most).nullish()
const text = (length: number) => Text(length).nullish()
const samples = z.array(z.unknown()).nullish()

const MAX_BPM = 500
const MAX_KCAL = 100_000
const MAX_METERS = 10_000_000
const MAX_SECONDS = 31 * 86_400

/** The recording device and the version of the data. */
const recordingFields = {
  source_type: text(64),
  source_bundle: text(255),
  product_type: text(255),
  modified_at: ZonedInstant.nullish(),
}

/** Lists of samples that a summary can contain, with their resource. */
export const embeddedSeries = {
  steps: 'steps',
  active_energy_burned: 'calories_active',
  basal_energy_burned: 'calories_basal',
  distance_walking_running: 'distance',
  floors_climbed: 'floors_climbed',
  vo2_max: 'vo2_max',
  heart_rate: 'heartrate',
  heart_rate_variability: 'hrv',
  respiratory_rate: 'respiratory_rate',
  oxygen_saturation: 'blood_oxygen',
  body_mass: 'body_weight',
  body_fat_percentage: 'body_fat',
  body_mass_index: 'body_mass_index',
  lean_body_mass: 'lean_body_mass',
  waist_circumference: 'waist_circumference',
} as const satisfies Record<string, SeriesName>

export type EmbeddedSeries = keyof typeof embeddedSeries

const embedSeries = <const K extends EmbeddedSeries>(...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, samples])) as Record<K, typeof samples>

const heartRateFields = {
  heart_rate_mean: amount(MAX_BPM),
  heart_rate_minimum: amount(MAX_BPM),
  heart_rate_maximum: amount(MAX_BPM),
}

const Activity = z.object({
  ...recordingFields,
  day_summary: z
    .object({
      date: CalendarDay,
      active_energy_burned_sum: amount(MAX_KCAL),
      basal_energy_burned_sum: amount(MAX_KCAL),
      steps_sum: amount(1_000_000),
      distance_sum: amount(MAX_METERS),
      distance_walking_running_sum: amount(MAX_METERS),
      floors_climbed_sum: amount(10_000),
      low: amount(1500),
      medium: amount(1500),
      high: amount(1500),
      wheelchair_use: z.boolean().nullish(),
      wheelchair_push_sum: amount(1_000_000),
      ...heartRateFields,
      heart_rate_resting: amount(MAX_BPM),
      heart_rate_walking_average: amount(MAX_BPM),
    })
    .nullish(),
  ...embedSeries(
    'steps',
    'active_energy_burned',
    'basal_energy_burned',
    'distance_walking_running',
    'floors_climbed',
    'vo2_max',
    'heart_rate',
  ),
})

const Workout = z.object({
  ...recordingFields,
  id: Text(255),
  start_date: ZonedInstant,
  end_date: ZonedInstant,
  sport: z
    .string()
    .regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'Must be a slug, such as running.')
    .max(60)
    .default('other'),
  title: text(200),
  calories: amount(MAX_KCAL),
  distance: amount(MAX_METERS),
  ...heartRateFields,
  hr_zones: z.array(z.int().min(0).max(MAX_SECONDS)).max(6).nullish(),
  moving_time: wholeNumber(MAX_SECONDS),
  total_elevation_gain: amount(100_000),
  elev_high: amount(100_000, -1000),
  elev_low: amount(100_000, -1000),
  average_speed: amount(1000),
  max_speed: amount(1000),
  average_watts: amount(10_000),
  device_watts: amount(10_000),
  max_watts: amount(10_000),
  weighted_average_watts: amount(10_000),
  steps: wholeNumber(1_000_000),
  map: z.object({ polyline: text(200_000), summary_polyline: text(200_000) }).nullish(),
  ...embedSeries('heart_rate', 'respiratory_rate'),
})

const stages = ['deep', 'light', 'rem', 'awake', 'manual', 'missing'] as const

/** The codes of sleep stages in sleep cycles. */
export const stageCodes: Record<(typeof stages)[number], number> = { deep: 1, light: 2, rem: 3, awake: 4, manual: 5, missing: -1 }

const period = { start_date: ZonedInstant, end_date: ZonedInstant }

/** Mobile clients send one list per stage, other clients one list. */
const Stages = z.union(
  [
    z.array(z.object({ stage: z.enum(stages), ...period })).max(5000),
    z.object({
      awake_sleep_samples: z.array(z.object(period)).nullish(),
      deep_sleep_samples: z.array(z.object(period)).nullish(),
      light_sleep_samples: z.array(z.object(period)).nullish(),
      rem_sleep_samples: z.array(z.object(period)).nullish(),
      unspecified_sleep_samples: z.array(z.object(period)).nullish(),
    }),
  ],
  { error: 'Must be a list of { stage, start_date, end_date }, or such lists by stage, as in { deep_sleep_samples: [...] }.' },
)

const Sleep = z.object({
  ...recordingFields,
  id: text(255),
  ...period,
  sleep_stages: Stages.nullish(),
  type: z.enum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']).nullish(),
  state: z.enum(['tentative', 'confirmed']).nullish(),
  ...heartRateFields,
  heart_rate_resting: amount(MAX_BPM),
  hrv_mean_sdnn: amount(2000),
  respiratory_rate_mean: amount(200),
  score: wholeNumber(100),
  recovery_readiness_score: wholeNumber(100),
  latency: wholeNumber(86_400),
  temperature_delta: amount(20, -20),
  skin_temperature: amount(50),
  hr_dip: amount(MAX_BPM, -MAX_BPM),
  ...embedSeries('heart_rate', 'heart_rate_variability', 'respiratory_rate', 'oxygen_saturation'),
})

const offsets = z
  .array(
    z
      .int()
      .min(0)
      .max(7 * 86_400),
  )
  .max(5000)

const SleepCycle = z.object({
  ...recordingFields,
  id: text(255),
  sleep_id: text(255),
  session_start: ZonedInstant,
  session_end: ZonedInstant,
  stage_start_offset_second: offsets,
  stage_end_offset_second: offsets,
  stage_type: z
    .array(
      z.union(
        Object.values(stageCodes).map((code) => z.literal(code)),
        'Must be 1 deep, 2 light, 3 REM, 4 awake, 5 manual or -1 missing.',
      ),
    )
    .max(5000),
})

const Body = z.object({
  ...recordingFields,
  ...embedSeries('body_mass', 'body_fat_percentage', 'body_mass_index', 'lean_body_mass', 'waist_circumference'),
})

const Profile = z.object({
  ...recordingFields,
  biological_sex: text(20),
  gender: z.enum(['female', 'male', 'other', 'unknown']).nullish(),
  date_of_birth: CalendarDay.nullish(),
  height: amount(300).describe('In centimeters.'),
  wheelchair_use: z.boolean().nullish(),
})

const food = nutritionFields(z.number().min(0).max(1_000_000))

const Meal = z.object({
  ...recordingFields,
  id: text(255),
  provider_id: text(255),
  ...food,
  data: z.record(z.string().max(500), z.object(food)).nullish(),
  name: Text(500),
  timestamp: ZonedInstant,
  calendar_date: CalendarDay.nullish(),
})

const Cycle = z.object({
  ...recordingFields,
  id: text(255),
  period_start: Day,
  period_end: Day.nullish(),
  cycle_end: Day.nullish(),
  is_predicted: z.boolean().nullish(),
  ...cycleEntries,
  basal_body_temperature: cycleDays({ value: z.number().min(10).max(50) }),
})

const MenstrualCycle = z.union([z.object({ source_bundle: text(255), cycle: Cycle }), Cycle], {
  error: 'Must be { source_bundle, cycle }, with period_start in the cycle.',
})

const Electrocardiogram = z.object({
  ...recordingFields,
  id: text(255),
  session_start: ZonedInstant,
  session_end: ZonedInstant,
  voltage_sample_count: z.int().min(0).max(10_000_000),
  heart_rate_mean: amount(MAX_BPM),
  sampling_frequency_hz: amount(100_000),
  classification: z.enum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive']).nullish(),
  inconclusive_cause: z.enum(['high_heart_rate', 'low_heart_rate', 'poor_reading']).nullish(),
  algorithm_version: text(60),
})

/** The shapes of pushed summaries. */
export const newSummaries = {
  activity: Activity,
  workouts: Workout,
  sleep: Sleep,
  sleep_cycle: SleepCycle,
  body: Body,
  profile: Profile,
  meal: Meal,
  menstrual_cycle: MenstrualCycle,
  electrocardiogram: Electrocardiogram,
} satisfies Record<SummaryName, z.ZodType>

export type NewSummary<N extends SummaryName> = z.output<(typeof newSummaries)[N]>

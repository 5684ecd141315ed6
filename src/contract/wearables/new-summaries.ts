import { z } from 'zod'
import { DayIn, Text } from '../common.ts'
import { field, fieldsLike } from './field.ts'
import type { SeriesName } from './series.ts'
import { cycleDays, cycleEntries, nutritionFields, type SummaryName, summaries } from './summaries.ts'

/** A time that keeps its offset, because the offset gives the time zone of the user. */
const ZonedInstant = z.iso.datetime({ offset: true, error: 'Must be a date-time with a zone, such as 2026-03-01T09:30:00Z.' })

const amount = (most: number, least = 0) => z.number().min(least).max(most).nullish()
const wholeNumber = (most: number) => z.int().min(0).max(most).nullish()
const text = (length: number) => Text(length).nullish()

const MAX_BPM = 500
const MAX_KCAL = 100_000
const MAX_METERS = 10_000_000
const MAX_SECONDS = 31 * 86_400
const MAX_OFFSET = 18 * 3600

/** The recording device and the version of the data. */
export const recordingFields = {
  source_type: field(text(64), 'The kind of device, such as `watch` or `phone`.'),
  source_bundle: field(text(255), 'The app that recorded the data.'),
  product_type: field(text(255), 'The device that recorded the data.'),
  modified_at: field(ZonedInstant.nullish(), 'When the source last changed the summary. The latest version wins.'),
}

const id = field(text(255), 'Your own ID. Default: the start time.')

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
  body_temperature_delta: 'body_temperature_delta',
} as const satisfies Record<string, SeriesName>

export type EmbeddedSeries = keyof typeof embeddedSeries

const samples = z.array(z.unknown()).nullish()

const embedSeries = <const K extends EmbeddedSeries>(...names: K[]) =>
  Object.fromEntries(names.map((name) => [name, field(samples, `Samples of \`${embeddedSeries[name]}\`.`)])) as Record<K, typeof samples>

const bpm = (meaning: string) => field(amount(MAX_BPM), meaning, 'bpm')

const heartRateFields = {
  heart_rate_mean: bpm('The mean heart rate.'),
  heart_rate_minimum: bpm('The lowest heart rate.'),
  heart_rate_maximum: bpm('The highest heart rate.'),
}

const restingHeartRate = bpm('The resting heart rate.')

const DaySummary = z.object({
  date: field(DayIn, "The day in the user's calendar."),
  active_energy_burned_sum: field(amount(MAX_KCAL), 'The energy burned by activity.', 'kcal'),
  basal_energy_burned_sum: field(amount(MAX_KCAL), 'The energy burned at rest.', 'kcal'),
  steps_sum: field(amount(1_000_000), 'Steps.'),
  distance_sum: field(amount(MAX_METERS), 'The distance covered.', 'm'),
  distance_walking_running_sum: field(amount(MAX_METERS), 'The distance walked and run. Used if `distance_sum` is missing.', 'm'),
  floors_climbed_sum: field(amount(10_000), 'Floors climbed.'),
  low: field(amount(1500), 'Time with low activity.', 'min'),
  medium: field(amount(1500), 'Time with medium activity.', 'min'),
  high: field(amount(1500), 'Time with high activity.', 'min'),
  wheelchair_use: field(z.boolean().nullish(), 'True if the user uses a wheelchair.'),
  wheelchair_push_sum: field(amount(1_000_000), 'Wheelchair pushes.'),
  ...heartRateFields,
  heart_rate_resting: restingHeartRate,
  heart_rate_walking_average: bpm('The mean heart rate while walking.'),
})

const Activity = z.object({
  ...recordingFields,
  day_summary: field(DaySummary.nullish(), 'The totals of a day.'),
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

const period = (what: string) => ({
  start_date: field(ZonedInstant, `The start of the ${what}.`),
  end_date: field(ZonedInstant, `The end of the ${what}.`),
})

const Workout = z.object({
  ...recordingFields,
  id: field(Text(255), 'Your own ID for the workout.'),
  ...period('workout'),
  sport: field(
    z
      .string()
      .regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'Must be a slug, such as running.')
      .max(60)
      .default('other'),
    'The sport, such as `running`. Default: `other`.',
  ),
  ...fieldsLike(summaries.workouts.fields, {
    title: text(200),
    calories: amount(MAX_KCAL),
    distance: amount(MAX_METERS),
  }),
  ...heartRateFields,
  ...fieldsLike(summaries.workouts.fields, {
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
    map: z
      .object({
        polyline: field(text(200_000), 'The route as an encoded polyline.'),
        summary_polyline: field(text(200_000), 'The simplified route as an encoded polyline.'),
      })
      .nullish(),
  }),
  ...embedSeries('heart_rate', 'respiratory_rate'),
})

const stages = ['deep', 'light', 'rem', 'awake', 'manual', 'missing'] as const

/** The codes of sleep stages in sleep cycles. */
export const stageCodes: Record<(typeof stages)[number], number> = { deep: 1, light: 2, rem: 3, awake: 4, manual: 5, missing: -1 }

const stagePeriod = z.object({ start_date: ZonedInstant, end_date: ZonedInstant })

/** Mobile clients send one list per stage, other clients one list. */
const Stages = z.union(
  [
    z.array(z.object({ stage: z.enum(stages), ...stagePeriod.shape })).max(5000),
    z.object({
      awake_sleep_samples: z.array(stagePeriod).nullish(),
      deep_sleep_samples: z.array(stagePeriod).nullish(),
      light_sleep_samples: z.array(stagePeriod).nullish(),
      rem_sleep_samples: z.array(stagePeriod).nullish(),
      unspecified_sleep_samples: z.array(stagePeriod).nullish(),
    }),
  ],
  { error: 'Must be a list of { stage, start_date, end_date }, or such lists by stage, as in { deep_sleep_samples: [...] }.' },
)

const Sleep = z.object({
  ...recordingFields,
  id,
  ...period('session'),
  sleep_stages: field(Stages.nullish(), 'The stages, as a list of `stage`, `start_date` and `end_date`.'),
  ...fieldsLike(summaries.sleep.fields, {
    type: z.enum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']).nullish(),
    state: z.enum(['tentative', 'confirmed']).nullish(),
  }),
  ...heartRateFields,
  heart_rate_resting: restingHeartRate,
  hrv_mean_sdnn: field(amount(2000), 'The mean heart rate variability (SDNN).', 'ms'),
  respiratory_rate_mean: field(amount(200), 'The mean respiratory rate.', 'breaths/min'),
  ...fieldsLike(summaries.sleep.fields, {
    score: wholeNumber(100),
    recovery_readiness_score: wholeNumber(100),
    latency: wholeNumber(86_400),
    temperature_delta: amount(20, -20),
    skin_temperature: amount(50),
    hr_dip: amount(MAX_BPM, -MAX_BPM),
  }),
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
  id,
  sleep_id: field(text(255), 'Your own ID for the sleep session. Default: `id`.'),
  ...fieldsLike(summaries.sleep_cycle.fields, {
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
  }),
})

const Body = z.object({
  ...recordingFields,
  ...embedSeries('body_mass', 'body_fat_percentage', 'body_mass_index', 'lean_body_mass', 'waist_circumference'),
})

const Profile = z.object({
  ...recordingFields,
  biological_sex: field(text(20), 'The biological sex of the user: `female`, `male` or `other`.'),
  gender: field(z.enum(['female', 'male', 'other', 'unknown']).nullish(), 'The gender of the user.'),
  date_of_birth: field(DayIn.nullish(), 'The birth date of the user.'),
  height: field(amount(300), 'The height of the user.', 'cm'),
  wheelchair_use: field(z.boolean().nullish(), 'True if the user uses a wheelchair.'),
})

const food = nutritionFields(z.number().min(0).max(1_000_000))

const Meal = z.object({
  ...recordingFields,
  id: field(text(255), 'Your own ID for the meal. Default: the time and the name.'),
  provider_id: field(text(255), 'The ID of the meal at the source. Takes precedence over `id`.'),
  ...food,
  data: field(z.record(z.string().max(500), z.object(food)).nullish(), 'The foods of the meal, by name.'),
  name: field(Text(500), 'The name of the meal.'),
  timestamp: field(ZonedInstant, 'The time of the meal.'),
  calendar_date: field(DayIn.nullish(), "The day in the user's calendar. Default: the day of `timestamp`."),
})

const Cycle = z.object({
  ...recordingFields,
  id: field(text(255), 'Ignored. `period_start` identifies the cycle.'),
  ...fieldsLike(summaries.menstrual_cycle.fields, {
    period_start: DayIn,
    period_end: DayIn.nullish(),
    cycle_end: DayIn.nullish(),
    is_predicted: z.boolean().nullish(),
  }),
  ...cycleEntries,
  basal_body_temperature: cycleDays('Basal body temperature, as `date` and `value`.', { value: z.number().min(10).max(50) }, '°C'),
})

const MenstrualCycle = z.union([z.object({ source_bundle: text(255), cycle: Cycle }), Cycle], {
  error: 'Must be { source_bundle, cycle }, with period_start in the cycle.',
})

const Electrocardiogram = z.object({
  ...recordingFields,
  id,
  ...fieldsLike(summaries.electrocardiogram.fields, {
    session_start: ZonedInstant,
    session_end: ZonedInstant,
    voltage_sample_count: z.int().min(0).max(10_000_000),
    heart_rate_mean: amount(MAX_BPM),
    sampling_frequency_hz: amount(100_000),
    classification: z.enum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive']).nullish(),
    inconclusive_cause: z.enum(['high_heart_rate', 'low_heart_rate', 'poor_reading']).nullish(),
    algorithm_version: text(60),
  }),
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

/** The lengths of a sleep in seconds, from sources that compute them. They take precedence over those of the stages. */
const sleepTotals = Object.fromEntries(
  (['total', 'awake', 'light', 'rem', 'deep'] as const).map((name) => [name, wholeNumber(MAX_SECONDS)]),
) as Record<'total' | 'awake' | 'light' | 'rem' | 'deep', z.ZodOptional<z.ZodNullable<z.ZodInt>>>

/** Measurements of a body summary that have no time series. */
export const bodyCompositionFields = ['water_percentage', 'muscle_mass_percentage', 'bone_mass_percentage', 'visceral_fat_index'] as const

const BodyComposition = z.object({
  field: z.enum(bodyCompositionFields),
  value: z.number().min(0).max(100),
  start_date: ZonedInstant,
})

/** The shapes of summaries that adapters read from a source. They contain more than clients can push. */
export const pulledSummaries = {
  ...newSummaries,
  activity: Activity.extend({
    day_summary: DaySummary.extend({
      total_energy_burned_sum: amount(MAX_KCAL),
      timezone_offset: amount(MAX_OFFSET, -MAX_OFFSET),
    }).nullish(),
  }),
  sleep: Sleep.extend({ ...sleepTotals, efficiency: amount(100), hrv_mean_rmssd: amount(2000), ...embedSeries('body_temperature_delta') }),
  body: Body.extend({ composition: z.array(BodyComposition).nullish() }),
} satisfies Record<SummaryName, z.ZodType>

export type NewSummary<N extends SummaryName> = z.output<(typeof pulledSummaries)[N]>

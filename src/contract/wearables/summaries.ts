import { z } from 'zod'
import { Day, Id, Instant, openEnum } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { PersonalText, personal, Safe, safe } from '../personal.ts'
import { field } from './field.ts'

const number = z.number().nullish()
const wholeNumber = z.int().nullish()
const text = Safe.nullish()

const calendarDate = field(safe(Day), "The day in the user's calendar.")
const utcOffset = field(wholeNumber, 'The offset from UTC.', 's')
const timeZone = field(text, 'The IANA time zone of the data.')

export const Sport = z.object({
  id: deprecated(z.int(), 'Use `slug`.'),
  name: field(Safe, 'The display name of the sport.'),
  slug: field(Safe, 'The sport, such as `running`.'),
})

const dayFields = {
  calendar_date: calendarDate,
  date: field(Instant.nullish(), 'Midnight of `calendar_date`, written in UTC.'),
  timezone_offset: utcOffset,
}

const bpm = (meaning: string) => field(number, meaning, 'bpm')

const DayHeartRate = z.object({
  avg_bpm: bpm('The mean heart rate.'),
  min_bpm: bpm('The lowest heart rate.'),
  max_bpm: bpm('The highest heart rate.'),
  resting_bpm: bpm('The resting heart rate.'),
  avg_walking_bpm: bpm('The mean heart rate while walking.'),
})

/** The nutrition fields of a meal. `amount` is the shape of one number. */
export function nutritionFields(amount: z.ZodNumber) {
  const grams = (meaning: string) => field(amount.nullish(), meaning, 'g')
  const fats = z.object({
    saturated: grams('Saturated fat.'),
    monounsaturated: grams('Monounsaturated fat.'),
    polyunsaturated: grams('Polyunsaturated fat.'),
    omega3: grams('Omega-3 fatty acids.'),
    omega6: grams('Omega-6 fatty acids.'),
    total: grams('Total fat.'),
  })
  const macros = z.object({
    carbs: grams('Carbohydrates.'),
    protein: grams('Protein.'),
    fats: field(fats.nullish(), 'Fats.'),
    alcohol: grams('Alcohol.'),
    water: field(amount.nullish(), 'Water, in the unit of the source.'),
    fibre: grams('Dietary fiber.'),
    sugar: grams('Sugar.'),
    cholesterol: field(amount.nullish(), 'Cholesterol, in the unit of the source.'),
  })
  const amounts = (what: string) => field(z.record(Safe, amount).nullish(), `${what} by name, in the units of the source.`)
  const micros = z.object({ minerals: amounts('Minerals'), trace_elements: amounts('Trace elements'), vitamins: amounts('Vitamins') })
  const energy = z.object({ unit: field(Safe, 'The unit of the energy, such as `kcal`.'), value: field(amount, 'The energy.') })
  return {
    energy: field(energy.nullish(), 'The energy content.'),
    macros: field(macros.nullish(), 'Macronutrients.'),
    micros: field(micros.nullish(), 'Micronutrients.'),
  }
}

const food = nutritionFields(z.number())

export const cycleDays = (meaning: string, fields: z.ZodRawShape = {}, unit?: string) =>
  field(z.array(z.object({ date: safe(Day), ...fields })).nullish(), meaning, unit)

/** The daily entries of a menstrual cycle. */
export const cycleEntries = {
  menstrual_flow: cycleDays('Days of the period, each with `date` and `flow`.', { flow: Safe }),
  cervical_mucus: cycleDays('Cervical mucus, as `date` and `quality`.', { quality: Safe }),
  intermenstrual_bleeding: cycleDays('Bleeding between periods, as `date`.'),
  contraceptive: cycleDays('Contraceptive use, as `date` and `type`.', { type: Safe }),
  detected_deviations: cycleDays('Deviations of the cycle, as `date` and `deviation`.', { deviation: Safe }),
  ovulation_test: cycleDays('Ovulation tests, as `date` and `test_result`.', { test_result: Safe }),
  home_pregnancy_test: cycleDays('Pregnancy tests, as `date` and `test_result`.', { test_result: Safe }),
  home_progesterone_test: cycleDays('Progesterone tests, as `date` and `test_result`.', { test_result: Safe }),
  sexual_activity: cycleDays('Sexual activity, as `date` and `protection_used`.', { protection_used: z.boolean().nullish() }),
  basal_body_temperature: cycleDays('Basal body temperature, as `date` and `value`.', { value: z.number() }, '°C'),
}

/** Some summaries name their source in flat fields besides `source`. */
const sourceFields = {
  source_provider: field(Safe, 'The slug of the source.'),
  source_type: field(Safe, 'The kind of device, such as `watch`.'),
  source_app_id: field(text, 'The app that recorded the data.'),
  source_device_id: field(Id.nullish(), 'The ID of the device.'),
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
      time_zone: timeZone,
      calories_active: field(number, 'The energy burned by activity.', 'kcal'),
      calories_total: field(number, 'The energy burned by activity and at rest.', 'kcal'),
      daily_movement: deprecated(number, 'Use `distance`.'),
      distance: field(number, 'The distance covered.', 'm'),
      floors_climbed: field(wholeNumber, 'Floors climbed.'),
      steps: field(wholeNumber, 'Steps.'),
      high: field(number, 'Time with high activity.', 'min'),
      medium: field(number, 'Time with medium activity.', 'min'),
      low: field(number, 'Time with low activity.', 'min'),
      heart_rate: field(DayHeartRate.nullish(), 'The heart rate of the day.'),
      wheelchair_use: field(z.boolean().nullish(), 'True if the user uses a wheelchair.'),
      wheelchair_push: field(wholeNumber, 'Wheelchair pushes.'),
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
      bedtime_start: field(Instant, 'The start of the session.'),
      bedtime_stop: field(Instant, 'The end of the session.'),
      type: field(openEnum(['long_sleep', 'short_sleep', 'acknowledged_nap', 'unknown']), 'The kind of sleep.'),
      duration: field(z.int(), 'The time from `bedtime_start` to `bedtime_stop`.', 's'),
      total: field(z.int(), 'The time asleep. Without stages, the same as `duration`.', 's'),
      awake: field(z.int(), 'The time awake.', 's'),
      light: field(z.int(), 'The time in light sleep.', 's'),
      rem: field(z.int(), 'The time in REM sleep.', 's'),
      deep: field(z.int(), 'The time in deep sleep.', 's'),
      score: field(wholeNumber, 'The sleep score of the source, from 0 to 100.'),
      recovery_readiness_score: field(wholeNumber, 'The recovery or readiness score of the source, from 0 to 100.'),
      hr_lowest: field(wholeNumber, 'The lowest heart rate.', 'bpm'),
      hr_average: field(wholeNumber, 'The mean heart rate.', 'bpm'),
      hr_resting: field(wholeNumber, 'The resting heart rate.', 'bpm'),
      efficiency: field(number, '`total` as a share of `duration`. Null without stages.', '%'),
      latency: field(wholeNumber, 'The time until the user fell asleep.', 's'),
      temperature_delta: field(number, "The deviation from the user's usual temperature.", '°C'),
      skin_temperature: field(number, 'The skin temperature.', '°C'),
      hr_dip: field(number, 'The drop in heart rate during sleep, as the source reports it.'),
      state: field(openEnum(['tentative', 'confirmed']).nullish(), '`tentative` if the source can still revise the session.'),
      average_hrv: field(number, 'The mean heart rate variability.', 'ms'),
      respiratory_rate: field(number, 'The mean respiratory rate.', 'breaths/min'),
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
      sleep_id: field(Id, 'The ID of the sleep session.'),
      session_start: field(Instant, 'The start of the session.'),
      session_end: field(Instant, 'The end of the session.'),
      stage_start_offset_second: field(z.array(z.int()), 'The start of each stage, counted from `session_start`.', 's'),
      stage_end_offset_second: field(z.array(z.int()), 'The end of each stage, counted from `session_start`.', 's'),
      stage_type: field(z.array(z.int()), 'The stages: 1 deep, 2 light, 3 REM, 4 awake, 5 manual, -1 missing.'),
      time_zone: timeZone,
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
      calendar_date: calendarDate,
      time_start: field(Instant, 'The start of the workout.'),
      time_end: field(Instant, 'The end of the workout.'),
      title: field(PersonalText.nullish(), 'The title that the user or the source gave.'),
      timezone_offset: utcOffset,
      calories: field(number, 'The energy burned.', 'kcal'),
      distance: field(number, 'The distance covered.', 'm'),
      average_hr: field(wholeNumber, 'The mean heart rate.', 'bpm'),
      max_hr: field(wholeNumber, 'The highest heart rate.', 'bpm'),
      sport: field(Sport.nullish(), 'The sport.'),
      hr_zones: field(
        z.array(z.int()).nullish(),
        'The time in six zones of the maximum heart rate: below 50%, 50–60%, 60–70%, 70–80%, 80–90% and above 90%.',
        's',
      ),
      moving_time: field(wholeNumber, 'The time in motion.', 's'),
      total_elevation_gain: field(number, 'The elevation gained.', 'm'),
      elev_high: field(number, 'The highest elevation.', 'm'),
      elev_low: field(number, 'The lowest elevation.', 'm'),
      average_speed: field(number, 'The mean speed.', 'm/s'),
      max_speed: field(number, 'The highest speed.', 'm/s'),
      average_watts: field(number, 'The mean power.', 'W'),
      device_watts: field(number, 'The power that the device measured.', 'W'),
      max_watts: field(number, 'The highest power.', 'W'),
      weighted_average_watts: field(number, 'The weighted mean power.', 'W'),
      steps: field(wholeNumber, 'Steps.'),
      map: field(
        z
          .object({
            polyline: field(PersonalText.nullish(), 'The route as an encoded polyline.'),
            summary_polyline: field(PersonalText.nullish(), 'The simplified route as an encoded polyline.'),
          })
          .nullish(),
        'The route.',
      ),
      provider_id: field(Safe, 'The ID of the workout at the source.'),
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
      weight: field(number, 'The body weight.', 'kg'),
      fat: field(number, 'Body fat.', '%'),
      water_percentage: field(number, 'Body water. Assay does not fill this field yet.', '%'),
      muscle_mass_percentage: field(number, 'Muscle mass. Assay does not fill this field yet.', '%'),
      visceral_fat_index: field(number, 'The visceral fat index. Assay does not fill this field yet.'),
      bone_mass_percentage: field(number, 'Bone mass. Assay does not fill this field yet.', '%'),
      body_mass_index: field(number, 'The body mass index.', 'kg/m²'),
      lean_body_mass_kilogram: field(number, 'Lean body mass.', 'kg'),
      waist_circumference_centimeter: field(number, 'The waist circumference.', 'cm'),
    },
    example: { ...exampleDay, weight: 68.2, fat: 24.1, body_mass_index: 22.9 },
  },
  profile: {
    noun: 'the profile of a user at a provider',
    fields: {
      height: field(wholeNumber, 'The height of the user.', 'cm'),
      birth_date: field(personal(Day, 'date').nullish(), 'The birth date of the user.'),
      wheelchair_use: field(z.boolean().nullish(), 'True if the user uses a wheelchair.'),
      gender: field(text, 'The gender of the user.'),
      sex: field(text, 'The biological sex of the user: `female`, `male` or `other`.'),
    },
    example: { height: 171, birth_date: '1984-02-29', gender: 'female', sex: 'female' },
  },
  meal: {
    noun: 'a meal',
    fields: {
      calendar_date: calendarDate,
      timestamp: field(Instant, 'The time of the meal.'),
      name: field(PersonalText, 'The name of the meal.'),
      ...food,
      data: field(z.record(PersonalText, z.object(food)).nullish(), 'The foods of the meal, by name.'),
      provider_id: field(Safe, 'The ID of the meal at the source.'),
      source_id: field(z.int(), 'The numeric ID of the source.'),
      priority_id: field(z.int(), 'Always 1 for meals.'),
      source_app_id: sourceFields.source_app_id,
      source_device_id: sourceFields.source_device_id,
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
      period_start: field(safe(Day), 'The first day of the period and of the cycle.'),
      period_end: field(safe(Day).nullish(), 'The last day of the period.'),
      cycle_end: field(safe(Day).nullish(), 'The last day of the cycle.'),
      is_predicted: field(z.boolean().nullish(), 'True if the source predicts the cycle.'),
      ...cycleEntries,
      ...sourceFields,
    },
    example: { period_start: '2026-02-10', period_end: '2026-02-14', cycle_end: null, is_predicted: false, ...exampleSource },
  },
  electrocardiogram: {
    noun: 'an electrocardiogram',
    fields: {
      session_start: field(Instant, 'The start of the recording.'),
      session_end: field(Instant, 'The end of the recording.'),
      voltage_sample_count: field(z.int(), 'The number of voltage samples.'),
      heart_rate_mean: field(wholeNumber, 'The mean heart rate.', 'bpm'),
      sampling_frequency_hz: field(number, 'The sampling frequency.', 'Hz'),
      classification: field(
        openEnum(['sinus_rhythm', 'atrial_fibrillation', 'inconclusive']).nullish(),
        'The classification by the device.',
      ),
      inconclusive_cause: field(
        openEnum(['high_heart_rate', 'low_heart_rate', 'poor_reading']).nullish(),
        'Why the recording is inconclusive.',
      ),
      algorithm_version: field(text, "The version of the device's algorithm."),
      time_zone: timeZone,
      source_device_model: field(text, 'The model of the device.'),
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

import type { SummaryName } from '../../contract/wearables/summaries.ts'
import { type Day, QUARTER } from './rules-day.ts'
import { hasPassed, type NewSample, point, roundTo, timeOf } from './rules-times.ts'
import { bodyOf, weighedAt } from './series/rules-body.ts'
import { cyclesOf } from './series/rules-cycle.ts'
import { heartRateAt, recordingOf } from './series/rules-heart.ts'
import { mealSummaries } from './series/rules-intake.ts'
import { quartersOf, workoutDistance, workoutMinutes } from './series/rules-motion.ts'
import { temperatureDelta } from './series/rules-night.ts'
import type { DaySamples } from './series/rules-series.ts'

/** The time of the report and the device per resource. */
type Report = { until: number; isLive: boolean; deviceFor(resource: string): string }

type ReportedDay = Day & { samples: DaySamples }

const valuesOf = (samples: NewSample[]) => samples.map(({ value }) => value as number)
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
const sumOf = (samples: NewSample[]) => roundTo(total(valuesOf(samples)), 1)
const mean = (values: number[]) => (values.length ? roundTo(total(values) / values.length, 1) : null)

/** The activity of the day so far. */
function activity({ samples, ...day }: ReportedDay, { until, deviceFor }: Report) {
  const heartRates = valuesOf(samples.heartrate)
  return {
    source_type: deviceFor('activity'),
    day_summary: {
      date: day.date,
      active_energy_burned_sum: sumOf(samples.calories_active),
      basal_energy_burned_sum: sumOf(samples.calories_basal),
      steps_sum: sumOf(samples.steps),
      distance_sum: sumOf(samples.distance),
      floors_climbed_sum: sumOf(samples.floors_climbed),
      ...effortOf(day, until),
      heart_rate_mean: mean(heartRates),
      heart_rate_minimum: heartRates.length ? Math.min(...heartRates) : null,
      heart_rate_maximum: heartRates.length ? Math.max(...heartRates) : null,
      heart_rate_resting: day.person.resting,
    },
  }
}

/** The minutes by intensity: the workout and quarter hours with a walk. */
function effortOf(day: Day, until: number) {
  const { sport, from, to } = day.workout
  const walks = quartersOf(day).filter((quarter) => quarter.steps > 200 && (quarter.from < from || quarter.from >= to))
  const effort = { low: QUARTER * walks.filter((walk) => hasPassed(day, walk.from + QUARTER, until)).length, medium: 0, high: 0 }
  if (hasPassed(day, to, until)) effort[sport.intensity] += workoutMinutes(day)
  return effort
}

function sleep({ samples, ...day }: ReportedDay, { deviceFor }: Report) {
  const { bed, wake } = day.night
  const heartRates = Array.from({ length: Math.floor((wake - bed) / 5) }, (_, i) => heartRateAt(day, bed + 5 * i))
  return {
    id: `demo-sleep-${day.date}`,
    ...{ source_type: deviceFor('sleep'), product_type: 'Demo wearable' },
    start_date: timeOf(day, bed),
    end_date: timeOf(day, wake),
    sleep_stages: day.stages.map(({ stage, from, to }) => ({ stage, start_date: timeOf(day, from), end_date: timeOf(day, to) })),
    ...{ type: 'long_sleep', state: 'confirmed' },
    heart_rate_mean: mean(heartRates),
    heart_rate_minimum: Math.min(...heartRates),
    heart_rate_maximum: Math.max(...heartRates),
    heart_rate_resting: day.person.resting,
    hrv_mean_sdnn: mean(valuesOf(samples.hrv)),
    respiratory_rate_mean: mean(valuesOf(samples.respiratory_rate)),
    temperature_delta: temperatureDelta(day),
    score: Math.min(100, Math.round((wake - bed) / 5)),
  }
}

export const workoutId = ({ date }: Day) => `demo-workout-${date}`

function workout(day: Day, { deviceFor }: Report) {
  const { sport, from, to } = day.workout
  const heartRates = Array.from({ length: to - from }, (_, i) => heartRateAt(day, from + i))
  return {
    id: workoutId(day),
    ...{ source_type: deviceFor('workouts'), product_type: 'Demo wearable' },
    ...{ start_date: timeOf(day, from), end_date: timeOf(day, to), sport: sport.slug, title: sport.title },
    calories: sport.energy * workoutMinutes(day),
    distance: workoutDistance(day),
    steps: sport.steps * workoutMinutes(day),
    moving_time: 60 * workoutMinutes(day),
    average_speed: sport.speed,
    heart_rate_mean: mean(heartRates),
    heart_rate_maximum: Math.max(...heartRates),
    hr_zones: zonesOf(heartRates, day.person.maxHeartRate),
  }
}

/** The seconds below half of the maximum heart rate, and in each tenth above. */
function zonesOf(heartRates: number[], highest: number) {
  const zones = [0, 0, 0, 0, 0, 0]
  for (const bpm of heartRates) {
    const zone = Math.min(5, Math.max(0, Math.floor((bpm / highest) * 10) - 4))
    zones[zone] = (zones[zone] as number) + 60
  }
  return zones
}

function electrocardiogram(day: Day, { deviceFor }: Report) {
  const { from, to, count, rate, bpm } = recordingOf(day)
  return {
    id: `demo-recording-${day.date}`,
    ...{ source_type: deviceFor('electrocardiogram'), session_start: timeOf(day, from), session_end: timeOf(day, to) },
    ...{ voltage_sample_count: count, sampling_frequency_hz: rate, heart_rate_mean: bpm, classification: 'sinus_rhythm' },
  }
}

/** The samples of the scale. */
function body(days: Day[], { deviceFor }: Report) {
  const type = deviceFor('body_weight')
  const measured = days.flatMap((day) =>
    Object.entries(bodyOf(day)).map(([name, value]) => ({ name, sample: point(day, weighedAt(day), value, { type }) })),
  )
  const lists = [...Map.groupBy(measured, ({ name }) => name)].map(([name, found]) => [name, found.map(({ sample }) => sample)])
  return { source_type: type, ...Object.fromEntries(lists) }
}

const profile = ({ person: { sex, birth_date, height } }: Day) => ({ biological_sex: sex, gender: sex, date_of_birth: birth_date, height })

type PushedSummary = Exclude<SummaryName, 'sleep_cycle'>

/** The summaries of some days. Live reports include the current day, the current cycle and the profile. */
export function demoSummaries(days: ReportedDay[], report: Report): Record<PushedSummary, unknown[]> {
  const { isLive } = report
  const past = (minuteOf: (day: Day) => number) => days.filter((day) => hasPassed(day, minuteOf(day), report.until))
  const afterWaking = past(({ night }) => night.wake)
  const weighed = past(weighedAt)
  return {
    activity: days.map((day) => activity(day, report)),
    sleep: afterWaking.map((day) => sleep(day, report)),
    workouts: past(({ workout }) => workout.to).map((day) => workout(day, report)),
    body: weighed.length ? [body(weighed, report)] : [],
    electrocardiogram: past((day) => recordingOf(day).to).map((day) => electrocardiogram(day, report)),
    meal: days.flatMap(mealSummaries).filter(({ timestamp }) => Date.parse(timestamp) <= report.until),
    menstrual_cycle: cyclesOf(afterWaking, isLive).map((cycle) => ({ cycle })),
    profile: isLive ? days.slice(-1).map(profile) : [],
  }
}

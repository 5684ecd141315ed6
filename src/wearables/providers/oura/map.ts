import { isNumber, offsetOf } from '../rules-clock.ts'
import type * as oura from './api.ts'

const RING = 'ring'

/** `rest` is a period in bed without sleep; `deleted` objects are gone. */
const sleepTypes: Record<string, string> = { long_sleep: 'long_sleep', late_nap: 'acknowledged_nap', sleep: 'short_sleep' }

/** Whether an object is a sleep session. */
export const isSleep = ({ type }: oura.Sleep) => Object.hasOwn(sleepTypes, type ?? 'sleep')

export const isDeleted = ({ type }: oura.Sleep) => type === 'deleted'

/** A sleep. The score belongs to the long sleep of a day. */
export function sleepOf(sleep: oura.Sleep, daily: oura.DailySleep | undefined) {
  const { bedtime_start, bedtime_end, readiness } = sleep
  const score = sleep.type === 'long_sleep' ? daily?.score : undefined
  return {
    id: sleep.id,
    source_type: RING,
    start_date: bedtime_start,
    end_date: bedtime_end,
    type: sleepTypes[sleep.type ?? 'sleep'],
    modified_at: latest(sleep.meta?.updated_at, daily?.meta?.updated_at),
    sleep_stages: stagesOf(sleep),
    total: sleep.total_sleep_duration,
    awake: sleep.awake_time,
    light: sleep.light_sleep_duration,
    deep: sleep.deep_sleep_duration,
    rem: sleep.rem_sleep_duration,
    latency: sleep.latency,
    efficiency: sleep.efficiency,
    heart_rate_mean: sleep.average_heart_rate,
    heart_rate_minimum: sleep.lowest_heart_rate,
    hrv_mean_rmssd: sleep.average_hrv,
    respiratory_rate_mean: sleep.average_breath,
    score,
    recovery_readiness_score: readiness?.score,
    temperature_delta: readiness?.temperature_deviation,
    heart_rate: measurementsOf(sleep.heart_rate),
    heart_rate_variability: measurementsOf(sleep.hrv),
    respiratory_rate: isNumber(sleep.average_breath) ? [sampleAt(bedtime_end, sleep.average_breath)] : [],
    body_temperature_delta: temperatureOf(sleep),
  }
}

/** The deviation of the skin temperature during a night, as one sample of that night. */
const temperatureOf = ({ bedtime_start, bedtime_end, readiness }: oura.Sleep) =>
  isNumber(readiness?.temperature_deviation)
    ? [{ ...sampleAt(bedtime_start, readiness.temperature_deviation), end_date: bedtime_end, sensor_location: 'finger' }]
    : []

const stages: Record<string, string> = { 1: 'deep', 2: 'light', 3: 'rem', 4: 'awake' }

/** Equal digits in a row are one stage. The last one ends with the night. */
function stagesOf({ bedtime_start, bedtime_end, sleep_phase_30_sec, sleep_phase_5_min }: oura.Sleep) {
  const digits = sleep_phase_30_sec || sleep_phase_5_min || ''
  const step = sleep_phase_30_sec ? 30_000 : 300_000
  const [start, end] = [Date.parse(bedtime_start), Date.parse(bedtime_end)]
  const timeOf = (i: number) => new Date(Math.min(start + i * step, end)).toISOString()
  return [...digits.matchAll(/(\d)\1*/g)].flatMap(({ 0: run, 1: digit = '', index }) => {
    const stage = stages[digit]
    const [start_date, end_date] = [timeOf(index), timeOf(index + run.length)]
    return stage && start_date < end_date ? [{ stage, start_date, end_date }] : []
  })
}

/** Total energy contains active energy. */
export const activityOf = (activity: oura.DailyActivity) => ({
  source_type: RING,
  modified_at: latest(activity.meta?.updated_at),
  day_summary: {
    date: activity.day,
    timezone_offset: offsetOf(activity.timestamp ?? ''),
    steps_sum: activity.steps,
    active_energy_burned_sum: activity.active_calories,
    basal_energy_burned_sum: basalOf(activity),
    distance_sum: activity.equivalent_walking_distance,
    low: minutesOf(activity.low_activity_time),
    medium: minutesOf(activity.medium_activity_time),
    high: minutesOf(activity.high_activity_time),
  },
})

const basalOf = ({ total_calories: total, active_calories: active }: oura.DailyActivity) =>
  isNumber(total) && isNumber(active) ? Math.max(0, total - active) : null

const minutesOf = (seconds: number | null | undefined) => (isNumber(seconds) ? seconds / 60 : null)

/** Names that Assay spells differently. Others are slugs already. */
const sports: Record<string, string> = {
  strengthTraining: 'strength_training',
  cross_country_skiing: 'cross_country_skiing',
  crossCountrySkiing: 'cross_country_skiing',
  hiit: 'high_intensity_interval_training',
  football: 'soccer',
  weight_training: 'strength_training',
}

const SLUG = /^[a-z0-9]+(_[a-z0-9]+)*$/

const sportOf = (name: string) => sports[name] ?? (SLUG.test(name) ? name : 'other')

/** A workout has no heart rate of its own; `beats` are the measurements during it. */
export function workoutOf(workout: oura.Workout, beats: oura.HeartRate[]) {
  const bpms = beats.flatMap(({ bpm }) => bpm ?? [])
  return {
    id: workout.id,
    source_type: RING,
    start_date: workout.start_datetime,
    end_date: workout.end_datetime,
    sport: sportOf(workout.activity),
    title: workout.label,
    calories: workout.calories,
    distance: workout.distance,
    heart_rate_mean: bpms.length ? bpms.reduce((sum, bpm) => sum + bpm, 0) / bpms.length : null,
    heart_rate_maximum: bpms.length ? Math.max(...bpms) : null,
  }
}

/** The measurements during sleep are those of the sleep objects. */
export const heartRatesOf = (beats: oura.HeartRate[]) =>
  beats.flatMap(({ timestamp, bpm, source }) => (source !== 'sleep' && isNumber(bpm) ? [sampleAt(timestamp, bpm)] : []))

/** The mean of a night, at its end. */
export function oxygenOf(days: oura.DailySpo2[], sleeps: oura.Sleep[]) {
  const ends = new Map(sleeps.filter(({ type }) => type === 'long_sleep').map(({ day, bedtime_end }) => [day, bedtime_end]))
  return days.flatMap(({ day, spo2_percentage }) => {
    const [end, average] = [ends.get(day), spo2_percentage?.average]
    // Oura sends 0 for a night without measurements.
    return end && isNumber(average) && average > 0 ? [sampleAt(end, average)] : []
  })
}

export const vo2MaxOf = ({ timestamp, vo2_max }: oura.Vo2Max) => (isNumber(vo2_max) ? [sampleAt(timestamp, vo2_max)] : [])

/** The height is in meters. The weight is kept to notice that it changed. */
export const profileOf = ({ height, weight, biological_sex }: oura.PersonalInfo) => ({
  height: isNumber(height) ? height * 100 : null,
  biological_sex,
  weight: weight ?? null,
})

const measurementsOf = (list: oura.Sleep['hrv']) => {
  const start = Date.parse(list?.timestamp ?? '')
  const offset = offsetIn(list?.timestamp ?? '')
  return (list?.items ?? []).flatMap((value, i) => {
    const at = start + i * (list?.interval ?? 0) * 1000
    return !isNumber(value) || Number.isNaN(at) ? [] : [{ ...sampleAt(new Date(at).toISOString(), value), ...offset }]
  })
}

/** Computed times are written in UTC, so the offset of the list goes along. */
function offsetIn(text: string) {
  const timezone_offset = offsetOf(text)
  return timezone_offset === undefined ? {} : { timezone_offset }
}

const sampleAt = (start_date: string, value: number) => ({ start_date, value, type: RING })

/** Cloud times may lack a zone, which a version must have. */
const latest = (...times: (string | null | undefined)[]) => {
  const known = times.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time))
  return known.length ? new Date(Math.max(...known)).toISOString() : null
}

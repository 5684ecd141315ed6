import { DAY, SECOND } from '../../../platform/time.ts'
import { isNumber, withOffset } from '../rules-clock.ts'
import type * as google from './api.ts'

type Point<T extends google.DataType> = google.Point<T>

const forms: Record<string, string> = {
  ...{ WATCH: 'watch', FITNESS_BAND: 'watch', PHONE: 'phone', TABLET: 'phone' },
  ...{ RING: 'ring', CHEST_STRAP: 'chest_strap', SCALE: 'scale' },
}

/** The kind of device. A stream of several sources does not name it. */
const typeOf = (source: google.DataSource | undefined, fallback: string) =>
  forms[source?.device?.formFactor ?? ''] ?? (source?.recordingMethod === 'MANUAL' ? 'app' : fallback)

/** Seconds of a duration such as `-18000s`. */
const secondsOf = (duration: string | null | undefined) => (duration ? Number.parseFloat(duration) : null)

const offsetOf = (duration: string | null | undefined) => {
  const seconds = secondsOf(duration)
  return seconds === null ? {} : { timezone_offset: Math.round(seconds) }
}

/** A time with its offset, which gives the time zone of the user. */
const zoned = (time: string, offset: string | null | undefined) => withOffset(Date.parse(time), secondsOf(offset))

export const dayOf = ({ year, month, day }: google.CivilDate) =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`

type Values = Record<string, unknown> & { value: number | null | undefined }

const sampleAt = ({ physicalTime, utcOffset }: google.SampleTime, type: string, { value, ...more }: Values) =>
  isNumber(value) ? [{ start_date: physicalTime, ...offsetOf(utcOffset), type, ...more, value }] : []

const sampleDuring = ({ startTime, endTime, startUtcOffset }: google.Interval, type: string, { value, ...more }: Values) =>
  isNumber(value) ? [{ start_date: startTime, end_date: endTime, ...offsetOf(startUtcOffset), type, ...more, value }] : []

const scaled = (value: number | null | undefined, divisor: number) => (isNumber(value) ? value / divisor : null)

type SampleMap<T extends google.DataType> = (point: Point<T>) => Record<string, unknown>[]

/** The samples of each type of data. */
export const samplesOf: { [T in google.DataType]?: SampleMap<T> } = {
  steps: ({ value, source }) => sampleDuring(value.interval, typeOf(source, 'watch'), { value: value.count }),
  floors: ({ value, source }) => sampleDuring(value.interval, typeOf(source, 'watch'), { value: value.count }),
  distance: ({ value, source }) =>
    sampleDuring(value.interval, typeOf(source, 'watch'), { value: scaled(value.millimeters, 1000), unit: 'm' }),
  'active-energy-burned': ({ value, source }) => sampleDuring(value.interval, typeOf(source, 'watch'), { value: value.kcal, unit: 'kcal' }),
  'heart-rate': ({ value, source }) => sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.beatsPerMinute }),
  'heart-rate-variability': ({ value, source }) =>
    sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.rootMeanSquareOfSuccessiveDifferencesMilliseconds, unit: 'ms' }),
  'oxygen-saturation': ({ value, source }) => sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.percentage, unit: '%' }),
  'respiratory-rate-sleep-summary': ({ value, source }) =>
    sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.fullSleepStats?.breathsPerMinute }),
  weight: ({ value, source }) =>
    sampleAt(value.sampleTime, typeOf(source, 'unknown'), { value: scaled(value.weightGrams, 1000), unit: 'kg' }),
  'body-fat': ({ value, source }) => sampleAt(value.sampleTime, typeOf(source, 'unknown'), { value: value.percentage, unit: '%' }),
  'blood-glucose': ({ value, source }) =>
    sampleAt(value.sampleTime, glucoseTypes[value.measurementSource ?? ''] ?? typeOf(source, 'unknown'), {
      value: value.bloodGlucoseMilligramsPerDeciliter,
      unit: 'mg/dL',
    }),
  'core-body-temperature': ({ value, source }) =>
    sampleAt(value.sampleTime, typeOf(source, 'unknown'), {
      ...{ value: value.temperatureCelsius, unit: '°C' },
      sensor_location: locations[value.measurementLocation ?? ''],
    }),
  'vo2-max': ({ value, source }) => sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.vo2Max }),
  'run-vo2-max': ({ value, source }) => sampleAt(value.sampleTime, typeOf(source, 'watch'), { value: value.runVo2Max }),
  // A day has no time of measurement.
  'daily-vo2-max': ({ value, source }) =>
    sampleAt({ physicalTime: `${dayOf(value.date)}T12:00:00Z`, utcOffset: null }, typeOf(source, 'watch'), { value: value.vo2Max }),
}

const glucoseTypes: Record<string, string> = {
  ...{ SELF_MONITORING_BLOOD_GLUCOSE: 'fingerprick', CONTINUOUS_GLUCOSE_MONITORING: 'automatic', LAB_TEST: 'lab' },
}

const locations: Record<string, string> = {
  ...{ ARMPIT: 'armpit', BODY: 'body', EAR: 'ear', FINGER: 'finger', GASTRO_INTESTINAL: 'gastrointestinal', MOUTH: 'mouth' },
  ...{ RECTUM: 'rectum', TOE: 'toe', EAR_DRUM: 'eardrum', TEMPORAL_ARTERY: 'temporal_artery', FOREHEAD: 'forehead', WRIST: 'wrist' },
}

/** When a point took place, in milliseconds. */
export function timeOf({ value }: { value: google.Value<google.DataType> }) {
  if ('sampleTime' in value) return Date.parse(value.sampleTime.physicalTime)
  return 'interval' in value ? Date.parse(value.interval.startTime) : Date.parse(dayOf(value.date))
}

/** Values of a night that Google gives by day. */
export type Nights = {
  temperature: Point<'daily-sleep-temperature-derivations'>[]
  respiration: Point<'daily-respiratory-rate'>[]
  variability: Point<'daily-heart-rate-variability'>[]
}

/** Sessions have names, which end with an ID. */
export const idOf = (id: string | undefined, { startTime }: google.Interval) => id || new Date(startTime).toISOString()

/** A sleep. Values of the day belong to its main sleep. */
export function sleepOf({ id, value: sleep, source }: Point<'sleep'>, nights: Nights) {
  const { interval, summary, metadata } = sleep
  const type = typeOf(source, 'watch')
  const end_date = zoned(interval.endTime, interval.endUtcOffset ?? interval.startUtcOffset)
  const start_date = zoned(interval.startTime, interval.startUtcOffset)
  const ofDay = <P extends { value: { date: google.CivilDate } }>(points: P[]): P['value'] | undefined =>
    metadata?.mainSleep ? points.find(({ value }) => dayOf(value.date) === end_date.slice(0, 10))?.value : undefined
  const temperature_delta = deltaOf(ofDay(nights.temperature))
  return {
    id: idOf(id, interval),
    source_type: type,
    start_date,
    end_date,
    type: metadata?.nap ? 'acknowledged_nap' : metadata?.mainSleep ? 'long_sleep' : undefined,
    state: metadata?.processed ? 'confirmed' : 'tentative',
    sleep_stages: stagesOf(sleep),
    total: minutesToSeconds(summary?.minutesAsleep),
    awake: minutesToSeconds(summary?.minutesAwake),
    latency: minutesToSeconds(summary?.minutesToFallAsleep),
    ...stageTotals(sleep),
    hrv_mean_rmssd: ofDay(nights.variability)?.averageHeartRateVariabilityMilliseconds,
    respiratory_rate_mean: ofDay(nights.respiration)?.breathsPerMinute,
    temperature_delta,
    body_temperature_delta:
      temperature_delta === null ? [] : [{ start_date, end_date, value: temperature_delta, type, sensor_location: 'wrist' }],
  }
}

const minutesToSeconds = (minutes: number | null | undefined) => (isNumber(minutes) ? minutes * 60 : null)

const deltaOf = (night: google.Value<'daily-sleep-temperature-derivations'> | undefined) =>
  isNumber(night?.nightlyTemperatureCelsius) && isNumber(night.baselineTemperatureCelsius)
    ? Math.round((night.nightlyTemperatureCelsius - night.baselineTemperatureCelsius) * 1000) / 1000
    : null

/** Sleep of the type `CLASSIC` is only asleep or restless. */
const stages: Record<string, 'awake' | 'light' | 'deep' | 'rem'> = {
  ...{ AWAKE: 'awake', LIGHT: 'light', DEEP: 'deep', REM: 'rem', ASLEEP: 'light', RESTLESS: 'awake' },
}

/** Stages end with the session. */
function stagesOf({ interval, stages: list }: google.Value<'sleep'>) {
  const [start, end] = [Date.parse(interval.startTime), Date.parse(interval.endTime)]
  const within = (time: string) => Math.min(Math.max(Date.parse(time), start), end)
  return (list ?? []).flatMap(({ type, startTime, endTime }) => {
    const [stage, from, to] = [stages[type ?? ''], within(startTime), within(endTime)]
    if (!stage || !(from < to)) return []
    return [{ stage, start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString() }]
  })
}

/** The lengths of stages in seconds. */
function stageTotals({ summary }: google.Value<'sleep'>) {
  const list = summary?.stagesSummary
  const secondsIn = (wanted: string) =>
    list?.length ? list.reduce((sum, { type, minutes }) => sum + (stages[type ?? ''] === wanted ? (minutes ?? 0) * 60 : 0), 0) : null
  return { light: secondsIn('light'), deep: secondsIn('deep'), rem: secondsIn('rem') }
}

export type Days = {
  steps: google.RollUp<'steps'>[]
  distance: google.RollUp<'distance'>[]
  floors: google.RollUp<'floors'>[]
  active: google.RollUp<'active-energy-burned'>[]
  total: google.RollUp<'total-calories'>[]
  minutes: google.RollUp<'active-minutes'>[]
  heart: google.RollUp<'heart-rate'>[]
  resting: Point<'daily-resting-heart-rate'>[]
}

/** The activity of each day that has a sum. Total energy contains active energy. */
export function activitiesOf(days: Days) {
  const lists = Object.entries(days) as [keyof Days, { date?: google.CivilDate; value: unknown }[]][]
  const byDay = new Map<string, { [K in keyof Days]?: Days[K][number]['value'] }>()
  for (const [name, list] of lists)
    for (const { date, value } of list) {
      const day = dayOf(date ?? (value as { date: google.CivilDate }).date)
      byDay.set(day, { ...byDay.get(day), [name]: value })
    }
  // A resting heart rate alone is not an activity.
  const hasSum = (day: object) => Object.keys(day).some((name) => name !== 'resting')
  return [...byDay].filter(([, day]) => hasSum(day)).map(([date, day]) => ({ source_type: 'watch', day_summary: daySummary(date, day) }))
}

function daySummary(date: string, day: { [K in keyof Days]?: Days[K][number]['value'] }) {
  const [active, total] = [day.active?.kcalSum, day.total?.kcalSum]
  const minutes = (level: string) =>
    day.minutes?.activeMinutesRollupByActivityLevel?.find(({ activityLevel }) => activityLevel === level)?.activeMinutesSum
  return {
    date,
    steps_sum: day.steps?.countSum,
    distance_sum: scaled(day.distance?.millimetersSum, 1000),
    floors_climbed_sum: day.floors?.countSum,
    active_energy_burned_sum: active,
    basal_energy_burned_sum: isNumber(active) && isNumber(total) ? Math.max(0, total - active) : null,
    low: minutes('LIGHT'),
    medium: minutes('MODERATE'),
    high: minutes('VIGOROUS'),
    heart_rate_mean: day.heart?.beatsPerMinuteAvg,
    heart_rate_minimum: day.heart?.beatsPerMinuteMin,
    heart_rate_maximum: day.heart?.beatsPerMinuteMax,
    heart_rate_resting: day.resting?.beatsPerMinute,
  }
}

/** Types that Assay spells differently. */
const sports: Record<string, string> = {
  ...{ BIKING: 'cycling', SPINNING: 'indoor_cycling', SWIMMING_POOL: 'swimming', SWIMMING_OPEN_WATER: 'open_water_swimming' },
  ...{ HIIT: 'high_intensity_interval_training', WEIGHTLIFTING: 'strength_training', WEIGHTS: 'strength_training' },
  ...{ ROWING_MACHINE: 'indoor_rowing', STAIRCLIMBER: 'stair_climbing', FOOTBALL_AMERICAN: 'american_football' },
  ...{ EXERCISE_TYPE_UNSPECIFIED: 'other', SPORT: 'other', WORKOUT: 'other' },
}

const SLUG = /^[a-z0-9]+(_[a-z0-9]+)*$/

function sportOf(type: string | null | undefined) {
  const slug = sports[type ?? ''] ?? (type ?? '').toLowerCase()
  return SLUG.test(slug) && slug.length <= 60 ? slug : 'other'
}

export function workoutOf({ id, value: exercise, source }: Point<'exercise'>) {
  const { interval, metricsSummary: metrics, displayName, exerciseType, activeDuration } = exercise
  const active = secondsOf(activeDuration)
  return {
    id: idOf(id, interval),
    source_type: typeOf(source, 'watch'),
    start_date: zoned(interval.startTime, interval.startUtcOffset),
    end_date: zoned(interval.endTime, interval.endUtcOffset ?? interval.startUtcOffset),
    sport: sportOf(exerciseType),
    title: displayName?.slice(0, 200),
    moving_time: active === null ? null : Math.round(active),
    calories: metrics?.caloriesKcal,
    distance: scaled(metrics?.distanceMillimeters, 1000),
    steps: metrics?.steps,
    heart_rate_mean: metrics?.averageHeartRateBeatsPerMinute,
    average_speed: scaled(metrics?.averageSpeedMillimetersPerSecond, 1000),
    total_elevation_gain: scaled(metrics?.elevationGainMillimeters, 1000),
    hr_zones: zonesOf(metrics?.heartRateZoneDurations),
  }
}

type Zones = NonNullable<google.Value<'exercise'>['metricsSummary']>['heartRateZoneDurations']

/** Google has four zones, and Assay six. The lowest and the highest stay empty. */
function zonesOf(zones: Zones) {
  if (!zones) return null
  const seconds = [zones.lightTime, zones.moderateTime, zones.vigorousTime, zones.peakTime].map((time) => Math.round(secondsOf(time) ?? 0))
  return [0, ...seconds, 0]
}

/** Measurements of the body. */
export const bodyOf = (weights: Point<'weight'>[], fats: Point<'body-fat'>[]) => ({
  body_mass: weights.flatMap((point) => samplesOf.weight?.(point) ?? []),
  body_fat_percentage: fats.flatMap((point) => samplesOf['body-fat']?.(point) ?? []),
})

/** The latest height, in centimeters. */
export const profileOf = ([latest]: Point<'height'>[]) => ({ height: scaled(latest?.value.heightMillimeters, 10) })

const classifications: Record<string, { classification: string; inconclusive_cause?: string }> = {
  NORMAL_SINUS_RHYTHM: { classification: 'sinus_rhythm' },
  ATRIAL_FIBRILLATION: { classification: 'atrial_fibrillation' },
  INCONCLUSIVE: { classification: 'inconclusive' },
  INCONCLUSIVE_HIGH_HEART_RATE: { classification: 'inconclusive', inconclusive_cause: 'high_heart_rate' },
  INCONCLUSIVE_LOW_HEART_RATE: { classification: 'inconclusive', inconclusive_cause: 'low_heart_rate' },
  UNREADABLE: { classification: 'inconclusive', inconclusive_cause: 'poor_reading' },
}

/** A recording. Google gives the time of the reading only, so its length is that of the waveform. */
export function electrocardiogramOf({ id, value: reading, source }: Point<'electrocardiogram'>) {
  const { interval, waveformSamples: waveform, samplingFrequencyHertz: rate } = reading
  const lengthMs = isNumber(rate) && rate > 0 ? Math.round(((waveform?.length ?? 0) / rate) * SECOND) : 0
  const end = new Date(Date.parse(interval.startTime) + Math.min(lengthMs, DAY)).toISOString()
  return {
    id: idOf(id, interval),
    source_type: typeOf(source, 'watch'),
    session_start: zoned(interval.startTime, interval.startUtcOffset),
    session_end: zoned(end, interval.startUtcOffset),
    voltage_sample_count: waveform?.length ?? 0,
    heart_rate_mean: reading.beatsPerMinuteAvg,
    sampling_frequency_hz: rate,
    ...classifications[reading.resultClassification ?? ''],
  }
}

/** The waveform of lead I, in millivolts. */
export function voltagesOf({ value }: Point<'electrocardiogram'>) {
  const { interval, waveformSamples, samplingFrequencyHertz: rate, millivoltsScalingFactor: factor } = value
  const start = Date.parse(interval.startTime)
  if (!isNumber(rate) || rate <= 0 || !isNumber(factor) || factor === 0) return []
  return (waveformSamples ?? []).map((sample, i) => ({
    ...{ start_date: new Date(start + Math.round((i / rate) * SECOND)).toISOString(), ...offsetOf(interval.startUtcOffset) },
    ...{ value: sample / factor, unit: 'mV', type: 'lead_i' },
  }))
}

import { DAY, HOUR, MINUTE } from '../../../../platform/time.ts'

/** A point of data in the form of the cloud, with the family of its source. */
export type StoredPoint = {
  id: string
  family: 'wearables' | 'sources' | 'others'
  at: number
  end: number
  value: Record<string, unknown>
}

export type GoogleUser = {
  id: string
  legacyUserId: string
  /** By type, then by ID. */
  points: Map<string, Map<string, StoredPoint>>
}

const OFFSET_MS = -5 * HOUR
const OFFSET = '-18000s'

const isoOf = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')

export const civilOf = (at: number) => {
  const local = new Date(at + OFFSET_MS)
  return {
    date: { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() },
    time: { hours: local.getUTCHours(), minutes: local.getUTCMinutes(), seconds: local.getUTCSeconds() },
  }
}

/** The local time of a point, as text that sorts. */
export const civilText = (at: number) => new Date(at + OFFSET_MS).toISOString().slice(0, 19)

const intervalOf = (from: number, to: number) => ({
  ...{ startTime: isoOf(from), startUtcOffset: OFFSET, endTime: isoOf(to), endUtcOffset: OFFSET },
  ...{ civilStartTime: civilOf(from), civilEndTime: civilOf(to) },
})
const sampleTimeOf = (at: number) => ({ physicalTime: isoOf(at), utcOffset: OFFSET, civilTime: civilOf(at) })

/** A number from 0 to 1 that looks random. */
const noise = (seed: number) => Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1

/** A person with a tracker and a scale, and their data up to a time. The same arguments always give the same data. */
export function newGoogleUser(id: string, until: string, days: number): GoogleUser {
  const user: GoogleUser = { id, legacyUserId: `F${id.toUpperCase()}`, points: new Map() }
  const end = Date.parse(until)
  const today = Math.floor((end + OFFSET_MS) / DAY) * DAY - OFFSET_MS
  addPoint(user, 'height', { at: today - 3 * DAY, family: 'sources' }, { heightMillimeters: '1720' })
  for (let back = days; back >= 0; back--) addDay(user, today - back * DAY, back, end)
  return user
}

type Place = { at: number; end?: number; family?: StoredPoint['family']; id?: string; shape?: 'sample' | 'interval' | 'daily' }

/** Adds or replaces a point. */
export function addPoint(
  user: GoogleUser,
  type: string,
  { at, end = at, family = 'wearables', id, shape }: Place,
  fields: Record<string, unknown>,
) {
  const kind = shape ?? (type.startsWith('daily-') ? 'daily' : end > at ? 'interval' : 'sample')
  const time =
    kind === 'daily'
      ? { date: civilOf(at).date }
      : kind === 'interval'
        ? { interval: intervalOf(at, end) }
        : { sampleTime: sampleTimeOf(at) }
  const point = { id: id ?? `${type}-${at}-${family}`, family, at, end, value: { ...time, ...fields } }
  const points = user.points.get(type) ?? new Map<string, StoredPoint>()
  user.points.set(type, points.set(point.id, point))
  return point
}

function addDay(user: GoogleUser, midnight: number, seed: number, until: number) {
  const add = (type: string, place: Place, fields: Record<string, unknown>) => {
    if ((place.end ?? place.at) < until) addPoint(user, type, place, fields)
  }
  addNight(add, midnight, seed, until)
  for (let hour = 8; hour < 20; hour++) {
    const [at, end] = [midnight + hour * HOUR, midnight + (hour + 1) * HOUR]
    const count = 200 + Math.round(noise(seed + hour) * 800)
    add('steps', { at, end }, { count: String(count) })
    // The phone counts the same steps.
    add('steps', { at, end, family: 'others' }, { count: String(count - 7) })
    add('distance', { at, end }, { millimeters: String(count * 750) })
    add('active-energy-burned', { at, end }, { kcal: count / 20 })
    if (hour % 4 === 0) add('floors', { at, end }, { count: '2' })
    add('heart-rate', { at: at + 7 * MINUTE }, { beatsPerMinute: String(60 + Math.round(40 * noise(seed + hour))) })
  }
  if (seed % 3 === 0) add('exercise', { at: midnight + 17 * HOUR, end: midnight + 18 * HOUR, id: `${20_000 + seed}` }, exerciseOf(seed))
  if (seed % 2 === 0) {
    add('weight', { at: midnight + 7 * HOUR, family: 'sources' }, { weightGrams: 68_000 + seed * 10 })
    add('body-fat', { at: midnight + 7 * HOUR, family: 'sources' }, { percentage: 24.5 })
  }
  if (seed % 5 === 0)
    add(
      'blood-glucose',
      { at: midnight + 12 * HOUR, family: 'sources' },
      { bloodGlucoseMilligramsPerDeciliter: 90 + (seed % 30), measurementSource: 'SELF_MONITORING_BLOOD_GLUCOSE' },
    )
  if (seed % 10 === 0) {
    add(
      'core-body-temperature',
      { at: midnight + 13 * HOUR, family: 'sources' },
      { temperatureCelsius: 36.7, measurementLocation: 'EAR_DRUM' },
    )
    add('daily-vo2-max', { at: midnight }, { vo2Max: 41.5, estimated: false })
  }
  if (seed % 10 === 5) add('run-vo2-max', { at: midnight + 18 * HOUR }, { runVo2Max: 44.25 })
  if (seed % 30 === 1)
    add('electrocardiogram', { at: midnight + 14 * HOUR, shape: 'interval', id: `ecg-${seed}` }, electrocardiogramOf(seed))
}

function addNight(
  add: (type: string, place: Place, fields: Record<string, unknown>) => void,
  midnight: number,
  seed: number,
  until: number,
) {
  const start = midnight - 90 * MINUTE + Math.round(noise(seed) * 30) * MINUTE
  const end = start + 8 * HOUR
  if (end >= until) return
  add('sleep', { at: start, end, id: `sleep-${seed}` }, sleepOf(start, end))
  for (let at = start + 30 * MINUTE; at < end; at += HOUR) {
    add('heart-rate-variability', { at }, { rootMeanSquareOfSuccessiveDifferencesMilliseconds: 40 + Math.round(30 * noise(at)) })
    add('oxygen-saturation', { at }, { percentage: 95 + Math.round(30 * noise(at + 1)) / 10 })
  }
  add('respiratory-rate-sleep-summary', { at: end }, { fullSleepStats: { breathsPerMinute: 14.2 } })
  add('daily-resting-heart-rate', { at: midnight }, { beatsPerMinute: String(55 + (seed % 6)) })
  add('daily-heart-rate-variability', { at: midnight }, { averageHeartRateVariabilityMilliseconds: 52.5, entropy: 3.1 })
  add('daily-respiratory-rate', { at: midnight }, { breathsPerMinute: 14.2 })
  add('daily-sleep-temperature-derivations', { at: midnight }, { nightlyTemperatureCelsius: 33.9, baselineTemperatureCelsius: 33.7 })
}

/** A night of one hour per stage. */
export function sleepOf(start: number, end: number) {
  const order = ['LIGHT', 'DEEP', 'LIGHT', 'REM', 'AWAKE', 'LIGHT', 'DEEP', 'REM']
  const stages = order.map((type, i) => ({
    ...{ startTime: isoOf(start + i * HOUR), startUtcOffset: OFFSET, endTime: isoOf(Math.min(start + (i + 1) * HOUR, end)) },
    ...{ endUtcOffset: OFFSET, type },
  }))
  const minutes = (type: string) => String(60 * order.filter((one) => one === type).length)
  const stagesSummary = ['AWAKE', 'LIGHT', 'DEEP', 'REM'].map((type) => ({ type, minutes: minutes(type), count: '1' }))
  return {
    ...{ type: 'STAGES', stages, metadata: { mainSleep: true, nap: false, processed: true, stagesStatus: 'SUCCEEDED' } },
    summary: { minutesInSleepPeriod: '480', minutesAsleep: '420', minutesAwake: '60', minutesToFallAsleep: '9', stagesSummary },
  }
}

const exerciseOf = (seed: number) => ({
  exerciseType: seed % 2 ? 'RUNNING' : 'BIKING',
  displayName: seed % 2 ? 'Run' : 'Bike',
  activeDuration: '3300s',
  metricsSummary: {
    ...{ caloriesKcal: 420, distanceMillimeters: 9_500_000, steps: '9000', averageHeartRateBeatsPerMinute: '142' },
    ...{ averageSpeedMillimetersPerSecond: 2878, elevationGainMillimeters: 85_000, activeZoneMinutes: '50' },
    heartRateZoneDurations: { lightTime: '300s', moderateTime: '1200s', vigorousTime: '1500s', peakTime: '300s' },
  },
})

const electrocardiogramOf = (seed: number) => ({
  resultClassification: 'NORMAL_SINUS_RHYTHM',
  beatsPerMinuteAvg: '64',
  ...{ millivoltsScalingFactor: 1000, samplingFrequencyHertz: 125, leadNumber: 1 },
  waveformSamples: Array.from({ length: 250 }, (_, i) => Math.round(1000 * Math.sin((i + seed) / 9))),
})

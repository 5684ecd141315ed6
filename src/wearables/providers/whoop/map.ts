import { HOUR } from '../../../platform/time.ts'
import { isNumber, offsetOf, withOffset } from '../rules-clock.ts'
import * as whoop from './api.ts'

const STRAP = 'watch'
const KJ_PER_KCAL = 4.184

/** A time with the offset of the record. Both are UTC in WHOOP's spelling. */
const localTime = (time: string, { timezone_offset }: { timezone_offset: string }) =>
  withOffset(Date.parse(time), offsetOf(timezone_offset) ?? null)

const rounded = (value: number | null | undefined) => (isNumber(value) ? Math.round(value) : null)
const secondsOf = (milliseconds: number | null | undefined) => (isNumber(milliseconds) ? Math.round(milliseconds / 1000) : null)
const caloriesOf = (kilojoule: number | null | undefined) => (isNumber(kilojoule) ? kilojoule / KJ_PER_KCAL : null)

const modifiedAt = ({ updated_at }: { updated_at?: string | null | undefined }) =>
  Number.isNaN(Date.parse(updated_at ?? '')) ? null : new Date(updated_at as string).toISOString()

/** The score of a record, once it has one. */
const scoreOf = <S>({ score_state, score }: { score_state: string; score?: S | null | undefined }) =>
  score_state === 'SCORED' ? (score ?? undefined) : undefined

/**
 * A sleep with its recovery. WHOOP has the lengths of stages, without their times. It has no version, because the end of
 * a recovery does not change the time of the sleep. The last read counts.
 */
export function sleepOf(sleep: whoop.Sleep, recovery: whoop.Recovery | undefined) {
  const [score, recovered] = [scoreOf(sleep), recovery && scoreOf(recovery)]
  const stages = score?.stage_summary
  const parts = [stages?.total_light_sleep_time_milli, stages?.total_slow_wave_sleep_time_milli, stages?.total_rem_sleep_time_milli]
  const end_date = localTime(sleep.end, sleep)
  const atEnd = (value: number | null | undefined) => (isNumber(value) ? [{ value, start_date: end_date, type: STRAP }] : [])
  return {
    id: sleep.id,
    source_type: STRAP,
    start_date: localTime(sleep.start, sleep),
    end_date,
    type: sleep.nap ? 'acknowledged_nap' : 'long_sleep',
    state: sleep.score_state === 'PENDING_SCORE' ? 'tentative' : 'confirmed',
    total: parts.every(isNumber) ? secondsOf(parts.reduce((sum, part) => sum + part, 0)) : null,
    awake: secondsOf(stages?.total_awake_time_milli),
    light: secondsOf(stages?.total_light_sleep_time_milli),
    deep: secondsOf(stages?.total_slow_wave_sleep_time_milli),
    rem: secondsOf(stages?.total_rem_sleep_time_milli),
    efficiency: score?.sleep_efficiency_percentage,
    score: rounded(score?.sleep_performance_percentage),
    respiratory_rate_mean: score?.respiratory_rate,
    recovery_readiness_score: rounded(recovered?.recovery_score),
    heart_rate_resting: recovered?.resting_heart_rate,
    hrv_mean_rmssd: recovered?.hrv_rmssd_milli,
    skin_temperature: recovered?.skin_temp_celsius,
    heart_rate: atEnd(recovered?.resting_heart_rate),
    heart_rate_variability: atEnd(recovered?.hrv_rmssd_milli),
    oxygen_saturation: atEnd(recovered?.spo2_percentage),
    respiratory_rate: atEnd(score?.respiratory_rate),
  }
}

/** Gap 381: when a cycle without a known sleep is taken to wake up. */
const USUAL_SLEEP_MS = 8 * HOUR

/** When the user woke up from the sleep that a cycle begins with. */
function wakeUpOf({ id, start }: whoop.Cycle, sleeps: whoop.Sleep[]) {
  const [main] = sleeps.filter(({ cycle_id, nap }) => cycle_id === id && !nap).sort((a, b) => Date.parse(a.start) - Date.parse(b.start))
  return main?.end ?? new Date(Date.parse(start) + USUAL_SLEEP_MS).toISOString()
}

/**
 * A cycle lasts from sleep to sleep. It is the day on which the user woke up. Its energy is the total. It has no version, because
 * another cycle can have had its day before a sleep was edited. The last read counts.
 */
export function activityOf(cycle: whoop.Cycle, sleeps: whoop.Sleep[]) {
  const score = scoreOf(cycle)
  return {
    source_type: STRAP,
    day_summary: {
      date: localTime(wakeUpOf(cycle, sleeps), cycle).slice(0, 10),
      total_energy_burned_sum: caloriesOf(score?.kilojoule),
      heart_rate_mean: score?.average_heart_rate,
      heart_rate_maximum: score?.max_heart_rate,
    },
  }
}

/** Names that Assay spells differently. */
const sports: Record<string, string> = {
  activity: 'other',
  weightlifting: 'strength_training',
  powerlifting: 'strength_training',
  functional_fitness: 'functional_training',
  hiit: 'high_intensity_interval_training',
  spin: 'indoor_cycling',
  football: 'american_football',
  stairmaster: 'stair_climbing',
  dance: 'dance',
}

/** Names are words such as `running` or `Functional Fitness`. */
export function sportOf(name: string | null | undefined) {
  const slug = (name ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return sports[slug] ?? (slug || 'other')
}

export function workoutOf(workout: whoop.Workout) {
  const score = scoreOf(workout)
  const zones = score?.zone_durations
  return {
    id: workout.id,
    source_type: STRAP,
    modified_at: modifiedAt(workout),
    start_date: localTime(workout.start, workout),
    end_date: localTime(workout.end, workout),
    sport: sportOf(workout.sport_name),
    calories: caloriesOf(score?.kilojoule),
    distance: score?.distance_meter,
    total_elevation_gain: score?.altitude_gain_meter,
    heart_rate_mean: score?.average_heart_rate,
    heart_rate_maximum: score?.max_heart_rate,
    hr_zones: zones ? whoop.zoneNames.map((name) => secondsOf(zones[name]) ?? 0) : null,
  }
}

/** The height is in meters. */
export const profileOf = ({ height_meter, weight_kilogram }: whoop.BodyMeasurement) => ({
  height: isNumber(height_meter) ? height_meter * 100 : null,
  weight: weight_kilogram ?? null,
})

import type { SeriesName } from '../../../contract/wearables/series.ts'
import { inZone, isNumber } from '../rules-clock.ts'
import type * as withings from './api.ts'
import { sportOf } from './sports.ts'

const SECOND = 1000

/** Groups that a device assigned to the user, that the user confirmed, or that they entered. Ambiguous ones are left out. */
const takenAttributes = [0, 2, 3, 5, 7, 8]
const MANUAL = 2

type Group = withings.MeasureGroup
type Zone = string | null | undefined

export const isTaken = ({ attrib }: Group) => takenAttributes.includes(attrib)

/** A value is an integer and a power of ten. Dividing keeps 68250 · 10⁻³ exact. */
const scaled = (value: number, unit: number) => (unit < 0 ? value / 10 ** -unit : value * 10 ** unit)

/** The measures of a group by their type. */
const measuresOf = ({ measures }: Group) =>
  new Map(measures.flatMap(({ type, value, unit }) => (isNumber(value) ? [[type, scaled(value, unit)] as const] : [])))

const types = {
  ...{ weight: 1, height: 4, leanMass: 5, fat: 6, fatMass: 8, diastolic: 9, systolic: 10, pulse: 11, temperature: 12 },
  ...{ oxygen: 54, bodyTemperature: 71, skinTemperature: 73 },
  ...{ muscle: 76, water: 77, bone: 88, vo2Max: 123, visceralFat: 170 },
}

const modifiedAt = (modified: number | null | undefined) => (isNumber(modified) ? new Date(modified * SECOND).toISOString() : null)

const recordOf = (group: Group, zone: Zone, device: string) => ({
  start_date: inZone(group.date * SECOND, zone),
  modified_at: modifiedAt(group.modified),
  type: group.attrib === MANUAL ? 'app' : device,
})

/** The body of a group of measures. Masses become percentages of the weight in the same group. */
export function bodyOf(group: Group, zone: Zone) {
  const measures = withFat(measuresOf(group))
  const { start_date, modified_at, type } = recordOf(group, zone, 'scale')
  const sample = (measure: number) => {
    const value = measures.get(measure)
    return value === undefined ? [] : [{ value, start_date, modified_at, type }]
  }
  const weight = measures.get(types.weight)
  const part = (field: string, measure: number, whole: number | undefined) => {
    const value = measures.get(measure)
    return value === undefined || !whole ? [] : [{ field, value: (100 * value) / whole, start_date }]
  }
  const lists = {
    body_mass: sample(types.weight),
    body_fat_percentage: sample(types.fat),
    lean_body_mass: sample(types.leanMass),
    composition: [
      ...part('muscle_mass_percentage', types.muscle, weight),
      ...part('water_percentage', types.water, weight),
      ...part('bone_mass_percentage', types.bone, weight),
      ...part('visceral_fat_index', types.visceralFat, 100),
    ],
  }
  return Object.values(lists).some((list) => list.length) ? [{ source_type: type, modified_at, ...lists }] : []
}

/** Some scales only send the mass of the fat. */
function withFat(measures: Map<number, number>) {
  const [weight, mass] = [measures.get(types.weight), measures.get(types.fatMass)]
  if (measures.has(types.fat) || !weight || mass === undefined) return measures
  return new Map(measures).set(types.fat, (100 * mass) / weight)
}

/** The height of a group is a version of the profile. */
export const profileOf = (group: Group) => {
  const height = measuresOf(group).get(types.height)
  return height === undefined ? [] : [{ height: height * 100, modified_at: new Date(group.date * SECOND).toISOString() }]
}

/** Both values of a group are one sample, with the pulse that was measured with them. */
export function bloodPressureOf(group: Group, zone: Zone) {
  const measures = measuresOf(group)
  const [systolic, diastolic] = [measures.get(types.systolic), measures.get(types.diastolic)]
  if (systolic === undefined || diastolic === undefined) return []
  const { start_date, ...record } = recordOf(group, zone, 'cuff')
  return [
    {
      ...record,
      systolic: { value: systolic, start_date },
      diastolic: { value: diastolic, start_date },
      pulse: measures.get(types.pulse) ?? null,
    },
  ]
}

/** A pulse without a blood pressure. */
export function pulseOf(group: Group, zone: Zone) {
  const measures = measuresOf(group)
  const value = measures.get(types.pulse)
  if (value === undefined || measures.has(types.systolic)) return []
  return [{ value, ...recordOf(group, zone, measures.has(types.weight) ? 'scale' : 'unknown') }]
}

const single = (type: number) => (group: Group, zone: Zone) => {
  const value = measuresOf(group).get(type)
  return value === undefined ? [] : [{ value, ...recordOf(group, zone, 'unknown') }]
}

export const oxygenOf = single(types.oxygen)
export const vo2MaxOf = single(types.vo2Max)

/** Gap 382: the temperature of a group. A watch only measures the skin. */
export function temperatureOf(group: Group, zone: Zone) {
  const measures = measuresOf(group)
  const value = measures.get(types.bodyTemperature) ?? measures.get(types.temperature)
  if (value !== undefined) return [{ value, ...recordOf(group, zone, 'unknown') }]
  const skin = measures.get(types.skinTemperature)
  return skin === undefined ? [] : [{ value: skin, sensor_location: 'wrist', ...recordOf(group, zone, 'watch') }]
}

/** The brand of data that a phone counted. */
const PHONE_BRAND = 18

const isPhone = ({ is_tracker, brand }: withings.Activity) => is_tracker === false && brand === PHONE_BRAND

/** The days of a page. A day that a tracker and a phone recorded is that of the tracker. */
export function withoutDoubles(rows: withings.Activity[]) {
  const tracked = new Set(rows.filter((row) => !isPhone(row)).map(({ date }) => date))
  return rows.filter((row) => !isPhone(row) || !tracked.has(row.date))
}

export const activityOf = (row: withings.Activity) => ({
  source_type: isPhone(row) ? 'phone' : 'watch',
  modified_at: modifiedAt(row.modified),
  day_summary: {
    date: row.date,
    steps_sum: row.steps,
    distance_sum: row.distance,
    floors_climbed_sum: row.elevation,
    active_energy_burned_sum: row.calories,
    basal_energy_burned_sum: isNumber(row.totalcalories) && isNumber(row.calories) ? Math.max(0, row.totalcalories - row.calories) : null,
    low: minutesOf(row.soft),
    medium: minutesOf(row.moderate),
    high: minutesOf(row.intense),
    heart_rate_mean: row.hr_average,
    heart_rate_minimum: row.hr_min,
    heart_rate_maximum: row.hr_max,
  },
})

const minutesOf = (seconds: number | null | undefined) => (isNumber(seconds) ? seconds / 60 : null)

/** The series of intraday fields. Counts cover an interval, other values a moment. */
export const intradaySeries = {
  steps: 'steps',
  distance: 'distance',
  calories: 'calories_active',
  elevation: 'floors_climbed',
  heart_rate: 'heartrate',
  spo2_auto: 'blood_oxygen',
  rmssd: 'hrv',
  rr: 'respiratory_rate',
  core_body_temperature: 'body_temperature',
} as const satisfies Record<string, SeriesName>

const counts = ['steps', 'distance', 'calories']

/** The sample of one intraday field, if the interval has it. Its times have no zone. */
export function intradayOf({ second, row }: { second: number; row: withings.Intraday }, field: keyof typeof intradaySeries) {
  const [start, value] = [second * SECOND, row[field]]
  if (!isNumber(value)) return []
  const end = counts.includes(field) ? { end_date: new Date(start + (row.duration ?? 0) * SECOND).toISOString() } : {}
  return [{ start_date: new Date(start).toISOString(), ...end, value, type: 'watch' }]
}

export function workoutOf({ id, category, timezone, startdate, enddate, modified, data }: withings.Workout) {
  const paused = data?.pause_duration
  return {
    id: String(id),
    source_type: 'watch',
    modified_at: modifiedAt(modified),
    start_date: inZone(startdate * SECOND, timezone),
    end_date: inZone(enddate * SECOND, timezone),
    sport: sportOf(category),
    calories: data?.calories ?? data?.manual_calories,
    distance: data?.distance ?? data?.manual_distance,
    heart_rate_mean: data?.hr_average,
    heart_rate_maximum: data?.hr_max,
    steps: data?.steps,
    moving_time: isNumber(paused) ? Math.max(0, enddate - startdate - paused) : null,
  }
}

/** Sleep that the user entered, or whose stage is unknown, is `manual`. Time out of bed is `awake`. */
const stages: Record<number, string> = { 0: 'awake', 1: 'light', 2: 'deep', 3: 'rem', 4: 'manual', 5: 'manual', 15: 'awake' }

const MAT = 32

/** A night. Its lengths are those of Withings, and the stages come from its phases. */
export function sleepOf(night: withings.Night, phases: withings.Phase[]) {
  const { data, timezone } = night
  const variability = samplesOf(phases, 'rmssd', timezone)
  return {
    id: String(night.id),
    source_type: night.model === MAT ? 'unknown' : 'watch',
    modified_at: modifiedAt(night.modified),
    start_date: inZone(night.startdate * SECOND, timezone),
    end_date: inZone(night.enddate * SECOND, timezone),
    state: night.completed === false ? 'tentative' : 'confirmed',
    sleep_stages: phases.flatMap((phase) => stageOf(phase, night)),
    total: data?.total_sleep_time ?? data?.asleepduration,
    awake: data?.wakeupduration ?? data?.waso,
    light: data?.lightsleepduration,
    deep: data?.deepsleepduration,
    rem: data?.remsleepduration,
    latency: data?.sleep_latency,
    efficiency: isNumber(data?.sleep_efficiency) ? Math.round(1000 * data.sleep_efficiency) / 10 : null,
    heart_rate_mean: data?.hr_average,
    heart_rate_minimum: data?.hr_min,
    heart_rate_maximum: data?.hr_max,
    respiratory_rate_mean: data?.rr_average,
    hrv_mean_rmssd: meanOf(variability.map(({ value }) => value)) ?? meanOf([data?.rmssd_start_avg, data?.rmssd_end_avg].filter(isNumber)),
    score: data?.sleep_score,
    ...breathingOf(data),
    heart_rate: samplesOf(phases, 'hr', timezone),
    heart_rate_variability: variability,
    respiratory_rate: samplesOf(phases, 'rr', timezone),
  }
}

const meanOf = (values: number[]) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null)

/** Gap 382: summaries have no fields for them, so they are part of the raw sleep. */
const breathingOf = (data: withings.Night['data']) => ({
  wake_after_sleep_onset: data?.waso,
  apnea_hypopnea_index: data?.apnea_hypopnea_index,
  breathing_disturbances_intensity: data?.breathing_disturbances_intensity,
  snoring: data?.snoring,
  snoring_episode_count: data?.snoringepisodecount,
})

function stageOf({ startdate, enddate, state }: withings.Phase, night: withings.Night) {
  const stage = stages[state]
  const [start, end] = [Math.max(startdate, night.startdate), Math.min(enddate, night.enddate)]
  const at = (second: number) => new Date(second * SECOND).toISOString()
  return stage && start < end ? [{ stage, start_date: at(start), end_date: at(end) }] : []
}

const samplesOf = (phases: withings.Phase[], field: 'hr' | 'rr' | 'rmssd', zone: Zone) =>
  phases.flatMap((phase) =>
    Object.entries(phase[field] ?? {}).flatMap(([second, value]) =>
      isNumber(value) ? [{ start_date: inZone(Number(second) * SECOND, zone), value, type: 'watch' }] : [],
    ),
  )

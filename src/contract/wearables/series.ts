import { z } from 'zod'

/** The value of a sample: a number, a pair of numbers (blood pressure) or text (a note). */
type ValueKind = 'number' | 'pair' | 'text'

export type Series = {
  /** The name in event types. Null if the resource has no events. */
  event: string | null
  /** Older names that paths accept. */
  aliases: readonly string[]
  unit: string
  /** The accepted units in lower case, each with the factor that converts a value to `unit`. */
  unitFactors: Readonly<Record<string, number>>
  valueKind: ValueKind
  /** Whether a sample covers a period and so has start and end. */
  interval: boolean
  /** Whether the deprecated array endpoint returns the resource. */
  legacy: boolean
  /** The range of plausible values. Other values are rejected. */
  least: number
  most: number
  /** The values of `type`, if it is more than a source type. */
  types: readonly string[] | 'any' | undefined
  /** Whether `type` is required. */
  requiresType: boolean
  /** Fields that only this resource has. */
  extraFields: z.ZodObject
  example: Record<string, unknown>
}

const unscaled = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 1]))

const units: Record<string, Readonly<Record<string, number>>> = {
  '%': { ...unscaled('%', 'percent', 'percentage'), fraction: 100 },
  '°C': unscaled('°c', 'c', 'degc', 'celsius'),
  kg: { ...unscaled('kg', 'kilogram', 'kilograms'), g: 0.001, lb: 0.453_592_37, lbs: 0.453_592_37 },
  g: { ...unscaled('g', 'gram', 'grams'), mg: 0.001 },
  kcal: { ...unscaled('kcal'), kj: 1 / 4.184 },
  m: { ...unscaled('m', 'meter', 'meters', 'metre', 'metres'), km: 1000, mi: 1609.344, ft: 0.3048 },
  cm: { ...unscaled('cm'), m: 100, in: 2.54 },
  min: { ...unscaled('min', 'minute', 'minutes'), s: 1 / 60, h: 60 },
  mL: { ...unscaled('ml', 'milliliter', 'milliliters'), l: 1000 },
  L: { ...unscaled('l'), ml: 0.001 },
  'L/min': unscaled('l/min'),
  bpm: unscaled('bpm', 'count/min'),
  rmssd: unscaled('rmssd', 'ms'),
  count: unscaled('count', 'counts'),
  index: unscaled('index', 'count'),
  mV: { ...unscaled('mv'), v: 1000, µv: 0.001, uv: 0.001 },
  'mmol/L': unscaled('mmol/l'),
  mmHg: unscaled('mmhg'),
  'mL/kg/min': unscaled('ml/kg/min', 'ml/(kg*min)', 'ml/min/kg', 'ml/(kg·min)'),
  unit: unscaled('unit', 'units', 'iu'),
  FSU: unscaled('fsu'),
  stage: unscaled('stage', 'count'),
}

const start = '2026-03-01T09:15:00.000Z'
const end = '2026-03-01T09:30:00.000Z'

type SeriesOptions = Partial<Omit<Series, 'example'>>

const instantSeries = (unit: string, [least, most]: [number, number], value: unknown, change: SeriesOptions = {}): Series => ({
  event: '',
  aliases: [],
  unit,
  unitFactors: units[unit] ?? {},
  valueKind: 'number',
  interval: false,
  legacy: true,
  least,
  most,
  types: undefined,
  requiresType: change.types !== undefined,
  extraFields: z.object({}),
  example: { value },
  ...change,
})

const intervalSeries = (unit: string, bounds: [number, number], value: unknown, change: SeriesOptions = {}): Series => ({
  ...instantSeries(unit, bounds, value, { interval: true, legacy: false, ...change }),
  example: { value, start, end },
})

const sensorLocations = 'armpit body ear finger gastrointestinal mouth rectum toe eardrum temporal_artery forehead wrist'

const sensor_location = z.enum(sensorLocations.split(' ')).nullish()

const MINUTES: [number, number] = [0, 1500]
const COUNT: [number, number] = [0, 1_000_000]
const METERS: [number, number] = [0, 10_000_000]
const PERCENT: [number, number] = [0, 100]

/** The time series, by resource name. Paths, checks, reads, events and docs come from this table. */
const table = {
  calories_active: intervalSeries('kcal', [0, 100_000], 21, { legacy: true }),
  calories_basal: instantSeries('kcal', [0, 100_000], 17),
  blood_pressure: {
    ...instantSeries('mmHg', [0, 400], 0, { valueKind: 'pair', extraFields: z.object({ pulse: z.number().min(0).max(500).nullish() }) }),
    example: { systolic: 118, diastolic: 76 },
  },
  blood_oxygen: instantSeries('%', PERCENT, 97),
  body_weight: instantSeries('kg', [0.1, 1000], 68.2, { event: 'weight', aliases: ['weight'] }),
  body_fat: instantSeries('%', PERCENT, 24.1, { event: 'fat', aliases: ['fat'] }),
  body_temperature: intervalSeries('°C', [10, 50], 36.6, { extraFields: z.object({ sensor_location }) }),
  body_temperature_delta: intervalSeries('°C', [-20, 20], 0.2, { extraFields: z.object({ sensor_location }) }),
  caffeine: intervalSeries('g', [0, 100], 0.08, { legacy: true }),
  cholesterol: instantSeries('mmol/L', PERCENT, 4.6, { types: 'any' }),
  distance: intervalSeries('m', METERS, 640, { legacy: true }),
  floors_climbed: instantSeries('count', [0, 10_000], 2),
  glucose: instantSeries('mmol/L', PERCENT, 5.4, { unitFactors: { ...units['mmol/L'], 'mg/dl': 1 / 18.0182 } }),
  heartrate: instantSeries('bpm', [0, 500], 62, { unitFactors: { ...units['bpm'], ...unscaled('beats/min') } }),
  hrv: instantSeries('rmssd', [0, 2000], 48),
  hypnogram: intervalSeries('stage', [-1, 5], 2, { event: null, legacy: true }),
  ige: instantSeries('FSU', COUNT, 31, { types: 'any' }),
  igg: instantSeries('FSU', COUNT, 9800, { types: 'any' }),
  mindfulness_minutes: intervalSeries('min', MINUTES, 10, { legacy: true }),
  respiratory_rate: instantSeries('bpm', [0, 200], 14, { unitFactors: { ...units['bpm'], ...unscaled('breaths/min', 'brpm') } }),
  steps: intervalSeries('count', COUNT, 870, { legacy: true }),
  stress_level: instantSeries('%', PERCENT, 34),
  vo2_max: intervalSeries('mL/kg/min', [0, 200], 41, { legacy: true }),
  water: instantSeries('mL', [0, 100_000], 250),
  electrocardiogram_voltage: instantSeries('mV', [-1000, 1000], 0.4, { types: 'any' }),
  afib_burden: intervalSeries('%', PERCENT, 0),
  heart_rate_alert: intervalSeries('count', [1, 1], 1, { types: ['low_heart_rate', 'high_heart_rate', 'irregular_rhythm'] }),
  workout_duration: intervalSeries('min', [0, 10_000], 15, {
    extraFields: z.object({ intensity: z.enum(['low', 'medium', 'high']).nullish() }),
  }),
  insulin_injection: intervalSeries('unit', [0, 1000], 4, {
    types: ['rapid_acting', 'long_acting'],
    extraFields: z.object({
      delivery_mode: z.enum(['basal', 'bolus']).nullish(),
      delivery_form: z.enum(['standard', 'extended']).nullish(),
      bolus_purpose: z.enum(['meal', 'correction', 'mixed', 'unknown']).nullish(),
    }),
  }),
  carbohydrates: intervalSeries('g', [0, 10_000], 38),
  note: intervalSeries('', [0, 0], 'Felt rested.', {
    valueKind: 'text',
    extraFields: z.object({
      tags: z
        .array(z.enum(['food', 'exercise', 'insulin_injection', 'unspecified']))
        .max(10)
        .nullish(),
    }),
  }),
  stand_hour: intervalSeries('count', [0, 24], 1, { types: ['stood', 'idle'] }),
  stand_duration: intervalSeries('min', MINUTES, 12),
  sleep_apnea_alert: intervalSeries('count', [0, 1000], 1),
  sleep_breathing_disturbance: intervalSeries('count', [0, 1000], 3, { types: ['elevated', 'not_elevated'], requiresType: false }),
  wheelchair_push: intervalSeries('count', COUNT, 210),
  forced_expiratory_volume_1: intervalSeries('L', [0, 20], 3.1),
  forced_vital_capacity: intervalSeries('L', [0, 20], 3.9),
  peak_expiratory_flow_rate: intervalSeries('L/min', [0, 2000], 430),
  inhaler_usage: intervalSeries('count', [0, 1000], 1),
  fall: intervalSeries('count', [0, 1000], 1),
  uv_exposure: intervalSeries('index', [0, 50], 3),
  daylight_exposure: intervalSeries('min', MINUTES, 22),
  handwashing: intervalSeries('count', [0, 10_000], 1),
  basal_body_temperature: intervalSeries('°C', [10, 50], 36.4),
  body_mass_index: intervalSeries('index', [1, 300], 22.9, { unitFactors: { ...units['index'], ...unscaled('kg/m2', 'kg/m²') } }),
  lean_body_mass: intervalSeries('kg', [0.1, 1000], 51.8),
  waist_circumference: intervalSeries('cm', [1, 1000], 74),
  heart_rate_recovery_one_minute: intervalSeries('count', [0, 300], 31),
  workout_distance: intervalSeries('m', METERS, 8200),
  workout_swimming_stroke: intervalSeries('count', COUNT, 420),
} satisfies Record<string, Series>

export type SeriesName = keyof typeof table

/** Two resources have an older name in event types. Sleep stages have no event of their own. */
export type SeriesEvent = Exclude<SeriesName, 'body_weight' | 'body_fat' | 'hypnogram'> | 'weight' | 'fat'

export const series = Object.fromEntries(
  Object.entries(table).map(([name, row]) => [name, { ...row, event: row.event === '' ? name : row.event }]),
) as Record<SeriesName, Series>

export const seriesNames = Object.keys(table) as SeriesName[]

const byName = new Map(seriesNames.flatMap((name) => [name, ...series[name].aliases].map((spelling) => [spelling, name] as const)))

/** Every name that a path accepts, including older ones. */
export const seriesSpellings = [...byName.keys()] as [string, ...string[]]

export const resolveSeriesName = (spelling: string) => byName.get(spelling) as SeriesName

/** The kinds of devices in source data. */
export const sourceTypes = [
  ...['unknown', 'phone', 'watch', 'app', 'multiple_sources', 'fingerprick', 'cuff', 'manual_scan', 'automatic', 'insulin_pump'],
  ...['scale', 'chest_strap', 'ring', 'lab', 'exercise_machine', 'earphone'],
] as const

const knownSourceTypes = new Set<string>(sourceTypes)

export const isSourceType = (type: string) => knownSourceTypes.has(type)

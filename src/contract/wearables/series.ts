import { z } from 'zod'

/** What a sample says: a number, two of them (blood pressure), or text (a note). */
type Says = 'number' | 'pair' | 'text'

export type Series = {
  /** Its name in event types; null where none is catalogued. */
  event: string | null
  /** Older names that are taken in paths. */
  aliases: readonly string[]
  unit: string
  /** The units that are taken, in small letters, and what a value is multiplied by. */
  takes: Readonly<Record<string, number>>
  says: Says
  /** Whether a sample lasts: it then has start and end. */
  interval: boolean
  /** Whether it can be read as a bare array too. */
  legacy: boolean
  /** Plausible values; whatever lies outside is refused. */
  least: number
  most: number
  /** Where `type` is more than a source type: the values it may have, or any. */
  types: readonly string[] | 'any' | undefined
  /** Whether `type` must be given. */
  typed: boolean
  /** Fields of its own. */
  extra: z.ZodObject
  example: Record<string, unknown>
}

const spelled = (...spellings: string[]) => Object.fromEntries(spellings.map((spelling) => [spelling, 1]))

const units: Record<string, Readonly<Record<string, number>>> = {
  '%': { ...spelled('%', 'percent', 'percentage'), fraction: 100 },
  '°C': spelled('°c', 'c', 'degc', 'celsius'),
  kg: { ...spelled('kg', 'kilogram', 'kilograms'), g: 0.001, lb: 0.453_592_37, lbs: 0.453_592_37 },
  g: { ...spelled('g', 'gram', 'grams'), mg: 0.001 },
  kcal: { ...spelled('kcal'), kj: 1 / 4.184 },
  m: { ...spelled('m', 'meter', 'meters', 'metre', 'metres'), km: 1000, mi: 1609.344, ft: 0.3048 },
  cm: { ...spelled('cm'), m: 100, in: 2.54 },
  min: { ...spelled('min', 'minute', 'minutes'), s: 1 / 60, h: 60 },
  mL: { ...spelled('ml', 'milliliter', 'milliliters'), l: 1000 },
  L: { ...spelled('l'), ml: 0.001 },
  'L/min': spelled('l/min'),
  bpm: spelled('bpm', 'count/min'),
  rmssd: spelled('rmssd', 'ms'),
  count: spelled('count', 'counts'),
  index: spelled('index', 'count'),
  mV: { ...spelled('mv'), v: 1000, µv: 0.001, uv: 0.001 },
  'mmol/L': spelled('mmol/l'),
  mmHg: spelled('mmhg'),
  'mL/kg/min': spelled('ml/kg/min', 'ml/(kg*min)', 'ml/min/kg', 'ml/(kg·min)'),
  unit: spelled('unit', 'units', 'iu'),
  FSU: spelled('fsu'),
  stage: spelled('stage', 'count'),
}

const start = '2026-03-01T09:15:00.000Z'
const end = '2026-03-01T09:30:00.000Z'

type Change = Partial<Omit<Series, 'example'>>

const at = (unit: string, [least, most]: [number, number], value: unknown, change: Change = {}): Series => ({
  event: '',
  aliases: [],
  unit,
  takes: units[unit] ?? {},
  says: 'number',
  interval: false,
  legacy: true,
  least,
  most,
  types: undefined,
  typed: change.types !== undefined,
  extra: z.object({}),
  example: { value },
  ...change,
})

const over = (unit: string, bounds: [number, number], value: unknown, change: Change = {}): Series => ({
  ...at(unit, bounds, value, { interval: true, legacy: false, ...change }),
  example: { value, start, end },
})

const places = 'armpit body ear finger gastrointestinal mouth rectum toe eardrum temporal_artery forehead wrist'

const sensor_location = z.enum(places.split(' ')).nullish()

const MINUTES: [number, number] = [0, 1500]
const COUNT: [number, number] = [0, 1_000_000]
const METRES: [number, number] = [0, 10_000_000]
const PERCENT: [number, number] = [0, 100]

/** Samples over time, by the name they are read by. Paths, checks, reads, events and documents follow from this table. */
const table = {
  calories_active: over('kcal', [0, 100_000], 21, { legacy: true }),
  calories_basal: at('kcal', [0, 100_000], 17),
  blood_pressure: {
    ...at('mmHg', [0, 400], 0, { says: 'pair', extra: z.object({ pulse: z.number().min(0).max(500).nullish() }) }),
    example: { systolic: 118, diastolic: 76 },
  },
  blood_oxygen: at('%', PERCENT, 97),
  body_weight: at('kg', [0.1, 1000], 68.2, { event: 'weight', aliases: ['weight'] }),
  body_fat: at('%', PERCENT, 24.1, { event: 'fat', aliases: ['fat'] }),
  body_temperature: over('°C', [10, 50], 36.6, { extra: z.object({ sensor_location }) }),
  body_temperature_delta: over('°C', [-20, 20], 0.2, { extra: z.object({ sensor_location }) }),
  caffeine: over('g', [0, 100], 0.08, { legacy: true }),
  cholesterol: at('mmol/L', PERCENT, 4.6, { types: 'any' }),
  distance: over('m', METRES, 640, { legacy: true }),
  floors_climbed: at('count', [0, 10_000], 2),
  glucose: at('mmol/L', PERCENT, 5.4, { takes: { ...units['mmol/L'], 'mg/dl': 1 / 18.0182 } }),
  heartrate: at('bpm', [0, 500], 62, { takes: { ...units['bpm'], ...spelled('beats/min') } }),
  hrv: at('rmssd', [0, 2000], 48),
  hypnogram: over('stage', [-1, 5], 2, { event: null, legacy: true }),
  ige: at('FSU', COUNT, 31, { types: 'any' }),
  igg: at('FSU', COUNT, 9800, { types: 'any' }),
  mindfulness_minutes: over('min', MINUTES, 10, { legacy: true }),
  respiratory_rate: at('bpm', [0, 200], 14, { takes: { ...units['bpm'], ...spelled('breaths/min', 'brpm') } }),
  steps: over('count', COUNT, 870, { legacy: true }),
  stress_level: at('%', PERCENT, 34),
  vo2_max: over('mL/kg/min', [0, 200], 41, { legacy: true }),
  water: at('mL', [0, 100_000], 250),
  electrocardiogram_voltage: at('mV', [-1000, 1000], 0.4, { types: 'any' }),
  afib_burden: over('%', PERCENT, 0),
  heart_rate_alert: over('count', [1, 1], 1, { types: ['low_heart_rate', 'high_heart_rate', 'irregular_rhythm'] }),
  workout_duration: over('min', [0, 10_000], 15, { extra: z.object({ intensity: z.enum(['low', 'medium', 'high']).nullish() }) }),
  insulin_injection: over('unit', [0, 1000], 4, {
    types: ['rapid_acting', 'long_acting'],
    extra: z.object({
      delivery_mode: z.enum(['basal', 'bolus']).nullish(),
      delivery_form: z.enum(['standard', 'extended']).nullish(),
      bolus_purpose: z.enum(['meal', 'correction', 'mixed', 'unknown']).nullish(),
    }),
  }),
  carbohydrates: over('g', [0, 10_000], 38),
  note: over('', [0, 0], 'Felt rested.', {
    says: 'text',
    extra: z.object({
      tags: z
        .array(z.enum(['food', 'exercise', 'insulin_injection', 'unspecified']))
        .max(10)
        .nullish(),
    }),
  }),
  stand_hour: over('count', [0, 24], 1, { types: ['stood', 'idle'] }),
  stand_duration: over('min', MINUTES, 12),
  sleep_apnea_alert: over('count', [0, 1000], 1),
  sleep_breathing_disturbance: over('count', [0, 1000], 3, { types: ['elevated', 'not_elevated'], typed: false }),
  wheelchair_push: over('count', COUNT, 210),
  forced_expiratory_volume_1: over('L', [0, 20], 3.1),
  forced_vital_capacity: over('L', [0, 20], 3.9),
  peak_expiratory_flow_rate: over('L/min', [0, 2000], 430),
  inhaler_usage: over('count', [0, 1000], 1),
  fall: over('count', [0, 1000], 1),
  uv_exposure: over('index', [0, 50], 3),
  daylight_exposure: over('min', MINUTES, 22),
  handwashing: over('count', [0, 10_000], 1),
  basal_body_temperature: over('°C', [10, 50], 36.4),
  body_mass_index: over('index', [1, 300], 22.9, { takes: { ...units['index'], ...spelled('kg/m2', 'kg/m²') } }),
  lean_body_mass: over('kg', [0.1, 1000], 51.8),
  waist_circumference: over('cm', [1, 1000], 74),
  heart_rate_recovery_one_minute: over('count', [0, 300], 31),
  workout_distance: over('m', METRES, 8200),
  workout_swimming_stroke: over('count', COUNT, 420),
} satisfies Record<string, Series>

export type SeriesName = keyof typeof table

/** Two are told by their older names, and stages of sleep by those of the sleep. */
export type SeriesEvent = Exclude<SeriesName, 'body_weight' | 'body_fat' | 'hypnogram'> | 'weight' | 'fat'

export const series = Object.fromEntries(
  Object.entries(table).map(([name, row]) => [name, { ...row, event: row.event === '' ? name : row.event }]),
) as Record<SeriesName, Series>

export const seriesNames = Object.keys(table) as SeriesName[]

const byName = new Map(seriesNames.flatMap((name) => [name, ...series[name].aliases].map((known) => [known, name] as const)))

/** Every name that a path may have, older ones included. */
export const seriesSpellings = [...byName.keys()] as [string, ...string[]]

export const seriesNamed = (spelling: string) => byName.get(spelling) as SeriesName

/** Where a sample can come from, as sources tell it. */
export const sourceTypes = [
  ...['unknown', 'phone', 'watch', 'app', 'multiple_sources', 'fingerprick', 'cuff', 'manual_scan', 'automatic', 'insulin_pump'],
  ...['scale', 'chest_strap', 'ring', 'lab', 'exercise_machine', 'earphone'],
] as const

const namedTypes = new Set<string>(sourceTypes)

export const isSourceType = (type: string) => namedTypes.has(type)

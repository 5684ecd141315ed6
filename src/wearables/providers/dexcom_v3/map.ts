import type { SeriesName } from '../../../contract/wearables/series.ts'
import { MINUTE, SECOND } from '../../../platform/time.ts'
import type * as dexcom from './api.ts'

const TIME = /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/** A time in the forms that Dexcom sends: `wall` is the time of day as written, `offset` in seconds is null without one. */
function parseTime(text: string) {
  const [, year, month, day, hour, minute, second = '0', fraction = '0', zone] = TIME.exec(text) ?? []
  if (!year) return undefined
  const [y, m, d, h, min, s] = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const wall = Date.UTC(y, m - 1, d, h, min, s) + Number(fraction.slice(0, 3).padEnd(3, '0'))
  // Date.UTC carries a 31st of February over to March.
  if (new Date(wall).getUTCDate() !== d || h > 23 || min > 59 || s > 59) return undefined
  return { wall, offset: zone && !/z/i.test(zone) ? offsetOf(zone) : null }
}

function offsetOf(zone: string) {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))]
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60
}

/** The instant of a record, in milliseconds. */
export function instantOf(systemTime: string) {
  const system = parseTime(systemTime)
  return system && system.wall - (system.offset ?? 0) * SECOND
}

const QUARTER_HOUR = 15 * MINUTE
const MAX_OFFSET_SECONDS = 18 * 3600

/** The time of a record, with the offset of its display time, or the difference of both times in quarters of an hour. */
function timeOf({ systemTime, displayTime }: { systemTime: string; displayTime?: string | null | undefined }) {
  const at = instantOf(systemTime)
  if (at === undefined) return undefined
  const display = displayTime ? parseTime(displayTime) : undefined
  const difference = display && (Math.round((display.wall - at) / QUARTER_HOUR) * QUARTER_HOUR) / SECOND
  const offset = display?.offset ?? difference
  const isKnown = offset !== undefined && Math.abs(offset) <= MAX_OFFSET_SECONDS
  return { start_date: new Date(at).toISOString(), ...(isKnown ? { timezone_offset: offset } : {}) }
}

/** The sensor measures this range. Values outside it only say `low` or `high`. */
const range: Record<string, { least: number; most: number; low: number; high: number }> = {
  'mg/dL': { least: 40, most: 400, low: 39, high: 401 },
  'mmol/L': { least: 2.2203, most: 22.202_99, low: 39 / 18.0182, high: 401 / 18.0182 },
}

export function glucoseOf(egv: dexcom.Egv) {
  const time = timeOf(egv)
  const { value, unit } = egv
  const limits = unit ? range[unit] : undefined
  if (!time || !limits || typeof value !== 'number' || !unit) return []
  const pinned = value < limits.least ? limits.low : value > limits.most ? limits.high : value
  return [{ ...time, value: pinned, unit, type: 'automatic' }]
}

type Sample = { name: SeriesName; item: Record<string, unknown> }

/** The sample of an event. Deleted events have none. */
export function sampleOf(event: dexcom.Event): Sample[] {
  const time = timeOf(event)
  const build = Object.hasOwn(samples, event.eventType ?? '') ? samples[event.eventType as string] : undefined
  if (!time || !build || event.eventStatus === 'deleted') return []
  const sample = build(event)
  return sample ? [{ name: sample.name, item: { ...time, ...sample.item(time.start_date) } }] : []
}

type Build = (event: dexcom.Event) => { name: SeriesName; item(start: string): Record<string, unknown> } | undefined

const note: Build = ({ value }) =>
  value?.trim() ? { name: 'note', item: () => ({ value: value.slice(0, 2000), type: 'app', tags: ['unspecified'] }) } : undefined

const insulinTypes: Record<string, string> = { fastActing: 'rapid_acting', longActing: 'long_acting' }
const intensities: Record<string, string> = { light: 'low', medium: 'medium', heavy: 'high' }

const samples: Record<string, Build> = {
  carbs: (event) => amountOf(event, 'grams', (value) => ({ name: 'carbohydrates', item: () => ({ value, unit: 'g', type: 'app' }) })),
  insulin: (event) => {
    const type = insulinTypes[event.eventSubType ?? '']
    if (!type) return undefined
    return amountOf(event, 'units', (value) => ({ name: 'insulin_injection', item: () => ({ value, type }) }))
  },
  bloodGlucose: (event) => {
    const { unit } = event
    if (!unit || !range[unit]) return undefined
    return amountOf(event, unit, (value) => ({ name: 'glucose', item: () => ({ value, unit, type: 'fingerprick' }) }))
  },
  exercise: (event) =>
    amountOf(event, 'minutes', (value) => ({
      name: 'workout_duration',
      item: (start) => ({
        ...{ value, type: 'app', end_date: new Date(Date.parse(start) + value * MINUTE).toISOString() },
        intensity: intensities[event.eventSubType ?? ''],
      }),
    })),
  notes: note,
  note,
}

/** The amount of an event, if it is in the unit that the kind of event has. */
function amountOf<T>({ value, unit }: dexcom.Event, expected: string, build: (amount: number) => T) {
  const amount = value?.trim() ? Number(value) : Number.NaN
  return Number.isFinite(amount) && amount >= 0 && unit === expected ? build(amount) : undefined
}

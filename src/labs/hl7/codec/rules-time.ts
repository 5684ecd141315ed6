import { instantOf, wallTime } from '../../geography/rules-zones.ts'

const timestamp = /^(\d{4})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:(\d{2})(?:\.(\d{1,4}))?)?)?)?)?)?([+-]\d{4})?$/

/** The instant of an HL7 timestamp; null if it is not one. A timestamp without an offset is local time of the lab. */
export function parseTime(text: string, zone: string): string | null {
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '0', offset] = timestamp.exec(text) ?? []
  const localTime = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}`
  const utc = Date.parse(`${localTime}Z`)
  // A day that the month does not have rolls over.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(`${year}-${month}-${day}`)) return null
  if (!offset) return instantOf(localTime, zone)
  const instant = Date.parse(`${localTime}${offset.slice(0, 3)}:${offset.slice(3)}`)
  return Number.isNaN(instant) ? null : new Date(instant).toISOString()
}

/** The day of a timestamp as it is written, for birth dates; null unless it has one. */
export function parseDay(text: string): string | null {
  const day = text.replace(/^(\d{4})(\d{2})(\d{2}).*$/, '$1-$2-$3')
  return parseTime(text, 'UTC') && /^\d{4}-\d{2}-\d{2}$/.test(day) ? day : null
}

export type TimeFormat = { precision: 'minute' | 'second'; offset: boolean }

/** Writes an instant as local time of the zone. */
export function formatTime(instant: string, zone: string, { precision, offset }: TimeFormat): string {
  const ms = Math.floor(Date.parse(instant) / 1000) * 1000
  const local = wallTime(zone, ms)
  const digits = new Date(local).toISOString().replace(/\D/g, '')
  return digits.slice(0, precision === 'minute' ? 12 : 14) + (offset ? formatOffset((local - ms) / 60_000) : '')
}

function formatOffset(minutes: number) {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}${String(rest).padStart(2, '0')}`
}

export const formatDay = (day: string) => day.slice(0, 10).replaceAll('-', '')

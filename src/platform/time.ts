import { invalid } from './problem.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const secondsUntil = (instant: string, now: string) => (Date.parse(instant) - Date.parse(now)) / SECOND

export const later = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString()

/** The day some days after another. */
export const addDays = (day: string, days: number) => new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10)

/** The age in full years on a day. A birthday on February 29 counts as March 1 in other years. */
export function ageOn(dob: string, day: string) {
  const years = Number(day.slice(0, 4)) - Number(dob.slice(0, 4))
  return day.slice(5, 10) < dob.slice(5, 10) ? years - 1 : years
}

/** Accepts IANA names only; Intl also accepts offsets and any letter case. */
export const isTimeZone = (id: string) => /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/.test(id) && isValidZone(id)

export function checkTimeZone(id: string, loc: string[]) {
  if (!isTimeZone(id)) throw invalid(loc, 'Must be an IANA time zone, such as Europe/Berlin or America/New_York.')
}

const validZones = new Set<string>()

/** Intl lookups are slow, so valid zones are cached; there are a few hundred. */
function isValidZone(timeZone: string) {
  if (validZones.has(timeZone)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    validZones.add(timeZone)
    return true
  } catch {
    return false
  }
}

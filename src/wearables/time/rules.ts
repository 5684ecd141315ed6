import { DAY, MINUTE } from '../../platform/time.ts'

/** The longest session that a source can have. */
export const MAX_SESSION_MS = 7 * DAY

/** Parses a date-time with a zone to milliseconds, or NaN. Date.parse is slower and accepts February 30. */
export function parseInstant(text: unknown): number {
  if (typeof text !== 'string' || text.length < 17 || text.length > 35) return Number.NaN
  const [year, month, day] = [parseDigits(text, 0, 4), parseDigits(text, 5, 2), parseDigits(text, 8, 2)]
  const [hour, minute] = [parseDigits(text, 11, 2), parseDigits(text, 14, 2)]
  if (text[4] !== '-' || text[7] !== '-' || (text[10] !== 'T' && text[10] !== 't') || text[13] !== ':') return Number.NaN
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60)) return Number.NaN
  return parseSeconds(text, Date.UTC(year, month - 1, day, hour, minute), year)
}

function parseSeconds(text: string, minutes: number, year: number) {
  let at = 16
  let rest = 0
  if (text[16] === ':') {
    const second = parseDigits(text, 17, 2)
    if (!(second < 60)) return Number.NaN
    rest = second * 1000
    at = 19
    if (text[19] === '.') {
      at = 20
      while (isDigit(text.charCodeAt(at))) at++
      if (at === 20) return Number.NaN
      rest += Math.floor(Number(text.slice(20, Math.min(at, 23)).padEnd(3, '0')))
    }
  }
  const offset = offsetAt(text, at)
  // Date.UTC treats the years 0 to 99 as 1900 to 1999.
  return year < 100 ? Number.NaN : minutes + rest - offset * MINUTE
}

function offsetAt(text: string, at: number) {
  if ((text[at] === 'Z' || text[at] === 'z') && text.length === at + 1) return 0
  const sign = text[at] === '+' ? 1 : text[at] === '-' ? -1 : Number.NaN
  const [hours, minutes] = [parseDigits(text, at + 1, 2), parseDigits(text, at + 4, 2)]
  return text.length === at + 6 && text[at + 3] === ':' && hours < 24 && minutes < 60 ? sign * (hours * 60 + minutes) : Number.NaN
}

/** The UTC offset of a date-time in seconds. Null for Z, which does not name the zone of the user. */
export function zoneIn(text: string): number | null {
  const sign = text[text.length - 6]
  if (sign !== '+' && sign !== '-') return null
  return offsetAt(text, text.length - 6) * 60
}

const isDigit = (code: number) => code >= 48 && code <= 57

function parseDigits(text: string, at: number, count: number) {
  let value = 0
  for (let i = at; i < at + count; i++) {
    const code = text.charCodeAt(i)
    if (!isDigit(code)) return Number.NaN
    value = value * 10 + code - 48
  }
  return value
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const daysIn = (year: number, month: number) =>
  month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : (monthLengths[month - 1] ?? 0)

/** Returns a function from a time to the UTC offset in seconds. Its result is null without a zone. */
export function zoneClock(zone: string | null | undefined): (at: number) => number | null {
  if (!zone) return () => null
  const clock = clocks.get(zone) ?? newClock(zone)
  if (clocks.size >= MAX_ZONES) clocks.clear()
  clocks.set(zone, clock)
  return clock
}

type Clock = (at: number) => number

/** Intl formats are slow to create. The limit bounds the cache, because zone names are case-insensitive. */
const clocks = new Map<string, Clock>()
const MAX_ZONES = 1000
const MAX_CACHED_PERIODS = 5000

function newClock(zone: string): Clock {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const computeOffset = (at: number) => parseOffset(format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT')
  const offsetOfDay = cachePeriods(DAY, computeOffset)
  // On a day when the offset changes, all minutes but one have one offset.
  const offsetOfMinute = cachePeriods(MINUTE, computeOffset)
  return (at) => offsetOfDay(at) ?? offsetOfMinute(at) ?? computeOffset(at)
}

/** Remembers the offset of the period that contains a time. Undefined if the offset changes in it. */
function cachePeriods(length: number, computeOffset: Clock): (at: number) => number | undefined {
  const offsets = new Map<number, number | undefined>()
  return (at) => {
    const from = at - (((at % length) + length) % length)
    if (!offsets.has(from)) {
      if (offsets.size > MAX_CACHED_PERIODS) offsets.clear()
      const offset = computeOffset(from)
      offsets.set(from, computeOffset(from + length) === offset ? offset : undefined)
    }
    return offsets.get(from)
  }
}

function parseOffset(name: string) {
  const [, sign, hours, minutes, seconds] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
  return sign ? (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0)) : 0
}

export const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

export const localDay = (at: number, zone: number | null) => dayOf(at + (zone ?? 0) * 1000)

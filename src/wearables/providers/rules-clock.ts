import { MAX_SESSION_MS, zoneClock } from '../time/rules.ts'

/** A moment with its offset from UTC in seconds, or in UTC if the offset is unknown. */
export function withOffset(at: number, offset: number | null) {
  if (offset === null) return new Date(at).toISOString()
  const minutes = Math.abs(Math.round(offset / 60))
  const digits = (value: number) => String(value).padStart(2, '0')
  const local = new Date(at + (offset < 0 ? -minutes : minutes) * 60_000).toISOString().slice(0, -1)
  return `${local}${offset < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}:${digits(minutes % 60)}`
}

/** A moment in a named zone. A name that this machine does not know leaves it in UTC. */
export function inZone(at: number, zone: string | null | undefined) {
  try {
    return withOffset(at, zoneClock(zone)(at))
  } catch {
    return withOffset(at, null)
  }
}

/** The offset in `+01:00`, in seconds. `Z` is 0. Undefined if the text has another form. */
export function offsetOf(text: string) {
  if (text === 'Z') return 0
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? []
  return sign ? (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60) : undefined
}

/** The days around a window, because a day of the user is not a day in UTC. */
export const daysAround = ({ from, to }: { from: string; to: string }) => ({ first: dayAt(from, -1), last: dayAt(to, 1) })

const dayAt = (instant: string, days: number) => new Date(Date.parse(instant) + days * 86_400_000).toISOString().slice(0, 10)

/** Whether a session can be stored. A cloud refuses a request about a period that ends before it begins or is too long. */
export const isSession = (from: number, to: number) => from <= to && to - from <= MAX_SESSION_MS

/** Whether an object changed after it was deleted, so that the notification of the deletion came late. */
export const isLater = (changed: string | null | undefined, deleted: string) => Date.parse(changed ?? '') > Date.parse(deleted)

export const isNumber = (value: unknown): value is number => typeof value === 'number'

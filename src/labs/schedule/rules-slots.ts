import { type Calendar, CELL_MINUTES } from '../../contract/labs/calendars.ts'
import { weekdays } from '../../contract/labs/hours.ts'
import { problem } from '../../platform/problem.ts'
import { addDays, MINUTE } from '../../platform/time.ts'
import { type Home, milesBetween, type Point } from '../geography/rules-distance.ts'
import { dayIn, instantAt } from '../geography/rules-zones.ts'

export type Span = { start: string; end: string }
/** A cell of five minutes that a visit occupies in one of the seats of a calendar. */
export type Cell = { calendar_code: string; seat: number; cell_at: string }

export const DAYS_SHOWN = 14

/** The days of a list of slots: from `start_date`, or from today at the place. */
export function shownDays({ iana_timezone }: Calendar, start_date: string | null | undefined, now: string) {
  const first = start_date ?? dayIn(iana_timezone, now)
  return Array.from({ length: DAYS_SHOWN }, (_, i) => addDays(first, i))
}

/** All slots of a day at the place of the visit. On a day when clocks change, the working hours are shorter or longer. */
export function slotsOn(calendar: Calendar, day: string): Span[] {
  if (calendar.holidays.includes(day)) return []
  return (calendar.hours[weekdayOf(day)] ?? []).flatMap(({ from, to }) => {
    const end = Date.parse(instantAt(day, to, calendar.iana_timezone))
    const length = calendar.slot_minutes * MINUTE
    const first = Date.parse(instantAt(day, from, calendar.iana_timezone))
    const count = Math.max(0, Math.floor((end - first) / length))
    return Array.from({ length: count }, (_, i) => spanAt(first + i * length, length))
  })
}

const weekdayOf = (day: string) => weekdays[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7] as (typeof weekdays)[number]

const spanAt = (ms: number, length: number) => ({ start: new Date(ms).toISOString(), end: new Date(ms + length).toISOString() })

/** Whether the slot begins late enough to be booked now. */
export const isAhead = ({ notice_minutes }: Calendar, { start }: Span, now: string) =>
  Date.parse(start) >= Date.parse(now) + notice_minutes * MINUTE

/** The slot of a calendar that begins at a time, if it has one. */
export const slotAt = (calendar: Calendar, start: string): Span | undefined =>
  slotsOn(calendar, dayIn(calendar.iana_timezone, start)).find((slot) => slot.start === start)

export const cellsOf = ({ start, end }: Span): string[] => {
  const first = Date.parse(start)
  const length = CELL_MINUTES * MINUTE
  return Array.from({ length: Math.ceil((Date.parse(end) - first) / length) }, (_, i) => new Date(first + i * length).toISOString())
}

/** A phlebotomist sees one patient at a time. */
export const seatsOf = (calendar: Calendar) => (calendar.kind === 'site' ? calendar.capacity : 1)

/** The number of seats that are free for the whole slot. */
export function freeSeats(calendar: Calendar, slot: Span, taken: Set<string>) {
  const cells = cellsOf(slot)
  const seats = Array.from({ length: seatsOf(calendar) }, (_, i) => i + 1)
  return seats.filter((seat) => cells.every((cell_at) => !taken.has(cellKey({ calendar_code: calendar.code, seat, cell_at })))).length
}

export const cellKey = ({ calendar_code, seat, cell_at }: Cell) => `${calendar_code} ${seat} ${cell_at}`

export const slotTaken = () => problem('SLOT_TAKEN', 'The slot is no longer available. List the free slots again and choose another.')

type Locate = (zip: string) => Point | undefined

/** Whether a phlebotomist travels to a home. A home of unknown location is served if a zone names its ZIP code. */
export const travelsTo = (calendar: Calendar, home: Home, locate: Locate) =>
  calendar.kind === 'phlebotomist' && calendar.zones.some((zone) => isInZone(zone, home, locate))

function isInZone({ zip_code, radius_miles }: { zip_code: string; radius_miles: number }, home: Home, locate: Locate) {
  if (zip_code === home.zip) return true
  const center = locate(zip_code)
  return Boolean(radius_miles && center && home.point && milesBetween(center, home.point) <= radius_miles)
}

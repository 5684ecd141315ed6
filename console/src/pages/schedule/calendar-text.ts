import type { Calendar } from './change-schedule.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
type Weekday = (typeof weekdays)[number]

/** A calendar as the fields of its form. */
export type CalendarText = {
  kind: Calendar['kind']
  hours: Partial<Record<Weekday, string>>
} & Record<
  | 'code'
  | 'name'
  | 'provider'
  | 'iana_timezone'
  | 'slot_minutes'
  | 'notice_minutes'
  | 'capacity'
  | 'phone_number'
  | 'first_line'
  | 'city'
  | 'state'
  | 'zip_code'
  | 'lat'
  | 'lng'
  | 'zones'
  | 'holidays',
  string
>

const newCalendar: CalendarText = {
  ...{ kind: 'site', hours: {}, code: '', name: '', provider: '', iana_timezone: '', slot_minutes: '20', notice_minutes: '60' },
  ...{ capacity: '1', phone_number: '', first_line: '', city: '', state: '', zip_code: '', lat: '', lng: '', zones: '', holidays: '' },
}

export function textOf(calendar: Calendar | undefined): CalendarText {
  if (!calendar) return newCalendar
  const { kind, code, name, provider, iana_timezone } = calendar
  const shared = {
    ...{ ...newCalendar, kind, code, name, provider, iana_timezone },
    slot_minutes: String(calendar.slot_minutes),
    notice_minutes: String(calendar.notice_minutes),
    holidays: calendar.holidays.join(', '),
    hours: Object.fromEntries(
      Object.entries(calendar.hours).map(([day, spans]) => [day, spans.map(({ from, to }) => `${from}-${to}`).join(', ')]),
    ),
  }
  if (calendar.kind === 'phlebotomist')
    return {
      ...shared,
      zones: calendar.zones.map(({ zip_code, radius_miles }) => [zip_code, radius_miles || ''].join(' ').trim()).join(', '),
    }
  const { address, location, capacity, phone_number } = calendar
  return {
    ...{ ...shared, ...address, phone_number: phone_number ?? '', capacity: String(capacity) },
    ...{ lat: String(location.lat), lng: String(location.lng) },
  }
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

const spanOf = (text: string) => {
  const [from = '', to = ''] = text.split('-').map((time) => time.trim())
  return { from, to }
}

const zoneOf = (text: string) => {
  const [zip_code = '', radius = '0'] = text.split(/\s+/)
  return { zip_code, radius_miles: Number(radius) }
}

/** The calendar that the fields describe. The API checks it. */
export function calendarFrom(text: CalendarText): Calendar {
  const { code, name, provider, iana_timezone, first_line, city, state, zip_code } = text
  const hours = Object.entries(text.hours).map(([day, spans]) => [day, listOf(spans).map(spanOf)] as const)
  const shared = {
    ...{ code: code.trim(), name: name.trim(), provider, iana_timezone: iana_timezone.trim(), price: 0 },
    slot_minutes: Number(text.slot_minutes),
    notice_minutes: Number(text.notice_minutes),
    holidays: listOf(text.holidays),
    hours: Object.fromEntries(hours.filter(([, spans]) => spans.length)) as Calendar['hours'],
  }
  if (text.kind === 'phlebotomist') return { ...shared, kind: 'phlebotomist', zones: listOf(text.zones).map(zoneOf) }
  return {
    ...{ ...shared, kind: 'site', capacity: Number(text.capacity), phone_number: text.phone_number.trim() || null },
    address: { first_line, city, state, zip_code },
    location: { lat: Number(text.lat), lng: Number(text.lng) },
  }
}

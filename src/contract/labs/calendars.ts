import { z } from 'zod'
import { DayIn, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { safe } from '../personal.ts'
import { ZipCode } from './coverage.ts'
import { Hours } from './hours.ts'

/** Visits occupy whole cells of this length. */
export const CELL_MINUTES = 5

export const CalendarCode = safe(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$/, 'Must be 1 to 60 letters, digits, . - or _.'))

const shared = {
  code: CalendarCode.describe('Unique in the team.'),
  name: safe(Text(200)),
  iana_timezone: safe(Text(60)).describe('Such as America/Phoenix.'),
  slot_minutes: z.int().min(CELL_MINUTES).max(480).multipleOf(CELL_MINUTES).default(20),
  notice_minutes: z.int().min(0).max(43_200).default(60).describe('How long before its start a slot can be booked.'),
  price: z.int().min(0).max(10_000_000).default(0).describe('In US cents.'),
  hours: Hours.describe('Working hours by day of the week. A missing day is a day off.'),
  holidays: z.array(safe(DayIn)).max(400).default([]).describe('Days off.'),
}

const Zip = safe(ZipCode)

/** A request and a response have the same fields. Their schemas need two names in the document, so this one has none. */
const SiteCalendar = z.object({
  kind: z.literal('site'),
  ...shared,
  provider: safe(Text(60)).describe('The slug or an alias of the lab whose orders are collected at the site.'),
  capacity: z.int().min(1).max(100).default(1).describe('Visits at the same time.'),
  address: z.object({ first_line: safe(Text(200)), city: safe(Text(100)), state: safe(Text(60)), zip_code: Zip }),
  location: z.object({ lng: z.number().min(-180).max(180), lat: z.number().min(-90).max(90) }),
  phone_number: safe(Text(40)).nullish().describe('How patients reach the site.'),
})

const PhlebotomistCalendar = z.object({
  kind: z.literal('phlebotomist'),
  ...shared,
  provider: safe(Text(60)).default('getlabs').describe('The name of the phlebotomy service.'),
  zones: z
    .array(z.object({ zip_code: Zip, radius_miles: z.int().min(0).max(100).default(0) }))
    .min(1)
    .max(1000)
    .describe('Travel zones: a ZIP code, and the ZIP codes whose centers are within the radius.'),
})

export const Calendar = z.discriminatedUnion('kind', [SiteCalendar, PhlebotomistCalendar])
export type Calendar = z.output<typeof Calendar>

const Schedule = z.object({ calendars: z.array(Calendar) }).meta({ id: 'Schedule' })
/** More than the collection sites and phlebotomists of a team. */
export const MAX_CALENDARS = 500

export const NewSchedule = z.object({ calendars: z.array(Calendar).max(MAX_CALENDARS) }).meta({ id: 'NewSchedule' })

const schedule = { auth: 'team', tag: 'Appointments', path: '/v3/schedule', subjects: {}, returns: Schedule } as const

export const calendarEndpoints = {
  getSchedule: endpoint({
    ...schedule,
    method: 'get',
    summary: "Get the team's own schedule",
    description: 'Returns the collection sites and phlebotomists with their working hours, by code.',
  }),
  putSchedule: endpoint({
    ...schedule,
    method: 'put',
    summary: "Replace the team's own schedule",
    description: 'Assay books visits against these sites and phlebotomists. Booked visits stay, also if their time is no longer offered.',
    body: NewSchedule,
    refusals: { 400: 'A site names a lab that the catalog does not have, or two calendars have the same code.' },
  }),
}

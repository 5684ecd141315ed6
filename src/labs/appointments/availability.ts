import type { AddressIn } from '../../contract/labs/appointments.ts'
import type { Calendar } from '../../contract/labs/calendars.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { isTimeZone } from '../../platform/time.ts'
import { listLabs } from '../catalog/markers.ts'
import { loadPlaces } from '../catalog/places.ts'
import { locateHome } from '../coverage/homes.ts'
import { type Home, milesBetween, requireNamedLab } from '../coverage/rules.ts'
import { dayIn } from '../orders/checks/rules-zones.ts'
import { requireOrder } from '../orders/reading/present.ts'
import { bookingKey } from './booking-key.ts'
import { type FreeSlot, type Planned, schedulerOf } from './scheduler.ts'
import * as store from './store-cells.ts'

type Start = { start_date?: string | null | undefined }

/** Free slots of the phlebotomists who travel to an address. Slots of several phlebotomists at the same time are one. */
export const listHomeSlots = async (app: App, { team_id }: TeamCaller, { zip_code, state }: AddressIn, start: Start) =>
  homeSlots(app, team_id, await locateHome(app, zip_code, state), start)

async function homeSlots(app: App, team_id: string, home: Home, { start_date }: Start) {
  const scheduler = schedulerOf(app)
  const calendars = await scheduler.calendars(app, team_id, { home })
  checkStart(start_date, calendars, app.now())
  const slots = await scheduler.slots(app, team_id, calendars, { start_date, now: app.now() })
  return {
    slots: [...Map.groupBy(slots, ({ day }) => day)]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([date, ofDay]) => ({ location: null, date, slots: mergeSlots(ofDay) })),
    timezone: calendars[0]?.iana_timezone ?? null,
  }
}

const mergeSlots = (slots: FreeSlot[]) =>
  [...Map.groupBy(slots, ({ start, end }) => `${start} ${end}`).values()]
    .map((same) => presentSlot(same[0] as FreeSlot, { code: '', free: same.reduce((sum, { free }) => sum + free, 0) }))
    .sort((a, b) => a.start.localeCompare(b.start))

const presentSlot = ({ start, end, calendar }: FreeSlot, { code, free }: { code: string; free: number }) => ({
  booking_key: bookingKey({ code, start, end }),
  start,
  end,
  expires_at: new Date(Date.parse(start) - calendar.notice_minutes * 60_000).toISOString(),
  price: calendar.price,
  is_priority: false,
  num_appointments_available: free,
})

function checkStart(start_date: string | null | undefined, calendars: Calendar[], now: string) {
  // A day begins first in the east: without a calendar, any zone may have it.
  const today = calendars.map(({ iana_timezone }) => dayIn(iana_timezone, now)).sort()[0] ?? now.slice(0, 10)
  if (start_date && start_date < today)
    throw problem('START_DATE_PASSED', 'start_date must be greater or equal than the current date. Send today or a later day.')
}

type CenterQuery = Start & {
  lab: string
  site_codes?: string[] | null | undefined
  zip_code?: string | null | undefined
  radius?: string | null | undefined
}

/** Free slots at the sites of a lab, by site and day. */
export async function listCenterSlots(app: App, { team_id }: TeamCaller, query: CenterQuery) {
  const { site_codes, zip_code, start_date } = query
  checkPlace(query)
  const lab = requireNamedLab(await listLabs(app), query.lab)
  const calendars = await schedulerOf(app).calendars(app, team_id, { lab, codes: site_codes?.length ? site_codes : undefined })
  for (const code of site_codes ?? []) requireSite(calendars, code)
  const home = zip_code ? await locateHome(app, zip_code) : undefined
  const found = await centerSlots(app, team_id, calendars, { home, radius: Number(query.radius), start_date })
  if (!found.slots.length) throw problem('NO_SLOTS', 'No slot is free at these sites. Try later days, or other sites.')
  return found
}

type Near = Start & { home: Home | undefined; radius: number }

async function centerSlots(app: App, team_id: string, calendars: Planned[], { home, radius, start_date }: Near) {
  const near = calendars.flatMap((calendar) => siteNear(calendar, home, radius))
  checkStart(start_date, calendars, app.now())
  const slots = await schedulerOf(app).slots(
    app,
    team_id,
    near.map(({ calendar }) => calendar),
    { start_date, now: app.now() },
  )
  const zones = new Set(near.map(({ calendar }) => calendar.iana_timezone))
  return {
    slots: near.flatMap(({ calendar, distance }) => {
      const ofSite = slots.filter((slot) => slot.calendar === calendar)
      return [...Map.groupBy(ofSite, ({ day }) => day)].map(([date, ofDay]) => ({
        location: presentLocation(calendar, distance),
        date,
        slots: ofDay.map((slot) => presentSlot(slot, { code: calendar.code, free: slot.free })),
      }))
    }),
    timezone: zones.size === 1 ? ([...zones][0] as string) : null,
  }
}

const ORDER_RADIUS_MILES = 50

/** Free slots for the visit of an order, at home or at a site near the patient. */
export async function listOrderSlots(app: App, { team_id }: TeamCaller, order_id: string, start: Start) {
  const { method, document, lab_test } = await requireOrder(app, team_id, order_id)
  const { zip = '', state } = document.patient_address ?? {}
  const home = await locateHome(app, zip, state)
  if (method === 'at_home_phlebotomy') return homeSlots(app, team_id, home, start)
  if (method !== 'walk_in_test')
    throw problem('VISIT_NOT_POSSIBLE', 'The order has no visits. Only at_home_phlebotomy and walk_in_test orders do.')
  const calendars = await schedulerOf(app).calendars(app, team_id, { lab: lab_test.lab })
  return centerSlots(app, team_id, calendars, { home, radius: ORDER_RADIUS_MILES, ...start })
}

const MAX_SITES = 3

function checkPlace({ site_codes, zip_code, radius }: CenterQuery) {
  if (!site_codes?.length && !zip_code) throw problem('PLACE_REQUIRED', 'site_codes or zip_code must be provided.')
  if (zip_code && !radius) throw problem('PLACE_REQUIRED', 'radius must be provided when using zip_code.')
  if (site_codes && site_codes.length > MAX_SITES) throw problem('PLACE_REQUIRED', 'site_codes must be less than or equal to 3.')
}

function requireSite(calendars: Calendar[], code: string) {
  if (!calendars.some((calendar) => calendar.code === code))
    throw problem('UNKNOWN_SITE', `Location with site code ${code} not found. Find bookable sites with GET /v3/order/psc/info.`)
}

/** The site with its distance in miles, unless it is too far away. A distance may be unknown. */
function siteNear(calendar: Calendar, home: Home | undefined, radius: number) {
  if (calendar.kind !== 'site') return []
  const miles = home?.point && milesBetween(home.point, calendar.location)
  if (miles !== undefined && miles > radius) return []
  return [{ calendar, distance: miles === undefined ? null : Math.round(miles) }]
}

const presentLocation = (calendar: Extract<Calendar, { kind: 'site' }>, distance: number | null) => ({
  location: calendar.location,
  distance,
  address: { ...calendar.address, second_line: null },
  code: calendar.code,
  name: calendar.name,
  iana_timezone: calendar.iana_timezone,
})

/** The service must visit patients at the address: in an area of the catalog, or from the team's own schedule. */
export async function requireService(app: App, { team_id }: TeamCaller, { zip_code, state }: AddressIn, provider: string) {
  const home = await locateHome(app, zip_code, state)
  const areas = (await loadPlaces(app)).areas.get(home.zip) ?? []
  const calendars = await schedulerOf(app).calendars(app, team_id, { home })
  if (![...areas, ...calendars].some((served) => served.provider === provider))
    throw problem('AREA_NOT_SERVED', 'The service does not visit patients at this address. GET /v3/order/area/info lists the services.')
}

type Scope = Pick<TeamCaller, 'team_id'>

export const getSchedule = async (app: App, { team_id }: Scope) => ({ calendars: await store.listCalendars(app.db, team_id) })

/** Replaces the team's own schedule. Booked visits stay. */
export const putSchedule = (app: App, { team_id }: Scope, calendars: Calendar[]) =>
  inTransaction(app, async (app) => {
    await checkCalendars(app, calendars)
    await store.replaceCalendars(app.db, team_id, calendars, app.wall())
    return { calendars: await store.listCalendars(app.db, team_id) }
  })

/** Replaces the schedule that all teams share. Booked visits stay. */
export const putSharedSchedule = (app: App, calendars: Calendar[]) =>
  inTransaction(app, async (app) => {
    await checkCalendars(app, calendars)
    await store.replaceSharedCalendars(app.db, calendars, app.wall())
    return { calendars: await store.listSharedCalendars(app.db) }
  })

export const getSharedSchedule = async ({ db }: App) => ({ calendars: await store.listSharedCalendars(db) })

async function checkCalendars(app: App, calendars: Calendar[]) {
  const labs = await listLabs(app)
  for (const { kind, provider } of calendars) if (kind === 'site') requireNamedLab(labs, provider)
  const strange = calendars.findIndex(({ iana_timezone }) => !isTimeZone(iana_timezone))
  if (strange >= 0) throw invalid(['body', 'calendars', strange, 'iana_timezone'], 'Must be an IANA time zone, such as America/Phoenix.')
  const codes = calendars.map(({ code }) => code)
  if (new Set(codes).size < codes.length) throw problem('CALENDAR_TWICE', 'Two calendars have the same code. Give each its own code.')
}

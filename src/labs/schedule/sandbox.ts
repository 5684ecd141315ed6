import type { Calendar } from '../../contract/labs/calendars.ts'
import type { App } from '../../platform/app.ts'
import { listLabs } from '../catalog/markers.ts'
import { loadPlaces, type PhlebotomyArea, type Site } from '../catalog/places.ts'
import { publicName } from '../catalog/rules-labs.ts'
import { isBookable } from '../catalog/rules-sites.ts'

const workdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
const everyWorkday = (from: string, to: string) => Object.fromEntries(workdays.map((day) => [day, [{ from, to }]]))

/** The calendars of the sandbox: the bookable sites of the catalog, and one phlebotomist per area where patients choose a time. */
export async function sandboxCalendars(app: App): Promise<Calendar[]> {
  const { sites } = await loadPlaces(app)
  const names = new Map((await listLabs(app)).map((lab) => [lab.id, publicName(lab)]))
  const bookable = [...sites.values()].flat().filter(isBookable)
  return [
    ...bookable.map((site) => siteCalendar(site, names.get(site.lab_id) as string)),
    ...(await areaCalendars(app, 'appointment_ready')),
  ]
}

/** One phlebotomist per area. */
async function areaCalendars(app: App, tier: 'appointment_ready' | 'appointment_request') {
  const { areas } = await loadPlaces(app)
  const ofTier = [...areas.values()].flat().filter((area) => area.tier === tier)
  return ofTier.map(areaCalendar)
}

/** The phlebotomists of services that propose a time themselves. Patients cannot see when they are free. */
export const requestCalendars = (app: App) => areaCalendars(app, 'appointment_request')

const siteCalendar = (site: Site, provider: string): Calendar => ({
  kind: 'site',
  code: site.site_code,
  name: site.name,
  provider,
  iana_timezone: site.iana_timezone,
  slot_minutes: 20,
  notice_minutes: 60,
  price: 0,
  capacity: 2,
  hours: everyWorkday('07:00', '12:00'),
  holidays: [],
  address: { first_line: site.first_line, city: site.city, state: site.state, zip_code: site.zip },
  location: { lng: site.lng, lat: site.lat },
})

/** Home visits take two hours, because a phlebotomist arrives within a window. */
const areaCalendar = ({ zip, provider, iana_timezone }: PhlebotomyArea): Calendar => ({
  kind: 'phlebotomist',
  code: `${provider}-${zip}`,
  name: `Phlebotomist in ${zip}`,
  provider,
  iana_timezone,
  slot_minutes: 120,
  notice_minutes: 240,
  price: 0,
  hours: everyWorkday('08:00', '18:00'),
  holidays: [],
  zones: [{ zip_code: zip, radius_miles: 0 }],
})

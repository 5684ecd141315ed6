import type { Calendar } from '../../contract/labs/calendars.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { findLabOfAccount, type getLab, listLabAccounts, listLabs } from '../catalog/markers.ts'
import { loadPlaces, type Places, type Site } from '../catalog/places.ts'
import { publicName, requireNamedLab } from '../catalog/rules-labs.ts'
import { capabilitiesOf, isBookable, withBooking } from '../catalog/rules-sites.ts'
import { locateHome } from '../geography/homes.ts'
import type { Home } from '../geography/rules-distance.ts'
import { schedulerOf } from '../schedule/scheduler.ts'
import * as rules from './rules.ts'

type Lab = Awaited<ReturnType<typeof getLab>>
type AreaQuery = {
  zip_code: string
  radius: string
  lab?: string | null | undefined
  labs?: string[] | null | undefined
  lab_account_id?: string | null | undefined
}

/** Which collection methods are available in a ZIP code. */
export async function getAreaInfo(app: App, caller: TeamCaller, query: AreaQuery) {
  const { zip_code, radius } = query
  const places = await loadPlaces(app)
  const home = await locateHome(app, zip_code)
  const { data: accounts } = await listLabAccounts(app, caller, { lab_account_id: query.lab_account_id })
  const labs = await namedLabs(app, caller, query)
  const providers = await providersIn(app, caller.team_id, places, home)
  const areas = await Promise.all(
    labs.map(async ({ name, lab }) => ({ name, lab, sites: await sitesOf(app, caller.team_id, lab, places) })),
  )
  return {
    zip_code,
    distance_known: Boolean(home.point),
    phlebotomy: { is_served: providers.length > 0, providers },
    central_labs: Object.fromEntries(
      areas.map(({ name, lab, sites: all }) => {
        const sites = rules.sitesNear(lab, all, home, Number(radius))
        const patient_service_centers = {
          appointment_with_vital: sites.some(isBookable),
          within_radius: sites.length,
          radius,
          capabilities: [...new Set(sites.flatMap(capabilitiesOf))],
        }
        return [name, { patient_service_centers, supported_bill_types: rules.billTypesAt(accounts, lab.id, home.state), lab_id: lab.id }]
      }),
    ),
  }
}

/** The labs of the request under the names of the request. Without names, every lab with collection sites. */
async function namedLabs(app: App, caller: TeamCaller, { lab, labs, lab_account_id }: AreaQuery) {
  const names = [...new Set([...(lab ? [lab] : []), ...(labs ?? [])])]
  const lab_id = await findLabOfAccount(app, caller, lab_account_id)
  const known = (await listLabs(app)).filter(({ id }) => lab_id === undefined || id === lab_id)
  if (names.length) return names.map((name) => ({ name, lab: requireNamedLab(known, name) }))
  return known
    .filter(({ collection_methods }) => collection_methods.includes('walk_in_test'))
    .map((lab) => ({ name: publicName(lab), lab }))
}

const serviceTypes: Record<string, string> = { appointment_ready: 'appointment-ready', appointment_request: 'appointment-request' }

/** The services that visit patients at a home: those of the catalog, and the phlebotomists of the schedule. */
async function providersIn(app: App, team_id: string, { areas }: Places, home: Home) {
  const calendars = await schedulerOf(app).calendars(app, team_id, { home })
  const served = [...(areas.get(home.zip) ?? []), ...calendars.map(({ provider }) => ({ provider, tier: 'appointment_ready' }))]
  return [...Map.groupBy(served, ({ provider }) => provider)].map(([name, ofService]) => ({
    name,
    service_types: [...new Set(ofService.map(({ tier }) => serviceTypes[tier] as string))],
  }))
}

/** The sites of a lab: those of the catalog, and those of the schedule, whose visits can be booked. */
async function sitesOf(app: App, team_id: string, lab: Lab, { sites }: Places): Promise<Site[]> {
  const calendars = await schedulerOf(app).calendars(app, team_id, { lab })
  const listed = sites.get(lab.id) ?? []
  const calendarOf = (code: string) => calendars.find((calendar) => calendar.code === code)
  const own = calendars.filter(({ code }) => !listed.some(({ site_code }) => site_code === code))
  return [
    ...listed.map((site) => withCalendar(site, calendarOf(site.site_code))),
    ...own.flatMap((calendar) => (calendar.kind === 'site' ? [siteOf(calendar, lab.id)] : [])),
  ]
}

/** Visits can be booked in the hours of the calendar, so they replace those of the catalog. */
const withCalendar = (site: Site, calendar: Calendar | undefined): Site => ({
  ...site,
  capabilities: withBooking(site, calendar !== undefined),
  hours: calendar?.hours ?? site.hours,
})

const siteOf = ({ code, name, iana_timezone, address, location, hours, phone_number }: SiteCalendar, lab_id: number): Site => ({
  ...{ site_code: code, lab_id, name, iana_timezone, capabilities: withBooking({ capabilities: [] }, true), ...location },
  ...{ hours, phone_number: phone_number ?? null },
  ...{ first_line: address.first_line, city: address.city, state: address.state, zip: address.zip_code },
})

type SiteCalendar = Extract<Calendar, { kind: 'site' }>

export type SiteQuery = { radius: string; capabilities?: string[] | null | undefined; lab_account_id?: string | null | undefined }

/** The collection sites of a lab near a ZIP code. */
export async function getPscInfo(
  app: App,
  caller: TeamCaller,
  { zip_code, lab_id, ...query }: SiteQuery & { zip_code: string; lab_id: number },
) {
  const lab = (await listLabs(app)).find(({ id }) => id === lab_id)
  if (!lab) throw problem('UNKNOWN_LAB', 'No lab has this lab_id. List the labs with GET /v3/lab_tests/labs.')
  return listSitesNear(app, caller, { lab, home: await locateHome(app, zip_code), query })
}

type Search = { lab: Lab; home: Home; query: SiteQuery }

/** The collection sites of a lab near a home, with the billing types that the team can use there. */
export async function listSitesNear(app: App, caller: TeamCaller, { lab, home, query }: Search) {
  const { radius, capabilities, lab_account_id } = query
  if (lab_account_id) await findLabOfAccount(app, caller, lab_account_id)
  const { data: accounts } = await listLabAccounts(app, caller, { lab_account_id })
  const supported_bill_types = rules.billTypesAt(accounts, lab.id, home.state)
  const sites = rules
    .sitesNear(lab, await sitesOf(app, caller.team_id, lab, await loadPlaces(app)), home, Number(radius))
    .filter((site) => (capabilities ?? []).every((capability) => capabilitiesOf(site).includes(capability)))
  return {
    lab_id: lab.id,
    slug: lab.slug,
    distance_known: Boolean(home.point),
    patient_service_centers: sites.map((site) => presentSite(site, supported_bill_types)),
  }
}

const presentSite = (site: Site & { distance: number | null }, supported_bill_types: string[]) => ({
  metadata: {
    name: site.name,
    state: site.state,
    city: site.city,
    zip_code: site.zip,
    first_line: site.first_line,
    second_line: null,
    phone_number: site.phone_number,
    fax_number: null,
    hours: site.hours,
    website: null,
  },
  distance: site.distance === null ? UNKNOWN_DISTANCE : Math.round(site.distance),
  site_code: site.site_code,
  supported_bill_types,
  location: { lng: site.lng, lat: site.lat },
  capabilities: capabilitiesOf(site),
})

/** Clients of the Junction API require a number. */
const UNKNOWN_DISTANCE = -1

type Collection = { lab: Lab; method: string; address: { zip: string; state: string } }

/** Whether the specimen of an order can be collected where the patient lives. Kits and on-site collection reach everyone. */
export async function coverageOf(app: App, team_id: string, { lab, method, address }: Collection): Promise<rules.Coverage> {
  if (method !== 'walk_in_test' && method !== 'at_home_phlebotomy') return 'served'
  const places = await loadPlaces(app)
  const home = await locateHome(app, address.zip, address.state)
  if (method === 'walk_in_test') {
    const coverage = rules.siteCoverage(lab, places.sites.get(lab.id) ?? [], home)
    return coverage === 'served' ? coverage : rules.siteCoverage(lab, await sitesOf(app, team_id, lab, places), home)
  }
  if (places.areas.has(home.zip) || (await providersIn(app, team_id, places, home)).length) return 'served'
  return places.areas.size ? 'not_served' : 'unlisted'
}

import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { findLabOfAccount, type getLab, listLabAccounts, listLabs } from '../catalog/markers.ts'
import { loadPlaces, type PhlebotomyArea, type Places, type Site } from '../catalog/places.ts'
import { stateCode, stateOfZip } from '../orders/checks/rules-states.ts'
import { requireOrder } from '../orders/reading/present.ts'
import * as rules from './rules.ts'
import { findZipLocation } from './zip-locations.ts'

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
  const home = await locateHome(places, zip_code)
  const { data: accounts } = await listLabAccounts(app, caller, { lab_account_id: query.lab_account_id })
  const labs = await namedLabs(app, caller, query)
  const providers = providersIn(places, home)
  return {
    zip_code,
    distance_known: Boolean(home.point),
    phlebotomy: { is_served: providers.length > 0, providers },
    central_labs: Object.fromEntries(
      labs.map(({ name, lab }) => {
        const sites = rules.sitesNear(lab, places.sites.get(lab.id) ?? [], home, Number(radius))
        const patient_service_centers = {
          appointment_with_vital: sites.some(rules.isBookable),
          within_radius: sites.length,
          radius,
          capabilities: [...new Set(sites.flatMap(rules.capabilitiesOf))],
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

/** The name that typed clients of the Junction API accept, if the lab has one. */
export const publicName = ({ slug, aliases }: Pick<Lab, 'slug' | 'aliases'>) => aliases[0] ?? slug

export function requireNamedLab<L extends Pick<Lab, 'slug' | 'aliases'>>(labs: L[], name: string): L {
  const lab = labs.find(({ slug, aliases }) => slug === name || aliases.includes(name))
  if (!lab) throw problem('UNKNOWN_LAB', 'No lab has this slug or alias. List the labs with GET /v3/lab_tests/labs.')
  return lab
}

/** A home in a ZIP code. The state of an address is better than the state of its ZIP code. */
export async function locateHome(places: Places, zip_code: string, state?: string): Promise<rules.Home> {
  const zip = zip_code.slice(0, 5)
  return { zip, state: stateCode(state ?? '') ?? stateOfZip(zip), point: places.zips.get(zip) ?? (await findZipLocation(zip)) }
}

const serviceTypes: Record<string, string> = { appointment_ready: 'appointment-ready', appointment_request: 'appointment-request' }

const providersIn = ({ areas }: Places, { zip }: rules.Home) =>
  [...Map.groupBy(areas.get(zip) ?? [], ({ provider }: PhlebotomyArea) => provider)].map(([name, served]) => ({
    name,
    service_types: [...new Set(served.map(({ tier }) => serviceTypes[tier] as string))],
  }))

type SiteQuery = { radius: string; capabilities?: string[] | null | undefined; lab_account_id?: string | null | undefined }

/** The collection sites of a lab near a ZIP code. */
export async function getPscInfo(
  app: App,
  caller: TeamCaller,
  { zip_code, lab_id, ...query }: SiteQuery & { zip_code: string; lab_id: number },
) {
  const lab = (await listLabs(app)).find(({ id }) => id === lab_id)
  if (!lab) throw problem('UNKNOWN_LAB', 'No lab has this lab_id. List the labs with GET /v3/lab_tests/labs.')
  const places = await loadPlaces(app)
  return sitesReply(app, caller, { lab, places, home: await locateHome(places, zip_code), query })
}

/** The collection sites of the order's lab near the patient. */
export async function getOrderPscInfo(app: App, caller: TeamCaller, order_id: string, query: SiteQuery) {
  const { document, method, lab_test, lab_account_id } = await requireOrder(app, caller.team_id, order_id)
  const address = document.patient_address
  if (method !== 'walk_in_test' || !address)
    throw problem('NOT_A_WALK_IN', 'The specimen of this order is not collected at a site. Only walk_in_test orders have sites.')
  const places = await loadPlaces(app)
  const home = await locateHome(places, address.zip, address.state)
  return sitesReply(app, caller, { lab: lab_test.lab, places, home, query: { ...query, lab_account_id } })
}

type Search = { lab: Lab; places: Places; home: rules.Home; query: SiteQuery }

async function sitesReply(app: App, caller: TeamCaller, { lab, places, home, query }: Search) {
  const { radius, capabilities, lab_account_id } = query
  if (lab_account_id) await findLabOfAccount(app, caller, lab_account_id)
  const { data: accounts } = await listLabAccounts(app, caller, { lab_account_id })
  const supported_bill_types = rules.billTypesAt(accounts, lab.id, home.state)
  const sites = rules
    .sitesNear(lab, places.sites.get(lab.id) ?? [], home, Number(radius))
    .filter((site) => (capabilities ?? []).every((capability) => rules.capabilitiesOf(site).includes(capability)))
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
    phone_number: null,
    fax_number: null,
    hours: null,
    website: null,
  },
  distance: site.distance === null ? null : Math.round(site.distance),
  site_code: site.site_code,
  supported_bill_types,
  location: { lng: site.lng, lat: site.lat },
  capabilities: rules.capabilitiesOf(site),
})

/** Whether the specimen of an order can be collected where the patient lives. Kits and on-site collection reach everyone. */
export async function coverageOf(app: App, lab: Lab, method: string, address: { zip: string; state: string }): Promise<rules.Coverage> {
  if (method !== 'walk_in_test' && method !== 'at_home_phlebotomy') return 'served'
  const places = await loadPlaces(app)
  const home = await locateHome(places, address.zip, address.state)
  if (method === 'walk_in_test') return rules.siteCoverage(lab, places.sites.get(lab.id) ?? [], home)
  if (!places.areas.size) return 'unlisted'
  return providersIn(places, home).length ? 'served' : 'not_served'
}

import { billingTypes } from '../../contract/labs/catalog.ts'
import { type Home, milesBetween, type Point } from '../geography/rules-distance.ts'

type Lab = { excluded_states: string[] }
type Site = Point & { site_code: string; state: string; capabilities: string[] }

/** The one rule about states: an order, a kit and a list of sites use it. */
export const servesState = ({ excluded_states }: Lab, state: string | undefined) => !state || !excluded_states.includes(state)

/** The longest radius that a request can name. */
export const MAX_RADIUS_MILES = 100
const MAX_SITES = 500

/**
 * The sites of a lab within the radius, nearest first. If the location of the ZIP code is unknown, a distance is unknown, not
 * too long: the sites of the state stay, or all sites if the lab has none there.
 */
export function sitesNear<S extends Site>(lab: Lab, sites: S[], home: Home, radiusMiles: number): (S & { distance: number | null })[] {
  if (!servesState(lab, home.state)) return []
  const { point } = home
  if (!point) return sitesOfState(sites, home.state).map((site) => ({ ...site, distance: null }))
  return sites
    .map((site) => ({ ...site, distance: milesBetween(point, site) }))
    .filter(({ distance }) => distance <= radiusMiles)
    .sort((a, b) => a.distance - b.distance || a.site_code.localeCompare(b.site_code))
    .slice(0, MAX_SITES)
}

function sitesOfState<S extends Site>(sites: S[], state: string | undefined) {
  const inState = sites.filter((site) => site.state === state)
  return (inState.length ? inState : sites).slice(0, MAX_SITES)
}

type Account = { lab_id: number; status: string; org_id: string | null; allowed_billing: Record<string, string[]> }

/** The billing types that a team can use at a lab. Its own accounts come before the account of the operator. */
export function billTypesAt(accounts: Account[], lab_id: number, state: string | undefined) {
  const active = accounts.filter((account) => account.lab_id === lab_id && account.status === 'active')
  const own = active.filter(({ org_id }) => org_id)
  const used = own.length ? own : active
  const allows = (type: string) =>
    used.some(({ allowed_billing }) => (state ? allowed_billing[type]?.includes(state) : allowed_billing[type]))
  return billingTypes.filter(allows)
}

/** `unlisted`: the catalog does not say where the lab collects, so the lab tells patients itself. */
export type Coverage = 'served' | 'not_served' | 'distance_unknown' | 'unlisted'

/** Whether a patient has a collection site of the lab within reach. */
export function siteCoverage<S extends Site>(lab: Lab, sites: S[], home: Home): Coverage {
  if (!sites.length) return 'unlisted'
  if (!home.point) return 'distance_unknown'
  return sitesNear(lab, sites, home, MAX_RADIUS_MILES).length ? 'served' : 'not_served'
}

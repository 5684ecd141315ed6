import { featureSettings } from '../../contract/tenants/management.ts'
import { problem } from '../../platform/problem.ts'
import { checkTimeZone } from '../users/rules.ts'

export const GRACE_DAYS = 7

/** The teams a Team Management Key is bound to; an Org Management Key reaches all. */
type Reach = { team_ids: string[] | undefined }

export const isReachable = ({ team_ids }: Reach, team_id: string) => !team_ids || team_ids.includes(team_id)

/** The teams that a query may look at: those of the key, narrowed to the one that was asked for. */
export function visibleTeams(caller: Reach, asked?: string | null) {
  if (!asked) return caller.team_ids
  return isReachable(caller, asked) ? [asked] : []
}

/** Refuses a team that does not exist in the organisation, or that a Team Management Key is not bound to, in the same words. */
export function reachable<T extends { id: string }>(caller: Reach, team: T | undefined): T {
  if (team && isReachable(caller, team.id)) return team
  throw problem('TEAM_NOT_FOUND', 'There is no such team that this key can reach; list the teams to see their ids.')
}

type Bindings = { team_id: string }[] | null | undefined

/** The teams that were named, each once and in the order in which they are listed. */
export const boundTeamIds = (bindings: Bindings) => (bindings ? [...new Set(bindings.map(({ team_id }) => team_id))].sort() : undefined)

/** Whether as many teams were found as were named. */
export function checkFound(found: number, named: string[]) {
  if (found !== named.length) throw problem('UNKNOWN_TEAM', 'team_role_bindings names a team that is not in this organisation.')
}

type Switches = { [K in keyof typeof featureSettings]: boolean }
type SwitchesIn = { [K in keyof typeof featureSettings]?: boolean | null | undefined }

/** The switches that were sent; null stands for the default. */
export function featureSettingsFrom(sent: SwitchesIn): Partial<Switches> {
  const names = Object.keys(featureSettings) as (keyof Switches)[]
  return Object.fromEntries(names.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name] ?? featureSettings[name]]))
}

type OrderSettings = { simulator?: 'manual' | 'auto' | null | undefined; time_zone?: string | null | undefined }

/** How orders of the team go, as far as it was sent; null stands for the default. */
export function orderSettings({ simulator, time_zone }: OrderSettings, environment: string) {
  if (time_zone) checkTimeZone(time_zone, ['body', environment, 'time_zone'])
  return {
    ...(simulator === undefined ? {} : { simulator: simulator ?? ('manual' as const) }),
    ...(time_zone === undefined ? {} : { time_zone }),
  }
}

type Brand = {
  company_name: string
  company_website: string
  support_email: string
  support_contact: string | null
  company_address: string
  brand_color: string
}

/** What is personal in a team's settings; sealed as one document. */
export type Contact = { critical_result_notification_email: string | null; brand_information: Brand | null; logo_url: string | null }
type BrandIn = { [K in keyof Brand]?: Brand[K] | null | undefined }
export type ContactIn = {
  critical_result_notification_email?: string | null | undefined
  brand_information?: BrandIn | null | undefined
  logo_url?: string | null | undefined
}

export const noContact: Contact = { critical_result_notification_email: null, brand_information: null, logo_url: null }

/** A patch over the contact document: what is absent stays, null clears. */
export function mergeContact(known: Contact, sent: ContactIn): Contact {
  const { brand_information: brand, ...rest } = sent
  return {
    ...known,
    ...Object.fromEntries(Object.entries(rest).filter(([name, value]) => name in noContact && value !== undefined)),
    brand_information: brand === undefined ? known.brand_information : brand && mergeBrand(known.brand_information, brand),
  }
}

function mergeBrand(known: Brand | null, sent: BrandIn): Brand {
  const blank: Brand = {
    company_name: '',
    company_website: '',
    support_email: '',
    support_contact: '',
    company_address: '',
    brand_color: '',
  }
  const given = Object.entries(sent).filter(([name, value]) => name in blank && value !== undefined)
  const merged = { ...blank, ...known, ...Object.fromEntries(given.map(([name, value]) => [name, value ?? ''])) }
  if (!merged.company_name) throw problem('COMPANY_NAME_REQUIRED', 'brand_information needs a company_name.')
  return merged
}

type Deployment = { environment: string; region: string }

/** A path or body that names another environment or region learns which deployment this is. */
export function checkNamedDeployment(here: Deployment, named: { environment?: string | undefined; region?: string | undefined }) {
  const sameEnvironment = !named.environment || named.environment === here.environment
  if (sameEnvironment && (!named.region || named.region === here.region)) return
  throw problem(
    'WRONG_DEPLOYMENT',
    `This deployment is ${here.environment} ${here.region}; the request names ${named.environment ?? here.environment} ${named.region ?? here.region}. Call that deployment, or name this one.`,
  )
}

import { featureSettings } from '../../contract/tenants/management.ts'
import { problem } from '../../platform/problem.ts'
import { checkTimeZone } from '../../platform/time.ts'

export const GRACE_DAYS = 7

/** The teams a caller is bound to; undefined means every team of the organization. */
type TeamScope = { team_ids: string[] | undefined }

export const isReachable = ({ team_ids }: TeamScope, team_id: string) => !team_ids || team_ids.includes(team_id)

/** The teams a query may read: the caller's teams, narrowed to `team_id` if it is set. */
export function visibleTeams(caller: TeamScope, team_id?: string | null) {
  if (!team_id) return caller.team_ids
  return isReachable(caller, team_id) ? [team_id] : []
}

/** Rejects a missing team and a team out of reach with the same error, so it does not reveal which teams exist. */
export function requireReachable<T extends { id: string }>(caller: TeamScope, team: T | undefined): T {
  if (team && isReachable(caller, team.id)) return team
  throw problem('TEAM_NOT_FOUND', "No team with this ID exists, or you don't have access to it. List the teams to find its ID.")
}

type Bindings = { team_id: string }[] | null | undefined

/** The distinct team IDs, sorted. */
export const boundTeamIds = (bindings: Bindings) => (bindings ? [...new Set(bindings.map(({ team_id }) => team_id))].sort() : undefined)

export function checkTeamsFound(found: number, team_ids: string[]) {
  if (found !== team_ids.length)
    throw problem(
      'UNKNOWN_TEAM',
      'team_role_bindings contains a team_id that is not in your organization. List the teams to find their IDs.',
    )
}

type FeatureSettings = { [K in keyof typeof featureSettings]: boolean }
type FeatureSettingsInput = { [K in keyof typeof featureSettings]?: boolean | null | undefined }

/** The feature settings in the request; null means the default. */
export function featureSettingsFrom(input: FeatureSettingsInput): Partial<FeatureSettings> {
  const names = Object.keys(featureSettings) as (keyof FeatureSettings)[]
  return Object.fromEntries(names.filter((name) => input[name] !== undefined).map((name) => [name, input[name] ?? featureSettings[name]]))
}

type OrderSettings = {
  simulator?: 'manual' | 'auto' | null | undefined
  time_zone?: string | null | undefined
  patient_language?: string | null | undefined
  critical_escalation_minutes?: number[] | null | undefined
}

/** The order settings in the request; null means the default. */
export function orderSettingsFrom(input: OrderSettings, environment: string) {
  const { simulator, time_zone, patient_language, critical_escalation_minutes } = input
  if (time_zone) checkTimeZone(time_zone, ['body', environment, 'time_zone'])
  return {
    ...(simulator === undefined ? {} : { simulator: simulator ?? ('manual' as const) }),
    ...(time_zone === undefined ? {} : { time_zone }),
    ...(patient_language === undefined ? {} : { patient_language: patient_language ?? 'en' }),
    ...(critical_escalation_minutes === undefined ? {} : { critical_escalation_minutes: critical_escalation_minutes ?? [] }),
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

/** The personal fields of a team's settings, encrypted as one document. */
export type Contact = {
  critical_result_notification_email: string | null
  critical_result_contacts: string[]
  brand_information: Brand | null
  logo_url: string | null
}
type BrandInput = { [K in keyof Brand]?: Brand[K] | null | undefined }
export type ContactInput = {
  critical_result_notification_email?: string | null | undefined
  critical_result_contacts?: string[] | null | undefined
  brand_information?: BrandInput | null | undefined
  logo_url?: string | null | undefined
}

export const noContact = {
  critical_result_notification_email: null,
  critical_result_contacts: [] as string[],
  brand_information: null,
  logo_url: null,
} satisfies Contact

/** Applies a patch: an absent field stays, null clears it. */
export function mergeContact(stored: Contact, input: ContactInput): Contact {
  const { brand_information: brand, ...rest } = input
  return {
    ...stored,
    ...Object.fromEntries(Object.entries(rest).filter(([name, value]) => name in noContact && value !== undefined)),
    ...(rest.critical_result_contacts === null ? { critical_result_contacts: [] } : {}),
    brand_information: brand === undefined ? stored.brand_information : brand && mergeBrand(stored.brand_information, brand),
  }
}

function mergeBrand(stored: Brand | null, input: BrandInput): Brand {
  const blank: Brand = {
    company_name: '',
    company_website: '',
    support_email: '',
    support_contact: '',
    company_address: '',
    brand_color: '',
  }
  const changes = Object.entries(input).filter(([name, value]) => name in blank && value !== undefined)
  const merged = { ...blank, ...stored, ...Object.fromEntries(changes.map(([name, value]) => [name, value ?? ''])) }
  if (!merged.company_name)
    throw problem('COMPANY_NAME_REQUIRED', 'brand_information has no company_name. Send brand_information.company_name.')
  return merged
}

type Deployment = { environment: string; region: string }

/** Rejects a request meant for another environment or region, and names this deployment in the error. */
export function checkNamedDeployment(deployment: Deployment, requested: { environment?: string | undefined; region?: string | undefined }) {
  const sameEnvironment = !requested.environment || requested.environment === deployment.environment
  if (sameEnvironment && (!requested.region || requested.region === deployment.region)) return
  throw problem(
    'WRONG_DEPLOYMENT',
    `This deployment is ${deployment.environment} ${deployment.region}, but your request names ${requested.environment ?? deployment.environment} ${requested.region ?? deployment.region}. Call that deployment, or change the request.`,
  )
}

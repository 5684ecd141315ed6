import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { cloudOf } from '../providers/clouds.ts'
import { allScopesOf, regionOf, regionsOf, settingOf } from '../providers/oauth-settings.ts'
import type { Client } from '../providers/rules-oauth.ts'
import { callbackUrl, findTeamClient } from './credentials.ts'

/** The OAuth client for a team: its own, or the deployment's. Undefined if neither is set up. */
export async function clientFor(app: App, team_id: string, provider: SourceSlug, region?: string): Promise<Client | undefined> {
  const { client_id, client_secret, authorize_url, token_url, ...settings } = {
    ...settingOf(app, provider),
    ...regionOf(app, provider, region),
  }
  const shared = client_id && client_secret ? { client_id, client_secret, redirect_uri: callbackUrl(app) } : undefined
  const credentials = (await findTeamClient(app, team_id, provider)) ?? shared
  if (!credentials || !authorize_url || !token_url) return undefined
  const reads = settings.reads ?? {}
  return {
    ...{ authorize_url, token_url, revoke_url: settings.revoke_url },
    scopes: settings.scopes ?? Object.keys(reads),
    needs: needsOf(reads),
    allScopes: allScopesOf(app, provider),
    scope_separator: settings.scope_separator ?? ' ',
    client_auth: settings.client_auth ?? 'basic',
    revoke_auth: settings.revoke_auth ?? settings.client_auth ?? 'basic',
    account_field: settings.account_field,
    api_url: settings.api_url ?? cloudOf(provider)?.api_url,
    tokenRules: cloudOf(provider)?.tokens,
    authorize_params: settings.authorize_params ?? {},
    service_account: settings.service_account,
    ...credentials,
  }
}

/** Whether `clientFor` would return a client. `teamSources` are the sources for which the team has its own credentials. */
export function isSetUp(app: App, provider: SourceSlug, teamSources: Set<string>) {
  const { authorize_url, token_url, client_id, client_secret } = settingOf(app, provider)
  return Boolean(authorize_url && token_url && (teamSources.has(provider) || (client_id && client_secret)))
}

export async function requireClient(app: App, team_id: string, provider: SourceSlug, region?: string) {
  const regions = Object.keys(regionsOf(app, provider))
  if (region && !regions.includes(region))
    throw invalid(['query', 'region'], regions.length ? `Must be one of ${regions.join(', ')}.` : 'The source has no regions.')
  const client = await clientFor(app, team_id, provider, region)
  if (!client) throw sources[provider].retired ? retired(provider) : notConfigured(provider)
  return client
}

/** What to tell about a source that ended its API. Undefined for others. */
export function retirementOf(provider: SourceSlug) {
  const { name, retired } = sources[provider]
  return retired && `${name} ended its API on ${retired.since}. Connect ${retired.successor} instead.`
}

const retired = (provider: SourceSlug) => problem('SOURCE_RETIRED', retirementOf(provider) ?? '')

const notConfigured = (provider: SourceSlug) =>
  problem(
    'SOURCE_NOT_CONFIGURED',
    `${sources[provider].name} cannot be connected yet: set the team's credentials with POST /v1/org/{org_id}/team_custom_credentials/{env}/{region}, or ask the operator to set OAUTH_SOURCES.`,
  )

/** Inverts the map: the scopes of each resource. */
function needsOf(reads: Record<string, string[]>) {
  const pairs = Object.entries(reads).flatMap(([scope, resources]) => resources.map((resource) => ({ resource, scope })))
  return Object.fromEntries(
    [...Map.groupBy(pairs, ({ resource }) => resource)].map(([resource, list]) => [resource, list.map(({ scope }) => scope)]),
  )
}

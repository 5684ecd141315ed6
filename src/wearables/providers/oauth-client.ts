import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { callbackUrl, ownClient } from '../team-sources/credentials.ts'
import { knownSources } from './oauth-sources.ts'
import type { Client } from './rules-oauth.ts'

/** Who we are at a source for a team: by the team's own credentials, or by the deployment's. Undefined where nobody set any. */
export async function clientFor(app: App, team_id: string, provider: SourceSlug): Promise<Client | undefined> {
  const { client_id, client_secret, authorize_url, token_url, ...set } = settingOf(app, provider)
  const deployments = client_id && client_secret ? { client_id, client_secret, redirect_uri: callbackUrl(app) } : undefined
  const who = (await ownClient(app, team_id, provider)) ?? deployments
  if (!who || !authorize_url || !token_url) return undefined
  const reads = set.reads ?? {}
  return {
    ...{ authorize_url, token_url, revoke_url: set.revoke_url },
    scopes: set.scopes ?? Object.keys(reads),
    needs: needsOf(reads),
    allScopes: scopesKnownOf(app, provider),
    scope_separator: set.scope_separator ?? ' ',
    client_auth: set.client_auth ?? 'basic',
    account_field: set.account_field,
    authorize_params: set.authorize_params ?? {},
    ...who,
  }
}

/** Whether there would be a client, by the sources at which the team has an account of its own. */
export function isSetUp(app: App, provider: SourceSlug, own: Set<string>) {
  const { authorize_url, token_url, client_id, client_secret } = settingOf(app, provider)
  return Boolean(authorize_url && token_url && (own.has(provider) || (client_id && client_secret)))
}

export async function requireClient(app: App, team_id: string, provider: SourceSlug) {
  const client = await clientFor(app, team_id, provider)
  if (!client) throw notConfigured(provider)
  return client
}

const notConfigured = (provider: SourceSlug) =>
  problem(
    'SOURCE_NOT_CONFIGURED',
    `${sources[provider].name} cannot be connected yet: set the team's credentials with POST /v1/org/{org_id}/team_custom_credentials/{env}/{region}, or ask the operator to set OAUTH_SOURCES.`,
  )

/** Every scope of a source; undefined where nobody listed them. */
export function scopesKnownOf(app: App, provider: SourceSlug) {
  const { reads, other, scopes } = settingOf(app, provider)
  const known = [...new Set([...Object.keys(reads ?? {}), ...(other ?? []), ...(scopes ?? [])])]
  return known.length ? known : undefined
}

const settingOf = ({ config }: App, provider: SourceSlug) => ({
  ...knownSources[provider],
  ...(config.OAUTH_SOURCES as Partial<Record<SourceSlug, (typeof config.OAUTH_SOURCES)['fitbit']>>)[provider],
})

/** Turned around: the scopes of each resource. */
function needsOf(reads: Record<string, string[]>) {
  const pairs = Object.entries(reads).flatMap(([scope, resources]) => resources.map((resource) => ({ resource, scope })))
  return Object.fromEntries(
    [...Map.groupBy(pairs, ({ resource }) => resource)].map(([resource, list]) => [resource, list.map(({ scope }) => scope)]),
  )
}

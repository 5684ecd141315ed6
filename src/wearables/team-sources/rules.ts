import { resourcesOf, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { invalid, problem } from '../../platform/problem.ts'

export type Details = { [name: string]: unknown }

const SECRET = /secret|token|password|key/i

/** Masks the secrets in the details of a credential. */
export const maskCredential = (details: Details): Details =>
  Object.fromEntries(Object.entries(details).map(([name, value]) => [name, SECRET.test(name) && value !== null ? '…' : maskValue(value)]))

function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue)
  return value && typeof value === 'object' ? maskCredential(value as Details) : value
}

/** A client needs both values. */
export function checkComplete({ client_id, client_secret }: { client_id: string | null; client_secret: string | null }) {
  if (!client_id || !client_secret) throw problem('CREDENTIALS_INCOMPLETE', 'Send client_id and client_secret. New credentials need both.')
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** Allows https without credentials and, in the sandbox, http on a loopback address. */
export function isAllowedRedirect(text: string, isSandbox: boolean) {
  const url = /^[!-~]{1,2048}$/.test(text) ? URL.parse(text) : null
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (isSandbox && url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}

export function checkOverride(text: string, isSandbox: boolean) {
  if (!isAllowedRedirect(text, isSandbox) || text.includes('#'))
    throw invalid(
      ['body', 'redirect_url_override'],
      "Must be an https URL without a fragment. It must forward requests to Assay's callback URL.",
    )
}

/** The requested teams that the caller can access. Undefined means every team of the organization. */
export function narrowTeams(visible: string[] | undefined, requested: string[] | undefined) {
  if (!requested?.length) return visible
  return visible ? requested.filter((id) => visible.includes(id)) : requested
}

/** An unknown scope would make every connection fail. */
export function checkScopes(
  provider: string,
  allowed: string[] | undefined,
  { user_must_grant, user_may_grant }: Record<string, string[]>,
) {
  for (const [field, scopes] of Object.entries({ user_must_grant, user_may_grant }))
    for (const scope of scopes ?? [])
      if (allowed && !allowed.includes(scope))
        throw invalid(['body', provider, field], `Must be scopes of ${provider}: ${allowed.join(', ')}.`, 'enum')
}

/** Rejects more history than the source has, and unknown resources. */
export function checkDays(provider: SourceSlug, days: number, overrides: readonly (readonly [string, number])[]) {
  const { backfill_days } = sources[provider]
  const allowed = resourcesOf(sources[provider])
  const at = (field: string) => ['body', 'providers', provider, field]
  if (days > backfill_days) throw invalid(at('default'), `Must be at most ${backfill_days} days for ${provider}.`)
  for (const [resource, wanted] of overrides) {
    if (!allowed.includes(resource))
      throw invalid(at('resource_overrides'), `Must be resources of ${provider}: ${allowed.join(', ')}.`, 'enum')
    if (wanted > backfill_days) throw invalid(at('resource_overrides'), `Must be at most ${backfill_days} days for ${provider}.`)
  }
}

import { isSource, type SourceSlug, sourceSlugs } from '../../contract/tenants/sources.ts'
import type { linkErrorTypes } from '../../contract/wearables/link.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { isAllowedRedirect } from '../team-sources/rules.ts'

/** The reasons for a failed connection, by their names in the Junction API. */
export const linkErrors = {
  invalid_token: 'This link is not valid. Ask for a new one.',
  token_expired: 'This link has expired. Ask for a new one.',
  token_consumed: 'This link was already used. Ask for a new one to connect another source.',
  provider_credential_error: 'The source did not accept your sign-in. Check your sign-in details and try again.',
  provider_password_expired: 'Your password at the source has expired. Change it there and try again.',
  provider_api_error: 'The source could not be reached or sent an invalid response. Try again later.',
  unsupported_region: 'The source does not work in this region.',
  duplicate_connection: 'This account is already connected to another user.',
  required_scopes_not_granted: 'You did not grant every required permission at the source. Try again and grant all of them.',
  incorrect_mfa_code: 'The code is incorrect. Try again.',
  user_cancelled: 'You canceled the connection at the source.',
} as const satisfies Partial<Record<(typeof linkErrorTypes)[number], string>>

export type LinkError = keyof typeof linkErrors

export type Outcome = { state: 'success' } | { state: 'error'; error_type: LinkError; error: string }

export const linkSucceeded: Outcome = { state: 'success' }

type Failure = Extract<Outcome, { state: 'error' }>

export const linkFailed = (error_type: LinkError): Failure => ({ state: 'error', error_type, error: linkErrors[error_type] })

/** Adds the outcome to the redirect URL and keeps its own parameters. */
export function returnUrl(redirect_url: string, outcome: Outcome) {
  const url = new URL(redirect_url)
  for (const [name, value] of Object.entries(outcome)) url.searchParams.set(name, value)
  return url.href
}

type Token = { expires_at: string; consumed_at: string | null }

/** The reason why a token cannot be used. */
export function tokenFailure(token: Token | undefined, now: string): TokenFailure | undefined {
  if (!token) return 'invalid_token'
  if (token.consumed_at) return 'token_consumed'
  return token.expires_at <= now ? 'token_expired' : undefined
}

const errorTypes = {
  invalid_token: 'INVALID_LINK_TOKEN',
  token_expired: 'LINK_TOKEN_EXPIRED',
  token_consumed: 'LINK_TOKEN_CONSUMED',
} as const

export type TokenFailure = keyof typeof errorTypes

export const isTokenFailure = (error: LinkError): error is TokenFailure => Object.hasOwn(errorTypes, error)

/** Has the three fields that Junction clients read, too. */
export const tokenProblem = (error: TokenFailure) =>
  problem(errorTypes[error], `${linkErrors[error]} POST /v2/link/token creates one.`, {}, linkFailed(error))

export function checkToken<T extends Token>(token: T | undefined, now: string): T {
  const error = tokenFailure(token, now)
  if (error) throw tokenProblem(error)
  return token as T
}

/** Browsers are redirected only to URLs that the customer set with an API key. */
export function checkRedirectUrl(text: string, isSandbox: boolean) {
  if (!isAllowedRedirect(text, isSandbox))
    throw invalid(
      ['body', 'redirect_url'],
      `Must be an https URL${isSandbox ? ' (or http on a loopback address)' : ''} without credentials, of at most 2048 characters.`,
    )
}

type TokenSources = { provider: string | null; filter_on_providers: string[] | null }

/** The sources that a token covers. */
export function sourcesOf({ provider, filter_on_providers }: TokenSources): SourceSlug[] {
  const covered = provider ? [provider] : filter_on_providers
  return covered ? covered.filter(isSource) : sourceSlugs
}

export function checkCovered(token: TokenSources, slug: SourceSlug) {
  if (!sourcesOf(token).includes(slug))
    throw problem(
      'SOURCE_NOT_OFFERED',
      'This link token does not cover the source. GET /v2/link/providers lists the sources that it covers.',
    )
}

export const MAX_WRONG_CODES = 5

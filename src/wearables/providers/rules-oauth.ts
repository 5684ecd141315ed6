import { createHash, createHmac, type KeyObject } from 'node:crypto'
import type { ServiceAccount } from '../../contract/wearables/oauth-setting.ts'

/** How the tokens of a source differ from RFC 6749. */
export type TokenRules = {
  /** Additional fields of the request for tokens. */
  exchangeFields?: Record<string, string>
  /** Additional fields of the request for new tokens. */
  renewalFields?: Record<string, string>
  /** Takes the tokens out of an envelope, and finds errors in responses with status 200. */
  open?(response: unknown): OpenedResponse
  /** The name of a granted scope, as the source spells it in requests. */
  scopeOf?(name: string): string
}

type OpenedResponse = { state: 'tokens'; tokens: unknown } | { state: 'refused'; reason: 'client' | 'grant' } | { state: 'unavailable' }

/** The endpoints and credentials of an OAuth 2 client. */
export type Client = {
  authorize_url: string
  token_url: string
  revoke_url: string | undefined
  scopes: string[]
  /** The scopes that each resource requires. */
  needs: Record<string, string[]>
  /** All scopes of the source. Undefined if unknown. */
  allScopes: string[] | undefined
  scope_separator: string
  client_auth: 'basic' | 'body'
  revoke_auth: 'basic' | 'body'
  account_field: string | undefined
  /** The base of the API, if Assay reads the source. */
  api_url?: string | undefined
  tokenRules?: TokenRules | undefined
  authorize_params: Record<string, string>
  service_account?: ServiceAccount | undefined
  client_id: string
  client_secret: string
  redirect_uri: string
}

/** The PKCE verifier is derived from the state with a key, so it need not be stored. */
export const verifierOf = (key: KeyObject, state: string) => createHmac('sha256', key).update(state).digest('base64url')

export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

type AuthorizeRequest = { state: string; challenge: string; scopes: string[] }

/** The URL where the user grants access. */
export function authorizeUrl(client: Client, { state, challenge, scopes }: AuthorizeRequest) {
  const url = new URL(client.authorize_url)
  const parameters = {
    ...client.authorize_params,
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    ...(scopes.length ? { scope: scopes.join(client.scope_separator) } : {}),
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** A request to the token or revocation endpoint. */
export function clientRequest({ client_auth, client_id, client_secret }: Client, fields: Record<string, string>) {
  const form = new URLSearchParams(fields)
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'user-agent': 'Assay/1',
  }
  // RFC 6749 §2.3.1: both parts are form-encoded before they are joined.
  const encode = (text: string) => new URLSearchParams({ v: text }).toString().slice(2)
  if (client_auth === 'basic')
    headers['authorization'] = `Basic ${Buffer.from(`${encode(client_id)}:${encode(client_secret)}`).toString('base64')}`
  else for (const [name, value] of Object.entries({ client_id, client_secret })) form.set(name, value)
  return { headers, body: form.toString() }
}

export type GrantedTokens = {
  access_token: string
  refresh_token: string | null
  /** In seconds. Null if the source does not say. */
  expires_in: number | null
  granted: string[]
  external_user_id: string | null
}

/** Parses a token response. Undefined without an access token. */
export function parseGrant(client: Client, response: unknown, requestedScopes: string[]): GrantedTokens | undefined {
  if (!response || typeof response !== 'object') return undefined
  const { access_token, refresh_token, expires_in, scope } = response as Record<string, unknown>
  if (typeof access_token !== 'string' || !access_token) return undefined
  const seconds = Number(expires_in)
  return {
    access_token,
    refresh_token: typeof refresh_token === 'string' && refresh_token ? refresh_token : null,
    expires_in: expires_in !== undefined && Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 10 * YEAR) : null,
    // RFC 6749 §5.1: a response without scope grants the requested scopes.
    granted: typeof scope === 'string' ? grantedIn(client, scope) : requestedScopes,
    external_user_id: accountIn(client, response),
  }
}

const grantedIn = ({ tokenRules }: Client, scope: string) =>
  scope
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((name) => tokenRules?.scopeOf?.(name) ?? name)

const YEAR = 365 * 24 * 3600

function accountIn({ account_field }: Client, response: object) {
  const found = account_field
    ?.split('.')
    .reduce<unknown>((at, step) => (at as Record<string, unknown> | null | undefined)?.[step], response)
  return (typeof found === 'string' && found) || typeof found === 'number' ? String(found).slice(0, 200) : null
}

type Requirements = { user_must_grant: string[]; user_may_grant: string[] }

/** The scopes to request: those of the team, or the defaults of the source. */
export const scopesToRequest = ({ scopes }: Client, required: Requirements | undefined) =>
  required ? [...new Set([...required.user_must_grant, ...required.user_may_grant])] : scopes

export const lacksRequiredScopes = (required: Requirements | undefined, granted: string[]) =>
  (required?.user_must_grant ?? []).some((scope) => !granted.includes(scope))

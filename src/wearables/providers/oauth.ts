import type { App } from '../../platform/app.ts'
import { policyOf } from '../../platform/outbound/address.ts'
import { postOnce } from '../../platform/outbound/send.ts'
import { later, SECOND } from '../../platform/time.ts'
import { type Client, clientRequest, type GrantedTokens, parseGrant } from './rules-oauth.ts'
import { parseJson } from './untrusted.ts'

/** `refused` is permanent; `unavailable` is temporary. */
export type Tokens =
  | { state: 'granted'; granted: GrantedTokens; expires_at: string | null }
  | { state: 'refused'; reason: 'client' | 'grant' }
  | { state: 'unavailable' }

export const exchangeCode = (
  app: App,
  client: Client,
  { code, pkceVerifier: verifier, requestedScopes }: { code: string; pkceVerifier: string; requestedScopes: string[] },
) =>
  requestTokens(
    app,
    client,
    {
      ...{ grant_type: 'authorization_code', code, redirect_uri: client.redirect_uri, code_verifier: verifier },
      ...client.tokenRules?.exchangeFields,
    },
    requestedScopes,
  )

/** Keeps the old refresh token if the source does not rotate it. */
export async function renewTokens(app: App, client: Client, { refresh_token, scopes }: { refresh_token: string; scopes: string[] }) {
  const response = await requestTokens(
    app,
    client,
    { grant_type: 'refresh_token', refresh_token, ...client.tokenRules?.renewalFields },
    scopes,
  )
  if (response.state !== 'granted') return response
  return { ...response, granted: { ...response.granted, refresh_token: response.granted.refresh_token ?? refresh_token } }
}

/** Revokes a token (RFC 7009). Returns false if it must be retried. */
export async function revokeToken(app: App, client: Client, token: string) {
  if (!client.revoke_url) return true
  const { ok, status, response_body } = await post(
    app,
    client.revoke_url,
    clientRequest({ ...client, client_auth: client.revoke_auth }, { token }),
  )
  if (ok) return true
  // A source that does not accept the credentials of the application has revoked nothing. They can be corrected.
  const { error } = (parseJson(response_body) ?? {}) as { error?: unknown }
  if (status === 401 || error === 'invalid_client') return false
  // Another request would not change another client error.
  return status !== null && status >= 400 && status < 500 && status !== 429
}

async function requestTokens(app: App, client: Client, fields: Record<string, string>, requestedScopes: string[]): Promise<Tokens> {
  const { ok, status, response_body } = await post(app, client.token_url, clientRequest(client, fields))
  const response = parseJson(response_body)
  if (!ok) return refusalOf(status, response)
  const opened = client.tokenRules?.open?.(response) ?? { state: 'tokens', tokens: response }
  if (opened.state !== 'tokens') return opened
  const granted = parseGrant(client, opened.tokens, requestedScopes)
  if (!granted) return { state: 'unavailable' }
  return { state: 'granted', granted, expires_at: granted.expires_in === null ? null : later(app.wall(), granted.expires_in * SECOND) }
}

/** RFC 6749 §5.2: a refusal is 400 or 401 with JSON. Other responses come from a proxy or a failing source. */
function refusalOf(status: number | null, response: unknown): Tokens {
  if ((status !== 400 && status !== 401) || !response || typeof response !== 'object') return { state: 'unavailable' }
  const { error } = response as { error?: unknown }
  return { state: 'refused', reason: error === 'invalid_client' || error === 'unauthorized_client' ? 'client' : 'grant' }
}

/** Sources get the same limits as webhooks: no private addresses, no redirects, bounded time and size. */
const post = (app: App, url: string, { headers, body }: { headers: Record<string, string>; body: string }) =>
  postOnce(policyOf(app.config), { url, headers, body })

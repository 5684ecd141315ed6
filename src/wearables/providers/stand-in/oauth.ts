import { createHash, randomBytes } from 'node:crypto'
import { later, MINUTE } from '../../../platform/time.ts'

export type OAuthClient = { client_id: string; client_secret: string }
export type Grant = { user: string; scopes: string[] }
type Code = Grant & { redirect_uri: string; challenge: string | undefined; expires_at: string }
type Refresh = Grant & { replacedBy?: string; expires_at?: string }

export type Refusal = 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type'
export type Issued = Grant & { access_token: string; refresh_token: string }

type Options = {
  client: OAuthClient
  now(): string
  /** How long an access token works, and a code. */
  accessMs: number
  codeMs?: number
  /** A replaced refresh token works this long, or until the new access token is used. */
  graceMs?: number
  /** Whether a refresh token works many times. */
  keepsRefresh?: boolean
  /** Whether a renewal ends the access tokens of the user too. */
  renewalEndsAccess?: boolean
}

/** The tokens of a cloud: codes and refresh tokens work once, access tokens for their time. */
export function newTokens({
  client,
  now,
  accessMs,
  codeMs = 10 * MINUTE,
  graceMs = 0,
  keepsRefresh = false,
  renewalEndsAccess = false,
}: Options) {
  const codes = new Map<string, Code>()
  const access = new Map<string, Grant & { expires_at: string }>()
  const refresh = new Map<string, Refresh>()
  const newToken = () => randomBytes(24).toString('base64url').toUpperCase()

  function newCode({ redirect_uri, code_challenge }: Record<string, string>, grant: Grant) {
    const code = newToken()
    codes.set(code, { ...grant, redirect_uri: redirect_uri as string, challenge: code_challenge, expires_at: later(now(), codeMs) })
    return code
  }

  function issue({ user, scopes }: Grant): Issued {
    const [access_token, refresh_token] = [newToken(), newToken()]
    access.set(access_token, { user, scopes, expires_at: later(now(), accessMs) })
    refresh.set(refresh_token, { user, scopes })
    return { access_token, refresh_token, user, scopes }
  }

  function exchange(form: Record<string, string>): Issued | Refusal {
    const code = codes.get(form['code'] ?? '')
    codes.delete(form['code'] ?? '')
    const challenge = form['code_verifier'] && createHash('sha256').update(form['code_verifier']).digest('base64url')
    const isValid =
      code && code.expires_at > now() && code.redirect_uri === form['redirect_uri'] && (!code.challenge || code.challenge === challenge)
    return isValid ? issue(code) : 'invalid_grant'
  }

  function renew(token: string): Issued | Refusal {
    const grant = refresh.get(token)
    if (!grant || (grant.expires_at && grant.expires_at <= now())) return 'invalid_grant'
    if (renewalEndsAccess) for (const [old, { user }] of access) if (user === grant.user) access.delete(old)
    const issued = issue(grant)
    if (keepsRefresh) refresh.delete(issued.refresh_token)
    if (keepsRefresh) return { ...issued, refresh_token: token }
    if (graceMs) refresh.set(token, { ...grant, replacedBy: issued.access_token, expires_at: later(now(), graceMs) })
    else refresh.delete(token)
    return issued
  }

  /** Answers a request for tokens. Returns why it is refused. */
  function token(form: Record<string, string>): Issued | Refusal {
    if (form['client_id'] !== client.client_id || form['client_secret'] !== client.client_secret) return 'invalid_client'
    if (form['grant_type'] === 'authorization_code') return exchange(form)
    return form['grant_type'] === 'refresh_token' ? renew(form['refresh_token'] ?? '') : 'unsupported_grant_type'
  }

  /** The owner of an access token, unless it has expired. Its use ends the refresh token that it replaced. */
  function ownerOf(token: string) {
    const found = access.get(token)
    for (const [old, { replacedBy }] of found ? refresh : []) if (replacedBy === token) refresh.delete(old)
    return found && found.expires_at > now() ? found : undefined
  }

  /** Ends all tokens of a user. */
  function revokeUser(user: string) {
    for (const tokens of [access, refresh]) for (const [token, grant] of tokens) if (grant.user === user) tokens.delete(token)
  }

  /** Ends all tokens of the user who has this one. Returns whether anybody has. */
  function revoke(token: string) {
    const grant = access.get(token) ?? refresh.get(token)
    if (grant) revokeUser(grant.user)
    return grant !== undefined
  }

  /** Ends the access tokens, as if their time had passed. */
  const expireAccess = () => access.clear()
  const isConnected = (user: string) => [...refresh.values()].some((grant) => grant.user === user)

  return { newCode, token, ownerOf, revoke, revokeUser, expireAccess, isConnected }
}

/** The token response of RFC 6749, or its refusal. */
export const tokenResponse = (result: Issued | Refusal, more: (issued: Issued) => object) =>
  typeof result === 'string'
    ? { status: result === 'invalid_client' ? 401 : 400, body: { error: result } }
    : {
        status: 200,
        body: { access_token: result.access_token, refresh_token: result.refresh_token, token_type: 'bearer', ...more(result) },
      }

export type Consent = {
  /** The name of the cloud on the page. */
  name: string
  path: string
  scopes: string[]
  separator: string
  accounts: string[]
}

/** The consent page. The user chooses an account and can untick scopes. */
export function consentPage({ name, path, separator, accounts }: Consent, query: Record<string, string>) {
  const hidden = Object.entries(query).map(
    ([field, value]) => `<input type="hidden" name="${escapeHtml(field)}" value="${escapeHtml(value)}">`,
  )
  const asked = (query['scope'] ?? '').split(separator).filter(Boolean)
  const boxes = asked.map(
    (scope) => `<label><input type="checkbox" name="granted" value="${escapeHtml(scope)}" checked> ${escapeHtml(scope)}</label><br>`,
  )
  const options = accounts.map((account) => `<option>${escapeHtml(account)}</option>`)
  return `<!doctype html><title>Simulated ${name}</title><h1>Simulated ${name} account</h1><form method="post" action="${path}">
${hidden.join('')}<p><label>Account <select name="user">${options.join('')}</select></label></p><p>${boxes.join('')}</p>
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>`
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

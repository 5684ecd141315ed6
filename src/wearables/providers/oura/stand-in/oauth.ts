import { createHash, randomBytes } from 'node:crypto'
import { DAY, later, MINUTE } from '../../../../platform/time.ts'

/** The scopes that the consent page knows. */
export const scopes = [
  ...['email', 'personal', 'daily', 'heartrate', 'workout', 'tag', 'session', 'spo2', 'spo2Daily'],
  ...['ring_configuration', 'heart_health', 'stress', 'reproductive_cycle'],
]

type Grant = { user: string; scopes: string[] }
type Code = Grant & { redirect_uri: string; challenge: string | undefined; expires_at: string }
export type Response = { status: number; body: object; headers?: Record<string, string> }

export type OAuthClient = { client_id: string; client_secret: string }

/** The tokens of the cloud: codes and refresh tokens work once, access tokens for a day. */
export function newTokens(client: OAuthClient, now: () => string) {
  const codes = new Map<string, Code>()
  const access = new Map<string, Grant & { expires_at: string }>()
  const refresh = new Map<string, Grant>()
  const newToken = () => randomBytes(24).toString('base64url').toUpperCase()

  function newCode({ redirect_uri, code_challenge }: Record<string, string>, grant: Grant) {
    const code = newToken()
    codes.set(code, { ...grant, redirect_uri: redirect_uri as string, challenge: code_challenge, expires_at: later(now(), 10 * MINUTE) })
    return code
  }

  function issue({ user, scopes }: Grant): Response {
    const [access_token, refresh_token] = [newToken(), newToken()]
    access.set(access_token, { user, scopes, expires_at: later(now(), DAY) })
    refresh.set(refresh_token, { user, scopes })
    const scope = scopes.map((name) => `extapi:${name}`).join(' ')
    return { status: 200, body: { access_token, refresh_token, token_type: 'bearer', expires_in: 86_400, scope } }
  }

  function exchange(form: Record<string, string>): Response {
    const code = codes.get(form['code'] ?? '')
    codes.delete(form['code'] ?? '')
    const challenge = form['code_verifier'] && createHash('sha256').update(form['code_verifier']).digest('base64url')
    const isValid =
      code && code.expires_at > now() && code.redirect_uri === form['redirect_uri'] && (!code.challenge || code.challenge === challenge)
    return isValid ? issue(code) : refusal('invalid_grant', 'The code is not valid.')
  }

  function renew(form: Record<string, string>): Response {
    const grant = refresh.get(form['refresh_token'] ?? '')
    refresh.delete(form['refresh_token'] ?? '')
    return grant ? issue(grant) : refusal('invalid_grant', 'The refresh token was already used or revoked.')
  }

  function token(form: Record<string, string>): Response {
    if (form['client_id'] !== client.client_id || form['client_secret'] !== client.client_secret)
      return { status: 401, body: { error: 'invalid_client' } }
    if (form['grant_type'] === 'authorization_code') return exchange(form)
    return form['grant_type'] === 'refresh_token' ? renew(form) : refusal('unsupported_grant_type', 'Unknown grant type.')
  }

  /** The owner of an access token, unless it has expired. */
  function ownerOf(token: string) {
    const found = access.get(token)
    return found && found.expires_at > now() ? found : undefined
  }

  /** Ends all tokens of a user. */
  function revokeUser(user: string) {
    for (const tokens of [access, refresh]) for (const [token, grant] of tokens) if (grant.user === user) tokens.delete(token)
  }

  function revoke(token: string): Response {
    const grant = access.get(token) ?? refresh.get(token)
    if (!grant) return { status: 401, body: { detail: 'The token is not valid.' } }
    revokeUser(grant.user)
    return { status: 200, body: {} }
  }

  /** Ends the access tokens, as if a day had passed. */
  const expireAccess = () => access.clear()
  const isConnected = (user: string) => [...refresh.values()].some((grant) => grant.user === user)

  return { newCode, token, ownerOf, revoke, revokeUser, expireAccess, isConnected }
}

const refusal = (error: string, error_description: string): Response => ({ status: 400, body: { error, error_description } })

/** The consent page. The user chooses an account and can untick scopes. */
export function consentPage(query: Record<string, string>, users: string[]) {
  const hidden = Object.entries(query).map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  const asked = (query['scope'] ?? '').split(' ').filter(Boolean)
  const boxes = asked.map(
    (scope) => `<label><input type="checkbox" name="granted" value="${escapeHtml(scope)}" checked> ${escapeHtml(scope)}</label><br>`,
  )
  const options = users.map((user) => `<option>${escapeHtml(user)}</option>`)
  return `<!doctype html><title>Simulated Oura</title><h1>Simulated Oura account</h1><form method="post" action="/oauth/authorize">
${hidden.join('')}<p><label>Account <select name="user">${options.join('')}</select></label></p><p>${boxes.join('')}</p>
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>`
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

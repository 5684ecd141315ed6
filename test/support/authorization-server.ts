import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'
import { newUuid } from './seeded.ts'

type Code = { challenge: string; redirect_uri: string; scope: string; account: string; expired: boolean }

export type Authorization = Awaited<ReturnType<typeof openAuthorizationServer>>

/** An OAuth 2 server of a source, as strict as the RFCs allow: PKCE, single-use codes, rotating refresh tokens, and Basic to revoke one. */
export async function openAuthorizationServer(client = { id: 'harbor-app', secret: 'a secret: with / signs+' }) {
  const codes = new Map<string, Code>()
  const refreshTokens = new Map<string, { scope: string; account: string }>()
  const requests: { path: string; form: Record<string, string>; authorization: string | undefined }[] = []
  const revoked: string[] = []
  /** How the user or the source behaves from now on. */
  const behavior = {
    deny: false,
    deniedScopes: [] as string[],
    expireCodes: false,
    expires_in: 3600 as number | undefined,
    account: 'account-1',
    down: false,
    /** A response to every request instead of the usual one. */
    respondWith: undefined as { status: number; body: string } | undefined,
    rejectRefreshTokens: false,
    keepRefreshToken: false,
    holdUntil: undefined as Promise<unknown> | undefined,
  }

  /** Grants or denies access like the user would, and returns the redirect URL. */
  function authorize(url: URL): string {
    const query = Object.fromEntries(url.searchParams)
    const redirect = new URL(query['redirect_uri'] as string)
    if (query['response_type'] !== 'code' || query['client_id'] !== client.id || query['code_challenge_method'] !== 'S256')
      throw new Error('not a request for authorization')
    redirect.searchParams.set('state', query['state'] as string)
    if (behavior.deny) redirect.searchParams.set('error', 'access_denied')
    else redirect.searchParams.set('code', newCode(query as Record<string, string>))
    return redirect.href
  }

  function newCode(query: Record<string, string>) {
    const code = newUuid()
    const granted = (query['scope'] ?? '').split(' ').filter((scope) => scope && !behavior.deniedScopes.includes(scope))
    const { code_challenge: challenge = '', redirect_uri = '' } = query
    codes.set(code, { challenge, redirect_uri, scope: granted.join(' '), account: behavior.account, expired: behavior.expireCodes })
    return code
  }

  function tokens({ scope, account }: { scope: string; account: string }, rotates = true) {
    const refresh_token = newUuid()
    if (rotates) refreshTokens.set(refresh_token, { scope, account })
    return {
      access_token: newUuid(),
      token_type: 'Bearer',
      ...(behavior.expires_in === undefined ? {} : { expires_in: behavior.expires_in }),
      ...(rotates ? { refresh_token } : {}),
      scope,
      user: { id: account },
    }
  }

  function exchange(form: Record<string, string>): [number, object] {
    const code = codes.get(form['code'] ?? '')
    codes.delete(form['code'] ?? '')
    const challenge = createHash('sha256')
      .update(form['code_verifier'] ?? '')
      .digest('base64url')
    if (!code || code.expired || code.redirect_uri !== form['redirect_uri'] || code.challenge !== challenge)
      return [400, { error: 'invalid_grant' }]
    return [200, tokens(code)]
  }

  function refresh(form: Record<string, string>): [number, object] {
    const grant = refreshTokens.get(form['refresh_token'] ?? '')
    if (!grant || behavior.rejectRefreshTokens) return [400, { error: 'invalid_grant' }]
    if (behavior.keepRefreshToken) return [200, tokens(grant, false)]
    refreshTokens.delete(form['refresh_token'] as string)
    return [200, tokens(grant)]
  }

  function isAuthenticated({ authorization }: IncomingMessage['headers'], form: Record<string, string>) {
    const decode = (text: string) => new URLSearchParams(`v=${text}`).get('v')
    const [id = '', secret = ''] = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':')
    return authorization
      ? decode(id) === client.id && decode(secret) === client.secret
      : form['client_id'] === client.id && form['client_secret'] === client.secret
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '', origin)
    if (url.pathname === '/authorize') return response.writeHead(302, { location: authorize(url) }).end()
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)))
    requests.push({ path: url.pathname, form, authorization: request.headers.authorization })
    await behavior.holdUntil
    if (behavior.down) return response.writeHead(503).end('<html>')
    if (behavior.respondWith) return response.writeHead(behavior.respondWith.status).end(behavior.respondWith.body)
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (!isAuthenticated(request.headers, form)) return send(401, { error: 'invalid_client' })
    if (url.pathname === '/revoke') {
      if (!request.headers.authorization) return send(401, { error: 'invalid_client' })
      revoked.push(form['token'] as string)
      refreshTokens.delete(form['token'] as string)
      return send(200, {})
    }
    return send(...(form['grant_type'] === 'refresh_token' ? refresh(form) : exchange(form)))
  }

  const server = createServer(handle)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    origin,
    client,
    behavior,
    requests,
    revoked,
    /** Opens an authorization URL like the user would and returns the redirect URL. */
    visit: (oauth_url: string) => authorize(new URL(oauth_url)),
    isLive: (refresh_token: string) => refreshTokens.has(refresh_token),
    /** An entry of OAUTH_SOURCES. */
    setting: (more: object = {}) => ({
      authorize_url: `${origin}/authorize`,
      token_url: `${origin}/token`,
      revoke_url: `${origin}/revoke`,
      account_field: 'user.id',
      client_auth: 'basic',
      ...more,
    }),
  }
}

async function bodyOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

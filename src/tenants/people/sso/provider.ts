import type { Configuration } from 'openid-client'
import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { type Config, publicUrl } from '../../../platform/config.ts'
import { HOUR } from '../../../platform/time.ts'
import { identityOf, isIssued, joinClaims } from './rules.ts'

/** Secrets of one sign-in, which stay with the browser that started it. */
export type Flow = { state: string; nonce: string; verifier: string }

const TIMEOUT_S = 10
const REDISCOVER_MS = HOUR

type Discovered = { at: number; configuration: Promise<Configuration> }

const discovered = declareCache((): { current?: Discovered | undefined } => ({}))

/** The library loads on first use, because most deployments do not need it. */
const loadLibrary = () => import('openid-client')

/** The configuration of the provider, discovered once an hour. */
function discover(app: App) {
  const cache = discovered(app)
  const now = Date.parse(app.wall())
  if (cache.current && now - cache.current.at < REDISCOVER_MS) return cache.current.configuration
  const current = { at: now, configuration: discoverNow(app.config) }
  cache.current = current
  current.configuration.catch(() => {
    if (cache.current === current) cache.current = undefined
  })
  return current.configuration
}

async function discoverNow({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: Config) {
  const library = await loadLibrary()
  const issuer = new URL(OIDC_ISSUER as string)
  const execute = [
    // The signature is checked with the keys of the provider, even though the token comes over TLS.
    library.enableNonRepudiationChecks,
    // The settings allow http on a loopback address only.
    ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
  ]
  const authentication = OIDC_CLIENT_SECRET ? undefined : library.None()
  return library.discovery(issuer, OIDC_CLIENT_ID as string, OIDC_CLIENT_SECRET, authentication, { execute, timeout: TIMEOUT_S })
}

const redirectUri = (config: Config) => `${publicUrl(config)}/console/sso/callback`

/** The URL where the person signs in, and the secrets that the callback needs. */
export async function authorizationUrl(app: App): Promise<{ url: string; flow: Flow }> {
  const library = await loadLibrary()
  const flow = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() }
  const url = library.buildAuthorizationUrl(await discover(app), {
    redirect_uri: redirectUri(app.config),
    scope: app.config.OIDC_SCOPES,
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await library.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, flow }
}

/**
 * Exchanges the code and returns the person that the provider names. The library checks the state, and in the ID token the
 * signature, issuer, audience, nonce and times.
 */
export async function exchangeCode(app: App, search: string, { state, nonce, verifier }: Flow) {
  const library = await loadLibrary()
  const configuration = await discover(app)
  const tokens = await library.authorizationCodeGrant(configuration, new URL(`${redirectUri(app.config)}?${search}`), {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims || !isIssued(claims.iat, app.wall())) return undefined
  const groupsClaim = app.config.OIDC_GROUPS_CLAIM
  const isComplete = 'email' in claims && groupsClaim in claims
  // Some providers keep the ID token small and have the rest at the userinfo endpoint.
  const hasMore = !isComplete && configuration.serverMetadata().userinfo_endpoint
  const more = hasMore ? await library.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {}
  return { identity: identityOf(joinClaims(claims, more), groupsClaim) }
}

/** The code and the cause of a failure, without the values that a response may quote. */
export const failureFields = (error: unknown) => {
  const { code, error: reason } = error as { code?: unknown; error?: unknown }
  return {
    name: (error as Error).name,
    code: typeof code === 'string' ? code : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  }
}

/** How long a browser has to sign in at the provider. */
export const FLOW_SECONDS = 600

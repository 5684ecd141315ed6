import { randomBytes } from 'node:crypto'
import { isSource, type SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction, onTeamClock } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { tooMany } from '../../platform/problem.ts'
import { deriveSecret } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { later, MINUTE, secondsUntil } from '../../platform/time.ts'
import { hashSecret, newTeamSecret, teamOfSecret } from '../../tenants/keys/rules.ts'
import { identifyAccount } from '../providers/identify.ts'
import { exchangeCode, type Tokens } from '../providers/oauth.ts'
import { endAccess } from '../providers/revoke.ts'
import { authorizeUrl, type Client, challengeOf, lacksRequiredScopes, scopesToRequest, verifierOf } from '../providers/rules-oauth.ts'
import { clientFor, requireClient } from '../team-sources/oauth-client.ts'
import { requirementsOf } from '../team-sources/requirements.ts'
import { finishLink, withAudit } from './connect.ts'
import * as rules from './rules.ts'
import { linkSource } from './sources.ts'
import * as store from './store.ts'
import { findTokenById } from './tokens.ts'

/** The user has this long to sign in at the source. */
const FLOW_LIFETIME_MS = 10 * MINUTE
export const MAX_OPEN_FLOWS = 20
const STATE_PREFIX = 'st_'

type StartOptions = {
  /** A secret of the browser that binds the flow to it, on the link page. */
  browser?: string | undefined
  region?: string | null | undefined
}

/** Starts an OAuth flow. */
export async function startOAuth(app: App, { team_id, key_id }: LinkCaller, provider: SourceSlug, { browser, region }: StartOptions = {}) {
  const token = await store.getToken(app.db, team_id, key_id)
  rules.checkCovered(token, provider)
  const client = await requireClient(app, team_id, provider, region ?? undefined)
  const scopes = scopesToRequest(client, await requirementsOf(app, team_id, provider))
  const state = newTeamSecret(STATE_PREFIX, team_id)
  await inTransaction(app, async (app) => {
    await store.lockToken(app.db, team_id, key_id)
    const { count, first_ends_at } = await store.countFlows(app.db, token, app.wall())
    if (count >= MAX_OPEN_FLOWS)
      throw tooMany(
        'TOO_MANY_LINKS',
        'This link token started too many sign-ins. Wait ten minutes, or create a new token.',
        secondsUntil(first_ends_at, app.wall()),
      )
    await store.insertFlow(app.db, {
      ...{ state_hash: hashSecret(state), team_id, link_token_id: key_id, provider, scopes, redirect_uri: client.redirect_uri },
      ...{ browser_hash: browser ? hashSecret(browser) : null, expires_at: later(app.wall(), FLOW_LIFETIME_MS), region: region ?? null },
    })
  })
  const challenge = challengeOf(await pkceVerifier(app, team_id, state))
  return { ...linkSource(app, provider), oauth_url: authorizeUrl(client, { state, challenge, scopes }) }
}

const pkceVerifier = async (app: App, team_id: string, state: string) =>
  verifierOf(deriveSecret(await teamSealingKey(app, team_id), 'oauth verifiers'), state)

type OAuthCallback = { state?: string | undefined; code?: string | undefined; error?: string | undefined; browser?: string | undefined }

/** Finishes an OAuth flow. Without a valid token there is only an outcome to show. */
export async function finishOAuth(app: App, { state, code, error, browser }: OAuthCallback) {
  const team_id = state && teamOfSecret(state)
  const flow = team_id ? await store.consumeFlow(app.db, team_id, hashSecret(state)) : undefined
  if (!flow || !state || !isSource(flow.provider) || flow.expires_at <= app.wall() || !isSameBrowser(flow, browser))
    return { outcome: rules.linkFailed('invalid_token') }
  const token = await findTokenById(app, flow.team_id, flow.link_token_id)
  const tokenError = rules.tokenFailure(token, app.wall())
  if (!token || tokenError) return { outcome: rules.linkFailed(tokenError ?? 'invalid_token') }
  const startedFrom = flow.browser_hash ? ('page' as const) : ('api' as const)
  const outcome = await outcomeOf(onTeamClock(app, token), token, { ...flow, provider: flow.provider }, { state, code, error })
  return { token, startedFrom, provider: flow.provider, outcome }
}

const isSameBrowser = ({ browser_hash }: store.Flow, browser: string | undefined) =>
  !browser_hash || (browser !== undefined && hashSecret(browser).equals(browser_hash))

type OAuthFlow = Omit<store.Flow, 'provider'> & { provider: SourceSlug }

async function outcomeOf(app: App, token: store.LiveToken, flow: OAuthFlow, { state, code, error }: OAuthCallback & { state: string }) {
  if (error === 'access_denied') return rules.linkFailed('user_cancelled')
  if (error || !code) return rules.linkFailed('provider_api_error')
  const configured = await clientFor(app, flow.team_id, flow.provider, flow.region ?? undefined)
  if (!configured) return rules.linkFailed('provider_credential_error')
  const client = { ...configured, redirect_uri: flow.redirect_uri }
  const tokens = await exchangeCode(app, client, {
    code,
    pkceVerifier: await pkceVerifier(app, flow.team_id, state),
    requestedScopes: flow.scopes,
  })
  if (tokens.state !== 'granted')
    return rules.linkFailed(tokens.state === 'refused' && tokens.reason === 'client' ? 'provider_credential_error' : 'provider_api_error')
  const outcome = await connect(app, token, flow, client, tokens)
  // The connection failed, so the granted token is revoked.
  if (outcome.state === 'error') {
    const { external_user_id, granted: scopes } = tokens.granted
    await endAccess(app, client, flow.provider, { external_user_id, tokens: tokens.granted, scopes })
  }
  return outcome
}

async function connect(
  app: App,
  token: store.LiveToken,
  { provider, scopes, region }: OAuthFlow,
  client: Client,
  tokens: Tokens & { state: 'granted' },
) {
  const { access_token, refresh_token, granted } = tokens.granted
  if (lacksRequiredScopes(await requirementsOf(app, token.team_id, provider), granted))
    return rules.linkFailed('required_scopes_not_granted')
  const identity = await identifyAccount(app, client, provider, tokens.granted)
  if (identity.state === 'unknown') return rules.linkFailed('provider_api_error')
  const { external_user_id } = identity
  const denied = scopes.filter((scope) => !granted.includes(scope))
  const grant = { granted, denied, needs: client.needs }
  const account = { external_user_id, tokens: { access_token, refresh_token }, grant, ...(region ? { region } : {}) }
  return finishLink(withAudit(app, token, 'finishOAuth'), token, provider, { kind: 'oauth', account, expires_at: tokens.expires_at })
}

/** A secret that only the browser stores. It proves that the same browser returns. */
export const newBrowserSecret = () => randomBytes(32).toString('base64url')

import { randomUUID } from 'node:crypto'
import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { LinkCaller, TeamCaller } from '../../platform/callers.ts'
import { publicUrl } from '../../platform/config.ts'
import { DAY, HOUR, later } from '../../platform/time.ts'
import { hashSecret, LINK_TOKEN_PREFIX, newTeamSecret, teamOfSecret } from '../../tenants/keys/rules.ts'
import { isCreatorLive } from '../../tenants/tokens/creators.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const LIFETIME_MS = HOUR

type NewToken = {
  user_id: string
  provider?: SourceSlug | null | undefined
  redirect_url?: string | null | undefined
  filter_on_providers?: SourceSlug[] | null | undefined
  on_error?: 'redirect' | null | undefined
  on_close?: 'redirect' | null | undefined
}

/** Creates a token for one connection, and the URL of its link page. */
export const createLinkToken = (app: App, { team_id, key_id }: TeamCaller, { user_id, ...options }: NewToken) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id)
    if (options.redirect_url) rules.checkRedirectUrl(options.redirect_url, app.config.ENVIRONMENT === 'sandbox')
    const link_token = newTeamSecret(LINK_TOKEN_PREFIX, team_id)
    const now = app.wall()
    await store.insertToken(app.db, {
      ...{ id: randomUUID(), hash: hashSecret(link_token), team_id, user_id, key_id, created_at: now, expires_at: later(now, LIFETIME_MS) },
      ...{ provider: options.provider ?? null, filter_on_providers: options.filter_on_providers ?? null },
      ...{
        redirect_url: options.redirect_url ?? null,
        on_error: options.on_error === 'redirect',
        on_close: options.on_close === 'redirect',
      },
    })
    return { link_token, link_web_url: `${publicUrl(app.config)}/link?token=${link_token}` }
  })

/** Authenticates a link token. */
export const authenticateLinkToken = async (app: App, secret: string): Promise<LinkCaller> => callerOf(await readToken(app, secret))

export const callerOf = ({ id: key_id, org_id, team_id, user_id, clock_offset_ms }: store.LiveToken): LinkCaller => ({
  ...{ kind: 'link', org_id, team_id, user_id, key_id, clock_offset_ms },
})

/** Returns a usable token or throws. */
const readToken = async (app: App, secret: string) => rules.checkToken(await findToken(app, secret), app.wall())

/** Finds a live token in the team that its secret names. */
export async function findToken(app: App, secret: string) {
  const team_id = teamOfSecret(secret)
  return team_id ? whileCreatorLive(app, await store.findToken(app.db, team_id, hashSecret(secret))) : undefined
}

/** Finds a live token by its ID. */
export const findTokenById = async (app: App, team_id: string, id: string) =>
  whileCreatorLive(app, await store.findTokenById(app.db, team_id, id))

/** A token ends with the key or person that created it. */
const whileCreatorLive = async (app: App, token: store.LiveToken | undefined) =>
  token && (await isCreatorLive(app, token.team_id, token.key_id)) ? token : undefined

export async function isTokenValid(app: App, { team_id }: TeamCaller, secret: string) {
  const token = await findToken(app, secret)
  return { valid: token?.team_id === team_id && !rules.tokenFailure(token, app.wall()) }
}

/** Consumes the token in the caller's transaction. Returns the reason if another request consumed it first. */
export async function consumeToken(app: AppInTransaction, team_id: string, id: string) {
  const token = await store.lockToken(app.db, team_id, id)
  const tokenError = rules.tokenFailure(token, app.wall())
  if (!tokenError) await store.updateToken(app.db, token, { consumed_at: app.wall(), mfa_provider: null, mfa_sealed: null })
  return tokenError
}

/** Tokens stay for a day, so that the error can name the expiry. */
export async function pruneLinks(app: App) {
  const now = app.wall()
  await store.deleteExpiredFlows(app.db, now)
  await store.deleteExpiredTokens(app.db, later(now, -DAY))
}

import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller, TeamCaller } from '../../platform/callers.ts'
import { deploymentOf } from '../../platform/config.ts'
import { problem } from '../../platform/problem.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { hashSecret, newTeamSecret, rateLimitsOf, TOKEN_PREFIX, teamOfSecret } from '../keys/rules.ts'
import { requireTeam } from '../teams/actions.ts'
import { checkNamedDeployment } from '../teams/rules.ts'
import * as store from './store.ts'

const LIFETIME_MS = 10 * MINUTE

export const createAccessToken = (app: App, caller: ManagementCaller, team_id: string, env: string) =>
  inTransaction(app, async (app) => {
    const { key_id } = caller
    if (!key_id)
      throw problem(
        'MANAGEMENT_KEY_REQUIRED',
        'You can only create an access token with a management key. Send the key in X-Management-Key.',
      )
    checkNamedDeployment(deploymentOf(app.config), { environment: env })
    await requireTeam(app, caller, team_id)
    const access_token = newTeamSecret(TOKEN_PREFIX, team_id)
    const expires_at = later(app.wall(), LIFETIME_MS)
    await store.insertAccessToken(app.db, {
      hash: hashSecret(access_token),
      team_id,
      management_key_id: key_id,
      expires_at,
    })
    return { access_token, expires_in: LIFETIME_MS / 1000 }
  })

export async function authenticateAccessToken(app: App, secret: string): Promise<TeamCaller> {
  const team = teamOfSecret(secret)
  const token = team && (await store.findAccessToken(app.db, team, hashSecret(secret), app.wall()))
  if (!token || token.deleted_at || token.expires_at <= app.wall())
    throw problem(
      'INVALID_ACCESS_TOKEN',
      'The access token is unknown or expired. Tokens are valid for 10 minutes; create a new one with the management API.',
    )
  const { org_id, team_id, key_id, plan, betas, clock_offset_ms, team_rate_limit } = token
  const rate_limits = rateLimitsOf(team_rate_limit)
  return { kind: 'team', token: true, org_id, team_id, key_id, read_only: false, plan, betas, clock_offset_ms, rate_limits }
}

export const pruneAccessTokens = (app: App) => store.deleteExpiredAccessTokens(app.db, app.wall())

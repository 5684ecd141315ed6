import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { HOUR, later } from '../../platform/time.ts'
import { hashSecret, newTeamSecret, rateLimitsOf, teamOfSecret, USER_TOKEN_PREFIX } from '../keys/rules.ts'
import { requireUser } from '../users/actions.ts'
import * as store from './store.ts'

/** A leaked token can only send data for one user, so an hour is safe and covers long uploads. */
const LIFETIME_MS = HOUR

/** Creates a token that a user's phone holds instead of the team's key. */
export const createUserToken = (app: App, { team_id, key_id }: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id)
    const sign_in_token = newTeamSecret(USER_TOKEN_PREFIX, team_id)
    const expires_at = later(app.wall(), LIFETIME_MS)
    await store.insertUserToken(app.db, { hash: hashSecret(sign_in_token), team_id, user_id, key_id, expires_at })
    return { user_id, sign_in_token, expires_in: LIFETIME_MS / 1000 }
  })

export async function authenticateUserToken(app: App, secret: string): Promise<TeamCaller> {
  const team = teamOfSecret(secret)
  const token = team && (await store.findUserToken(app.db, team, hashSecret(secret), app.wall()))
  if (!token || token.expires_at <= app.wall())
    throw problem(
      'INVALID_USER_TOKEN',
      'The sign-in token is unknown or expired, or the key that created it ended. Tokens are valid for one hour; create a new one with POST /v2/user/{user_id}/sign_in_token.',
    )
  const { expires_at: _, team_rate_limit, ...caller } = token
  return { kind: 'team', read_only: false, ...caller, rate_limits: rateLimitsOf(team_rate_limit) }
}

export const pruneUserTokens = (app: App) => store.deleteExpiredUserTokens(app.db, app.wall())

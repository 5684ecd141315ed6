import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { HOUR, later } from '../../platform/time.ts'
import { requireUser } from '../users/actions.ts'
import { hashOf, newSecret, USER_TOKEN_PREFIX } from './rules.ts'
import * as store from './store-user-tokens.ts'

/** A phone sends for hours on end; whoever finds the token reaches one user, and nothing can be read with it. */
const LIFE = HOUR

/** A token that a user's phone holds instead of the team's key. */
export const createUserToken = (app: App, { team_id, key_id }: TeamCaller, user_id: string) =>
  inTransaction(app, async (app) => {
    await requireUser(app, team_id, user_id)
    const sign_in_token = newSecret(USER_TOKEN_PREFIX)
    const expires_at = later(app.wall(), LIFE)
    await store.insertUserToken(app.db, { hash: hashOf(sign_in_token), team_id, user_id, key_id, expires_at })
    return { user_id, sign_in_token, expires_in: LIFE / 1000 }
  })

/** Whom a sign-in token stands for. */
export async function userTokenCaller(app: App, secret: string): Promise<TeamCaller> {
  const token = await store.findUserToken(app.db, hashOf(secret))
  if (!token || token.expires_at <= app.wall())
    throw problem(
      'INVALID_USER_TOKEN',
      'The sign-in token is unknown or has expired; tokens are good for an hour. Make a new one with POST /v2/user/{user_id}/sign_in_token.',
    )
  const { expires_at: _, ...caller } = token
  return { kind: 'team', read_only: false, ...caller }
}

export const pruneUserTokens = (app: App) => store.deleteExpiredUserTokens(app.db, app.wall())

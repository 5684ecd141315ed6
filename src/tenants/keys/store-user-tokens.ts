import type { Insertable } from 'kysely'
import { pruning } from '../../platform/db/any-team.ts'
import { hasLiveCreator } from '../../platform/db/live-teams.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export const insertUserToken = (db: Db, row: Insertable<Tables['user_tokens']>) => db.insertInto('user_tokens').values(row).execute()

/** The token works only while its user, its team and its creator are live. */
export const findUserToken = (db: Db, team_id: string, hash: Buffer, now: string) =>
  db
    .selectFrom('user_tokens as token')
    .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'token.team_id').onRef('users.user_id', '=', 'token.user_id'))
    .innerJoin('teams', 'teams.id', 'token.team_id')
    .innerJoin('orgs', 'orgs.id', 'teams.org_id')
    .select(['token.user_id', 'token.key_id', 'token.expires_at'])
    .select(['teams.id as team_id', 'teams.betas', 'teams.clock_offset_ms', 'teams.rate_limit as team_rate_limit'])
    .select(['orgs.id as org_id', 'orgs.plan'])
    .where('token.team_id', '=', team_id)
    .where('token.hash', '=', hash)
    .where('users.deleted_at', 'is', null)
    .where('teams.deleted_at', 'is', null)
    .where(hasLiveCreator(team_id, 'token.key_id', now))
    .executeTakeFirst()

export const deleteExpiredUserTokens = (db: Db, now: string) =>
  db.deleteFrom('user_tokens').where('expires_at', '<', now).modifyEnd(pruning('expired user tokens')).execute()

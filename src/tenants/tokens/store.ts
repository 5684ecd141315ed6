import { type Expression, type Insertable, sql } from 'kysely'
import { pruning } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

const teamColumns = [
  ...(['teams.id as team_id', 'teams.betas', 'teams.clock_offset_ms', 'teams.rate_limit as team_rate_limit'] as const),
  ...(['orgs.id as org_id', 'orgs.plan'] as const),
]

/**
 * Whether the key or person that created a token still has access to the team and may create one. A key that was rotated
 * counts as live while its successor is.
 */
const isLive = (team_id: string, creator: Expression<unknown>, now: string) => sql<boolean>`(
  exists (select from team_api_keys k where k.team_id = ${team_id}
    and k.id in (${creator}, (select old.successor_id from team_api_keys old where old.team_id = ${team_id} and old.id = ${creator}))
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}::timestamptz))
  or exists (select from management_keys k
    where k.id in (${creator}, (select old.successor_id from management_keys old where old.id = ${creator}))
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}::timestamptz)
    and (k.role = 'org_admin' or exists (select from management_key_teams bound where bound.key_id = k.id and bound.team_id = ${team_id})))
  or exists (select from people p where p.id = ${creator} and p.role in ('org_admin', 'team_admin')
    and (p.every_team or exists (select from person_teams bound where bound.person_id = p.id and bound.team_id = ${team_id}))))`

/** The team, if this creator of a token is live. */
export const findTeamOfCreator = (db: Db, team_id: string, creator_id: string, now: string) =>
  db
    .selectFrom('teams')
    .select('id')
    .where('id', '=', team_id)
    .where(isLive(team_id, sql`${creator_id}::uuid`, now))
    .executeTakeFirst()

export const insertAccessToken = (db: Db, row: Insertable<Tables['access_tokens']>) => db.insertInto('access_tokens').values(row).execute()

/** An access token ends when its management key is revoked or loses access to the team. */
export const findAccessToken = (db: Db, team_id: string, hash: Buffer, now: string) =>
  db
    .selectFrom('access_tokens as token')
    .innerJoin('teams', 'teams.id', 'token.team_id')
    .innerJoin('orgs', 'orgs.id', 'teams.org_id')
    .select(['token.management_key_id as key_id', 'token.expires_at', 'teams.deleted_at'])
    .select(teamColumns)
    .where('token.team_id', '=', team_id)
    .where('token.hash', '=', hash)
    .where(isLive(team_id, sql.ref('token.management_key_id'), now))
    .executeTakeFirst()

export const deleteExpiredAccessTokens = (db: Db, now: string) =>
  db.deleteFrom('access_tokens').where('expires_at', '<', now).modifyEnd(pruning('expired access tokens')).execute()

export const insertUserToken = (db: Db, row: Insertable<Tables['user_tokens']>) => db.insertInto('user_tokens').values(row).execute()

/** The token works only while its user, its team and its creator are live. */
export const findUserToken = (db: Db, team_id: string, hash: Buffer, now: string) =>
  db
    .selectFrom('user_tokens as token')
    .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'token.team_id').onRef('users.user_id', '=', 'token.user_id'))
    .innerJoin('teams', 'teams.id', 'token.team_id')
    .innerJoin('orgs', 'orgs.id', 'teams.org_id')
    .select(['token.user_id', 'token.key_id', 'token.expires_at'])
    .select(teamColumns)
    .where('token.team_id', '=', team_id)
    .where('token.hash', '=', hash)
    .where('users.deleted_at', 'is', null)
    .where('teams.deleted_at', 'is', null)
    .where(isLive(team_id, sql.ref('token.key_id'), now))
    .executeTakeFirst()

export const deleteExpiredUserTokens = (db: Db, now: string) =>
  db.deleteFrom('user_tokens').where('expires_at', '<', now).modifyEnd(pruning('expired user tokens')).execute()

import type { Insertable, Selectable, Updateable } from 'kysely'
import { pruning } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type LinkToken = Selectable<Tables['link_tokens']>
export type Flow = Selectable<Tables['oauth_flows']>

export const insertToken = (db: Db, row: Insertable<Tables['link_tokens']>) => db.insertInto('link_tokens').values(row).execute()

/** Tokens of a team, with the team. Deleted users and teams have none. The creator may have lost access. */
const liveTokens = (db: Db, team_id: string) =>
  db
    .selectFrom('link_tokens as token')
    .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'token.team_id').onRef('users.user_id', '=', 'token.user_id'))
    .innerJoin('teams', 'teams.id', 'token.team_id')
    .selectAll('token')
    .select(['teams.org_id', 'teams.clock_offset_ms', 'teams.name as team_name'])
    .where('token.team_id', '=', team_id)
    .where('users.deleted_at', 'is', null)
    .where('teams.deleted_at', 'is', null)

export type LiveToken = NonNullable<Awaited<ReturnType<typeof findToken>>>

export const findToken = (db: Db, team_id: string, hash: Buffer) =>
  liveTokens(db, team_id).where('token.hash', '=', hash).executeTakeFirst()

export const findTokenById = (db: Db, team_id: string, id: string) => liveTokens(db, team_id).where('token.id', '=', id).executeTakeFirst()

const tokens = (db: Db, team_id: string, id: string) =>
  db.selectFrom('link_tokens').selectAll().where('team_id', '=', team_id).where('id', '=', id)

export const getToken = (db: Db, team_id: string, id: string) => tokens(db, team_id, id).executeTakeFirstOrThrow()

export const lockToken = (db: Db, team_id: string, id: string) => tokens(db, team_id, id).forUpdate().executeTakeFirstOrThrow()

export const updateToken = (db: Db, { team_id, id }: LinkToken, change: Updateable<Tables['link_tokens']>) =>
  db.updateTable('link_tokens').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

export const insertFlow = (db: Db, row: Insertable<Tables['oauth_flows']>) => db.insertInto('oauth_flows').values(row).execute()

/** Deletes the flow, so that a state works only once. */
export const consumeFlow = (db: Db, team_id: string, state_hash: Buffer) =>
  db.deleteFrom('oauth_flows').where('team_id', '=', team_id).where('state_hash', '=', state_hash).returningAll().executeTakeFirst()

/** Counts the unexpired flows of a token. `first_ends_at` is the time when there is one less. */
export const countFlows = (db: Db, { team_id, id }: LinkToken, now: string) =>
  db
    .selectFrom('oauth_flows')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('expires_at').as('first_ends_at')])
    .where('team_id', '=', team_id)
    .where('link_token_id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()

/** Deletes expired flows of any team. */
export const deleteExpiredFlows = (db: Db, now: string) =>
  db.deleteFrom('oauth_flows').where('expires_at', '<', now).modifyEnd(pruning('expired OAuth flows')).execute()

/** Deletes expired tokens of any team. */
export const deleteExpiredTokens = (db: Db, before: string) =>
  db.deleteFrom('link_tokens').where('expires_at', '<', before).modifyEnd(pruning('expired link tokens')).execute()

import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'

/** Live users in a fixed order, with their keys. */
export const listUsersAfter = (db: Db, team_id: string, after: string | undefined, limit: number) =>
  db
    .selectFrom('users')
    .innerJoin('sealing_keys as key', (join) => join.onRef('key.team_id', '=', 'users.team_id').onRef('key.user_id', '=', 'users.user_id'))
    .select(['users.user_id', 'key.id as key_id', 'key.wrapped'])
    .select(sql<JsonRow>`to_jsonb(users)`.as('row'))
    .where('users.team_id', '=', team_id)
    .where('users.deleted_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('users.user_id', '>', after as string))
    .orderBy('users.user_id')
    .limit(limit)
    .execute()

/** The team of a user, who can be of any team. */
export const findTeamOfUser = (db: Db, user_id: string) =>
  db.selectFrom('users').select('team_id').where('user_id', '=', user_id).modifyEnd(anyTeam('the team of a user')).executeTakeFirst()

/** Keeps the user from being erased until the transaction ends. */
export const keepUser = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('users').select('user_id').where('team_id', '=', team_id).where('user_id', '=', user_id).forKeyShare().execute()

export const insertUser = (db: Db, row: JsonRow) => insertJson(db.insertInto('users'), 'users', [row])

import type { Insertable } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export const insertSealingKey = (db: Db, row: Insertable<Tables['sealing_keys']>) => db.insertInto('sealing_keys').values(row).execute()

const keysOfTeam = (db: Db, team_id: string) => db.selectFrom('sealing_keys').select(['id', 'wrapped']).where('team_id', '=', team_id)

export const getTeamSealingKey = (db: Db, team_id: string) => keysOfTeam(db, team_id).where('user_id', 'is', null).executeTakeFirstOrThrow()

export const findUserSealingKey = (db: Db, team_id: string, user_id: string) =>
  keysOfTeam(db, team_id).where('user_id', '=', user_id).executeTakeFirst()

import { type Insertable, sql } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export const insertSealingKey = (db: Db, row: Insertable<Tables['sealing_keys']>) => db.insertInto('sealing_keys').values(row).execute()

const keysOfTeam = (db: Db, team_id: string) => db.selectFrom('sealing_keys').select(['id', 'wrapped']).where('team_id', '=', team_id)

export const getTeamSealingKey = (db: Db, team_id: string) => keysOfTeam(db, team_id).where('user_id', 'is', null).executeTakeFirstOrThrow()

export const findUserSealingKey = (db: Db, team_id: string, user_id: string) =>
  keysOfTeam(db, team_id).where('user_id', '=', user_id).executeTakeFirst()

/** The versions of the root secret, oldest first. */
export const listRoots = (db: Db) =>
  db
    .selectFrom('root_keys')
    .select(['version', 'id', 'wrapped', 'wrapped_by'])
    .select([sql<boolean>`active_at is not null`.as('active'), sql<boolean>`retired_at is not null`.as('retired')])
    .orderBy('version')
    .execute()

/** Returns undefined if there is a version already. */
export const insertFirstRoot = (db: Db, row: Omit<Insertable<Tables['root_keys']>, 'active_at' | 'created_at'>) =>
  db
    .insertInto('root_keys')
    .values({ ...row, active_at: sql<string>`now()` })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .returning('version')
    .executeTakeFirst()

type Rewrapped = { version: number; wrapped: Buffer; wrapped_by: string }

/** Returns undefined if another process has encrypted the version again. */
export const rewrapRoot = (db: Db, before: Buffer, { version, ...change }: Rewrapped) =>
  db
    .updateTable('root_keys')
    .set(change)
    .where('version', '=', version)
    .where('wrapped', '=', before)
    .returning('version')
    .executeTakeFirst()

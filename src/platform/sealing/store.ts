import { type Insertable, sql } from 'kysely'
import { anyTeam } from '../db/any-team.ts'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export const insertSealingKey = (db: Db, row: Insertable<Tables['sealing_keys']>) => db.insertInto('sealing_keys').values(row).execute()

const keysOfTeam = (db: Db, team_id: string) => db.selectFrom('sealing_keys').select(['id', 'wrapped']).where('team_id', '=', team_id)

/**
 * The team's key with each epoch that can open keys of its users, the one that wraps new keys last. A slow request may have wrapped a
 * key with an epoch that was retired meanwhile.
 */
export const listTeamSealingKeys = (db: Db, team_id: string) =>
  db
    .selectFrom('sealing_keys')
    .leftJoin('team_epochs', (join) =>
      join
        .onRef('team_epochs.team_id', '=', 'sealing_keys.team_id')
        .on('team_epochs.prepared_at', 'is not', null)
        .on('team_epochs.destroyed_at', 'is', null),
    )
    .select(['sealing_keys.id', 'sealing_keys.wrapped', 'team_epochs.id as epoch_id', 'team_epochs.wrapped as epoch_wrapped'])
    .select(sql<boolean>`team_epochs.active_at is not null`.as('epoch_active'))
    .select(sql<boolean>`team_epochs.retired_at is not null`.as('epoch_retired'))
    .where('sealing_keys.team_id', '=', team_id)
    .where('sealing_keys.user_id', 'is', null)
    .orderBy(sql`team_epochs.active_at nulls first`)
    .execute()

export const findUserSealingKey = (db: Db, team_id: string, user_id: string) =>
  keysOfTeam(db, team_id).where('user_id', '=', user_id).executeTakeFirst()

/** The versions of the root secret, oldest first. */
export const listRoots = (db: Db) =>
  db
    .selectFrom('root_keys')
    .select(['version', 'id', 'wrapped', 'wrapped_by'])
    .select([sql<boolean>`active_at is not null`.as('active'), sql<boolean>`retired_at is not null`.as('retired')])
    // A transaction that began before may still commit what it signed with the version.
    .select(sql<boolean>`coalesce(retired_at < now() - interval '1 hour', false)`.as('ended'))
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

export const insertRoot = (db: Db, row: { version: number; id: string; wrapped: Buffer; wrapped_by: string }) =>
  db.insertInto('root_keys').values(row).execute()

export const activateRoots = (db: Db) =>
  db.updateTable('root_keys').set({ active_at: sql<string>`now()` }).where('active_at', 'is', null).execute()

export const retireRoots = (db: Db, before: number) =>
  db
    .updateTable('root_keys')
    .set({ retired_at: sql<string>`now()` })
    .where('version', '<', before)
    .where('retired_at', 'is', null)
    .execute()

/** Keys of teams that another version of the root encrypted. A ciphertext has the ID of its key after its first byte. */
export const listTeamKeysOfOthers = (db: Db, root: Buffer, limit: number) =>
  db
    .selectFrom('sealing_keys')
    .select(['team_id', 'id', 'wrapped'])
    .where('user_id', 'is', null)
    .where(sql<boolean>`substring(wrapped from 2 for 16) <> ${root}`)
    .limit(limit)
    .modifyEnd(anyTeam('team keys of earlier roots'))
    .execute()

/** Changes nothing if the key was encrypted again or erased meanwhile. */
export const rewrapKey = (db: Db, { team_id, id, wrapped }: { team_id: string; id: string; wrapped: Buffer }, after: Buffer) =>
  db
    .updateTable('sealing_keys')
    .set({ wrapped: after })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('wrapped', '=', wrapped)
    .execute()

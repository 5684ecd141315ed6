import { sql } from 'kysely'
import { anyTeam } from '../../db/any-team.ts'
import type { Db } from '../../db/open.ts'

export type Epoch = NonNullable<Awaited<ReturnType<typeof listEpochs>>[number]>

const columns = ['team_id', 'id', 'wrapped', 'created_at', 'prepared_at', 'active_at', 'complete_at', 'retired_at', 'destroyed_at'] as const

/** The epochs of all teams that are not destroyed. */
export const listEpochs = (db: Db) =>
  db.selectFrom('team_epochs').select(columns).where('destroyed_at', 'is', null).modifyEnd(anyTeam('epochs of teams')).execute()

/** All epochs of a team, the oldest first. */
export const listEpochsOf = (db: Db, team_id: string) =>
  db.selectFrom('team_epochs').select(columns).where('team_id', '=', team_id).orderBy('created_at').execute()

/** Returns undefined if the team has one already that is not active. */
export const insertEpoch = (db: Db, row: { team_id: string; id: string; created_at: string }) =>
  db
    .insertInto('team_epochs')
    .values(row)
    .onConflict((conflict) => conflict.column('team_id').where('active_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst()

type Times = { prepared_at?: string; active_at?: string; complete_at?: string; retired_at?: string }
type EpochId = { team_id: string; id: string }

/** Sets a time that is not set yet. */
export const setTime = (db: Db, { team_id, id }: EpochId, name: keyof Times, at: string) =>
  db
    .updateTable('team_epochs')
    .set({ [name]: at })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where(name, 'is', null)
    .execute()

/** Changes nothing if another process was faster. */
export const setWrapped = (db: Db, { team_id, id }: EpochId, wrapped: Buffer, prepared_at: string) =>
  db
    .updateTable('team_epochs')
    .set({ wrapped, prepared_at })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('wrapped', 'is', null)
    .execute()

export const setDestroyed = (db: Db, { team_id, id }: EpochId, destroyed_at: string) =>
  db.updateTable('team_epochs').set({ wrapped: null, destroyed_at }).where('team_id', '=', team_id).where('id', '=', id).execute()

export const deleteEpoch = (db: Db, { team_id, id }: EpochId) =>
  db.deleteFrom('team_epochs').where('team_id', '=', team_id).where('id', '=', id).execute()

/** Keys of users that another key than this epoch wraps. A ciphertext has the ID of its key after its first byte. */
export const listKeysOfOthers = (db: Db, { team_id, id }: EpochId, limit: number) =>
  db
    .selectFrom('sealing_keys')
    .select(['team_id', 'id', 'user_id', 'wrapped'])
    .where('team_id', '=', team_id)
    .where('user_id', 'is not', null)
    .where(sql<boolean>`substring(wrapped from 2 for 16) <> ${idBytes(id)}`)
    .limit(limit)
    .execute()

/** Whether the epoch still wraps a key of a user. */
export const isUsed = async (db: Db, { team_id, id }: EpochId) =>
  (await db
    .selectFrom('sealing_keys')
    .select('id')
    .where('team_id', '=', team_id)
    .where('user_id', 'is not', null)
    .where(sql<boolean>`substring(wrapped from 2 for 16) = ${idBytes(id)}`)
    .limit(1)
    .executeTakeFirst()) !== undefined

const idBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')

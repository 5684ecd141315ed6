import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type DeviceRow = Selectable<Tables['devices']>

const devicesOf = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('devices').selectAll().where('team_id', '=', team_id).where('user_id', '=', user_id)

export const listDevices = (db: Db, team_id: string, user_id: string) =>
  devicesOf(db, team_id, user_id).orderBy('created_at').orderBy('id').execute()

export const findDevice = (db: Db, team_id: string, user_id: string, id: string) =>
  devicesOf(db, team_id, user_id).where('id', '=', id).executeTakeFirst()

const matchingDevices = (db: Db, team_id: string, user_id: string, provider: string, fingerprint: Buffer) =>
  devicesOf(db, team_id, user_id).where('provider', '=', provider).where('fingerprint', '=', fingerprint)

export const findMatchingDevice = (...match: Parameters<typeof matchingDevices>) => matchingDevices(...match).executeTakeFirst()

export const lockMatchingDevice = (...match: Parameters<typeof matchingDevices>) =>
  matchingDevices(...match)
    .forUpdate()
    .executeTakeFirst()

/** Returns undefined if the device exists. */
export const insertDevice = (db: Db, row: Insertable<Tables['devices']>) =>
  db
    .insertInto('devices')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id', 'provider', 'fingerprint']).doNothing())
    .returningAll()
    .executeTakeFirst()

export const updateDevice = (
  db: Db,
  { team_id, id }: DeviceRow,
  change: Pick<Insertable<Tables['devices']>, 'source_type' | 'sealed' | 'updated_at'>,
) => db.updateTable('devices').set(change).where('team_id', '=', team_id).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

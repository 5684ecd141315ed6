import type { Insertable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** The formats of a team's destinations, sorted by position. */
export const listFormats = (db: Db, team_id: string) =>
  db
    .selectFrom('delivery_formats')
    .select(['destination', 'after_no', 'format', 'include_client_user_id'])
    .where('team_id', '=', team_id)
    .orderBy('after_no')
    .execute()

export const putFormat = (db: Db, row: Insertable<Tables['delivery_formats']>) =>
  db
    .insertInto('delivery_formats')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'destination', 'after_no']).doUpdateSet({
        format: row.format,
        include_client_user_id: row.include_client_user_id,
      }),
    )
    .execute()

export const deleteFormats = (db: Db, team_id: string, destinations: readonly string[]) =>
  db.deleteFrom('delivery_formats').where('team_id', '=', team_id).where('destination', 'in', destinations).execute()

import type { Insertable } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export const findStream = (db: Db, team_id: string, workout_id: string) =>
  db.selectFrom('workout_streams').selectAll().where('workout_id', '=', workout_id).where('team_id', '=', team_id).executeTakeFirst()

export const upsertStream = (db: Db, row: Insertable<Tables['workout_streams']>) => {
  const { version, sealed, updated_at } = row
  return db
    .insertInto('workout_streams')
    .values(row)
    .onConflict((conflict) => conflict.column('workout_id').doUpdateSet({ version, sealed, updated_at }))
    .execute()
}

import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export type StreamRow = Selectable<Tables['workout_streams']>

export const findStreams = (db: Db, team_id: string, workout_ids: string[]) =>
  db
    .selectFrom('workout_streams')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('workout_id', '=', sql<string>`any(${workout_ids}::uuid[])`)
    .execute()

export const upsertStreams = async (db: Db, rows: Insertable<Tables['workout_streams']>[]) => {
  if (!rows.length) return
  await db
    .insertInto('workout_streams')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'workout_id']).doUpdateSet((eb) => ({
        version: eb.ref('excluded.version'),
        sealed: eb.ref('excluded.sealed'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute()
}

import type { Insertable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export const listPhysicians = (db: Db, team_id: string) =>
  db.selectFrom('physicians').select(['npi', 'sealed']).where('team_id', '=', team_id).orderBy('npi').execute()

export async function replacePhysicians(db: Db, team_id: string, rows: Insertable<Tables['physicians']>[]) {
  await db.deleteFrom('physicians').where('team_id', '=', team_id).execute()
  if (rows.length) await db.insertInto('physicians').values(rows).execute()
}

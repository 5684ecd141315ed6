import type { Db } from '../../platform/db/open.ts'

export const listPriorities = (db: Db, team_id: string) =>
  db
    .selectFrom('source_priorities')
    .select(['data_type', 'provider', 'priority'])
    .where('team_id', '=', team_id)
    .orderBy('priority')
    .execute()

export const deletePriorities = (db: Db, team_id: string, data_type: string) =>
  db.deleteFrom('source_priorities').where('team_id', '=', team_id).where('data_type', '=', data_type).execute()

export const insertPriorities = (db: Db, team_id: string, data_type: string, providers: string[]) =>
  db
    .insertInto('source_priorities')
    .values(providers.map((provider, i) => ({ team_id, data_type, provider, priority: i + 1 })))
    .onConflict((conflict) => conflict.columns(['team_id', 'data_type', 'provider']).doNothing())
    .execute()

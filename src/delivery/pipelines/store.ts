import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type PipelineRow = Selectable<Tables['pipelines']>

/** Pipelines of the organization's live teams, or only of those in `team_ids`. */
const pipelinesOf = (db: Db, org_id: string, team_ids: string[] | undefined) =>
  db
    .selectFrom('pipelines')
    .innerJoin('teams', 'teams.id', 'team_id')
    .selectAll('pipelines')
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`))

export const listPipelines = (db: Db, org_id: string, team_ids: string[] | undefined, page: Page) =>
  pipelinesOf(db, org_id, team_ids)
    .$call(ascendingPage(page, 'pipelines.created_at', 'pipelines.team_id'))
    .execute()

export const lockPipelines = (db: Db, org_id: string, team_ids: string[]) =>
  pipelinesOf(db, org_id, team_ids).orderBy('team_id').forUpdate('pipelines').execute()

/** Locks the team's pipeline, creating it if needed. Of two concurrent creations, the later waits for the earlier. */
export const lockPipeline = (db: Db, row: Insertable<Tables['pipelines']>) =>
  db
    .insertInto('pipelines')
    .values(row)
    .onConflict((conflict) => conflict.column('team_id').doUpdateSet({ updated_at: row.updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow()

export const updatePipeline = (db: Db, team_id: string, change: Updateable<Tables['pipelines']>) =>
  db.updateTable('pipelines').set(change).where('team_id', '=', team_id).returningAll().executeTakeFirstOrThrow()

/** Also deletes their destinations. */
export const deletePipelines = (db: Db, team_ids: string[]) =>
  db.deleteFrom('pipelines').where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`).execute()

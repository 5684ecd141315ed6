import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type PipelineRow = Selectable<Tables['pipelines']>

/** Pipelines of any team of the organization that is not deleted, or only of those in `team_ids`. */
export const listPipelines = (db: Db, org_id: string, team_ids: string[] | undefined, page: Page) =>
  db
    .selectFrom('pipelines')
    .modifyFront(anyTeam('pipelines of an organization'))
    .innerJoin('teams', 'teams.id', 'team_id')
    .selectAll('pipelines')
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .$call(ascendingPage(page, 'pipelines.created_at', 'pipelines.team_id'))
    .execute()

const pipelineOf = (db: Db, org_id: string, team_id: string) =>
  db
    .selectFrom('pipelines')
    .innerJoin('teams', 'teams.id', 'team_id')
    .selectAll('pipelines')
    .where('team_id', '=', team_id)
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)

/** The pipeline of a team that belongs to the organization and is not deleted. */
export const findPipelineOf = (db: Db, org_id: string, team_id: string) => pipelineOf(db, org_id, team_id).executeTakeFirst()

/** Locks the pipeline of a team that belongs to the organization and is not deleted. */
export const lockPipelineOf = (db: Db, org_id: string, team_id: string) =>
  pipelineOf(db, org_id, team_id).forUpdate('pipelines').executeTakeFirst()

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

/** Also deletes its destinations. */
export const deletePipeline = (db: Db, team_id: string) => db.deleteFrom('pipelines').where('team_id', '=', team_id).execute()

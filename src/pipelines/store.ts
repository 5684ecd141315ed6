import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../db/open.ts'
import { onePage } from '../db/page.ts'
import type { Tables } from '../db/tables.ts'
import type { Page } from '../paging.ts'

export type PipelineRow = Selectable<Tables['pipelines']>

/** Of the organisation's live teams; of these only, where they are named. */
export const listPipelines = (db: Db, org_id: string, team_ids: string[] | undefined, page: Page) =>
  db
    .selectFrom('pipelines')
    .innerJoin('teams', 'teams.id', 'team_id')
    .selectAll('pipelines')
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .$call(onePage(page, 'pipelines.created_at', 'pipelines.team_id'))
    .execute()

export const lockPipeline = (db: Db, team_id: string) =>
  db.selectFrom('pipelines').selectAll().where('team_id', '=', team_id).forUpdate().executeTakeFirst()

/** Of two that are made in the same moment the later one changes the earlier. */
export const insertPipeline = (db: Db, { after_no, created_at, ...row }: Insertable<Tables['pipelines']>) =>
  db
    .insertInto('pipelines')
    .values({ ...row, after_no, created_at })
    .onConflict((conflict) => conflict.column('team_id').doUpdateSet((eb) => ({ ...row, revision: eb('pipelines.revision', '+', 1) })))
    .returningAll()
    .executeTakeFirstOrThrow()

export const updatePipeline = (db: Db, team_id: string, change: Updateable<Tables['pipelines']>) =>
  db.updateTable('pipelines').set(change).where('team_id', '=', team_id).returningAll().executeTakeFirstOrThrow()

export const deletePipelines = (db: Db, org_id: string, team_ids: string[]) =>
  db
    .deleteFrom('pipelines')
    .using('teams')
    .whereRef('teams.id', '=', 'team_id')
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .returningAll('pipelines')
    .execute()

/** How many events of the log after a place are looked at to tell how many wait. */
const LOOKED_AT = 10_000

export type Waiting = { team_id: string; lag: number; oldest_at: string | null }

/** How much waits for pipelines, and since when: of these teams, or of those that were made first. */
export async function waiting(db: Db, team_ids: string[] | null, most: number) {
  const { rows } = await sql<Waiting>`
    select p.team_id, w.lag, w.oldest_at
    from (
      select * from pipelines where ${team_ids}::uuid[] is null or team_id = any(${team_ids}::uuid[]) order by created_at, team_id limit ${most}
    ) p
    join teams t on t.id = p.team_id
    cross join lateral (
      select count(*) as lag, min(logged_at) as oldest_at
      from (
        select event_type, partial, logged_at from events e where e.team_id = p.team_id and e.no > p.after_no order by e.no limit ${LOOKED_AT}
      ) e
      where (not e.partial or t.partial_webhooks_enabled)
        and (p.event_type_prefixes is null or exists (select from unnest(p.event_type_prefixes) prefix where starts_with(e.event_type, prefix)))
    ) w`.execute(db)
  return rows
}

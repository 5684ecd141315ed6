import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export type SummaryRow = Selectable<Tables['summaries']>

export const lockSummaries = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('summaries')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()

/** Writes summaries and returns how many were written. A row that another request wrote first is skipped. */
export async function writeSummaries(db: Db, rows: SummaryRow[]) {
  const written = await db
    .insertInto('summaries')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'id'])
        .doUpdateSet((eb) => ({
          source_type: eb.ref('excluded.source_type'),
          calendar_date: eb.ref('excluded.calendar_date'),
          version: eb.ref('excluded.version'),
          revision: eb.ref('excluded.revision'),
          sealed: eb.ref('excluded.sealed'),
          updated_at: eb.ref('excluded.updated_at'),
        }))
        .where(sql<boolean>`summaries.revision = excluded.revision - 1`),
    )
    .returning('id')
    .execute()
  return written.length
}

type SummaryFilter = { team_id: string; user_id: string; resource: string; provider?: string | undefined }

const summariesOf = (db: Db, { team_id, user_id, resource, provider }: SummaryFilter) =>
  db
    .selectFrom('summaries')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('resource', '=', resource)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider as string))

export const listSummaries = (db: Db, filter: SummaryFilter, { from, to }: { from: string; to: string }, limit: number) =>
  summariesOf(db, filter)
    .where(sql<boolean>`calendar_date between ${from} and ${to}`)
    .orderBy('calendar_date')
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()

export const lockDays = (db: Db, filter: SummaryFilter, first: string, last: string) =>
  summariesOf(db, filter).where(sql<boolean>`calendar_date between ${first} and ${last}`).orderBy('id').forUpdate().execute()

export const findLatestSummary = (db: Db, filter: SummaryFilter) =>
  summariesOf(db, filter).orderBy('updated_at', 'desc').orderBy('id').limit(1).executeTakeFirst()

/** Returns undefined if the user is scheduled for deletion. */
export const findSummary = (db: Db, team_id: string, resource: string, id: string) =>
  db
    .selectFrom('summaries')
    .innerJoin('users', (join) => join.onRef('users.team_id', '=', 'summaries.team_id').onRef('users.user_id', '=', 'summaries.user_id'))
    .selectAll('summaries')
    .where('summaries.team_id', '=', team_id)
    .where('summaries.id', '=', id)
    .where('summaries.resource', '=', resource)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()

export const findSummaries = (db: Db, team_id: string, ids: string[]) =>
  db.selectFrom('summaries').selectAll().where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

export const deleteSummaries = (db: Db, team_id: string, ids: string[]) =>
  db.deleteFrom('summaries').where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

export const insertDeletions = (db: Db, rows: Insertable<Tables['deleted_summaries']>[]) =>
  db
    .insertInto('deleted_summaries')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'id'])
        .doUpdateSet((eb) => ({ deleted_at: eb.fn('greatest', ['deleted_summaries.deleted_at', 'excluded.deleted_at']) })),
    )
    .execute()

export const findDeletions = (db: Db, team_id: string, ids: string[]) =>
  db
    .selectFrom('deleted_summaries')
    .select('id')
    .where('team_id', '=', team_id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()

export const deleteDeletions = (db: Db, team_id: string, ids: string[]) =>
  db.deleteFrom('deleted_summaries').where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

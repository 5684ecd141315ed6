import { type Insertable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { insertJson, type JsonRow } from '../../platform/db/rows/json-rows.ts'
import { readLargeBytes } from '../../platform/db/rows/large-bytes.ts'
import type { Tables } from '../../platform/db/tables.ts'

type JobKey = { team_id: string; id: string }

export type JobRow = NonNullable<Awaited<ReturnType<typeof findJob>>>

export const insertJob = (db: Db, row: Insertable<Tables['parsing_jobs']>) =>
  db.insertInto('parsing_jobs').values(row).returningAll().executeTakeFirstOrThrow()

export const insertFile = (db: Db, row: Insertable<Tables['parsing_files']>) => db.insertInto('parsing_files').values(row).execute()

export const findJob = (db: Db, { team_id, id }: JobKey) =>
  db.selectFrom('parsing_jobs').selectAll().where('team_id', '=', team_id).where('id', '=', id).executeTakeFirst()

export const listFiles = (db: Db, { team_id, id }: JobKey) =>
  db.selectFrom('parsing_files').select('n').where('team_id', '=', team_id).where('job_id', '=', id).orderBy('n').execute()

export const readFile = (db: Db, { team_id, id }: JobKey, n: number) => readLargeBytes(db, 'parsing_files', { team_id, job_id: id, n })

export const deleteFiles = (db: Db, { team_id, id }: JobKey) =>
  db.deleteFrom('parsing_files').where('team_id', '=', team_id).where('job_id', '=', id).execute()

/** Finds jobs of any team that are due to be parsed. */
export const searchParsing = (db: Db, wall: string) =>
  db
    .selectFrom('parsing_jobs')
    .select(['parsing_jobs.team_id', 'parsing_jobs.id'])
    .where('parsing_jobs.due_at', '<=', sql<string>`${wall}::timestamptz`)
    .orderBy('parsing_jobs.due_at')
    .modifyEnd(anyTeam('lab reports to parse'))

/** How many due jobs a search compares. */
const MAX_COMPARED = 500

/** Takes turns between teams, so that the files of one do not delay the others. */
export async function listDueJobs(db: Db, wall: string, limit: number) {
  const { rows } = await sql<JobKey>`
    select team_id, id from (
      select due.*, row_number() over (partition by team_id order by due_at) as turn from (
        select team_id, id, due_at from parsing_jobs where due_at <= ${wall}::timestamptz order by due_at limit ${MAX_COMPARED}
      ) due
    ) ranked order by turn, due_at limit ${limit} ${anyTeam('lab reports to parse')}`.execute(db)
  return rows
}

/** Takes a job, unless another process has taken it. It is due again after the lease. */
export const claimJob = (db: Db, { team_id, id }: JobKey, wall: string, leased_until: string) =>
  db
    .updateTable('parsing_jobs')
    .set((eb) => ({ due_at: leased_until, tries: eb('tries', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('due_at', '<=', wall)
    .returningAll()
    .executeTakeFirst()

/** Ends a job that this process still holds. */
export const endJob = (db: Db, { team_id, id }: JobKey, leased_until: string, change: Updateable<Tables['parsing_jobs']>) =>
  db
    .updateTable('parsing_jobs')
    .set({ ...change, due_at: null })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('due_at', '=', leased_until)
    .returningAll()
    .executeTakeFirst()

/** Inserts rows of a team export. */
export const inserts = {
  parsing_jobs: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('parsing_jobs'), 'parsing_jobs', rows),
  parsing_files: (db: Db, rows: JsonRow[]) => insertJson(db.insertInto('parsing_files'), 'parsing_files', rows),
}

import { type Insertable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
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

/** Half of what a team has used is forgotten in this time. */
const HALF_LIFE_S = 600
const spentAt = (wall: string) => sql`spent_ms * power(0.5, extract(epoch from ${wall}::timestamptz - spent_at) / ${HALF_LIFE_S}::float8)`

/** The oldest due job of the team that is next: with the fewest jobs that run now, then with the least CPU time spent. */
export async function findNextJob(db: Db, wall: string) {
  const { rows } = await sql<JobKey>`
    select team_id, id from (
      select team_id, count(*) filter (where due_at > ${wall}) as running, min(due_at) as since,
        (array_agg(id order by due_at, id) filter (where due_at <= ${wall}))[1] as id
      from parsing_jobs where due_at is not null group by team_id
    ) pending left join parsing_shares using (team_id)
    where id is not null
    order by running, coalesce(${spentAt(wall)}, 0), since limit 1 ${anyTeam('lab reports to parse')}`.execute(db)
  return rows[0]
}

/** Adds CPU time to what a team has spent, and locks it until the transaction ends. */
export const addSpent = (db: Db, team_id: string, wall: string, spent_ms: number) =>
  sql`
    insert into parsing_shares (team_id, spent_ms, spent_at) values (${team_id}, ${spent_ms}, ${wall})
    on conflict (team_id) do update set spent_at = excluded.spent_at,
      spent_ms = excluded.spent_ms + parsing_shares.spent_ms
        * power(0.5, extract(epoch from excluded.spent_at - parsing_shares.spent_at) / ${HALF_LIFE_S}::float8)`.execute(db)

export async function countPendingJobs(db: Db, team_id: string) {
  const pending = db.selectFrom('parsing_jobs').where('team_id', '=', team_id).where('due_at', 'is not', null)
  const { count } = await pending.select((eb) => eb.fn.countAll<string>().as('count')).executeTakeFirstOrThrow()
  return Number(count)
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

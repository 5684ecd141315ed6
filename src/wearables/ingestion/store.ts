import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type PullJob = Selectable<Tables['pull_jobs']>
type JobId = Pick<PullJob, 'team_id' | 'connection_id' | 'feed'>

/** Schedules feeds. Those that exist start over with new data and the history, or go on with the history that is left. */
export const scheduleJobs = (db: Db, rows: Insertable<Tables['pull_jobs']>[], continues: boolean) => {
  const kept = sql`${continues}::boolean and pull_jobs.history_from < pull_jobs.history_to`
  const history = (column: string) =>
    sql<never>`case when ${kept} then ${sql.ref(`pull_jobs.${column}`)} else ${sql.ref(`excluded.${column}`)} end`
  return db
    .insertInto('pull_jobs')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'connection_id', 'feed']).doUpdateSet((eb) => ({
        due_at: eb.ref('excluded.due_at'),
        live_due_at: eb.ref('excluded.live_due_at'),
        requests: sql<number>`pull_jobs.requests + 1`,
        history_from: history('history_from'),
        history_to: history('history_to'),
        history_end: history('history_end'),
        history_found: history('history_found'),
        tries: 0,
        error: null,
        lease: null,
        leased_until: null,
      })),
    )
    .execute()
}

export const deleteJobs = (db: Db, team_id: string, connection_id: string, except: string[]) =>
  db
    .deleteFrom('pull_jobs')
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where((eb) => eb.not(eb('feed', '=', sql<string>`any(${except}::text[])`)))
    .execute()

export const findJob = (db: Db, { team_id, connection_id, feed }: JobId) =>
  db
    .selectFrom('pull_jobs')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where('feed', '=', feed)
    .executeTakeFirst()

/** Nothing is due until the user connects again. */
export const stopJobs = (db: Db, team_id: string, connection_id: string) =>
  db.updateTable('pull_jobs').set({ due_at: null }).where('team_id', '=', team_id).where('connection_id', '=', connection_id).execute()

export const listJobs = (db: Db, team_id: string, connection_id: string) =>
  db.selectFrom('pull_jobs').selectAll().where('team_id', '=', team_id).where('connection_id', '=', connection_id).execute()

/** Finds due feeds of any team. */
export const searchJobs = (db: Db, now: string) =>
  db
    .selectFrom('pull_jobs')
    .select(['team_id', 'connection_id', 'feed', 'provider', 'due_at'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .modifyEnd(anyTeam('due feeds'))

/** The due feeds of one team at one source that a search reads. */
export const MAX_TURNS = 16

/**
 * Takes turns between teams, so that the backfill of one does not delay the others that share a worker or an application.
 * Sources that limit requests are left out until they accept them again.
 */
export async function findDueJobs(db: Db, now: string, busy: string[], limit: number) {
  const { rows } = await sql<JobId & { provider: string; turn: number }>`
    select due.team_id, due.connection_id, due.feed, due.provider, due.turn::integer as turn from cloud_clients c cross join lateral (
      select j.team_id, j.connection_id, j.feed, j.provider, j.due_at, row_number() over (order by j.due_at) as turn from pull_jobs j
      where j.team_id = c.team_id and j.provider = c.provider and j.due_at <= ${now} order by j.due_at limit ${MAX_TURNS}
    ) due
    where not c.provider = any(${busy}::text[]) and (c.blocked_until is null or c.blocked_until <= ${now})
    order by due.turn, due.due_at limit ${limit} ${anyTeam('due feeds in turn')}`.execute(db)
  return rows
}

/** Claims a due feed until `until`, unless another process has it or it is no longer due. */
export const claimJob = (db: Db, { team_id, connection_id, feed }: JobId, now: string, claim: { lease: string; until: string }) =>
  db
    .updateTable('pull_jobs')
    .set({ lease: claim.lease, leased_until: claim.until, due_at: claim.until })
    .where('team_id', '=', team_id)
    .where('connection_id', '=', (eb) =>
      eb
        .selectFrom('pull_jobs')
        .select('connection_id')
        .where('team_id', '=', team_id)
        .where('connection_id', '=', connection_id)
        .where('feed', '=', feed)
        .where('due_at', '<=', now)
        .forUpdate()
        .skipLocked(),
    )
    .where('feed', '=', feed)
    .returningAll()
    .executeTakeFirst()

const leasedJob = (db: Db, { team_id, connection_id, feed, lease }: PullJob) =>
  db
    .updateTable('pull_jobs')
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where('feed', '=', feed)
    .where('lease', '=', lease)

/** Extends the lease. Returns undefined if another process has it. */
export const renewLease = (db: Db, job: PullJob, until: string) =>
  leasedJob(db, job).set({ leased_until: until, due_at: until }).returning('feed').executeTakeFirst()

/** Ends the lease. A notification that arrived meanwhile makes the feed due now, unless it failed and has to wait. */
export const settleJob = (
  db: Db,
  job: PullJob,
  now: string,
  { due_at, ...change }: Updateable<Tables['pull_jobs']> & { due_at: string | null },
) =>
  leasedJob(db, job)
    .set({
      ...change,
      lease: null,
      leased_until: null,
      due_at: sql<
        string | null
      >`case when ${due_at === null} then null when requests <> ${job.requests} and not ${isFailure(change)} then ${now}::timestamptz else ${due_at}::timestamptz end`,
    })
    .returning('feed')
    .executeTakeFirst()

const isFailure = ({ tries }: Updateable<Tables['pull_jobs']>) => typeof tries === 'number' && tries > 0

/** Makes feeds due now. One that is being read is read once more. One that failed keeps its wait, unless `live` asks for new data. */
export const touchJobs = (db: Db, team_id: string, connection_id: string, feeds: string[], now: string, live: boolean) =>
  db
    .updateTable('pull_jobs')
    .set((eb) => ({
      requests: eb('requests', '+', 1),
      due_at: sql<
        string | null
      >`case when due_at is null or leased_until > ${now} or (tries > 0 and not ${live}) then due_at else least(due_at, ${now}::timestamptz) end`,
      ...(live ? { live_due_at: sql<string>`least(live_due_at, ${now}::timestamptz)` } : {}),
    }))
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where('feed', '=', sql<string>`any(${feeds}::text[])`)
    .execute()

/** Makes the feeds of a team at a source due now that have failed or had no application, and one of them in any case. */
export const resumeJobs = (db: Db, { team_id, provider, feed }: { team_id: string; provider: string; feed: string }, now: string) =>
  db
    .updateTable('pull_jobs')
    .set((eb) => ({
      requests: eb('requests', '+', 1),
      due_at: sql<string>`case when leased_until > ${now} then due_at else ${now}::timestamptz end`,
      live_due_at: sql<string>`case when feed = ${feed} then ${now}::timestamptz else live_due_at end`,
    }))
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .where((eb) => eb.or([eb('feed', '=', feed), eb('tries', '>', 0), eb('due_at', 'is', null)]))
    .executeTakeFirstOrThrow()

export type ChangeRow = Selectable<Tables['cloud_changes']>

/** Stores changes. Of several about one object, the latest counts, and periods are joined. */
export const insertChanges = (db: Db, rows: Insertable<Tables['cloud_changes']>[]) =>
  db
    .insertInto('cloud_changes')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'connection_id', 'feed', 'kind', 'object_id']).doUpdateSet((eb) => ({
        deleted: sql<boolean>`case when excluded.changed_at >= cloud_changes.changed_at then excluded.deleted else cloud_changes.deleted end`,
        changed_at: eb.fn('greatest', ['excluded.changed_at', 'cloud_changes.changed_at']),
        received_at: eb.ref('excluded.received_at'),
        window_from: eb.fn('least', ['excluded.window_from', 'cloud_changes.window_from']),
        window_to: eb.fn('greatest', ['excluded.window_to', 'cloud_changes.window_to']),
      })),
    )
    .execute()

export const listChanges = (db: Db, { team_id, connection_id, feed }: PullJob, limit: number) =>
  db
    .selectFrom('cloud_changes')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where('feed', '=', feed)
    .orderBy('received_at')
    .limit(limit)
    .execute()

/** Removes changes of a feed that were read, except those of objects that have changed again. */
export const deleteRead = (db: Db, { team_id, connection_id, feed }: PullJob, changes: ChangeRow[]) => {
  const [kinds, ids, times] = [changes.map(({ kind }) => kind), changes.map((one) => one.object_id), changes.map((one) => one.received_at)]
  return db
    .deleteFrom('cloud_changes')
    .where('team_id', '=', team_id)
    .where('connection_id', '=', connection_id)
    .where('feed', '=', feed)
    .where(
      sql<boolean>`(kind, object_id, received_at) in (select * from unnest(${kinds}::text[], ${ids}::text[], ${times}::timestamptz[]))`,
    )
    .execute()
}

export const deleteChanges = (db: Db, team_id: string, connection_id: string) =>
  db.deleteFrom('cloud_changes').where('team_id', '=', team_id).where('connection_id', '=', connection_id).execute()

/** What the feeds of each source wait for, in every team. */
export async function summarizeJobs(db: Db, now: string) {
  const { rows } = await sql<{ provider: string; feeds: number; due: number; failing: number; oldest_due: string | null }>`
    select provider, count(*) as feeds, count(*) filter (where due_at <= ${now}) as due, count(*) filter (where tries > 0) as failing,
      min(due_at) filter (where due_at <= ${now}) as oldest_due
    from pull_jobs group by provider ${anyTeam('feeds by source')}`.execute(db)
  return rows
}

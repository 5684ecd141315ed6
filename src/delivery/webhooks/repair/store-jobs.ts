import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam, pruning } from '../../../platform/db/any-team.ts'
import { type Db, prepareSearch } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { Page } from '../../../platform/paging.ts'

export type JobRow = Selectable<Tables['webhook_jobs']>

type WebhookKey = { team_id: string; webhook_id: string }

const jobsOf = (db: Db, { team_id, webhook_id }: WebhookKey) =>
  db.selectFrom('webhook_jobs').selectAll().where('team_id', '=', team_id).where('webhook_id', '=', webhook_id)

export const insertJob = (db: Db, row: Insertable<Tables['webhook_jobs']>) =>
  db.insertInto('webhook_jobs').values(row).returningAll().executeTakeFirstOrThrow()

export const listJobs = (db: Db, webhook: WebhookKey, page: Page) =>
  jobsOf(db, webhook)
    .$call(descendingPage(page, 'created_at', 'id'))
    .execute()

export const findJob = (db: Db, webhook: WebhookKey, id: string) => jobsOf(db, webhook).where('id', '=', id).executeTakeFirst()

/** A job that has ended stays unchanged. */
export const stopJob = (db: Db, { team_id, webhook_id }: WebhookKey, id: string, updated_at: string) =>
  db
    .updateTable('webhook_jobs')
    .set({ state: 'stopped', updated_at })
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()

type JobKey = { team_id: string; id: string }

/** Finds jobs of any team that are not counted yet, or that recover messages. */
export const searchRunningJobs = () => sql`
  select ${anyTeam('recover and replay jobs to continue')} id from webhook_jobs
  where state = 'running' and (kind = 'recover' or not counted) order by updated_at`

export const listUncounted = (db: Db, limit: number) =>
  db
    .selectFrom('webhook_jobs')
    .modifyFront(anyTeam('recover and replay jobs to continue'))
    .selectAll()
    .where('state', '=', 'running')
    .where('counted', '=', false)
    .orderBy('updated_at')
    .limit(limit)
    .execute()

/** Null if there are more than a count examines. A job that ended meanwhile has its own total. */
export const setTotal = (db: Db, { team_id, id }: JobKey, total: number | null) =>
  db
    .updateTable('webhook_jobs')
    .set({ counted: true, total })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('counted', '=', false)
    .execute()

/** Recoveries of any team that can continue, the one that waited longest first: the webhook is enabled and few of its messages are parked. */
export const listRecoveries = prepareSearch(
  'webhook_recoveries',
  (_, maxParked: number, limit: number) => sql<JobKey>`
    select ${anyTeam('recover and replay jobs to continue')} j.team_id, j.id
    from webhook_jobs j join webhooks w on w.team_id = j.team_id and w.id = j.webhook_id
    where j.state = 'running' and j.kind = 'recover' and w.disabled_at is null and ${maxParked} > (
      select count(*) from (
        select from parked_messages m where m.team_id = w.team_id and m.webhook_id = w.id limit ${maxParked}
      ) m
    )
    order by j.updated_at limit ${limit}`,
)

/** Claims a recovery until the transaction ends, if no other process has it. */
export const claimJob = (db: Db, { team_id, id }: JobKey) =>
  db
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

const exhaustedAttempts = ({ team_id, webhook_id, window_from, window_to }: JobRow) => sql`
  select a.at, a.id, a.no, a.event_id, a.event_at from attempts a
  where a.team_id = ${team_id} and a.webhook_id = ${webhook_id} and a.outcome = 'exhausted' and a.no is not null
    and a.at >= ${window_from} and a.at < ${window_to}`

/** With the present filter, because counting each part of the log with its own would take longer. */
const loggedEvents = ({ team_id, webhook_id, window_from, window_to, event_types }: JobRow) => sql`
  select e.no from events e join webhooks w on w.team_id = e.team_id and w.id = ${webhook_id}
  where e.team_id = ${team_id} and e.logged_at >= ${window_from} and e.logged_at < ${window_to}
    and takes(w.filter_types, e.event_type) and takes(${event_types}::text[], e.event_type) and e.deliverable`

/** The number of events to process, or null if it exceeds the limit. */
export async function countJob(db: Db, job: JobRow, limit: number) {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from (${job.kind === 'recover' ? exhaustedAttempts(job) : loggedEvents(job)} limit ${limit + 1}) counted`.execute(
    db,
  )
  const found = rows[0]?.found ?? 0
  return found > limit ? null : found
}

type Batch = {
  processed: number
  events: { id: string; no: number; logged_at: string; key: string | null }[]
  position: Partial<Pick<JobRow, 'after_at' | 'after_id'>>
}

/** The next exhausted messages: how many were processed, those to park, and where to continue. Messages that were attempted since, are parked or are past retention are left out. */
export async function nextToRecover(db: Db, job: JobRow, limit: number): Promise<Batch> {
  const { team_id, webhook_id, after_at, after_id } = job
  const { rows } = await sql<{ at: string; id: string; event_id: string | null; no: number; logged_at: string; key: string | null }>`
    select a.at, a.id, e.id as event_id, e.no, e.logged_at, e.key from (
      ${exhaustedAttempts(job)} ${after_at ? sql`and (a.at, a.id) > (${after_at}::timestamptz, ${after_id}::uuid)` : sql``}
      order by a.at, a.id limit ${limit}
    ) a
    left join events e on e.team_id = ${team_id} and e.no = a.no and e.logged_at = a.event_at and e.sealed is not null
      and not exists (
        select from attempts later
        where later.team_id = ${team_id} and later.event_id = a.event_id and later.webhook_id = ${webhook_id} and later.at > a.at
      )
      and not exists (
        select from parked_messages m where m.team_id = ${team_id} and m.no = a.no and m.webhook_id = ${webhook_id}
      )
    order by a.at, a.id`.execute(db)
  const last = rows.at(-1)
  return {
    processed: rows.length,
    events: rows.flatMap(({ event_id, no, logged_at, key }) => (event_id ? [{ id: event_id, no, logged_at, key }] : [])),
    position: last ? { after_at: last.at, after_id: last.id } : {},
  }
}

/** Updates a claimed job in the transaction that holds it. */
export const updateJob = (db: Db, { team_id, id }: JobKey, change: Updateable<Tables['webhook_jobs']>) =>
  db.updateTable('webhook_jobs').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

/** Records a failed run. Other jobs go first, and after several failures in a row the job is given up. */
export const recordFailure = (db: Db, { team_id, id }: JobKey, limit: number, now: string) =>
  sql`
    update webhook_jobs set failures = failures + 1, updated_at = ${now},
      state = case when failures + 1 >= ${limit} then 'failed' else state end
    where team_id = ${team_id} and id = ${id} and state = 'running'`.execute(db)

/** Deletes jobs of any team that ended before a time. */
export const pruneJobs = (db: Db, before: string) =>
  sql`delete from webhook_jobs where state <> 'running' and updated_at < ${before} ${pruning('ended recover and replay jobs')}`.execute(db)

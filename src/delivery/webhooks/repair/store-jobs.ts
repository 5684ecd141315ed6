import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { Page } from '../../../platform/paging.ts'

export type JobRow = Selectable<Tables['webhook_jobs']>

type WebhookKey = { team_id: string; webhook_id: string }

const jobsOf = (db: Db, { team_id, webhook_id }: WebhookKey) =>
  db.selectFrom('webhook_jobs').selectAll().where('webhook_id', '=', webhook_id).where('team_id', '=', team_id)

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
    .where('id', '=', id)
    .where('webhook_id', '=', webhook_id)
    .where('team_id', '=', team_id)
    .where('state', '=', 'running')
    .execute()

/** Claims a job of any team that can continue: its webhook is enabled and has fewer pending messages than the limit. */
export async function claimJob(db: Db, maxPending: number) {
  const { rows } = await sql<JobRow>`
    select j.* from webhook_jobs j join webhooks w on w.id = j.webhook_id
    where j.state = 'running' and w.disabled_at is null and ${maxPending} > (
      select coalesce(sum(l.tail - l.head), 0)
      from (select tail, head from lanes where webhook_id = w.id and run_at is not null limit ${maxPending}) l
    )
    order by j.updated_at limit 1 for update of j skip locked`.execute(db)
  return rows[0]
}

const exhaustedAttempts = ({ team_id, webhook_id, window_from, window_to }: JobRow) => sql`
  select a.at, a.id, a.event_id, a.event_at from attempts a
  where a.webhook_id = ${webhook_id} and a.team_id = ${team_id} and a.outcome = 'exhausted' and a.n > 0
    and a.at >= ${window_from} and a.at < ${window_to}`

const loggedEvents = ({ team_id, webhook_id, window_from, window_to, event_types, after_no }: JobRow) => sql`
  select e.no, e.id, e.logged_at, e.key
  from events e join webhooks w on w.id = ${webhook_id} join teams t on t.id = e.team_id
  where e.team_id = ${team_id} and e.no > ${after_no} and e.logged_at >= ${window_from} and e.logged_at < ${window_to}
    and takes(w.filter_types, e.event_type) and takes(${event_types}::text[], e.event_type)
    and (not e.partial or t.partial_webhooks_enabled)`

/** The number of events to process, or null if it exceeds the limit. */
export async function countJob(db: Db, job: JobRow, limit: number) {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from (${job.kind === 'recover' ? exhaustedAttempts(job) : loggedEvents(job)} limit ${limit + 1}) counted`.execute(
    db,
  )
  const found = rows[0]?.found ?? 0
  return found > limit ? null : found
}

/** The result of one batch: events processed, messages queued, and where to continue. */
type BatchResult = { processed: number; sent: number; after_at: string | null; after_id: string | null; after_no: number | null }

/** Queues the next exhausted messages again, except those that were attempted since, are pending, or are past retention. */
export async function recoverBatch(db: Db, job: JobRow, limit: number) {
  const { webhook_id, after_at, after_id } = job
  const { rows } = await sql<BatchResult>`
    with processed as materialized (
      ${exhaustedAttempts(job)} ${after_at ? sql`and (a.at, a.id) > (${after_at}::timestamptz, ${after_id}::uuid)` : sql``}
      order by a.at, a.id limit ${limit}
    ),
    due as materialized (
      select l.at, l.id, e.id as event_id, e.logged_at, e.key
      from processed l
      join events e on e.id = l.event_id and e.logged_at >= l.event_at and e.logged_at < l.event_at + interval '1 millisecond'
      where not exists (select from attempts a where a.event_id = l.event_id and a.webhook_id = ${webhook_id} and a.at > l.at)
        and not exists (
          select from deliveries d join lanes on lanes.id = d.lane_id
          where d.event_id = l.event_id and lanes.webhook_id = ${webhook_id} and d.n > lanes.head
        )
      order by l.at, l.id
    ),
    sent as materialized (select enqueue_event(${webhook_id}, due.event_id, due.logged_at, due.key) from due)
    select (select count(*)::int from processed) as processed, (select count(*)::int from sent) as sent, null::bigint as after_no,
      (select at from processed order by at desc, id desc limit 1) as after_at, (select id from processed order by at desc, id desc limit 1) as after_id`.execute(
    db,
  )
  return rows[0] as BatchResult
}

/** Queues the next events of a time window of the log again. */
export async function replayBatch(db: Db, job: JobRow, limit: number) {
  const { rows } = await sql<BatchResult>`
    with processed as materialized (${loggedEvents(job)} order by e.no limit ${limit}),
    sent as materialized (select enqueue_event(${job.webhook_id}, l.id, l.logged_at, l.key) from processed l)
    select (select count(*)::int from processed) as processed, (select count(*)::int from sent) as sent,
      (select max(no) from processed) as after_no, null::timestamptz as after_at, null::uuid as after_id`.execute(db)
  return rows[0] as BatchResult
}

/** Whether an event of the window is not numbered yet. */
export async function hasUnnumbered(db: Db, { team_id, window_from, window_to }: JobRow) {
  const found = await db
    .selectFrom('events')
    .select('id')
    .where('no', 'is', null)
    .where('team_id', '=', team_id)
    .where('logged_at', '>=', window_from)
    .where('logged_at', '<', window_to)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Updates a claimed job in the transaction that holds it. */
export const updateJob = (db: Db, { team_id, id }: JobRow, change: Updateable<Tables['webhook_jobs']>) =>
  db.updateTable('webhook_jobs').set(change).where('id', '=', id).where('team_id', '=', team_id).execute()

/** Records a failed run. Other jobs go first, and after several failures in a row the job is given up. */
export const recordFailure = (db: Db, { team_id, id }: JobRow, limit: number, now: string) =>
  sql`
    update webhook_jobs set failures = failures + 1, updated_at = ${now},
      state = case when failures + 1 >= ${limit} then 'failed' else state end
    where id = ${id} and team_id = ${team_id} and state = 'running'`.execute(db)

/** Deletes jobs of any team that ended before a time. */
export const pruneJobs = (db: Db, before: string) =>
  db.deleteFrom('webhook_jobs').where('state', '!=', 'running').where('updated_at', '<', before).execute()

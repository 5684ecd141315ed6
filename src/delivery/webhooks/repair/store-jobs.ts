import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import { type Db, prepareSearch } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { Page } from '../../../platform/paging.ts'
import type { QueuedEvent } from '../store-queue.ts'

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

/** A job that can continue: its webhook is enabled and has fewer pending messages than the limit. */
const canContinue = (maxPending: number, team_id: RawBuilder<unknown> = sql`w.team_id`) => sql`
  j.state = 'running' and w.disabled_at is null and ${maxPending} > (
    select coalesce(sum(l.tail - l.head), 0) from (
      select p.tail, p.head from lanes p where p.team_id = ${team_id} and p.webhook_id = w.id and p.run_at is not null limit ${maxPending}
    ) l
  )`

type JobKey = { team_id: string; id: string }

/** Finds jobs of any team that have not ended. */
export const searchRunningJobs = () => sql`
  select ${anyTeam('recover and replay jobs to continue')} id from webhook_jobs where state = 'running' order by updated_at`

/** Jobs of any team that can continue, the one that waited longest first. */
export const listJobsToContinue = prepareSearch(
  'webhook_jobs_to_continue',
  (_, maxPending: number, limit: number) => sql<JobKey>`
    select ${anyTeam('recover and replay jobs to continue')} j.team_id, j.id
    from webhook_jobs j join webhooks w on w.team_id = j.team_id and w.id = j.webhook_id
    where ${canContinue(maxPending)} order by j.updated_at limit ${limit}`,
)

/** Claims a job until the transaction ends, if it can still continue and no other process has it. */
export async function claimJob(db: Db, { team_id, id }: JobKey, maxPending: number) {
  const { rows } = await sql<JobRow>`
    select j.* from webhook_jobs j join webhooks w on w.team_id = j.team_id and w.id = j.webhook_id
    where j.team_id = ${team_id} and j.id = ${id} and ${canContinue(maxPending, sql`${team_id}::uuid`)} for update of j skip locked`.execute(
    db,
  )
  return rows[0]
}

const exhaustedAttempts = ({ team_id, webhook_id, window_from, window_to }: JobRow) => sql`
  select a.at, a.id, a.event_id, a.event_at from attempts a
  where a.team_id = ${team_id} and a.webhook_id = ${webhook_id} and a.outcome = 'exhausted' and a.n > 0
    and a.at >= ${window_from} and a.at < ${window_to}`

const loggedEvents = ({ team_id, webhook_id, window_from, window_to, event_types, after_no }: JobRow) => sql`
  select e.no, e.id, e.logged_at::text, e.key
  from events e join webhooks w on w.team_id = e.team_id and w.id = ${webhook_id} join teams t on t.id = e.team_id
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

/** The next events of a job: how many were processed, those to queue, and where to continue. */
type Batch = { processed: number; events: QueuedEvent[]; position: Partial<Pick<JobRow, 'after_at' | 'after_id' | 'after_no'>> }

/** The next exhausted messages, except those that were attempted since, are pending, or are past retention. */
export async function nextToRecover(db: Db, job: JobRow, limit: number): Promise<Batch> {
  const { team_id, webhook_id, after_at, after_id } = job
  const { rows } = await sql<{ at: string; id: string; event_id: string | null; logged_at: string; key: string }>`
    select a.at, a.id, e.id as event_id, e.logged_at::text, e.key from (
      ${exhaustedAttempts(job)} ${after_at ? sql`and (a.at, a.id) > (${after_at}::timestamptz, ${after_id}::uuid)` : sql``}
      order by a.at, a.id limit ${limit}
    ) a
    left join events e on e.team_id = ${team_id} and e.id = a.event_id
      and e.logged_at >= a.event_at and e.logged_at < a.event_at + interval '1 millisecond'
      and not exists (
        select from attempts later
        where later.team_id = ${team_id} and later.event_id = a.event_id and later.webhook_id = ${webhook_id} and later.at > a.at
      )
      and not exists (
        select from deliveries d join lanes l on l.team_id = d.team_id and l.id = d.lane_id
        where d.team_id = ${team_id} and d.event_id = a.event_id and l.webhook_id = ${webhook_id} and d.n > l.head
      )
    order by a.at, a.id`.execute(db)
  const last = rows.at(-1)
  return {
    processed: rows.length,
    events: rows.flatMap(({ event_id, logged_at, key }) => (event_id ? [{ id: event_id, logged_at, key }] : [])),
    position: last ? { after_at: last.at, after_id: last.id } : {},
  }
}

/** The next events of a time window of the log. */
export async function nextToReplay(db: Db, job: JobRow, limit: number): Promise<Batch> {
  const { rows } = await sql<QueuedEvent & { no: number }>`${loggedEvents(job)} order by e.no limit ${limit}`.execute(db)
  const last = rows.at(-1)
  return { processed: rows.length, events: rows, position: last ? { after_no: last.no } : {} }
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
  sql`delete from webhook_jobs where state <> 'running' and updated_at < ${before} ${anyTeam('ended recover and replay jobs')}`.execute(db)

import { randomUUID } from 'node:crypto'
import type { ParsedReport } from '../../contract/labs/report-parser.ts'
import { emit } from '../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem, tooMany } from '../../platform/problem.ts'
import { open, openBytes, type SealingKey, sealBytes, sealCompressed } from '../../platform/sealing/seal.ts'
import { userSealingKey } from '../../platform/sealing/vault.ts'
import { later, MINUTE } from '../../platform/time.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { findUsers, requireUser } from '../../tenants/users/actions.ts'
import { loadAnalytes } from '../catalog/actions.ts'
import { type Parsed, parseFiles } from './parse.ts'
import * as store from './store.ts'

export { searchParsing } from './store.ts'

/** The name of the job. Creating a parsing job wakes it. */
export const PARSE_REPORTS = 'parse lab reports'

const fileData = (job_id: string, n: number) => `parsing_files.sealed.${job_id}.${n}`
const jobData = (id: string) => `parsing_jobs.sealed.${id}`

type NewJob = { file: File[]; user_id: string; needs_human_review: boolean }

/** Stores the files for the background job that parses them. */
export async function createParsingJob(app: App, { team_id }: TeamCaller, { file: files, user_id, needs_human_review }: NewJob) {
  const contents = await Promise.all(files.map(async (file) => Buffer.from(await file.arrayBuffer())))
  const created = await inTransaction(app, async (app) => {
    const { client_user_id } = await requireUser(app, team_id, user_id)
    const key = (await userSealingKey(app, team_id, user_id)) as SealingKey
    await requireRoom(app, team_id)
    const at = app.now()
    const job = await store.insertJob(app.db, {
      ...{ team_id, id: randomUUID(), user_id, needs_human_review },
      ...{ status: 'started', due_at: app.wall(), created_at: at, updated_at: at },
    })
    for (const [n, bytes] of contents.entries())
      await store.insertFile(app.db, { team_id, job_id: job.id, n, user_id, sealed: sealBytes(key, fileData(job.id, n), bytes) })
    await emitJob(app, key, job, client_user_id)
    return presentJob(job, key)
  })
  app.wake('job', PARSE_REPORTS)
  return created
}

/** The sender keeps further files, so that those of one team do not fill the disk. */
export const MAX_PENDING_JOBS = 50
const RETRY_AFTER_S = 10

async function requireRoom(app: AppInTransaction, team_id: string) {
  // The lock makes concurrent requests count one after another.
  await store.addSpent(app.db, team_id, app.wall(), 0)
  if ((await store.countPendingJobs(app.db, team_id)) >= MAX_PENDING_JOBS)
    throw tooMany(
      'TOO_MANY_PARSING_JOBS',
      `The team has ${MAX_PENDING_JOBS} parsing jobs that have not ended. Send the file again when one of them has ended.`,
      RETRY_AFTER_S,
    )
}

export async function getParsingJob(app: App, { team_id }: TeamCaller, id: string) {
  const job = await store.findJob(app.db, { team_id, id })
  const key = job && (await userSealingKey(app, team_id, job.user_id))
  if (!job || !key) throw problem('PARSING_JOB_NOT_FOUND', 'No parsing job with this ID exists in the team.')
  return presentJob(job, key)
}

const presentJob = ({ id, user_id, status, failure_reason, needs_human_review, sealed }: store.JobRow, key: SealingKey) => ({
  ...{ id, job_id: id, user_id, status, failure_reason, needs_human_review },
  data: sealed && open<ParsedReport>(key, jobData(id), sealed),
  is_reviewed: false,
})

const emitJob = (app: AppInTransaction, key: SealingKey, job: store.JobRow, client_user_id: string) =>
  emit(app, key, {
    ...{ team_id: job.team_id, user_id: job.user_id, client_user_id },
    event_type: job.status === 'started' ? 'lab_report.parsing_job.created' : 'lab_report.parsing_job.updated',
    key: `parsing job:${job.id}`,
    data: presentJob(job, key),
    at: app.now(),
  })

const BATCH_SIZE = 10
const LEASE_MS = 2 * MINUTE
/** A job whose process ended this often does not start again. */
const MAX_TRIES = 3

/** Parses the jobs that are due, one after another; returns whether there may be more. Each time, the team is chosen again. */
export async function parseDueReports(app: App) {
  for (let i = 0; i < BATCH_SIZE; i++) {
    const found = await store.findNextJob(app.db, app.wall())
    if (!found) return false
    await parseJob(await withTeamClock(app, found.team_id), found)
  }
  return true
}

/** The job of a user who is being deleted fails without an event. */
async function parseJob(app: App, found: { team_id: string; id: string }) {
  const leased_until = later(app.wall(), LEASE_MS)
  const job = await store.claimJob(app.db, found, app.wall(), leased_until)
  const key = job && (await userSealingKey(app, job.team_id, job.user_id))
  if (!job || !key) return
  const [user] = await findUsers(app, job.team_id, [job.user_id])
  const isReadable = user && job.tries <= MAX_TRIES
  const { parsed, cpu_ms } = isReadable ? await parseFilesOf(app, key, job) : unreadable
  await inTransaction(app, async (app) => {
    await store.addSpent(app.db, job.team_id, app.wall(), cpu_ms)
    const ended = await store.endJob(app.db, job, leased_until, { ...outcomeOf(key, job.id, parsed), updated_at: app.now() })
    if (!ended) return
    await store.deleteFiles(app.db, job)
    if (user) await emitJob(app, key, ended, user.client_user_id)
  })
}

const unreadable = { parsed: { failure: 'processing_error' } as const, cpu_ms: 0 }

async function parseFilesOf(app: App, key: SealingKey, job: store.JobRow) {
  const files = await store.listFiles(app.db, job)
  const contents: Buffer[] = []
  for (const { n } of files) contents.push(openBytes(key, fileData(job.id, n), (await store.readFile(app.db, job, n)) as Buffer))
  return parseFiles(contents, await loadAnalytes(app))
}

const outcomeOf = (key: SealingKey, id: string, parsed: Parsed) =>
  'failure' in parsed
    ? { status: 'failed', failure_reason: parsed.failure }
    : { status: 'completed', sealed: sealCompressed(key, jobData(id), JSON.stringify(parsed.data)) }

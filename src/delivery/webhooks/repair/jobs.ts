import { randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { type PageQuery, pageAfter, pageOf } from '../../../platform/paging.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { changeDelivery } from '../../events/change-log.ts'
import { checkEventTypes } from '../../events/rules.ts'
import { requireWebhook, type WebhookPath } from '../management/actions.ts'
import * as store from './store-jobs.ts'

/** The background job that counts the events of jobs and recovers messages. The owner of the team runs replays. */
export const RECOVER_MESSAGES = 'recover messages'

type NewJob = { kind: 'recover' | 'replay'; from: string; to: string; event_types?: string[] | null | undefined; names: [string, string] }

export const recoverWebhook = (
  app: App,
  caller: ManagementCaller,
  path: WebhookPath,
  body: { since: string; until?: string | null | undefined },
) => startJob(app, caller, path, { kind: 'recover', from: body.since, to: body.until ?? app.wall(), names: ['since', 'until'] })

type Window = { from: string; to?: string | null | undefined; event_types?: string[] | null | undefined }

export async function replayWebhook(app: App, caller: ManagementCaller, path: WebhookPath, { from, to, event_types }: Window) {
  checkEventTypes(event_types, ['body', 'event_types'])
  return startJob(app, caller, path, { kind: 'replay', from, to: to ?? app.wall(), event_types, names: ['from', 'to'] })
}

async function startJob(app: App, caller: ManagementCaller, path: WebhookPath, { kind, from, to, event_types, names }: NewJob) {
  if (from >= to) throw invalid(['body', names[0]], `Must be before ${names[1]}, which defaults to now.`)
  await requireWebhook(app, caller, path)
  const job = await changeDelivery(app, path.team_id, async (app) => {
    const { id: webhook_id, team_id } = await requireWebhook(app, caller, path)
    const now = app.wall()
    const window = { window_from: from, window_to: to, event_types: event_types ?? null }
    return presentJob(
      await store.insertJob(app.db, { id: randomUUID(), team_id, webhook_id, kind, ...window, created_at: now, updated_at: now }),
    )
  })
  app.wake('job', RECOVER_MESSAGES)
  return job
}

export async function listWebhookJobs(app: App, caller: ManagementCaller, path: WebhookPath, query: PageQuery) {
  await requireWebhook(app, caller, path)
  const page = pageAfter(query.next_cursor, query.limit)
  const { rows, next_cursor } = pageOf(await store.listJobs(app.db, path, page), page, ({ created_at, id }) => ({ at: created_at, id }))
  return { data: rows.map(presentJob), next_cursor }
}

export async function getWebhookJob(app: App, caller: ManagementCaller, path: WebhookPath & { job_id: string }) {
  await requireWebhook(app, caller, path)
  const job = await store.findJob(app.db, path, path.job_id)
  if (!job) throw problem('WEBHOOK_JOB_NOT_FOUND', 'This webhook has no such job. List its jobs to see their IDs.')
  return presentJob(job)
}

export async function stopWebhookJob(app: App, caller: ManagementCaller, path: WebhookPath & { job_id: string }) {
  await getWebhookJob(app, caller, path)
  return changeDelivery(app, path.team_id, async (app) => {
    await store.stopJob(app.db, path, path.job_id, app.wall())
    return getWebhookJob(app, caller, path)
  })
}

const presentJob = (job: store.JobRow) => ({ ...job, from: job.window_from, to: job.window_to })

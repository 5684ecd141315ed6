import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import { restoreSummary } from '../data/summaries/delete-summaries.ts'
import { findRawProfile } from '../data/summaries/read-summaries.ts'
import type { Call, DeletedObject, Feed } from '../providers/cloud.ts'
import { callbackOf } from './callback.ts'
import * as rules from './rules.ts'
import { deleteRecords, openPull, saveRecords } from './save.ts'
import type { Skips } from './skips/skips.ts'
import * as store from './store.ts'

export type Reading = {
  app: App
  job: store.PullJob
  feed: Feed
  call: Call
  skips: Skips
  /** Whether the user granted a scope. */
  granted(scope: string): boolean
  /** Called before each request and each write. Throws if the read has to end. */
  beforePage(): Promise<void>
}

/** Changed objects of one read. Others wait for the next. */
const MAX_CHANGES = 50

/** Reads changed objects, and the latest days if they are due. */
export async function readNew(reading: Reading) {
  const { app, job, feed } = reading
  const now = app.wall()
  const isPoll = job.live_due_at <= now
  const changes = await store.listChanges(app.db, job, MAX_CHANGES)
  const live = rules.liveWindow(job.live_until, feed.trailingDays, now)
  const { windows, deleted, changed } = await resolveChanges(reading, changes)
  await removeDeleted(reading, deleted, live)
  for (const window of rules.joinWindows(isPoll ? [live, ...windows] : windows).toReversed())
    for (const part of rules.splitWindow(window, feed.windowDays))
      await readWindow(reading, part, 'daily', { changed, changedSince: isPoll && part.to === live.to ? part.from : undefined })
  if (changes.length) await store.deleteRead(app.db, job, changes)
  return { didRead: isPoll || changes.length > 0, isPoll, until: live.to, hasMore: changes.length === MAX_CHANGES }
}

/**
 * Asks the source when changed objects took place. An object that it does not have anymore was deleted, and one that it has
 * exists, whatever the order of notifications.
 */
async function resolveChanges({ call, feed, app, job, beforePage }: Reading, changes: store.ChangeRow[]) {
  const windows: rules.Window[] = []
  const deleted: DeletedObject[] = []
  const changed: rules.Window[] = []
  for (const { kind, object_id, deleted: isDeleted, changed_at, received_at, window_from, window_to } of changes) {
    await beforePage()
    if (window_from && window_to) {
      windows.push({ from: window_from, to: window_to })
      if (!isDeleted) changed.push({ from: window_from, to: window_to })
      continue
    }
    const change = { kind, object_id, deleted: isDeleted, at: changed_at }
    const window = (await feed.windowOf?.(call, change)) ?? 'deleted'
    // The clocks of the source and of Assay differ, and the deletion must be later than the last version of the object.
    const at = [changed_at, received_at, app.wall()].sort().at(-1) as string
    const deletion = window === 'deleted' ? feed.deletion?.(change) : undefined
    if (window === 'deleted' && deletion) deleted.push({ ...deletion, at })
    if (window === 'deleted' || window === 'unreadable') continue
    windows.push(window)
    const known = feed.deletion?.(change)
    if (known) await restoreSummary(app, job, known.resource, known.id)
  }
  return { windows: rules.joinWindows(windows), deleted, changed }
}

async function removeDeleted({ app, job }: Reading, deleted: DeletedObject[], window: rules.Window) {
  if (deleted.length) await deleteRecords(app, await openPull(app, { ...job, stage: 'daily', window }), deleted)
}

/** Reads the newest window of the history that is left. Undefined if there is none. */
export async function readHistory(reading: Reading) {
  const { job, feed } = reading
  const window = rules.nextWindow({ from: job.history_from, to: job.history_to }, feed.windowDays)
  if (!window) return undefined
  let found = job.history_found
  const collect = (changes: Parameters<typeof rules.addFound>[1]) => {
    found = rules.addFound(found, changes)
  }
  await readWindow(reading, window, 'historical', { collect })
  return { window, found }
}

type Progress = { collect?: Parameters<typeof saveRecords>[3]['collect']; changed?: rules.Window[]; changedSince?: string | undefined }

async function readWindow(
  { app, job, feed, call, skips, granted, beforePage }: Reading,
  window: rules.Window,
  stage: 'daily' | 'historical',
  { collect, changed, changedSince }: Progress,
) {
  const { team_id, user_id, provider } = job
  const context = {
    now: app.now(),
    stage,
    granted,
    changedSince,
    callback: () => callbackOf(app, team_id, provider as SourceSlug),
    lastProfile: async () => findRawProfile(app, await requireUser(app, team_id, user_id), provider),
  }
  skips.inWindow = 0
  await beforePage()
  for await (const records of feed.pull(call, window, context)) {
    await beforePage()
    const target = { team_id, user_id, provider, stage, window, ...(changed ? { changed } : {}) }
    await saveRecords(app, target, records, { skips, collect })
  }
  if (skips.inWindow) app.log.warn({ provider, feed: job.feed, skipped: skips.inWindow }, 'source records skipped')
}

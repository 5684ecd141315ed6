import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { isSource } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { Sender } from '../../platform/outbound/send.ts'
import { DAY, later, MINUTE, SECOND } from '../../platform/time.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { getAccess } from '../connections/access.ts'
import { type Connection, connectionById, failConnection } from '../connections/actions.ts'
import { beginPulls, endBackfill, endPulls } from '../data/backfill.ts'
import { recordAttempt } from '../data/introspect.ts'
import { openCloud, quotaOf } from '../providers/call.ts'
import { type CloudRequest, cloudError, type Feed, isCloudError } from '../providers/cloud.ts'
import { cloudOf } from '../providers/clouds.ts'
import { clientFor } from '../team-sources/oauth-client.ts'
import * as clients from './applications/store.ts'
import { countCall, countFailure } from './counters.ts'
import { reasonOf } from './failure-reason.ts'
import { ENROLLMENT, feedsOf } from './feeds.ts'
import { type Reading, readHistory, readNew } from './read.ts'
import * as rules from './rules.ts'
import { openPull } from './save.ts'
import { openSkips } from './skips/skips.ts'
import * as store from './store.ts'

/** Longer than one request and one write take. The lease is extended before each, and others wait for its end after a kill. */
const LEASE_MS = 45 * SECOND

export const claim = (app: App, candidate: Pick<store.PullJob, 'team_id' | 'connection_id' | 'feed'>) =>
  store.claimJob(app.db, candidate, app.wall(), { lease: randomUUID(), until: later(app.wall(), LEASE_MS) })

/** Reads the new data of one connection now. Returns whether every feed succeeded. */
export async function pullConnection(app: App, { team_id, id }: Connection) {
  const jobs = await store.listJobs(app.db, team_id, id)
  const feeds = jobs.map(({ feed }) => feed)
  await store.touchJobs(app.db, team_id, id, feeds, app.wall(), true)
  const results: boolean[] = []
  for (const job of jobs) {
    const claimed = await claim(app, job)
    // Another process is reading it.
    if (claimed) results.push((await runJob(app, claimed)) || job.feed === ENROLLMENT)
  }
  return results.every(Boolean)
}

/** Reads a claimed feed once: new data if it is due, or else one window of the history. Returns whether it succeeded. */
export async function runJob(app: App, job: store.PullJob, sender?: Sender): Promise<boolean> {
  const teamApp = await withTeamClock(app, job.team_id)
  const connection = await connectionById(teamApp, job.team_id, job.connection_id)
  const cloud = cloudOf(job.provider)
  const feed = cloud && feedsOf(cloud)[job.feed]
  if (!connection) return forget(app, job)
  if (connection.status !== 'connected' || !feed) return settle(app, job, { due_at: null })
  const shared = await clients.findClient(app.db, job.team_id, job.provider)
  if (shared?.blocked_until && shared.blocked_until > app.wall()) return settle(app, job, { due_at: shared.blocked_until })
  const skips = openSkips(job)
  let quota: ReturnType<typeof quotaOf>
  try {
    const access = await getAccess(teamApp, connection)
    if (access.state === 'broken') return settle(app, job, { due_at: null, error: 'unauthorized' })
    if (access.state === 'unavailable') throw cloudError('unavailable', 'renewal of the token')
    const client = isSource(job.provider) ? await clientFor(teamApp, job.team_id, job.provider, access.region) : undefined
    if (!client) return settle(app, job, { due_at: null })
    const api = openCloud(teamApp, job.provider, client, {
      ...{ token: access.access_token, sender },
      renew: (rejected) => renewed(teamApp, connection, rejected),
      observe: (outcome) => {
        countCall(job.provider, outcome.status)
        quota = quotaOf(outcome) ?? quota
      },
    })
    try {
      const granted = (scope: string) => access.granted?.includes(scope) ?? true
      await read({ app: teamApp, job, feed, call: api.call, skips, granted }, await pollMs(app, job, feed, shared))
      return true
    } finally {
      await api.close()
      if (shared && quota && isNews(shared, quota))
        await clients.updateClient(app.db, shared, { quota_limit: quota.limit, quota_remaining: quota.remaining })
    }
  } catch (error) {
    return handle(teamApp, job, connection, feed, shared, error)
  }
}

/** Every feed would write the row of its application, and wait for the others, to count single requests. */
const isNews = ({ quota_limit, quota_remaining }: clients.CloudClient, { limit, remaining }: NonNullable<ReturnType<typeof quotaOf>>) =>
  quota_remaining === null || limit !== quota_limit || Math.abs(remaining - quota_remaining) > (limit ?? 0) / 50

/** Without notifications, the feed is read more often. */
async function pollMs(app: App, job: store.PullJob, feed: Feed, shared: clients.CloudClient | undefined) {
  const hasEnrollment = job.feed !== ENROLLMENT && cloudOf(job.provider)?.enroll !== undefined
  const enrollment = hasEnrollment ? await store.findJob(app.db, { ...job, feed: ENROLLMENT }) : undefined
  const isNotified = shared?.subscribe_error === null && !enrollment?.error
  return isNotified || job.feed === ENROLLMENT ? feed.pollMs : Math.min(feed.pollMs, 60 * MINUTE)
}

async function renewed(app: App, connection: Connection, rejected: string) {
  const access = await getAccess(app, connection, rejected)
  if (access.state === 'unavailable') throw cloudError('unavailable', 'renewal of the token')
  return access.state === 'ready' ? access.access_token : undefined
}

/** The connection has ended. */
async function forget(app: App, { team_id, connection_id }: store.PullJob) {
  await store.deleteJobs(app.db, team_id, connection_id, [])
  await store.deleteChanges(app.db, team_id, connection_id)
  return false
}

type Settlement = Omit<Parameters<typeof store.settleJob>[3], 'lease' | 'leased_until'>

async function settle(app: App, job: store.PullJob, change: Settlement) {
  await store.settleJob(app.db, job, app.wall(), change)
  return false
}

async function read({ app, job, feed, call, skips, granted }: Omit<Reading, 'beforePage'>, pollMs: number) {
  const beforePage = leaseKeeper(app, job)
  const request = async <S extends z.ZodType>(request: CloudRequest, shape: S) => {
    await beforePage()
    return call(request, shape)
  }
  const reading = { app, job, feed, call: Object.assign(request, { note: skips.note }), skips, granted, beforePage }
  if (job.error) await beginPulls(app, { ...job, resources: feed.resources }, [])
  const now = app.wall()
  const live = await readNew(reading)
  const history = live.didRead ? undefined : await readHistory(reading)
  const history_to = history ? history.window.from : job.history_to
  const isOpen = rules.nextWindow({ from: job.history_from, to: history_to }, 1) !== undefined
  const live_due_at = live.isPoll ? later(now, pollMs) : job.live_due_at
  const end = {
    ...{ tries: 0, error: null, last_success_at: now, live_due_at, history_to, ...skips.change(now) },
    ...(live.isPoll ? { live_until: live.until } : {}),
    ...(history ? { history_found: JSON.stringify(history.found) } : {}),
    due_at: live.hasMore || isOpen ? now : live_due_at,
  }
  if (history && !isOpen)
    await inTransaction(app, async (app) => {
      if (await store.settleJob(app.db, job, now, end)) await announce(app, job, feed, history.found)
    })
  else await store.settleJob(app.db, job, now, end)
  if (live.didRead || job.error) await recordAttempt(app, job, feed.resources, 'success')
}

/** Emits the end of the backfill, once per resource of the feed. */
async function announce(app: Parameters<typeof endBackfill>[0], job: store.PullJob, feed: Feed, found: rules.Found) {
  const window = { from: job.history_from as string, to: job.history_end as string }
  const push = await openPull(app, { ...job, stage: 'historical', window })
  const changes = feed.resources.map((resource) => {
    const { changes, days } = found[resource] ?? { changes: 0, days: 0 }
    // Windows overlap by a day.
    return { resource, created: Array(changes), updated: [], days: Math.min(days, Math.ceil(daysIn(window))) }
  })
  await endBackfill(app, push, changes)
}

const daysIn = ({ from, to }: rules.Window) => (Date.parse(to) - Date.parse(from)) / DAY

const RENEW_EVERY_MS = 5000

/** Extends the lease from time to time. Ends the read if another process has the lease, or if this one stops. */
function leaseKeeper(app: App, job: store.PullJob) {
  let renewedAt = performance.now()
  return async () => {
    if (app.signal?.aborted) throw ended('STOPPING', 'The process stops')
    if (performance.now() - renewedAt < RENEW_EVERY_MS) return
    if (!(await store.renewLease(app.db, job, later(app.wall(), LEASE_MS)))) throw ended('LOST_LEASE', 'Another process reads the feed')
    renewedAt = performance.now()
  }
}

const ended = (code: 'STOPPING' | 'LOST_LEASE', message: string) => Object.assign(new Error(message), { code })

async function handle(
  app: App,
  job: store.PullJob,
  connection: Connection,
  feed: Feed,
  shared: clients.CloudClient | undefined,
  error: unknown,
): Promise<boolean> {
  const { provider } = job
  const { code } = error as { code?: string }
  if (code === 'LOST_LEASE') return false
  if (code === 'STOPPING') return settle(app, job, { due_at: app.wall() })
  const fault = isCloudError(error) ? error.fault : reasonOf(error)
  countFailure(provider, fault)
  app.log.warn({ provider, feed: job.feed, fault, code }, 'source pull failed')
  await recordAttempt(app, job, feed.resources, 'failure')
  if (!isCloudError(error)) return fail(app, job, feed, fault)
  if (error.fault === 'rate_limited') {
    const error_details = 'provider_rate_limit_exceeded'
    if (job.history_to) await endPulls(app, { ...job, resources: feed.resources }, { status: 'retrying', error_details })
    const waitMs = Math.min(Math.max(error.waitMs ?? rules.DEFAULT_BLOCK_MS, 1000), rules.MAX_BLOCK_MS)
    const blocked_until = later(app.wall(), waitMs)
    if (shared) for (const one of await clients.listSharing(app.db, shared)) await clients.updateClient(app.db, one, { blocked_until })
    return settle(app, job, { due_at: blocked_until, error: error.fault })
  }
  if (error.fault === 'unauthorized' || error.fault === 'forbidden') {
    await failConnection(app, connection, brokenBy[error.fault])
    await endPulls(app, connection, { status: 'failure', error_details: 'non_retriable_error' })
    return settle(app, job, { due_at: null, error: error.fault })
  }
  return fail(app, job, feed, error.fault)
}

const brokenBy = {
  unauthorized: {
    error_type: 'token_refresh_failed',
    message: 'The source no longer accepts the connection. The user has to connect again.',
    details: 'The source rejected a new access token.',
  },
  forbidden: {
    error_type: 'deregistered_per_provider',
    message: 'The source refuses access to the data. The user has to check their membership there, and connect again.',
    details: 'The source responded with 403.',
  },
}

/** Waits before the next attempt. The history fails after the last one. */
async function fail(app: App, job: store.PullJob, feed: Feed, fault: string) {
  const tries = job.tries + 1
  const error_details = rules.reasons[fault] ?? fault
  const scope = { ...job, resources: feed.resources }
  const hasFailed = rules.isExhausted(tries)
  if (job.history_to)
    await endPulls(
      app,
      scope,
      hasFailed ? { status: 'failure', error_details: 'retry_quota_exhausted' } : { status: 'retrying', error_details },
    )
  const due_at = later(app.wall(), rules.waitAfter(tries))
  return settle(app, job, {
    ...{ due_at, tries, error: fault },
    ...(hasFailed ? { history_from: null, history_to: null, history_end: null } : {}),
  })
}

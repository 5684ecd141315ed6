import { type SourceSlug, sources } from '../../../contract/tenants/sources.ts'
import { MAX_PULLED_DAYS } from '../../../contract/wearables/source-status.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { DAY, later } from '../../../platform/time.ts'
import { type Connection, connectionFor } from '../../connections/actions.ts'
import { takeRefresh } from '../../connections/refreshes.ts'
import { notConnected } from '../../connections/rules.ts'
import { rangeOf } from '../../data/rules-window.ts'
import type { Feed } from '../../providers/cloud.ts'
import { cloudOf } from '../../providers/clouds.ts'
import type { Window } from '../rules.ts'
import { PULL_FEEDS } from '../schedule.ts'
import * as store from '../store.ts'

type PullRequest = { start_date: string; end_date?: string | null | undefined; resource?: string | null | undefined }
type Target = { user_id: string; provider: SourceSlug }

/** Schedules a period of a source to be read again, like a notification that names the period. */
export async function pullWindow(app: App, { team_id }: TeamCaller, { user_id, provider }: Target, request: PullRequest) {
  const window = windowOf(request, app.wall())
  const result = await inTransaction(app, async (app) => {
    await takeRefresh(app, team_id, user_id)
    const connection = await readableConnection(app, { team_id, user_id }, provider)
    const feeds = await feedsFor(app, connection, request.resource ?? undefined)
    const requested = feeds.flatMap((feed) => clampWindow(feed, provider, window, app.wall()))
    if (!requested.length) throw invalid(['body', 'end_date'], `${sources[provider].name} no longer has data from this period.`)
    for (const one of requested) await requestRead(app, connection, one)
    return { success: true as const, resources: [...new Set(requested.flatMap(({ feed }) => feed.resources))].sort() }
  })
  app.wake('job', PULL_FEEDS)
  return result
}

function windowOf({ start_date, end_date }: PullRequest, now: string): Window {
  if (start_date > now) throw invalid(['body', 'start_date'], 'Must not be in the future.')
  const { from, to } = rangeOf(start_date, end_date, now, 'body')
  const end = Math.min(to, Date.parse(now))
  if (end - from > MAX_PULLED_DAYS * DAY) throw invalid(['body', 'start_date'], `Must be at most ${MAX_PULLED_DAYS} days before end_date.`)
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() }
}

async function readableConnection(app: App, user: { team_id: string; user_id: string }, provider: SourceSlug) {
  const connection = await connectionFor(app, user, provider)
  if (!connection) throw notConnected()
  if (connection.status !== 'connected')
    throw notReadable('The connection is broken or paused. Let the user connect the source again with a link token.')
  if (connection.kind !== 'oauth' || !cloudOf(provider)?.feeds)
    throw notReadable(`Assay does not read ${sources[provider].name} through this connection. The source has to push the data again.`)
  return connection
}

const notReadable = (message: string) => problem('CONNECTION_NOT_READABLE', message)

type NamedFeed = { name: string; feed: Feed }

/** The feeds of a connection that the user granted, with one resource or with all that have dates. */
async function feedsFor(app: App, { team_id, id, provider }: Connection, resource?: string): Promise<NamedFeed[]> {
  const feeds = cloudOf(provider)?.feeds ?? {}
  const granted = (await store.listJobs(app.db, team_id, id)).flatMap(({ feed: name }) => {
    const feed = feeds[name]
    return feed ? { name, feed } : []
  })
  const offered = [...new Set(granted.flatMap(({ feed }) => feed.resources))].sort()
  if (resource && !offered.includes(resource)) throw invalid(['body', 'resource'], `Must be one of ${offered.join(', ')}.`, 'enum')
  return granted.filter(({ feed }) => (resource ? feed.resources.includes(resource) : feed.maxDays !== 0))
}

type RequestedFeed = NamedFeed & { window: Window | undefined }

/** The part of the period that the source still has. Feeds without dates, such as the profile, are read as a whole. */
function clampWindow({ name, feed }: NamedFeed, provider: SourceSlug, { from, to }: Window, now: string): RequestedFeed[] {
  const { maxDays = sources[provider].backfill_days } = feed
  if (maxDays === 0) return [{ name, feed, window: undefined }]
  const earliest = later(now, -maxDays * DAY)
  const window = { from: from > earliest ? from : earliest, to }
  return window.from < to ? [{ name, feed, window }] : []
}

async function requestRead(app: App, { team_id, id, user_id }: Connection, { name, window }: RequestedFeed) {
  const now = app.wall()
  if (window)
    await store.insertChanges(app.db, [
      {
        ...{ team_id, connection_id: id, user_id, feed: name, kind: 'period', object_id: `${window.from} ${window.to}`, deleted: false },
        ...{ changed_at: now, received_at: now, window_from: window.from, window_to: window.to },
      },
    ])
  await store.touchJobs(app.db, team_id, id, [name], now, !window)
}

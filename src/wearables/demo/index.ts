import { isSource, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { series } from '../../contract/wearables/series.ts'
import type { SummaryName } from '../../contract/wearables/summaries.ts'
import type { App } from '../../platform/app.ts'
import { runAtOnce } from '../../platform/shares/slices.ts'
import { requireUser, type UserRow } from '../../tenants/users/actions.ts'
import { type Connection, connectionFor } from '../connections/actions.ts'
import { ingestionFilter, openPush } from '../data/incoming-push.ts'
import { findLastReceived } from '../data/introspect.ts'
import { parsePushedSamples, saveSamples } from '../data/samples/ingest.ts'
import { pushStreams } from '../data/streams/streams.ts'
import { summaryId } from '../data/summaries/rules-summary.ts'
import { buildSummaries, saveSummaries } from '../data/summaries/summaries.ts'
import { loadPreferredDays } from '../team-sources/preferences.ts'
import { localDay, zoneClock } from '../time/rules.ts'
import { dayAfter, startOf } from './rules-day.ts'
import { demoReport, demoResources } from './rules-report.ts'

const HISTORY_DAYS = 30
/** A job that pulls history retries later instead of waiting long for a lock. */
const LOCK_TIMEOUT_MS = 500

/** Generates the data of a demo connection. */
export const demo = { history: demoResources, pull: pullRange, pullDay }

/** Pulls the history, or the days since the last live data: at least yesterday and today. */
async function pullRange(app: App, { team_id, user_id, provider, created_at }: Connection, range: 'new' | 'history') {
  if (!isSource(provider)) return
  const user = await requireUser(app, team_id, user_id)
  const { zoneAt, today, yesterday } = calendarOf(app, user)
  if (range === 'history') return pullHistory(app, user, provider, yesterday)
  const since = Date.parse((await findLastReceived(app, user, provider)) ?? created_at)
  const earliest = dayAfter(today, -sources[provider].backfill_days)
  const first = [localDay(since, zoneAt(since)), yesterday].sort()[0] as string
  await pushDemoDays(app, user, provider, { dates: datesBetween(first > earliest ? first : earliest, today), stage: 'daily' })
}

async function pullDay(app: App, { team_id, user_id, provider }: Connection, day: string) {
  if (!isSource(provider)) return
  const user = await requireUser(app, team_id, user_id)
  const stage = day < calendarOf(app, user).yesterday ? 'historical' : 'daily'
  await pushDemoDays(app, user, provider, { dates: [day], stage })
}

/** Pulls each resource as far back as the team prefers, grouped by number of days. */
async function pullHistory(app: App, user: UserRow, provider: SourceSlug, yesterday: string) {
  const preferred = await loadPreferredDays(app, user.team_id, provider)
  for (const [days, resources] of Map.groupBy(demoResources, (resource) => preferred(resource) ?? HISTORY_DAYS)) {
    const dates = datesBetween(dayAfter(yesterday, -days), dayAfter(yesterday, -1))
    await pushDemoDays(app, user, provider, { dates, stage: 'historical', resources, lockTimeoutMs: LOCK_TIMEOUT_MS })
  }
}

/** Live data starts with yesterday, because today may have just begun. Every resource therefore has an event at any hour. */
function calendarOf(app: App, { time_zone }: UserRow) {
  const zone = time_zone ?? 'UTC'
  const zoneAt = zoneClock(zone)
  const now = Date.parse(app.now())
  const today = localDay(now, zoneAt(now))
  return { zone, zoneAt, now, today, yesterday: dayAfter(today, -1) }
}

function datesBetween(first: string, last: string) {
  const dates: string[] = []
  for (let date = first; date <= last; date = dayAfter(date)) dates.push(date)
  return dates
}

type DemoDays = { dates: string[]; stage: 'daily' | 'historical'; resources?: string[]; lockTimeoutMs?: number }

/** Stores demo days the way a real push does. */
async function pushDemoDays(
  app: App,
  user: UserRow,
  provider: SourceSlug,
  { dates, stage, resources = demoResources, lockTimeoutMs }: DemoDays,
): Promise<void> {
  const { user_id } = user
  const { zone, zoneAt, now } = calendarOf(app, user)
  const window = windowOf(dates, zoneAt, now)
  if (!window) return
  const { start, end } = window
  const opened = await openPush(app, user, user_id, { stage, provider, time_zone: zone, start_date: start, end_date: end })
  const push = { ...opened, lockTimeoutMs }
  const report = demoReport({ source: provider, user_id, dates, zoneAt, until: now, isLive: stage === 'daily' })
  // The push stops once the user disconnects the source or connects a real account.
  const isStillDemo = async () => (await connectionFor(app, user, provider))?.kind === 'demo'
  for (const [resource, data] of Object.entries(report.summaries) as [SummaryName, unknown[]][])
    if (resources.includes(resource) && (await isStillDemo()))
      await saveSummaries(app, push, resource, runAtOnce(buildSummaries(push, resource, data)), data.length)
  if (!(await isStillDemo())) return
  const selected = report.samples.filter(({ name }) => resources.includes(series[name].event ?? name))
  await saveSamples(
    app,
    push,
    selected.map(({ name, samples }) => runAtOnce(parsePushedSamples(push, name, samples))),
  )
  if (!resources.includes('workouts') || !(await isStillDemo())) return
  const isWithin = ingestionFilter(push)
  const streams = report.streams.filter(({ from, to }) => isWithin(from, to))
  const pushed = streams.map(({ workout, stream }) => ({ workout_id: summaryId(user_id, provider, 'workouts', workout), stream }))
  await pushStreams(app, user, { stage, window }, pushed)
}

function windowOf(dates: string[], zoneAt: (at: number) => number | null, now: number) {
  const [first, last] = [dates[0], dates.at(-1)]
  if (!first || !last) return undefined
  const end = Math.min(now, startOf(dayAfter(last), zoneAt))
  return { start: new Date(startOf(first, zoneAt)).toISOString(), end: new Date(end).toISOString() }
}

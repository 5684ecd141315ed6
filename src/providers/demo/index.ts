import { type App, inTransaction, type TeamCaller } from '../../app.ts'
import { type Connection, connectionFor, linkConnection } from '../../connections/actions.ts'
import { isSource, type SourceSlug, sources } from '../../contract/sources.ts'
import type { SummaryName } from '../../contract/summaries.ts'
import { invalid, problem } from '../../problem.ts'
import { lockUser, requireUser, type UserRow } from '../../users/actions.ts'
import { openDelivery, within } from '../../wearables/delivery.ts'
import { keepDelivered, readDelivered } from '../../wearables/ingest.ts'
import { lastReceived } from '../../wearables/introspect.ts'
import { summaryId } from '../../wearables/rules-summary.ts'
import { localDay, zoneClock } from '../../wearables/rules-time.ts'
import { pushStreams } from '../../wearables/streams.ts'
import { keepMade, madeOf } from '../../wearables/summaries.ts'
import { dayAfter, startOf } from './rules-day.ts'
import { demoReport } from './rules-report.ts'

const HISTORY_DAYS = 30

type Asked = { user_id: string; provider: SourceSlug; day?: string | null | undefined }

/** Connects a source that makes up its data, and writes it: the past and what is live, or one day that was asked for. */
export const connectDemo = (app: App, { team_id }: TeamCaller, { user_id, provider, day }: Asked) =>
  inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const calendar = calendarOf(app, user)
    if (day && day > calendar.today) throw invalid(['body', 'day'], "Must not lie in the future of the team's clock.")
    const before = await connectionFor(app, user, provider)
    if (before && before.kind !== 'demo') throw isReal(provider)
    const isOpen = before?.status === 'connected'
    if (!isOpen) {
      await linkConnection(app, user, provider, { kind: 'demo' })
      await deliverHistory(app, user, provider)
      await deliver(app, user, provider, [calendar.yesterday, calendar.today], 'daily')
    }
    if (day) await deliver(app, user, provider, [day], day < calendar.yesterday ? 'historical' : 'daily')
    const { name } = sources[provider]
    return { success: true, detail: isOpen ? `${name} is connected as a demo already.` : `${name} is connected as a demo.` }
  })

const isReal = (provider: SourceSlug) =>
  problem(
    'CONNECTION_IS_NO_DEMO',
    `The user has connected ${sources[provider].name}; end that with DELETE /v2/user/{user_id}/${provider}, or choose another source for the demo.`,
  )

/** What a refresh asks for: the days since data came last, as far back as the source goes. Or the past once more. */
export const pullDemo = (app: App, { team_id, user_id, provider, created_at }: Connection, reach: 'new' | 'history') =>
  inTransaction(app, async (app) => {
    if (!isSource(provider)) return
    const user = await requireUser(app, team_id, user_id)
    if (reach === 'history') return deliverHistory(app, user, provider)
    const { zoneAt, today } = calendarOf(app, user)
    const since = Date.parse((await lastReceived(app, user, provider)) ?? created_at)
    const earliest = dayAfter(today, -sources[provider].backfill_days)
    const first = localDay(since, zoneAt(since))
    await deliver(app, user, provider, datesBetween(first > earliest ? first : earliest, today), 'daily')
  })

/** Gap: today may have hardly begun, so that what is live begins with yesterday. Then every resource is told of, whatever the hour. */
function calendarOf(app: App, { time_zone }: UserRow) {
  const zone = time_zone ?? 'UTC'
  const zoneAt = zoneClock(zone)
  const now = Date.parse(app.now())
  const today = localDay(now, zoneAt(now))
  return { zone, zoneAt, now, today, yesterday: dayAfter(today, -1) }
}

function deliverHistory(app: App, user: UserRow, provider: SourceSlug) {
  const { yesterday } = calendarOf(app, user)
  return deliver(app, user, provider, datesBetween(dayAfter(yesterday, -HISTORY_DAYS), dayAfter(yesterday, -1)), 'historical')
}

function datesBetween(first: string, last: string) {
  const dates: string[] = []
  for (let date = first; date <= last; date = dayAfter(date)) dates.push(date)
  return dates
}

/** Takes in some days as if a real source had pushed them, by the same way. */
async function deliver(app: App, user: UserRow, provider: SourceSlug, dates: string[], stage: 'daily' | 'historical') {
  const { user_id } = user
  const { zone, zoneAt, now } = calendarOf(app, user)
  const window = windowOf(dates, zoneAt, now)
  if (!window) return
  const { start, end } = window
  const delivery = await openDelivery(app, user, user_id, { stage, provider, time_zone: zone, start_date: start, end_date: end })
  const report = demoReport({ source: provider, user_id, dates, zoneAt, until: now, isLive: stage === 'daily' })
  for (const [resource, data] of Object.entries(report.summaries) as [SummaryName, unknown[]][])
    await keepMade(app, delivery, resource, madeOf(delivery, resource, data), data.length)
  const read = report.samples.map(({ name, samples }) => readDelivered(delivery, name, samples))
  await keepDelivered(app, delivery, read)
  const isWithin = within(delivery)
  const streams = report.streams.filter(({ from, to }) => isWithin(from) || isWithin(to))
  const named = streams.map(({ workout, stream }) => ({ workout_id: summaryId(user_id, provider, 'workouts', workout), stream }))
  await pushStreams(app, user, { stage, window }, named)
}

function windowOf(dates: string[], zoneAt: (at: number) => number | null, now: number) {
  const [first, last] = [dates[0], dates.at(-1)]
  if (!first || !last) return undefined
  const end = Math.min(now, startOf(dayAfter(last), zoneAt))
  return { start: new Date(startOf(first, zoneAt)).toISOString(), end: new Date(end).toISOString() }
}

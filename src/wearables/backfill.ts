import type { App } from '../app.ts'
import { isEventName } from '../contract/events.ts'
import { emitRows, eventRow } from '../events/emit.ts'
import type { Delivery } from './delivery.ts'
import * as store from './store-states.ts'
import { about } from './tell.ts'

type Read = Pick<Delivery, 'user' | 'key' | 'provider' | 'window'>
type Found = { resource: string; created: unknown[]; updated: unknown[]; days: number }

/** The past of resources was read. Each is told once: the same window again, with nothing new in it, is no news. */
export async function endBackfill(app: App, delivery: Read, found: Found[]) {
  const { user, key, provider, window } = delivery
  const { team_id, user_id } = user
  const now = app.now()
  const [range_start, range_end] = [window.start ?? now, window.end ?? now]
  const resources = found.map(({ resource }) => resource).sort()
  const before = new Map((await store.lockPulls(app.db, { team_id, user_id, provider }, resources)).map((pull) => [pull.resource, pull]))
  const isNews = ({ resource, created, updated }: Found) => created.length + updated.length > 0 || !isTold(before.get(resource), delivery)
  const news = found.filter(isNews)
  const rows = news.map(({ resource, days }) => {
    const open = before.get(resource)?.status === 'success' ? undefined : before.get(resource)
    return {
      ...{ team_id, user_id, provider, resource, status: 'success', range_start, range_end },
      ...{ scheduled_at: open?.scheduled_at ?? now, started_at: open?.started_at ?? now },
      ...{ ended_at: now, days_with_data: days, error_details: null },
    }
  })
  await store.upsertPulls(app.db, rows)
  const data = { user_id, start_date: range_start, end_date: range_end, is_final: true as const, provider }
  const events = news.flatMap(({ resource }) => {
    const event = `historical.data.${resource}.created`
    return isEventName(event) ? eventRow(app, key, { ...about(app, user, resource, event), data }) : []
  })
  await emitRows(app, events)
}

type Pull = Awaited<ReturnType<typeof store.lockPulls>>[number]

/** A window without edges is told each time that something is new in it. */
const isTold = (pull: Pull | undefined, { window }: Read) =>
  pull?.status === 'success' &&
  (window.start === null || window.start === pull.range_start) &&
  (window.end === null || window.end === pull.range_end)

export type PullStatus = 'scheduled' | 'in_progress' | 'retrying' | 'failure'

/** How a source's past is being read, for adapters that fetch it themselves. */
export async function notePull(
  app: App,
  whose: { team_id: string; user_id: string; provider: string; resource: string },
  status: PullStatus,
  error_details: string | null = null,
) {
  const [before] = await store.lockPulls(app.db, whose, [whose.resource])
  const now = app.now()
  const row = {
    ...whose,
    ...{ status, error_details },
    scheduled_at: status === 'scheduled' ? now : (before?.scheduled_at ?? now),
    started_at: status === 'scheduled' ? null : (before?.started_at ?? now),
    ended_at: status === 'failure' ? now : null,
    days_with_data: before?.days_with_data ?? 0,
    range_start: before?.range_start ?? null,
    range_end: before?.range_end ?? null,
  }
  await store.upsertPulls(app.db, [row])
}

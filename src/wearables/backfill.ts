import type { App } from '../app.ts'
import { isEventName } from '../contract/events.ts'
import type { Delivery } from './delivery.ts'
import * as store from './store-states.ts'
import { tell } from './tell.ts'

type Read = Pick<Delivery, 'user' | 'key' | 'provider' | 'window'>
type Found = { created: unknown[]; updated: unknown[]; days: number }

/** The past of a resource was read. Told once: the same window again, with nothing new in it, is no news. */
export async function endBackfill(app: App, delivery: Read, resource: string, { created, updated, days }: Found) {
  const { user, provider, window } = delivery
  const { team_id, user_id } = user
  const now = app.now()
  const [range_start, range_end] = [window.start ?? now, window.end ?? now]
  const before = await store.lockPull(app.db, { team_id, user_id, provider, resource })
  const isNews = created.length + updated.length > 0 || !before || !isTold(before, delivery)
  if (!isNews) return
  await store.upsertPull(app.db, {
    ...{ team_id, user_id, provider, resource, status: 'success', range_start, range_end },
    scheduled_at: before?.status === 'success' ? now : (before?.scheduled_at ?? now),
    started_at: before?.status === 'success' ? now : (before?.started_at ?? now),
    ...{ ended_at: now, days_with_data: days, error_details: null },
  })
  const event = `historical.data.${resource}.created`
  if (!isEventName(event)) return
  await tell(app, delivery, resource, event, { start_date: range_start, end_date: range_end, is_final: true, provider })
}

type Pull = NonNullable<Awaited<ReturnType<typeof store.lockPull>>>

/** A window without edges is told each time that something is new in it. */
const isTold = ({ status, range_start, range_end }: Pull, { window }: Read) =>
  status === 'success' && (window.start === null || window.start === range_start) && (window.end === null || window.end === range_end)

export type PullStatus = 'scheduled' | 'in_progress' | 'retrying' | 'failure'

/** How a source's past is being read, for adapters that fetch it themselves. */
export async function notePull(
  app: App,
  whose: { team_id: string; user_id: string; provider: string; resource: string },
  status: PullStatus,
  error_details: string | null = null,
) {
  const before = await store.lockPull(app.db, whose)
  const now = app.now()
  await store.upsertPull(app.db, {
    ...whose,
    ...{ status, error_details },
    scheduled_at: status === 'scheduled' ? now : (before?.scheduled_at ?? now),
    started_at: status === 'scheduled' ? null : (before?.started_at ?? now),
    ended_at: status === 'failure' ? now : null,
    days_with_data: before?.days_with_data ?? 0,
    range_start: before?.range_start ?? null,
    range_end: before?.range_end ?? null,
  })
}

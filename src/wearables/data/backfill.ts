import { isEventName } from '../../contract/delivery/events.ts'
import { emitRows, eventRow } from '../../delivery/events/emit.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { about } from './emit.ts'
import type { IncomingPush } from './incoming-push.ts'
import * as store from './store-states.ts'

type Read = Pick<IncomingPush, 'user' | 'key' | 'provider' | 'window'>
type Found = { resource: string; created: unknown[]; updated: unknown[]; days: number }

/** Ends the backfill of resources. Emits one event per resource, unless the window was announced before and nothing is new. */
export async function endBackfill(app: AppInTransaction, delivery: Read, found: Found[]) {
  const { user, key, provider, window } = delivery
  const { team_id, user_id } = user
  const now = app.now()
  const [range_start, range_end] = [window.start ?? now, window.end ?? now]
  const resources = found.map(({ resource }) => resource).sort()
  const before = new Map((await store.lockPulls(app.db, { team_id, user_id, provider }, resources)).map((pull) => [pull.resource, pull]))
  const isNews = ({ resource, created, updated }: Found) => created.length + updated.length > 0 || !isTold(before.get(resource), delivery)
  const news = found.filter(isNews)
  const rows = news.map(({ resource, days }) => {
    const pull = before.get(resource)
    const open = pull?.status === 'success' ? undefined : pull
    return {
      ...{ team_id, user_id, provider, resource, status: 'success', range_start, range_end },
      ...{ scheduled_at: open?.scheduled_at ?? now, started_at: open?.started_at ?? now },
      ...{ ended_at: now, days_with_data: days, error_details: null },
      told: [...(pull?.told ?? []), `${range_start} ${range_end}`].slice(-REMEMBERED),
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

const REMEMBERED = 8

/** An open window matches any announced window. */
const isTold = (pull: Pull | undefined, { window }: Read) =>
  (pull?.told ?? []).some((told) => {
    const [start, end] = told.split(' ')
    return (window.start === null || window.start === start) && (window.end === null || window.end === end)
  })

type Whose = { team_id: string; user_id: string; provider: string }

/** Marks the historical pulls of an adapter as started, including those that are retried. */
export async function beginPulls(app: App, whose: Whose, resources: string[]) {
  await store.retryPulls(app.db, whose)
  if (resources.length) await store.beginPulls(app.db, whose, resources, app.now())
}

/** Ends the pulls that no push has ended meanwhile. */
export const endPulls = (
  app: App,
  whose: Whose,
  { status, error_details }: { status: 'success' | 'retrying' | 'failure'; error_details: string | null },
) => store.endPulls(app.db, whose, { status, error_details, ended_at: status === 'retrying' ? null : app.now() })

import { isEventName } from '../../contract/events.ts'
import { emitRows, eventRow } from '../../delivery/events/emit.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { eventHeader } from './emit.ts'
import type { IncomingPush, ResourceChanges } from './incoming-push.ts'
import * as store from './store-states.ts'

type BackfillScope = Pick<IncomingPush, 'user' | 'key' | 'provider' | 'window' | 'pull'>

/** Ends the backfill of resources. Emits one event per resource, unless the window was announced before and nothing is new. */
export async function endBackfill(app: AppInTransaction, push: BackfillScope, found: ResourceChanges[]) {
  if (push.pull?.collect) return push.pull.collect(found)
  const { user, key, provider, window } = push
  const { team_id, user_id } = user
  const now = app.now()
  const [range_start, range_end] = [window.start ?? now, window.end ?? now]
  const resources = found.map(({ resource }) => resource).sort()
  const before = new Map((await store.lockPulls(app.db, { team_id, user_id, provider }, resources)).map((pull) => [pull.resource, pull]))
  const hasNews = ({ resource, created, updated }: ResourceChanges) =>
    created.length + updated.length > 0 || !wasAnnounced(before.get(resource), push)
  const news = found.filter(hasNews)
  const rows = news.map(({ resource, days }) => {
    const pull = before.get(resource)
    const open = pull?.status === 'success' ? undefined : pull
    return {
      ...{ team_id, user_id, provider, resource, status: 'success', range_start, range_end },
      ...{ scheduled_at: open?.scheduled_at ?? now, started_at: open?.started_at ?? now },
      ...{ ended_at: now, days_with_data: days, error_details: null },
      announced: [...(pull?.announced ?? []), `${range_start} ${range_end}`].slice(-MAX_REMEMBERED_WINDOWS),
    }
  })
  await store.upsertPulls(app.db, rows)
  const data = { user_id, start_date: range_start, end_date: range_end, is_final: true as const, provider }
  const events = news.flatMap(({ resource }) => {
    const event = `historical.data.${resource}.created`
    return isEventName(event) ? eventRow(app, key, { ...eventHeader(app, user, resource, event), data }) : []
  })
  await emitRows(app, events)
}

type Pull = Awaited<ReturnType<typeof store.lockPulls>>[number]

const MAX_REMEMBERED_WINDOWS = 8

/** An open window matches any announced window. */
const wasAnnounced = (pull: Pull | undefined, { window }: BackfillScope) =>
  (pull?.announced ?? []).some((earlier) => {
    const [start, end] = earlier.split(' ')
    return (window.start === null || window.start === start) && (window.end === null || window.end === end)
  })

type SourceScope = { team_id: string; user_id: string; provider: string }

/** Marks the historical pulls of an adapter as started, including those that are retried. */
export async function beginPulls(app: App, scope: SourceScope & { resources?: string[] }, resources: string[]) {
  await store.retryPulls(app.db, scope)
  if (resources.length) await store.beginPulls(app.db, scope, resources, app.now())
}

/** Ends the pulls that no push has ended. */
export const endPulls = (
  app: App,
  scope: SourceScope & { resources?: string[] },
  { status, error_details }: { status: 'success' | 'retrying' | 'failure'; error_details: string | null },
) => store.endPulls(app.db, scope, { status, error_details, ended_at: status === 'retrying' ? null : app.now() })

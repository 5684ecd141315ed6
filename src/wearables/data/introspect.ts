import { isId } from '../../contract/common.ts'
import { isSource, resourcesOf, sources } from '../../contract/tenants/sources.ts'
import { version } from '../../contract/version.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { retryDeadlocks } from '../../platform/db/deadlocks.ts'
import { invalid } from '../../platform/problem.ts'
import { DAY, later } from '../../platform/time.ts'
import { requireUser } from '../../tenants/users/actions.ts'
import { sourceFilter } from './incoming-push.ts'
import * as store from './store-introspect.ts'
import * as states from './store-states.ts'

type Query = {
  user_id?: string | null | undefined
  provider: string
  user_limit: number
  next_cursor?: string | null | undefined
  cursor?: string | null | undefined
}

/** Lists the data received for each resource, by user and source. */
export async function getUserResources(app: App, caller: TeamCaller, query: Query) {
  const page = await pageOf(app, caller, query, store.listStates)
  return presentPage(page, (rows) =>
    keyByResource(rows, ({ oldest_data, newest_data, sent_count, last_attempt_at, last_status }) => ({
      last_attempt: { timestamp: last_attempt_at, status: last_status },
      ...{ oldest_data, newest_data, sent_count },
    })),
  )
}

/** Lists the historical pulls by user and source, and the resources without one. */
export async function getHistoricalPulls(app: App, caller: TeamCaller, query: Query) {
  const page = await pageOf(app, caller, query, store.listPulls)
  return presentPage(page, (rows, provider) => {
    const pulled = keyByResource(
      rows,
      ({ status, range_start, range_end, scheduled_at, started_at, ended_at, days_with_data, error_details }) => ({
        ...{ status, range_start, range_end, days_with_data, error_details },
        timeline: { scheduled_at, started_at, ended_at },
        ...{ release: version, trace_id: null },
      }),
    )
    const resources = isSource(provider) ? resourcesOf(sources[provider]) : []
    return { pulled, not_pulled: resources.filter((resource) => !Object.hasOwn(pulled, resource)) }
  })
}

/** Records an attempt to read resources of a source. Data that arrives records itself. */
export const recordAttempt = (
  app: App,
  scope: { team_id: string; user_id: string; provider: string },
  resources: string[],
  status: 'success' | 'failure',
) =>
  retryDeadlocks(async () => {
    if (resources.length) await states.recordAttempt(app.db, scope, resources.toSorted(), status, app.now())
  })

/** Counts the data of a user by resource, source and day, up to today on the team's clock. */
export async function getDataDays(app: App, { team_id }: TeamCaller, query: { user_id: string; provider: string; days: number }) {
  const { user_id, days } = query
  await requireUser(app, team_id, user_id)
  const end_date = app.now().slice(0, 10)
  const start_date = later(app.now(), -(days - 1) * DAY).slice(0, 10)
  const filter = { team_id, user_id, provider: sourceFilter(query), from: start_date, to: end_date }
  const groups = Map.groupBy(await store.countByDay(app.db, filter), ({ resource, provider }) => `${resource} ${provider}`)
  const resources = [...groups.values()].flatMap((rows) => {
    const [first] = rows
    return first ? { resource: first.resource, provider: first.provider, days: rows.map(({ date, count }) => ({ date, count })) } : []
  })
  return { start_date, end_date, resources }
}

/** When live data of a source last arrived. Undefined if none ever did. */
export const findLastReceived = async (app: App, { team_id, user_id }: { team_id: string; user_id: string }, provider: string) =>
  (await states.findLastReceived(app.db, team_id, user_id, provider))?.at ?? undefined

type Row = { user_id: string; provider: string; resource: string }

const keyByResource = <R extends Row, T>(rows: R[], present: (row: R) => T) =>
  Object.fromEntries(rows.map((row) => [row.resource, present(row)]))

type Page<R> = { rows: R[]; users: string[]; limit: number }

async function pageOf<R extends Row>(
  app: App,
  { team_id }: TeamCaller,
  query: Query,
  read: (db: App['db'], filter: store.IntrospectFilter) => Promise<R[]>,
): Promise<Page<R>> {
  const { user_id, user_limit: limit } = query
  if (user_id) await requireUser(app, team_id, user_id)
  const provider = sourceFilter(query)
  const after = positionOf(query.next_cursor ?? query.cursor)
  const rows = await read(app.db, { team_id, user_id: user_id ?? undefined, provider, after, limit: limit + 1 })
  const users = [...new Set(rows.map((row) => row.user_id))]
  return { rows, users, limit }
}

/** Decodes a cursor: the last user of the previous page. */
function positionOf(cursor: string | null | undefined) {
  if (!cursor) return undefined
  const id = Buffer.from(cursor, 'base64url').toString()
  if (!isId(id)) throw invalid(['query', 'next_cursor'], 'Send the next_cursor of the previous page unchanged.')
  return id
}

function presentPage<R extends Row, T>({ rows, users, limit }: Page<R>, present: (rows: R[], provider: string) => T) {
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  const data = users.slice(0, limit).map((user_id) => {
    const providers = Map.groupBy(byUser.get(user_id) ?? [], ({ provider }) => provider)
    return { user_id, provider: Object.fromEntries([...providers].map(([provider, rows]) => [provider, present(rows, provider)])) }
  })
  const last = users.length > limit ? data.at(-1)?.user_id : undefined
  const next_cursor = last ? Buffer.from(last).toString('base64url') : null
  return { data, next: next_cursor, next_cursor }
}

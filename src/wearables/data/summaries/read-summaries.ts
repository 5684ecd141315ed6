import { type SourceSlug, sources } from '../../../contract/tenants/sources.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { longList } from '../../../platform/results/long-list.ts'
import { providerOf } from '../../../tenants/sources/actions.ts'
import { requireUser, type UserRow, unwrapUserKey } from '../../../tenants/users/actions.ts'
import { listDevices } from '../../connections/devices.ts'
import { sourceFilter } from '../incoming-push.ts'
import { priorityOf } from '../priorities.ts'
import { daysOf } from '../rules-window.ts'
import { presentRawSummary, presentSummary } from './present.ts'
import { openSummary } from './save-summaries.ts'
import * as store from './store-summaries.ts'

/** More than twenty years of one source. */
export const MAX_LISTED_SUMMARIES = 10_000

type Query = { start_date: string; end_date?: string | null | undefined; provider: string }

/** Lists summaries by calendar days of the user. */
export async function listSummaries<N extends SummaryName>(app: App, caller: TeamCaller, user_id: string, resource: N, query: Query) {
  const { rows, key } = await readRows(app, caller, user_id, resource, query)
  return longList(
    () => rows,
    (row) => presentSummary<N>(app, row, openSummary(key, row)),
  )
}

export async function listRawSummaries(
  app: App,
  caller: TeamCaller,
  user_id: string,
  resource: 'activity' | 'sleep' | 'workouts' | 'body',
  query: Query,
) {
  const { rows, key } = await readRows(app, caller, user_id, resource, query)
  const priority = await priorityOf(app, caller.team_id, resource)
  return longList(
    () => rows,
    (row) => presentRawSummary(app, row, openSummary(key, row), priority(row.provider)),
  )
}

async function readRows(app: App, { team_id }: TeamCaller, user_id: string, resource: SummaryName, query: Query) {
  const user = await requireUser(app, team_id, user_id)
  const days = daysOf(query.start_date, query.end_date, app.now())
  const rows = await store.listSummaries(
    app.db,
    { team_id, user_id, resource, provider: sourceFilter(query) },
    days,
    MAX_LISTED_SUMMARIES + 1,
  )
  if (rows.length > MAX_LISTED_SUMMARIES)
    throw problem('TOO_MANY_SUMMARIES', 'The period contains more than 10,000 summaries. Choose a shorter period.')
  return { rows, key: await unwrapUserKey(app, user) }
}

export async function getProfile(app: App, caller: TeamCaller, user_id: string, query: { provider: string }) {
  const { row, document } = await profileOf(app, caller, user_id, query)
  return presentSummary<'profile'>(app, row, document)
}

export async function getRawProfile(app: App, caller: TeamCaller, user_id: string, query: { provider: string }) {
  const { row, document } = await profileOf(app, caller, user_id, query)
  return { profile: presentRawSummary(app, row, document) }
}

async function profileOf(app: App, { team_id }: TeamCaller, user_id: string, query: { provider: string }) {
  const user = await requireUser(app, team_id, user_id)
  const row = await store.findLatestSummary(app.db, { team_id, user_id, resource: 'profile', provider: sourceFilter(query) })
  if (!row) throw problem('PROFILE_NOT_FOUND', 'No source has sent a profile of this user yet.')
  return { row, document: openSummary(await unwrapUserKey(app, user), row) }
}

/** The profile as the source sent it last. */
export async function findRawProfile(app: App, user: UserRow, provider: string) {
  const { team_id, user_id } = user
  const row = await store.findLatestSummary(app.db, { team_id, user_id, resource: 'profile', provider })
  return row && (openSummary(await unwrapUserKey(app, user), row).raw as Record<string, unknown>)
}

export async function listRawDevices(app: App, caller: TeamCaller, user_id: string, query: { provider: string }) {
  const provider = sourceFilter(query)
  const devices = (await listDevices(app, caller, user_id)).filter((device) => provider === undefined || device.provider === provider)
  const rawDevices = devices.map(({ id, user_id, provider, ...data }) => ({
    ...{ id, user_id, data, provider_id: data.device_id ?? id },
    source_id: sources[provider as SourceSlug].id,
    source: providerOf(app, provider as SourceSlug),
  }))
  return { devices: rawDevices }
}

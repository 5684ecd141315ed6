import { isSource, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { requireTeam } from '../../tenants/teams/actions.ts'
import { visibleTeams } from '../../tenants/teams/rules.ts'
import * as rules from './rules.ts'
import * as store from './store-preferences.ts'

type Query = {
  team_id?: string[] | undefined
  provider?: SourceSlug[] | undefined
  next_cursor?: string | null | undefined
  limit: number
}

export async function listPreferences(app: App, caller: ManagementCaller, query: Query) {
  const page = pageAfter(query.next_cursor, query.limit)
  const filter = { team_ids: rules.narrowTeams(visibleTeams(caller), query.team_id), providers: query.provider }
  const found = await store.listTeams(app.db, caller.org_id, filter, page)
  const { rows, next_cursor } = pageOf(found, page, ({ created_on, id }) => ({ at: created_on, id }))
  return {
    data_pull_preferences: await presentPreferences(
      app,
      rows.map(({ id }) => id),
      query.provider,
    ),
    next_cursor,
  }
}

type Days = { historical_days_to_pull: number }
type Preference = { default: Days; resource_overrides?: Record<string, Days> | null | undefined }

/** Sets the preferences of all named teams, or of none if one is not found. */
export const putPreferences = (
  app: App,
  caller: ManagementCaller,
  { team_ids, providers }: { team_ids: string[]; providers: { [P in SourceSlug]?: Preference | undefined } },
) =>
  inTransaction(app, async (app) => {
    for (const team_id of team_ids) await requireTeam(app, caller, team_id)
    for (const [provider, preference] of Object.entries(providers) as [SourceSlug, Preference | undefined][]) {
      if (!preference) continue
      const overrides = Object.entries(preference.resource_overrides ?? {}).map(
        ([name, days]) => [name, days.historical_days_to_pull] as const,
      )
      const days = preference.default.historical_days_to_pull
      rules.checkDays(provider, days, overrides)
      for (const team_id of team_ids)
        await store.upsertPreference(app.db, { team_id, provider, days, overrides: JSON.stringify(Object.fromEntries(overrides)) })
    }
    return { data_pull_preferences: await presentPreferences(app, team_ids, undefined), next_cursor: null }
  })

export const deletePreferences = (
  app: App,
  caller: ManagementCaller,
  { team_id, provider }: { team_id: string[]; provider?: SourceSlug[] | undefined },
) =>
  inTransaction(app, async (app) => {
    for (const id of team_id) await requireTeam(app, caller, id)
    for (const id of team_id) await store.deletePreferences(app.db, id, provider)
    return { success: true }
  })

/** Returns the days of history to pull for a resource. Undefined if the team has no preference. */
export async function loadPreferredDays(app: App, team_id: string, provider: SourceSlug) {
  const preference = await store.findPreference(app.db, team_id, provider)
  return (resource: string) => preference?.overrides[resource] ?? preference?.days
}

async function presentPreferences(app: App, team_ids: string[], providers: SourceSlug[] | undefined) {
  const rows = await store.listPreferences(app.db, team_ids, providers)
  return team_ids.map((team_id) => ({
    team_id,
    providers: Object.fromEntries(
      rows.filter((row) => row.team_id === team_id && isSource(row.provider)).map((row) => [row.provider, preferenceOf(row)]),
    ),
  }))
}

function preferenceOf({ provider, days, overrides }: { provider: string; days: number; overrides: Record<string, number> }) {
  const historical_days_to_pull_limit = sources[provider as SourceSlug].backfill_days
  const withLimit = (historical_days_to_pull: number) => ({ historical_days_to_pull, historical_days_to_pull_limit })
  const each = Object.entries(overrides).map(([name, days]) => [name, withLimit(days)])
  return { default: withLimit(days), resource_overrides: each.length ? Object.fromEntries(each) : null }
}

import { type SourceSlug, sourceSlugs, sources } from '../../contract/tenants/sources.ts'
import { priorityTypes } from '../../contract/wearables/introspection.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { providerOf } from '../../tenants/sources/actions.ts'
import { requireSource } from './incoming-push.ts'
import * as store from './store-priorities.ts'

type DataType = (typeof priorityTypes)[number]

/** Lists the sources in order of priority, by kind of data. */
export async function getSourcePriorities(app: App, { team_id }: TeamCaller, data_type?: DataType | null) {
  const rows = await store.listPriorities(app.db, team_id)
  return (data_type ? [data_type] : priorityTypes).flatMap((type) =>
    orderOf(rows, type).map((slug, i) => ({
      ...{ data_type: type, provider: slug, source_id: sources[slug].id, priority: i + 1 },
      ...providerOf(app, slug),
    })),
  )
}

type Row = { data_type: string; provider: string }

/** The sources that the team ranked, then the rest in catalog order. */
function orderOf(rows: Row[], type: string): SourceSlug[] {
  const first = rows.filter(({ data_type }) => data_type === type).map(({ provider }) => provider as SourceSlug)
  const byId = sourceSlugs.toSorted((a, b) => sources[a].id - sources[b].id)
  return [...first, ...byId.filter((slug) => !first.includes(slug))]
}

type Change = { data_type: DataType; providers: string[] }

export const patchSourcePriorities = (app: App, caller: TeamCaller, changes: Change[]) =>
  inTransaction(app, async (app) => {
    for (const [i, { data_type, providers }] of changes.entries()) {
      const slugs = providers.map((slug, j) => requireSource(slug, ['body', i, 'providers', j]))
      await store.deletePriorities(app.db, caller.team_id, data_type)
      await store.insertPriorities(app.db, caller.team_id, data_type, [...new Set(slugs)])
    }
    return getSourcePriorities(app, caller)
  })

/** Returns the priority of each source for one kind of data. */
export async function priorityOf(app: App, team_id: string, type: DataType) {
  const order = orderOf(await store.listPriorities(app.db, team_id), type)
  return (provider: string) => order.indexOf(provider as SourceSlug) + 1
}

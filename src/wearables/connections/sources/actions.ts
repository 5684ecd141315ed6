import { isSource } from '../../../contract/tenants/sources.ts'
import type { App } from '../../../platform/app.ts'
import { providerOf } from '../../../tenants/sources/actions.ts'
import * as store from './store.ts'

/** The connected sources of a user, in order of connection. */
export const listSourcesOfUser = async (app: App, team_id: string, user_id: string) =>
  presentSources(app, await store.listSourcesOfUser(app.db, team_id, user_id))

/** The connected sources of users by the ID of the user, in order of connection. */
export async function listSources(app: App, team_id: string, user_ids: string[]) {
  const rows = user_ids.length ? await store.listSources(app.db, team_id, user_ids) : []
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  return new Map([...byUser].map(([user_id, rows]) => [user_id, presentSources(app, rows)]))
}

export const countSources = (app: App, team_id: string) => store.countSources(app.db, team_id)

const presentSources = (app: App, rows: store.SourceRow[]) =>
  rows.flatMap(({ provider: slug, created_at }) => {
    if (!isSource(slug)) return []
    const provider = providerOf(app, slug)
    return [{ created_on: created_at, provider, source: provider }]
  })

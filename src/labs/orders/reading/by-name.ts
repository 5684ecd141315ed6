import type { App } from '../../../platform/app.ts'
import { queryTerms } from '../../../platform/sealing/blind-index.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { type LoadedOrder, loadOrders } from './present.ts'
import * as store from './store-list.ts'

/** The latest orders of a team whose patient has this name, or a name that begins with it. */
export async function findOrdersByName(app: App, team_id: string, name: string, limit: number): Promise<LoadedOrder[]> {
  const terms = queryTerms(await teamSealingKey(app, team_id), name, 'patient')
  if (!terms.length) return []
  const rows = await store.findIdsByTerms(app.db, team_id, terms, limit)
  return loadOrders(
    app,
    team_id,
    rows.map(({ id }) => id),
  )
}

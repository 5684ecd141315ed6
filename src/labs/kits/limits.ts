import type { App, AppInTransaction } from '../../platform/app.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export const loadLimits = async ({ db }: App, team_id: string) => (await store.findLimits(db, team_id)) ?? rules.defaultLimits

/** Starts the time limit of the step that a kit has taken. */
export async function restartKitLimit(app: AppInTransaction, order: LoadedOrder): Promise<undefined> {
  if (order.method !== 'testkit') return
  const { team_id, id: order_id, last_event_at: since } = order
  const leg = rules.legOf(order)
  if (!leg) {
    await store.deleteKit(app.db, team_id, order_id)
    return
  }
  const due_at = rules.dueAt(await loadLimits(app, team_id), leg, since)
  await store.putKit(app.db, { team_id, order_id, leg, since, due_at, alerted: false, overdue_at: null, reported_at: null })
}

/** Deletes the parcels of orders whose user is erased. */
export const forgetKits = (app: AppInTransaction, team_id: string, order_ids: string[]) => store.deleteKitsOf(app.db, team_id, order_ids)

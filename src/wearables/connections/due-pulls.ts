import type { App } from '../../platform/app.ts'
import { later } from '../../platform/time.ts'
import type { Connection } from './actions.ts'
import { claimFirst, MAX_CANDIDATES } from './claim.ts'
import * as store from './store.ts'

export { searchPulls } from './store.ts'

/** Plans the next pull of a connection, or none. Returns undefined if the connection has ended. */
export const planPull = (app: App, connection: Connection, plan: { pull_due_at: string | null; pull_tries?: number }) =>
  store.updateConnection(app.db, connection, plan)

/** Claims one due pull for a time. */
export async function claimDuePull(app: App, leaseMs: number) {
  const now = app.wall()
  return claimFirst(await store.findDuePulls(app.db, now, MAX_CANDIDATES), (candidate) =>
    store.claimPull(app.db, candidate, now, later(now, leaseMs)),
  )
}

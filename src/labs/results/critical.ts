import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { actorKindOf } from '../../tenants/audit/actions.ts'
import { findPersonName } from '../../tenants/people/actions.ts'
import { requireOrder } from '../orders/reading/present.ts'
import * as store from './store.ts'

export async function getCriticalResult(app: App, { team_id }: TeamCaller, order_id: string) {
  await requireOrder(app, team_id, order_id)
  return presentCriticalResult(app, team_id, order_id)
}

/** Acknowledges the versions that the caller has seen. A newer critical version stays open. */
export const acknowledgeCritical = (app: App, caller: TeamCaller, order_id: string, result_version?: number | null) =>
  inTransaction(app, async (app) => {
    await requireOrder(app, caller.team_id, order_id)
    const acknowledgement = {
      acknowledged_at: app.now(),
      acknowledged_kind: actorKindOf(caller),
      acknowledged_by: caller.console?.actor_id ?? caller.key_id,
    }
    await store.acknowledge(app.db, caller.team_id, order_id, acknowledgement, result_version)
    return presentCriticalResult(app, caller.team_id, order_id)
  })

async function presentCriticalResult(app: App, team_id: string, order_id: string) {
  const row = await store.findLatestCritical(app.db, team_id, order_id)
  if (!row) throw problem('NOTHING_CRITICAL', 'The order has had no critical result, so there is nothing to acknowledge.')
  const { version: result_version, reported_at, acknowledged_at, acknowledged_kind: type, acknowledged_by: id } = row
  const acknowledged_by = type && { type, id, name: type === 'person' && id ? ((await findPersonName(app, id))?.name ?? null) : null }
  return { order_id, result_version, reported_at, acknowledged_at, acknowledged_by: acknowledged_by || null }
}

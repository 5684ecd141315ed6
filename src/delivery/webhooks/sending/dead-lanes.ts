import type { App } from '../../../platform/app.ts'
import type { DeliveryContext } from './deliver.ts'
import * as store from './store-lanes.ts'
import * as workers from './store-workers.ts'

type Worker = Pick<DeliveryContext, 'worker' | 'claims'>

/**
 * Frees the lanes whose worker is dead. A worker also frees the lanes that it holds without knowing: the response to its claim
 * was lost, or its settlement was lost in a failover. It never frees those that it is still sending.
 */
export async function freeDeadLanes(app: App, self?: Worker) {
  const claims = await store.listClaims(app.db)
  if (!claims.length) return
  // Read after the claims, so that a worker that has just started and claimed lanes is among them.
  const live = new Set(await workers.listLiveWorkers(app.db))
  const isDead = ({ worker, lease }: (typeof claims)[number]) => !self?.claims.has(lease) && (worker === self?.worker || !live.has(worker))
  for (const [team_id, dead] of Map.groupBy(claims.filter(isDead), (claim) => claim.team_id))
    await store.freeLanes(
      app.db,
      team_id,
      dead.map(({ lease }) => lease),
    )
}

/** Frees every lane. Only for a process that is the only one on its database, before its worker starts. */
export async function freeAllLanes(app: App) {
  await workers.deleteWorkers(app.db)
  await freeDeadLanes(app)
}
